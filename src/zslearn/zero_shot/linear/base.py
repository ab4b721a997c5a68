"""Base of the closed-form linear methods: one map, its penalties chosen along a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fallbacks, fitted, parameter, search_space
from zslearn._parameters import Either
from zslearn.core.learner import FoldedMoments
from zslearn.core.moments import Moments
from zslearn.core.nearest import (
    METRICS,
    Comparison,
    Direction,
    Metric,
    Targets,
    class_vectors,
    ready_queries,
)
from zslearn.core.paths import fold_accuracy
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.moment_classifier import MomentClassifier
from zslearn.zero_shot.scoring import Branch, LinearForm
from zslearn.zero_shot.search import Point, SearchingMethod, choose_parameters, grid_points


class PenalizedClassifier(SearchingMethod):
    """A linear map with penalties.

    A method declares its penalties with the scale-free values tried, and says what one unit of each
    means (`_units`) and what the class vectors of a grid of them are (`_vectors`).
    """

    metric: Metric = parameter(default="cosine", allowed=Either(*METRICS))
    _direction: ClassVar[Direction]

    def _points(self, units: Mapping[str, float]) -> list[Point]:
        """Return the penalties to try, in units of the data, the last one varying fastest."""
        # Grids are free of scale: multiples of what the data says one unit is.
        tried = {name: np.asarray(v) * units[name] for name, v in search_space(self).items()}
        return grid_points(self, {name: values.tolist() for name, values in tried.items()})

    def _default(self, units: Mapping[str, float]) -> Point:
        """Return what is taken without a search: the numbers given, or defaults."""
        return {
            name: default * units[name] if is_cv(getattr(self, name)) else getattr(self, name)
            for name, default in fallbacks(self).items()
        }

    def _use(self, point: Point) -> None:
        """Set every penalty, as an attribute ending in "_"."""
        for name, value in point.items():
            setattr(self, f"{name}_", float(value))

    def _solved(self, moments: Moments) -> NDArray:
        chosen = tuple(np.array([getattr(self, f"{name}_")]) for name in search_space(self))
        # The class vectors of the unit signatures are the map itself.
        rows = np.eye(self.seen_signatures_.shape[1])
        return self._vectors(moments, self.seen_signatures_, rows, chosen)[0]

    def _units(self, moments: Moments) -> dict[str, float]:
        raise NotImplementedError

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        """Class vectors of shape (n_points, n_rows, n_features), the last penalty fastest."""
        raise NotImplementedError

    def _values(self, points: list[Point]) -> tuple[NDArray, ...]:
        """Values of each penalty among the points of a grid, in their order."""
        columns = ([point[name] for point in points] for name in search_space(self))
        return tuple(np.array(list(dict.fromkeys(column)), dtype=float) for column in columns)


class LinearZeroShotClassifier(MomentClassifier, PenalizedClassifier):
    """A linear map between features and semantics, learned from moments alone.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        The map: ``S @ coef_`` are the class vectors in feature space.
    """

    coef_: NDArray = fitted("k d")

    def _chooses(self) -> bool:
        return any(is_cv(getattr(self, name)) for name in search_space(self))

    def _learn(self, folded: FoldedMoments) -> None:
        units = self._units(folded.total)
        points = self._points(units)
        # One decomposition per fold serves the whole grid, so points are judged together.
        values = self._values(points)
        rule = (self._direction, self.metric)

        def vectors(train: Moments, seen: NDArray, rows: NDArray) -> NDArray:
            return self._vectors(train, seen, rows, values)

        def judge(fold: int) -> NDArray:
            return fold_accuracy(folded, fold, self.seen_signatures_, vectors, [rule])[0]

        folds = range(len(folded.parts)) if folded.has_folds else ()
        default = self._default(units)
        self._use(choose_parameters(self, points, folds, judge, default=default))
        # With fewer rows than features all was solved in the space of the rows; back to features.
        self.coef_ = folded.lifted(self._solved(folded.total))

    def represent(self, rows: Features) -> Features:
        comparison = Comparison.of(self.metric)
        if self._direction == "encode":
            return ready_queries(self.encode_rows(rows), comparison)
        return ready_queries(rows, comparison, unit=self.feature_norm == "l2")

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        S = self._unit_signatures(names, vectors)
        # Compare W x with s_c, or x with the class vector Wᵀ s_c.
        rows = class_vectors(S, self.coef_) if self._direction == "decode" else S
        return Targets.of(rows, self.metric)

    def compare(self, queries: Features, classes: Targets) -> NDArray:
        return classes.scores_of_ready(queries)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        s = self._unit_signatures([name], vector[None])[0]
        parts = Comparison.of(self.metric).split(rows[0], s, self.coef_, self._direction)
        return Explanation.of(self.signatures_.dimensions, *parts)

    def linear_form(self, classes: Targets) -> LinearForm:
        coef = self.coef_ if self._direction == "encode" else None
        return LinearForm((Branch(coef, classes),), self.feature_norm)

    def encode_rows(self, rows: Features) -> NDArray:
        if self._direction == "decode":  # a map from semantics only
            return super().encode_rows(rows)
        return np.asarray(rows @ self.coef_.T.astype(rows.dtype))
