"""Running the checks: all on one estimator, or one test a check with pytest."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

from zslearn.estimator_checks import choices, fitting, interface, predictions, refusals
from zslearn.estimator_checks.case import Case

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
    rooms = (interface, refusals, predictions, fitting, choices)
    return [check for room in rooms for check in room.CHECKS]


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
