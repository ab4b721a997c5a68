"""Zero-shot classifiers, one method a file, all with one interface."""

from zslearn.zero_shot._base import ZeroShotClassifier
from zslearn.zero_shot._registry import METHODS, make_classifier
from zslearn.zero_shot._tags import ZeroShotTags
from zslearn.zero_shot.calibration import CalibratedStacking
from zslearn.zero_shot.eszsl import ESZSLClassifier
from zslearn.zero_shot.legacy import LegacyAwA, LegacyCUB, LegacyImNet2
from zslearn.zero_shot.prototype_regression import PrototypeRegression
from zslearn.zero_shot.ridge import RidgeClassifierFS, RRZSLClassifier
from zslearn.zero_shot.sae import Explanation, SAEClassifier

__all__ = [
    "METHODS",
    "CalibratedStacking",
    "ESZSLClassifier",
    "Explanation",
    "LegacyAwA",
    "LegacyCUB",
    "LegacyImNet2",
    "PrototypeRegression",
    "RRZSLClassifier",
    "RidgeClassifierFS",
    "SAEClassifier",
    "ZeroShotClassifier",
    "ZeroShotTags",
    "make_classifier",
]
