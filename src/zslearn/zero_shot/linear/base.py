"""Base of the closed-form linear methods: one map, its penalties chosen along a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, check_parameters
from zslearn.core.folded_moments import FoldedMoments
from zslearn.core.lam_path import fold_moments, held_out_curve
from zslearn.core.moments import Moments
from zslearn.core.nearest import METRICS, Metric, Targets
from zslearn.core.paths import Direction
from zslearn.core.row_space import reduced
from zslearn.zero_shot.base import Features, ZeroShotClassifier
from zslearn.zero_shot.search import folds_of_classes, parameter_folds

Grid = list[dict[str, float]]


class LinearZeroShotClassifier(ZeroShotClassifier):
    """A linear map between features and semantics, learned from `Moments` alone.

    A method names its penalties (`_penalties`, parameter to the scale-free values tried), what one
    unit of each means (`_units`) and the class vectors of a grid of them (`_vectors`).

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        The map: ``S @ coef_`` are the class vectors in feature space.
    cv_results_ : dict or None
        If penalties were chosen: "points", a list of dict, and "scores" of shape
        (n_points, n_folds), the per-class accuracy on held-out classes.
    """

    _penalties: ClassVar[Mapping[str, tuple[float, ...]]]
    _defaults: ClassVar[Mapping[str, float]]  # scale-free, where there are too few classes
    _direction: ClassVar[Direction]
    _from_moments: ClassVar[bool] = True
    metric: Metric
    cv: int = 5
    random_state: int | None = 0
    parameter_constraints: ClassVar = {
        "metric": Either(*METRICS),
    }

    def fit_moments(self, moments: Moments) -> LinearZeroShotClassifier:
        """Learn from moments of features normalized as `feature_norm` says.

        Parameters
        ----------
        moments : Moments
            Raw (not centered) moments of the training data, labeled by class names.

        Returns
        -------
        LinearZeroShotClassifier
            The fitted classifier. Penalties left to "cv" take their default multiple of the
            scale of the data, because choosing them needs the samples.
        """
        check_parameters(self)
        self.n_features_in_ = moments.n_features
        self.classes_ = moments.classes
        self._set_signatures(self.classes_)
        self._choose(None, np.empty(0, dtype=np.intp), moments, [], [])
        self.coef_ = self._solved(moments)
        return self

    def fit_folded(self, folded: FoldedMoments) -> LinearZeroShotClassifier:
        """Learn from moments of folds of classes, choosing penalties by the rows kept of them.

        Parameters
        ----------
        folded : FoldedMoments
            Raw moments and rows, normalized as `feature_norm` says, labeled by class names.

        Returns
        -------
        LinearZeroShotClassifier
            The fitted classifier.
        """
        check_parameters(self)
        moments = folded.total
        self.n_features_in_ = moments.n_features
        self.classes_ = moments.classes
        self._set_signatures(self.classes_)
        numbered = folded.numbered(self.classes_)
        moments = numbered.total
        self._choose(numbered.X, numbered.y, moments, numbered.folds, numbered.parts)
        self.coef_ = self._solved(moments)
        return self

    def _chooses(self) -> bool:
        return any(getattr(self, name) == "cv" for name in self._penalties)

    def _class_folds(self, classes: NDArray) -> list[NDArray]:
        return folds_of_classes(classes, self.cv, self.random_state)

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X, lift = reduced(X)
        one_hot = self.signatures is None
        folds = parameter_folds(X, y, self.cv, self.random_state, one_hot=one_hot)
        folds = folds if self._chooses() else []
        parts = fold_moments(X, y, folds) if folds else [Moments.of(X, y)]
        moments = sum(parts[1:], parts[0])
        self._choose(X, y, moments, folds, parts)
        coef = self._solved(moments)
        self.coef_ = coef if lift is None else coef @ lift.T

    def _choose(
        self, X: Features, y: NDArray[np.intp], moments: Moments, folds: Any, parts: Any
    ) -> None:
        """Set every penalty, as an attribute ending in "_", and what it was chosen by."""
        units = self._units(moments)
        self.cv_results_: dict[str, Any] | None = None
        if folds:
            values = {name: self._values(name, units[name]) for name in self._penalties}
            grid = np.stack(np.meshgrid(*values.values(), indexing="ij"), axis=-1)
            points = grid.reshape(-1, len(values))
            curve = held_out_curve(
                X,
                y,
                self.seen_signatures_,
                folds,
                parts,
                lambda train, seen, rows: self._vectors(train, seen, rows, tuple(values.values())),
                [(self._direction, self.metric)],
            )[0]
            named = [dict(zip(values, map(float, point), strict=True)) for point in points]
            self.cv_results_ = {"points": named, "scores": curve}
            best = named[int(curve.mean(axis=1).argmax())]
        else:
            given = {name: getattr(self, name) for name in self._penalties}
            best = {
                name: self._defaults[name] * units[name] if value == "cv" else float(value)
                for name, value in given.items()
            }
        for name, value in best.items():
            setattr(self, f"{name}_", value)

    def _values(self, name: str, unit: float) -> NDArray:
        given = getattr(self, name)
        if given == "cv":
            return np.asarray(self._penalties[name]) * unit
        return np.array([float(given)])

    def _solved(self, moments: Moments) -> NDArray:
        chosen = tuple(np.array([getattr(self, f"{name}_")]) for name in self._penalties)
        rows = np.eye(self.seen_signatures_.shape[1])
        return self._vectors(moments, self.seen_signatures_, rows, chosen)[0]

    def _units(self, moments: Moments) -> dict[str, float]:
        raise NotImplementedError

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        """Class vectors of shape (n_points, n_rows, n_features), the last penalty fastest."""
        raise NotImplementedError

    def _prepare(self, S: NDArray) -> Targets:
        return Targets.of(S @ self.coef_ if self._direction == "decode" else S, self.metric)

    def _score(self, X: Features, prepared: Targets) -> NDArray:
        if self._direction == "encode":
            X = np.asarray(X @ self.coef_.T.astype(X.dtype))
        return prepared.scores(X)
