"""Methods that learn by gradients of PyTorch, which the extra ``deep`` brings.

Nothing here needs PyTorch to be imported, to load a saved model or to predict: `fit` asks for it,
and says in one line what to install if it is missing. What is learned is kept as numpy arrays.

What the methods share:

- `base.DeepClassifier`: the base class; it opens the door to PyTorch, chooses the device and seeds
  the generators around ``_train(X, y, device)``.
- `session.torch_session`: device, seed and threads for a block of work, all put back at its end.
- `training.train`: mini-batches with a progress bar, and looks at the model on the way.
- `weights`: tensors to numpy arrays and back, as model files keep them.

Modules that import PyTorch at their top (`session`, `training`, `weights`, networks and losses) are
imported inside ``_train`` only.
"""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.zero_shot.registry import DEEP

if TYPE_CHECKING:
    from zslearn.zero_shot.deep.autoencoder import (
        DeepSemanticAutoencoder as DeepSemanticAutoencoder,
    )
    from zslearn.zero_shot.deep.conv_autoencoder import (
        ConvSemanticAutoencoder as ConvSemanticAutoencoder,
    )
    from zslearn.zero_shot.deep.generators.cada_vae import CADAVAEClassifier as CADAVAEClassifier
    from zslearn.zero_shot.deep.generators.f_clswgan import FCLSWGANClassifier as FCLSWGANClassifier
    from zslearn.zero_shot.deep.generators.f_vaegan import FVAEGANClassifier as FVAEGANClassifier
    from zslearn.zero_shot.deep.generators.tf_vaegan import TFVAEGANClassifier as TFVAEGANClassifier
    from zslearn.zero_shot.deep.trunks import efficientnet_trunk as efficientnet_trunk

_PLACES = {
    "ConvSemanticAutoencoder": "conv_autoencoder",
    "efficientnet_trunk": "trunks",
    **{one.class_name: one.module.removeprefix(f"{__name__}.") for one in DEEP.values()},
}
__all__ = sorted(_PLACES)

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
