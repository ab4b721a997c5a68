"""Public checks that every zero-shot classifier must pass."""

from zslearn.estimator_checks.case import Case, CheckData
from zslearn.estimator_checks.run import (
    check_zero_shot_classifier,
    expected_failed_checks,
    parametrize_with_zero_shot_checks,
    zero_shot_checks,
)

__all__ = [
    "Case",
    "CheckData",
    "check_zero_shot_classifier",
    "expected_failed_checks",
    "parametrize_with_zero_shot_checks",
    "zero_shot_checks",
]
