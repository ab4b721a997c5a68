"""Zero-shot learning in the scikit-learn way.

The rooms and the ten names below are imported when they are first used, so that importing the
package costs next to nothing.
"""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names

if TYPE_CHECKING:
    from zslearn import (
        autoencoder,
        cli,
        cluster,
        core,
        datasets,
        encoders,
        estimator_checks,
        evaluation,
        exceptions,
        metrics,
        model_selection,
        persistence,
        reproduce,
        scale,
        signatures,
        zero_shot,
    )
    from zslearn import serve as serve
    from zslearn.autoencoder import SemanticAutoencoder
    from zslearn.datasets import load_animals
    from zslearn.evaluation import evaluate
    from zslearn.model_selection import ClassKFold
    from zslearn.persistence import load, save
    from zslearn.signatures import Signatures
    from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier

__version__ = "1.0.0"

__all__ = [
    "CalibratedStacking",
    "ClassKFold",
    "PrototypeRegression",
    "SAEClassifier",
    "SemanticAutoencoder",
    "Signatures",
    "__version__",
    "autoencoder",
    "cli",
    "cluster",
    "core",
    "datasets",
    "encoders",
    "estimator_checks",
    "evaluate",
    "evaluation",
    "exceptions",
    "load",
    "load_animals",
    "metrics",
    "model_selection",
    "persistence",
    "reproduce",
    "save",
    "scale",
    "signatures",
    "zero_shot",
]

_NAMES = {
    "CalibratedStacking": "zero_shot",
    "ClassKFold": "model_selection",
    "PrototypeRegression": "zero_shot",
    "SAEClassifier": "zero_shot",
    "SemanticAutoencoder": "autoencoder",
    "Signatures": "signatures",
    "evaluate": "evaluation",
    "load": "persistence",
    "load_animals": "datasets",
    "save": "persistence",
}
_ROOMS = [name for name in __all__ if name not in _NAMES and name != "__version__"]

# Beside them `serve`, which needs its extra to be imported, so that `import *` leaves it out, and
# the old rooms of one file each, whose names warn.
_OTHER_ROOMS = ["serve", "features", "semantics"]

__getattr__, __dir__ = lazy_names(
    __name__, _NAMES | {room: room for room in [*_ROOMS, *_OTHER_ROOMS]}
)
