"""Zero-shot classifiers, all with one interface."""

from typing import TYPE_CHECKING

from zslearn._optional import lazy_names
from zslearn.zero_shot.registry import METHODS as METHODS
from zslearn.zero_shot.registry import make_classifier as make_classifier

if TYPE_CHECKING:
    from zslearn.zero_shot.auto import AutoZeroShotClassifier as AutoZeroShotClassifier
    from zslearn.zero_shot.base import ZeroShotClassifier as ZeroShotClassifier
    from zslearn.zero_shot.base import ZeroShotMethod as ZeroShotMethod
    from zslearn.zero_shot.calibration import CalibratedStacking as CalibratedStacking
    from zslearn.zero_shot.explanation import Explanation as Explanation
    from zslearn.zero_shot.explanation import Reason as Reason
    from zslearn.zero_shot.legacy import LegacyAwA as LegacyAwA
    from zslearn.zero_shot.legacy import LegacyCUB as LegacyCUB
    from zslearn.zero_shot.legacy import LegacyImNet2 as LegacyImNet2
    from zslearn.zero_shot.linear.eszsl import ESZSLClassifier as ESZSLClassifier
    from zslearn.zero_shot.linear.eszsl import KernelESZSLClassifier as KernelESZSLClassifier
    from zslearn.zero_shot.linear.ridge import RidgeClassifierFS as RidgeClassifierFS
    from zslearn.zero_shot.linear.ridge import RRZSLClassifier as RRZSLClassifier
    from zslearn.zero_shot.linear.sae import SAEClassifier as SAEClassifier
    from zslearn.zero_shot.networks import BaFCClassifier as BaFCClassifier
    from zslearn.zero_shot.networks import MLZSCClassifier as MLZSCClassifier
    from zslearn.zero_shot.networks import MTMDLClassifier as MTMDLClassifier
    from zslearn.zero_shot.posterior.attributes import DAPClassifier as DAPClassifier
    from zslearn.zero_shot.posterior.attributes import IAPClassifier as IAPClassifier
    from zslearn.zero_shot.posterior.similarity import AMPClassifier as AMPClassifier
    from zslearn.zero_shot.posterior.similarity import ConSEClassifier as ConSEClassifier
    from zslearn.zero_shot.posterior.similarity import (
        DirectSimilarityClassifier as DirectSimilarityClassifier,
    )
    from zslearn.zero_shot.prototypes.exem import EXEMClassifier as EXEMClassifier
    from zslearn.zero_shot.prototypes.gfzsl import GFZSLClassifier as GFZSLClassifier
    from zslearn.zero_shot.prototypes.ncm import NCMClassifier as NCMClassifier
    from zslearn.zero_shot.prototypes.prototype_regression import (
        PrototypeRegression as PrototypeRegression,
    )
    from zslearn.zero_shot.pst import PSTClassifier as PSTClassifier
    from zslearn.zero_shot.ranking import ALEClassifier as ALEClassifier
    from zslearn.zero_shot.ranking import DeViSEClassifier as DeViSEClassifier
    from zslearn.zero_shot.ranking import DSSJEClassifier as DSSJEClassifier
    from zslearn.zero_shot.ranking import SJEClassifier as SJEClassifier
    from zslearn.zero_shot.recognizer import Ranking as Ranking
    from zslearn.zero_shot.recognizer import Recognizer as Recognizer
    from zslearn.zero_shot.ss_voc import SSVocClassifier as SSVocClassifier
    from zslearn.zero_shot.synthesized.jlse import JLSEClassifier as JLSEClassifier
    from zslearn.zero_shot.synthesized.sse import SSEClassifier as SSEClassifier
    from zslearn.zero_shot.synthesized.sync import SynCClassifier as SynCClassifier
    from zslearn.zero_shot.tags import ZeroShotTags as ZeroShotTags

# Every public name and where it is; the methods add themselves.
_PLACES = {
    "AutoZeroShotClassifier": "auto",
    "CalibratedStacking": "calibration",
    "Explanation": "explanation",
    "Ranking": "recognizer",
    "Reason": "explanation",
    "Recognizer": "recognizer",
    "ZeroShotClassifier": "base",
    "ZeroShotMethod": "base",
    "ZeroShotTags": "tags",
    **{one.class_name: one.module.removeprefix(f"{__name__}.") for one in METHODS.values()},
}
__all__ = sorted([*_PLACES, "METHODS", "make_classifier"])

__getattr__, __dir__ = lazy_names(
    __name__,
    _PLACES,
    renamed={
        "BoostedTreesClassifier": "sklearn.ensemble.HistGradientBoostingClassifier",
        "Recogniser": "Recognizer",
    },
)
