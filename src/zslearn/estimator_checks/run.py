"""Running the checks: all on one estimator, or one test a check with pytest."""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import choices, fitting, interface, predictions, refusals
from zslearn.signatures import Signatures
from zslearn.zero_shot import ZeroShotTags

NEWCOMER = "newcomer"


@dataclass(frozen=True)
class CheckData:
    """Samples of seen and unseen classes, and the vector of one class more.

    Attributes
    ----------
    X_seen, X_unseen : ndarrays of shape (n_samples, n_features)
        Features; rows of different classes are mixed.
    y_seen, y_unseen : ndarrays of shape (n_samples,)
        Class names.
    signatures : Signatures
        Of the seen and unseen classes.
    seen, unseen : tuple of str
        Class names.
    new_vector : ndarray of shape (n_dimensions,)
        Signature of the class "newcomer", which is not in `signatures`.
    """

    X_seen: NDArray[Any]
    y_seen: NDArray[Any]
    X_unseen: NDArray[Any]
    y_unseen: NDArray[Any]
    signatures: Signatures
    seen: tuple[str, ...]
    unseen: tuple[str, ...]
    new_vector: NDArray[Any]

    @classmethod
    def make(
        cls,
        tags: ZeroShotTags,
        *,
        n_per_class: int = 8,
        n_features: int = 16,
        n_dimensions: int = 8,
    ) -> CheckData:
        """Make 12 seen classes, 4 unseen ones and a newcomer, as the tags need them."""
        made = make_zero_shot(
            12,
            5,
            n_per_class=n_per_class,
            n_features=n_features,
            n_dimensions=n_dimensions,
            noise=0.2,
            random_state=0,
        )
        order = np.random.default_rng(0).permutation(len(made.X))
        X, y, vectors = made.X[order], made.y[order], made.signatures.vectors
        if tags.non_negative:
            X, vectors = X - X.min(), vectors - vectors.min()
        names = [str(name) for name in made.signatures.names]
        half = n_dimensions // 2
        blocks = {"first": slice(0, half), "second": slice(half, n_dimensions)}
        table = Signatures(names[:-1], vectors[:-1], blocks=blocks if tags.several_spaces else None)
        seen, unseen = tuple(names[:12]), tuple(names[12:16])
        rows, others = np.isin(y, seen), np.isin(y, unseen)
        return cls(X[rows], y[rows], X[others], y[others], table, seen, unseen, vectors[-1])


class Case:
    """An estimator under test with data that suit it; fitted once, however many checks run.

    Parameters
    ----------
    estimator : zero-shot classifier
        Unfitted. Its `signatures`, and its `random_state` if it has one and it is None, are set to
        those of the check.

    Attributes
    ----------
    estimator : zero-shot classifier
        A clone with the signatures of `data`, unfitted.
    data : CheckData
        The data.
    """

    def __init__(self, estimator: Any) -> None:
        self.given = estimator
        self.data = CheckData.make(self.tags)
        self.estimator = self.with_signatures(self.data.signatures)

    @property
    def name(self) -> str:
        """The estimator in words, without its table of classes."""
        return re.sub(r"\s+", " ", repr(self.given))

    @property
    def tags(self) -> ZeroShotTags:
        """What the estimator says of itself."""
        tags = self.given.zero_shot_tags
        expect(isinstance(tags, ZeroShotTags), "zero_shot_tags must be a ZeroShotTags.")
        return tags

    @property
    def signature_parameters(self) -> list[str]:
        """Names of the parameters that hold signatures, also those of a wrapped estimator."""
        return [name for name in self.given.get_params() if name.split("__")[-1] == "signatures"]

    def with_signatures(self, signatures: Signatures) -> Any:
        """Return an unfitted clone with these signatures and a fixed random state."""
        estimator = clone(self.given)
        expect(bool(self.signature_parameters), "the estimator has no parameter 'signatures'.")
        changes: dict[str, Any] = dict.fromkeys(self.signature_parameters, signatures)
        for name, value in estimator.get_params().items():
            if name.split("__")[-1] == "random_state" and value is None:
                changes[name] = 0
        return estimator.set_params(**changes)

    def fit(self, data: CheckData | None = None) -> Any:
        """Fit a new clone on the seen classes of the case's data, or of other data."""
        data = self.data if data is None else data
        return self.with_signatures(data.signatures).fit(data.X_seen, data.y_seen)

    @cached_property
    def fitted(self) -> Any:
        """The estimator fitted on the seen classes; checks must not change it."""
        return self.fit()

    def copy_of_fitted(self) -> Any:
        """Return a copy of the fitted estimator, to be changed at will."""
        return copy.deepcopy(self.fitted)

    @cached_property
    def scores(self) -> NDArray[Any]:
        """Scores of the unseen samples for the unseen classes."""
        return self.fitted.decision_function(self.data.X_unseen, self.data.unseen)

    @cached_property
    def predictions(self) -> NDArray[Any]:
        """Predictions of the unseen samples among the unseen classes."""
        return self.fitted.predict(self.data.X_unseen, self.data.unseen)


def expect(condition: bool, message: str) -> None:
    """Fail a check with a message."""
    if not condition:
        raise AssertionError(message)


def expect_close(got: Any, wanted: Any, message: str, rtol: float = 1e-6) -> None:
    """Fail unless two arrays of scores agree, relative to the largest score."""
    got, wanted = np.asarray(got, float), np.asarray(wanted, float)
    scale = float(np.abs(wanted).max(initial=0.0)) or 1.0
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * scale, err_msg=message)


def expect_refused(
    what: str,
    kinds: type[Exception] | tuple[type[Exception], ...],
    says: str,
    call: Callable[..., Any],
    *arguments: Any,
) -> None:
    """Fail unless the call raises one of `kinds` with a message that matches the pattern `says`."""
    try:
        call(*arguments)
    except kinds as error:
        expect(
            re.search(says, str(error), flags=re.IGNORECASE) is not None,
            f"the error for {what} should say /{says}/; it says: {error}",
        )
    else:
        raise AssertionError(f"{what} was accepted; it must be refused.")


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
