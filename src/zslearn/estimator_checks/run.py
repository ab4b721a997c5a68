"""Running the checks: all on one estimator, or one test a check with pytest."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from zslearn.estimator_checks import predictions
from zslearn.estimator_checks.case import Case
from zslearn.estimator_checks.fitting import CHOICES, FITTING, INTERFACE, REFUSALS

Check = Callable[[Case], None]


def zero_shot_checks() -> list[Check]:
    """Return every check, in the order they run; each takes a `Case`.

    Returns
    -------
    list of callable
        Functions that take a `Case` and raise AssertionError where the estimator fails.

    Examples
    --------
    >>> from zslearn.estimator_checks import Case, zero_shot_checks
    >>> from zslearn.zero_shot import SAEClassifier
    >>> case = Case(SAEClassifier(lam=1.0))
    >>> checks = {check.__name__: check for check in zero_shot_checks()}
    >>> checks["check_candidates"](case)
    """
    parts = (
        INTERFACE,
        REFUSALS,
        predictions.CHECKS,
        FITTING,
        CHOICES,
    )
    return [check for part in parts for check in part]


def check_zero_shot_classifier(estimator: Any) -> None:
    """Run every check on an estimator.

    Parameters
    ----------
    estimator : zero-shot classifier
        Unfitted; its signatures may be None, the checks set their own.

    Raises
    ------
    AssertionError
        Names every check that failed, and why.

    Examples
    --------
    >>> from zslearn.estimator_checks import check_zero_shot_classifier
    >>> from zslearn.zero_shot import SAEClassifier
    >>> check_zero_shot_classifier(SAEClassifier(lam=1.0))
    """
    case = Case(estimator)
    failures: dict[str, Exception] = {}
    for check in zero_shot_checks():
        try:
            check(case)
        except Exception as error:  # a check fails by any error the estimator makes
            failures[check.__name__] = error
    if failures:
        told = "\n".join(f"- {name}: {_in_words(error)}" for name, error in failures.items())
        raise AssertionError(f"{case.name} fails {len(failures)} check(s):\n{told}") from next(
            iter(failures.values())
        )


def parametrize_with_zero_shot_checks(estimators: Iterable[Any]) -> Any:
    """Return a pytest decorator that gives a test every estimator with every check.

    The estimator arrives as a `Case`, which fits it once for all its checks.

    Parameters
    ----------
    estimators : iterable of zero-shot classifiers
        Unfitted.

    Returns
    -------
    decorator
        Parametrises the arguments ``case`` and ``check``.

    Examples
    --------
    >>> from zslearn.estimator_checks import parametrize_with_zero_shot_checks
    >>> from zslearn.zero_shot import SAEClassifier
    >>> @parametrize_with_zero_shot_checks([SAEClassifier(lam=1.0)])
    ... def test_zero_shot(case, check):
    ...     check(case)
    """
    pytest = importlib.import_module("pytest")
    cases = [Case(estimator) for estimator in estimators]
    return pytest.mark.parametrize(
        ("case", "check"),
        [
            pytest.param(case, check, id=f"{case.name}-{check.__name__}")
            for case in cases
            for check in zero_shot_checks()
        ],
    )


def _in_words(error: Exception) -> str:
    """Put the error on one line, with its kind unless it is the check's own."""
    told = " ".join(str(error).split())
    return told if isinstance(error, AssertionError) else f"{type(error).__name__}: {told}"


_SPLITS = "the check sets cv to a list of splits; here cv is a number of folds over classes"
_BATCH = "a prediction depends on the other samples of its batch"
_SMALL = "the check predicts fewer samples than the method's smallest batch"
# Checks that predict small batches, and how many samples they take.
_BATCHES = {
    "check_classifier_data_not_an_array": 12,
    "check_classifiers_classes": 20,
    "check_decision_proba_consistency": 20,
    "check_dict_unchanged": 20,
    "check_estimators_dtypes": 20,
    "check_f_contiguous_array_estimator": 20,
    "check_fit_idempotent": 20,
    "check_methods_sample_order_invariance": 20,
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator is expected to fail, with the reason.

    Pass it on to ``sklearn.utils.estimator_checks.parametrize_with_checks``, or what it returns to
    ``check_estimator``.

    Parameters
    ----------
    estimator : zero-shot classifier
        Unfitted.

    Returns
    -------
    dict of str to str
        Name of a check to why it does not apply. That whole weights are repeated rows is checked
        by `check_zero_shot_classifier` instead.

    Examples
    --------
    >>> from zslearn.estimator_checks import expected_failed_checks
    >>> from zslearn.zero_shot import PSTClassifier
    >>> list(expected_failed_checks(PSTClassifier()))
    ['check_methods_subset_invariance']
    """
    tags = estimator.zero_shot_tags
    failures = {name: _SMALL for name, size in _BATCHES.items() if size < tags.min_batch}
    if tags.transductive:
        failures["check_methods_subset_invariance"] = _BATCH
    if has_fit_parameter(estimator, "sample_weight") and "cv" in estimator.get_params():
        for kind in ("dense", "sparse"):
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = _SPLITS
    return failures
