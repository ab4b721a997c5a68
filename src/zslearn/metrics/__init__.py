"""Measures of zero-shot recognition, for the conventional and the generalized setting."""

from zslearn.metrics.accuracy import per_class_accuracy, per_sample_accuracy
from zslearn.metrics.clustering import clustering_loss
from zslearn.metrics.generalized import harmonic_mean
from zslearn.metrics.hits import hit_at_k
from zslearn.metrics.rejection import RejectionCurve, rejection_curve
from zslearn.metrics.rejection_display import RejectionCurveDisplay
from zslearn.metrics.reliability import (
    ReliabilityCurve,
    expected_calibration_error,
    reliability_curve,
)
from zslearn.metrics.reliability_display import ReliabilityDisplay
from zslearn.metrics.scorers import ZeroShotScorer, make_zero_shot_scorer
from zslearn.metrics.seen_unseen import (
    OperatingPoint,
    SeenUnseenCurve,
    ausuc,
    seen_unseen_curve,
)
from zslearn.metrics.seen_unseen_display import SeenUnseenCurveDisplay

__all__ = [
    "OperatingPoint",
    "RejectionCurve",
    "RejectionCurveDisplay",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "SeenUnseenCurve",
    "SeenUnseenCurveDisplay",
    "ZeroShotScorer",
    "ausuc",
    "clustering_loss",
    "expected_calibration_error",
    "harmonic_mean",
    "hit_at_k",
    "make_zero_shot_scorer",
    "per_class_accuracy",
    "per_sample_accuracy",
    "rejection_curve",
    "reliability_curve",
    "seen_unseen_curve",
]
