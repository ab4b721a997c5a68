"""The mean of the scores of several classifiers, on all semantic spaces or on one each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn._parameters import Constraint, Either, check_parameters
from zslearn.core.fitting import all_or_nothing
from zslearn.core.rows import LazyRows
from zslearn.core.threads import limits_blas
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features, ZeroShotClassifier
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import as_signatures, refuses_weights, single
from zslearn.zero_shot.pipelines import (
    CLASSIFIER,
    features_of,
    frozen,
    last_step,
    set_signatures,
)
from zslearn.zero_shot.search import even_rows
from zslearn.zero_shot.tags import ZeroShotTags

# Training rows that the scale of a member is measured on.
_ROWS = 500


def _are_members(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) and len(value) > 0
    return listed and all(map(CLASSIFIER.allows, value))


def _are_spaces(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        one is None or type(one) is str for one in value
    )


class AverageClassifier(ZeroShotClassifier):
    """Rank classes by the mean of the scores of several classifiers, each divided by its scale.

    The scale of a classifier is how far its scores of one sample differ between the seen classes,
    as a standard deviation, in the mean over training samples. It does not depend on the
    candidates, so that every class keeps its score whatever the others are.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    members : list of estimators
        Unfitted zero-shot classifiers, or pipelines that end in one. They are cloned, and get the
        signatures given here.
    spaces : list of str or None, optional
        For each member the block of the signatures that it sees; None is all of them.
    random_state : int or None, default=0
        Seed of the rows that scales are measured on.

    Attributes
    ----------
    pipelines_ : list of estimators
        The fitted members.
    scales_ : ndarray of shape (n_members,)
        Their scales.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import ESZSLClassifier, RRZSLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = AverageClassifier(data.signatures, members=[RRZSLClassifier(), ESZSLClassifier()])
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="zslearn; see docs/which_method.md"
    )
    parameter_constraints: ClassVar = {
        "members": Constraint("a list of zero-shot classifiers, or pipelines", _are_members),
        "spaces": Either(None, Constraint("a list of names of blocks, or None", _are_spaces)),
    }
    learned_shapes: ClassVar = {"seen_signatures_": None, "scales_": "m"}

    def __init__(
        self,
        signatures: Any = None,
        *,
        members: Any = (),
        spaces: Any = None,
        random_state: int | None = 0,
    ) -> None:
        self.signatures = signatures
        self.members = members
        self.spaces = spaces
        self.random_state = random_state

    @refuses_weights
    @all_or_nothing
    @limits_blas
    def fit(self, X: Any, y: Any) -> AverageClassifier:
        """Fit every member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features of the seen classes.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        AverageClassifier
            The fitted classifier.
        """
        check_parameters(self)
        X, labels = self._validated(X, y)
        index = self._set_classes(X, labels)
        rows = even_rows(index, _ROWS, np.random.default_rng(self.random_state))
        self.pipelines_: list[Any] = []
        scales = []
        for member, columns in zip(self.members, self._columns(), strict=True):
            fitted = clone(member)
            set_signatures(last_step(fitted), self._table(columns))
            self.pipelines_.append(fitted.fit(X, labels))
            scales.append(score_scale(fitted, X[rows], self.seen_classes_))
        self.scales_ = np.array(scales)
        return self

    def frozen(self) -> AverageClassifier:
        """Return an unfitted copy whose members have the parameters that their fits chose.

        Returns
        -------
        AverageClassifier
        """
        check_is_fitted(self)
        return clone(self).set_params(members=[frozen(one) for one in self.pipelines_])

    def _columns(self) -> list[slice]:
        """Columns of the signatures that each member sees."""
        spaces = [None] * len(self.members) if self.spaces is None else list(self.spaces)
        blocks = self.signatures_.blocks
        unknown = [one for one in spaces if one is not None and one not in blocks]
        if unknown or len(spaces) != len(self.members):
            raise InvalidInputError(
                f"spaces must name a block of the signatures for each of {len(self.members)} "
                f"members; got {spaces} and blocks {list(blocks)}."
            )
        return [slice(None) if one is None else blocks[one] for one in spaces]

    def _table(self, columns: slice) -> Any:
        """Return the signatures with some of their columns."""
        if self.signatures is None or columns == slice(None):
            return self.signatures
        table = as_signatures(self.signatures)
        return Signatures(table.names, table.vectors[:, columns], table.dimensions[columns])

    def _normalized(self, names: NDArray) -> NDArray:
        return self._raw_signatures(names)

    def _ready_rows(self, X: Any) -> Any:
        return validate_data(
            self, single(X), reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    def _prepared(self, names: NDArray, vectors: NDArray) -> Any:
        return tuple(
            last_step(one)._prepared(names, vectors[:, columns])
            for one, columns in zip(self.pipelines_, self._columns(), strict=True)
        )

    def _score(self, X: Features, prepared: Any) -> NDArray:
        total: Any = 0.0
        for one, weight, ready in zip(self.pipelines_, self._weights, prepared, strict=True):
            total = total + weight * last_step(one)._score(_rows(one, X), ready)
        return np.asarray(total)

    @property
    def _weights(self) -> NDArray:
        return np.asarray(1 / (self.scales_ * len(self.scales_)))

    def _explained(self, X: Features, name: Any, vector: NDArray) -> Explanation:
        """Add up what members say by dimensions; what others say belongs to no dimension."""
        dimensions = self.signatures_.dimensions
        contributions, offset, explained = np.zeros(len(dimensions)), 0.0, False
        prepared = self._prepared(np.array([name]), vector[None])
        every = zip(self.pipelines_, self._columns(), self._weights, prepared, strict=True)
        for one, columns, weight, ready in every:
            rows = _rows(one, X)
            why = _why(last_step(one), rows, name, vector[columns])
            if why is not None and why.dimensions == dimensions[columns]:
                contributions[columns] += weight * why.contributions
                offset, explained = offset + weight * why.offset, True
            else:
                offset += weight * float(last_step(one)._score(rows, ready)[0, 0])
        if not explained:
            return super()._explained(X, name, vector)
        return Explanation.of(dimensions, contributions, offset)


def score_scale(fitted: Any, X: Any, classes: NDArray) -> float:
    """Return how far the scores of a sample differ between classes; 1 if they do not.

    Parameters
    ----------
    fitted : estimator
        A zero-shot classifier, or a pipeline that ends in one.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Samples.
    classes : ndarray of shape (n_classes,)
        Candidates.

    Returns
    -------
    float
    """
    scores = last_step(fitted)._live(classes).scores(features_of(fitted, X))
    found = float(np.mean(scores.std(axis=1, dtype=np.float64)))
    return found if found > 0 and np.isfinite(found) else 1.0


def _rows(fitted: Any, X: Features) -> Features:
    """Return rows as the classifier at the end of a pipeline scores them."""
    rows = last_step(fitted)._ready_rows(features_of(fitted, X))
    return rows[:] if isinstance(rows, LazyRows) else rows


def _why(model: Any, rows: Features, name: Any, vector: NDArray) -> Explanation | None:
    """Return the explanation of a member, None if it has none."""
    try:
        found: Explanation = model._explained(rows, name, vector)
    except InvalidInputError:
        return None
    return found
