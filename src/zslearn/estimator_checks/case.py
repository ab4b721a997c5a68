"""What a check works on: an estimator, easy synthetic data, and the two fitted together."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from zslearn.datasets import make_zero_shot
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
