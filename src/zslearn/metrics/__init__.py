"""Measures of zero-shot recognition, for the conventional and the generalized setting."""

from zslearn.metrics.accuracy import (
    harmonic_mean,
    hit_at_k,
    per_class_accuracy,
    per_sample_accuracy,
)
from zslearn.metrics.clustering import clustering_loss
from zslearn.metrics.rejection import RejectionCurve, RejectionCurveDisplay, rejection_curve
from zslearn.metrics.reliability import (
    ReliabilityCurve,
    ReliabilityDisplay,
    expected_calibration_error,
    reliability_curve,
)
from zslearn.metrics.scorers import ZeroShotScorer, make_zero_shot_scorer
from zslearn.metrics.seen_unseen import (
    OperatingPoint,
    SeenUnseenCurve,
    SeenUnseenCurveDisplay,
    ausuc,
    seen_unseen_curve,
)

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
