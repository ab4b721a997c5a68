"""The mean of the scores of several classifiers, on all semantic spaces or on one each."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from zslearn._parameters import Constraint, Either, Seed, check_parameters
from zslearn._pipelines import (
    features_of,
    frozen,
    last_step,
    set_signatures,
    steps_before,
)
from zslearn.core.fitting import fit_method
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import CLASSIFIER, Features, ZeroShotMethod
from zslearn.zero_shot.candidates import whole_rows
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import as_signatures, check_features, refuses_sample_weight
from zslearn.zero_shot.scoring import Scorer, Stepped
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


class AverageClassifier(ZeroShotMethod):
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

    parameter_constraints: ClassVar = {
        "members": Constraint("a list of zero-shot classifiers, or pipelines", _are_members),
        "spaces": Either(None, Constraint("a list of names of blocks, or None", _are_spaces)),
        "random_state": Seed(),
    }
    learned_shapes: ClassVar = {"seen_signatures_": None, "scales_": "m"}
    # Every member normalizes in its own way.
    feature_norm: str | None = None
    signature_norm: str | None = None

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

    @property
    def zero_shot_tags(self) -> ZeroShotTags:  # type: ignore[override]
        """What holds of the mean because it holds of every member, or of one."""
        members = getattr(self, "pipelines_", self.members if _are_members(self.members) else ())
        every = [last_step(one).zero_shot_tags for one in members]
        return ZeroShotTags(
            transductive=any(tags.transductive for tags in every),
            closed_form=False,
            deterministic=all(tags.deterministic for tags in every),
            separable=all(tags.separable for tags in every),
            non_negative=any(tags.non_negative for tags in every),
            min_batch=max((tags.min_batch for tags in every), default=1),
            reference="zslearn; see docs/which_method.md",
        )

    @refuses_sample_weight
    @fit_method
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
            scales.append(spread_of_scores(fitted, X[rows], self.seen_classes_))
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

    def _scorers(self) -> list[Scorer]:
        """Return what answers for each member; rows are checked by the average itself."""
        return [Stepped(last_step(one).scorer(), steps_before(one)) for one in self.pipelines_]

    @property
    def _weights(self) -> NDArray:
        return np.asarray(1 / (self.scales_ * len(self.scales_)))

    def check_rows(self, X: Any) -> Any:
        return check_features(X, self)

    def represent(self, rows: Features) -> tuple[Any, ...]:
        return tuple(one.represent(whole_rows(one.check_rows(rows))) for one in self._scorers())

    def prepare(self, names: NDArray, vectors: NDArray) -> tuple[Any, ...]:
        return tuple(
            one.prepare(names, vectors[:, columns])
            for one, columns in zip(self._scorers(), self._columns(), strict=True)
        )

    def compare(self, queries: tuple[Any, ...], classes: tuple[Any, ...]) -> NDArray:
        total: Any = 0.0
        for one, weight, *pair in zip(
            self._scorers(), self._weights, queries, classes, strict=True
        ):
            total = total + weight * one.compare(*pair)
        return np.asarray(total)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        if not self.zero_shot_tags.separable:  # a member's score hangs on who else is a candidate
            return super().decompose(rows, name, vector)
        # Add up what members say by dimensions; what others say belongs to no dimension.
        dimensions = self.signatures_.dimensions
        contributions, offset, explained = np.zeros(len(dimensions)), 0.0, False
        for one, columns, weight in zip(
            self._scorers(), self._columns(), self._weights, strict=True
        ):
            own, part = one.check_rows(rows), vector[columns]
            why = _why(one, own, name, part)
            if why is not None and why.dimensions == dimensions[columns]:
                contributions[columns] += weight * why.contributions
                offset, explained = offset + weight * why.offset, True
            else:
                classes = one.prepare(np.array([name]), part[None])
                offset += weight * float(one.compare(one.represent(own), classes)[0, 0])
        if not explained:
            return super().decompose(rows, name, vector)
        return Explanation.of(dimensions, contributions, offset)


def spread_of_scores(fitted: Any, X: Any, classes: NDArray) -> float:
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


def _why(scorer: Scorer, rows: Features, name: Any, vector: NDArray) -> Explanation | None:
    """Return the explanation of a member, None if it has none."""
    try:
        return scorer.decompose(rows, name, vector)
    except InvalidInputError:
        return None
