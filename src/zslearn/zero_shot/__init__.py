"""Zero-shot classifiers, one method per file, all with one interface."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.zero_shot.registry import METHODS, make_classifier
from zslearn.zero_shot.tags import ZeroShotTags

if TYPE_CHECKING:
    from zslearn.zero_shot.auto.classifier import AutoZeroShotClassifier
    from zslearn.zero_shot.base import ZeroShotClassifier, ZeroShotMethod
    from zslearn.zero_shot.calibration import CalibratedStacking
    from zslearn.zero_shot.explanation import Explanation
    from zslearn.zero_shot.legacy import LegacyAwA, LegacyCUB, LegacyImNet2
    from zslearn.zero_shot.linear.eszsl import ESZSLClassifier, KernelESZSLClassifier
    from zslearn.zero_shot.linear.ridge import RidgeClassifierFS, RRZSLClassifier
    from zslearn.zero_shot.linear.sae import SAEClassifier
    from zslearn.zero_shot.networks import BaFCClassifier, MLZSCClassifier, MTMDLClassifier
    from zslearn.zero_shot.posterior.attributes import DAPClassifier, IAPClassifier
    from zslearn.zero_shot.posterior.boosted_trees import BoostedTreesClassifier
    from zslearn.zero_shot.posterior.similarity import (
        AMPClassifier,
        ConSEClassifier,
        DirectSimilarityClassifier,
    )
    from zslearn.zero_shot.prototypes.exem import EXEMClassifier
    from zslearn.zero_shot.prototypes.gfzsl import GFZSLClassifier
    from zslearn.zero_shot.prototypes.ncm import NCMClassifier
    from zslearn.zero_shot.prototypes.prototype_regression import PrototypeRegression
    from zslearn.zero_shot.pst import PSTClassifier
    from zslearn.zero_shot.ranking import (
        ALEClassifier,
        DeViSEClassifier,
        DSSJEClassifier,
        SJEClassifier,
    )
    from zslearn.zero_shot.recognizer import Ranking, Recognizer
    from zslearn.zero_shot.ss_voc import SSVocClassifier
    from zslearn.zero_shot.synthesized.jlse import JLSEClassifier
    from zslearn.zero_shot.synthesized.sse import SSEClassifier
    from zslearn.zero_shot.synthesized.sync import SynCClassifier

__all__ = [
    "METHODS",
    "ALEClassifier",
    "AMPClassifier",
    "AutoZeroShotClassifier",
    "BaFCClassifier",
    "BoostedTreesClassifier",
    "CalibratedStacking",
    "ConSEClassifier",
    "DAPClassifier",
    "DSSJEClassifier",
    "DeViSEClassifier",
    "DirectSimilarityClassifier",
    "ESZSLClassifier",
    "EXEMClassifier",
    "Explanation",
    "GFZSLClassifier",
    "IAPClassifier",
    "JLSEClassifier",
    "KernelESZSLClassifier",
    "LegacyAwA",
    "LegacyCUB",
    "LegacyImNet2",
    "MLZSCClassifier",
    "MTMDLClassifier",
    "NCMClassifier",
    "PSTClassifier",
    "PrototypeRegression",
    "RRZSLClassifier",
    "Ranking",
    "Recognizer",
    "RidgeClassifierFS",
    "SAEClassifier",
    "SJEClassifier",
    "SSEClassifier",
    "SSVocClassifier",
    "SynCClassifier",
    "ZeroShotClassifier",
    "ZeroShotMethod",
    "ZeroShotTags",
    "make_classifier",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AutoZeroShotClassifier": "auto.classifier",
        "BoostedTreesClassifier": "posterior.boosted_trees",
        "CalibratedStacking": "calibration",
        "Explanation": "explanation",
        "Ranking": "recognizer",
        "Recognizer": "recognizer",
        "ZeroShotClassifier": "base",
        "ZeroShotMethod": "base",
        **{method.class_name: method.module for method in METHODS.values()},
    },
    renamed={"Recogniser": "Recognizer"},
)
