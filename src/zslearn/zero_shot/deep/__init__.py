"""Methods that learn by gradients of PyTorch, which the extra ``deep`` brings.

Nothing here needs PyTorch to be imported, to load a saved model or to predict: `fit` asks for it,
and says in one line what to install if it is missing. What is learned is kept as numpy arrays.

Parameters that belong together are one, a frozen dataclass: ``training``, ``search`` and, of the
`DeepSemanticAutoencoder`, ``start``. One of them is set by two underscores,
``clf.set_params(training__n_steps=200)``, or by another dataclass.

What the methods share:

- `base.DeepClassifier`: the base class; it opens the door to PyTorch, chooses the device and seeds
  the generators around ``_train(X, y, device)``.
- `training`: a session with its device, seed and threads, put back at its end; mini-batches with
  a progress bar and looks at the model on the way; tensors to the numpy arrays of model files.

Modules whose name ends in "training" import PyTorch at their top and are imported inside ``_train``
only.
"""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names

if TYPE_CHECKING:
    from zslearn.zero_shot.deep.autoencoder import AutoencoderSearch as AutoencoderSearch
    from zslearn.zero_shot.deep.autoencoder import AutoencoderTraining as AutoencoderTraining
    from zslearn.zero_shot.deep.autoencoder import ClosedFormStart as ClosedFormStart
    from zslearn.zero_shot.deep.autoencoder import (
        DeepSemanticAutoencoder as DeepSemanticAutoencoder,
    )
    from zslearn.zero_shot.deep.base import Checkpoints as Checkpoints
    from zslearn.zero_shot.deep.base import Search as Search
    from zslearn.zero_shot.deep.convolutional import (
        ConvSemanticAutoencoder as ConvSemanticAutoencoder,
    )
    from zslearn.zero_shot.deep.convolutional import ConvTraining as ConvTraining
    from zslearn.zero_shot.deep.convolutional import efficientnet_trunk as efficientnet_trunk
    from zslearn.zero_shot.deep.generator_methods import CADAVAEClassifier as CADAVAEClassifier
    from zslearn.zero_shot.deep.generator_methods import CADAVAETraining as CADAVAETraining
    from zslearn.zero_shot.deep.generator_methods import FCLSWGANClassifier as FCLSWGANClassifier
    from zslearn.zero_shot.deep.generator_methods import FCLSWGANTraining as FCLSWGANTraining
    from zslearn.zero_shot.deep.generator_methods import FVAEGANClassifier as FVAEGANClassifier
    from zslearn.zero_shot.deep.generator_methods import FVAEGANTraining as FVAEGANTraining
    from zslearn.zero_shot.deep.generator_methods import TFVAEGANClassifier as TFVAEGANClassifier
    from zslearn.zero_shot.deep.generator_methods import TFVAEGANTraining as TFVAEGANTraining
    from zslearn.zero_shot.deep.generators import GeneratorSearch as GeneratorSearch

_ROOMS = {
    "autoencoder": (
        "AutoencoderSearch",
        "AutoencoderTraining",
        "ClosedFormStart",
        "DeepSemanticAutoencoder",
    ),
    "base": ("Checkpoints", "Search"),
    "convolutional": ("ConvSemanticAutoencoder", "ConvTraining", "efficientnet_trunk"),
    "generator_methods": (
        "CADAVAEClassifier",
        "CADAVAETraining",
        "FCLSWGANClassifier",
        "FCLSWGANTraining",
        "FVAEGANClassifier",
        "FVAEGANTraining",
        "TFVAEGANClassifier",
        "TFVAEGANTraining",
    ),
    "generators": ("GeneratorSearch",),
}
_PLACES = {name: module for module, names in _ROOMS.items() for name in names}
__all__ = sorted(_PLACES)

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
