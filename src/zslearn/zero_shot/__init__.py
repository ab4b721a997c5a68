"""Zero-shot classifiers, one method a file, all with one interface."""

from zslearn.zero_shot._base import ZeroShotClassifier
from zslearn.zero_shot._registry import METHODS, make_classifier
from zslearn.zero_shot._tags import ZeroShotTags
from zslearn.zero_shot.ale import ALEClassifier
from zslearn.zero_shot.amp import AMPClassifier
from zslearn.zero_shot.ba_fc import BaFCClassifier
from zslearn.zero_shot.calibration import CalibratedStacking
from zslearn.zero_shot.conse import ConSEClassifier
from zslearn.zero_shot.dap import DAPClassifier
from zslearn.zero_shot.devise import DeViSEClassifier
from zslearn.zero_shot.direct_similarity import DirectSimilarityClassifier
from zslearn.zero_shot.ds_sje import DSSJEClassifier
from zslearn.zero_shot.eszsl import ESZSLClassifier
from zslearn.zero_shot.eszsl_kernel import KernelESZSLClassifier
from zslearn.zero_shot.exem import EXEMClassifier
from zslearn.zero_shot.gfzsl import GFZSLClassifier
from zslearn.zero_shot.iap import IAPClassifier
from zslearn.zero_shot.jlse import JLSEClassifier
from zslearn.zero_shot.legacy import LegacyAwA, LegacyCUB, LegacyImNet2
from zslearn.zero_shot.mlzsc import MLZSCClassifier
from zslearn.zero_shot.mtmdl import MTMDLClassifier
from zslearn.zero_shot.ncm import NCMClassifier
from zslearn.zero_shot.prototype_regression import PrototypeRegression
from zslearn.zero_shot.pst import PSTClassifier
from zslearn.zero_shot.ridge import RidgeClassifierFS, RRZSLClassifier
from zslearn.zero_shot.sae import Explanation, SAEClassifier
from zslearn.zero_shot.sje import SJEClassifier
from zslearn.zero_shot.ss_voc import SSVocClassifier
from zslearn.zero_shot.sse import SSEClassifier
from zslearn.zero_shot.sync import SynCClassifier

__all__ = [
    "METHODS",
    "ALEClassifier",
    "AMPClassifier",
    "BaFCClassifier",
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
    "RidgeClassifierFS",
    "SAEClassifier",
    "SJEClassifier",
    "SSEClassifier",
    "SSVocClassifier",
    "SynCClassifier",
    "ZeroShotClassifier",
    "ZeroShotTags",
    "make_classifier",
]
