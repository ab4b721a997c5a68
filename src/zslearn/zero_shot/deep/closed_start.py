"""The closed form a deep autoencoder starts at: its space and its λ, chosen on held-out classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn.core.linear_maps import autoencoder_equation, lam_grid
from zslearn.core.moments import Moments
from zslearn.core.nearest import Direction, Metric
from zslearn.core.paths import path_accuracy, scoring_rule
from zslearn.zero_shot.deep.feature_space import FeatureSpace
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.linear.sae import WAYS
from zslearn.zero_shot.search import Fold, Point

# Parameters that make the space; of each, the paper's own value is tried first.
SPACES = ("power", "shrinkage", "metric")


@dataclass
class StartSearch:
    """Judge the closed form in several spaces, each learned anew from the classes of a fold.

    Attributes
    ----------
    X, y, S : ndarrays
        Samples, class indices, and the signatures of the classes.
    folds : sequence of Fold
        Classes to hold out.
    lam : "cv", float or mapping
        λ, as the estimator got it.
    unit : bool
        Whether rows have unit length after the power.
    """

    X: NDArray
    y: NDArray[np.intp]
    S: NDArray
    folds: Sequence[Fold]
    lam: float | str | Mapping[str, float]
    unit: bool
    _spaces: dict[tuple[Any, ...], FeatureSpace] = field(default_factory=dict)

    def best(
        self, points: Sequence[Point], ways: Sequence[Direction]
    ) -> tuple[Point, dict[str, float]]:
        """Return the point that recognizes held-out classes best, and its λ for each direction."""
        spaces = dict.fromkeys((point["power"], point["shrinkage"]) for point in points)
        metrics = list(dict.fromkeys(point["metric"] for point in points))
        found = []
        for power, shrinkage in spaces:
            space = {"power": power, "shrinkage": shrinkage}
            lams, curves = self._curves(space, metrics)
            for metric, curve in zip(metrics, curves, strict=True):
                best = dict(zip(WAYS, curve.argmax(axis=1), strict=True))
                reached = max(curve.max(axis=1)[WAYS.index(way)] for way in ways)
                lam: dict[str, float] = {way: float(lams[way][best[way]]) for way in WAYS}
                found.append((reached, {**space, "metric": metric}, lam))
        _, point, lam = max(found, key=lambda one: one[0])  # the first of the best
        return point, lam

    def space(self, point: Point, place: int | None = None) -> FeatureSpace:
        """Return the space of a point, learned from the known classes of a fold or from all."""
        key = point["power"], point["shrinkage"], place
        if key not in self._spaces:
            rows = self.X, self.y, self.S
            if place is not None:
                fold = self.folds[place]
                rows = self.X[fold.train], fold.y_train, self.S[fold.known]
            self._spaces[key] = FeatureSpace.of(
                *rows, power=point["power"], shrinkage=point["shrinkage"], unit=self.unit
            )
        return self._spaces[key]

    def _curves(
        self, point: Point, metrics: Sequence[Metric]
    ) -> tuple[dict[str, NDArray], NDArray]:
        """Return λ of each direction, and accuracies of shape (metrics, directions, λ)."""
        lams = self._lams(point)
        tried = np.unique(np.concatenate(list(lams.values())))
        curves = np.mean(
            [self._curve(place, point, metrics, tried) for place in range(len(self.folds))], axis=0
        )
        places = [np.searchsorted(tried, lams[way]) for way in WAYS]
        picked = [curves[i :: len(WAYS), where] for i, where in enumerate(places)]
        return lams, np.stack(picked, axis=1)

    def _lams(self, point: Point) -> dict[str, NDArray]:
        if isinstance(self.lam, Mapping):
            return {way: np.array([float(self.lam[way])]) for way in WAYS}
        if not is_cv(self.lam):
            return dict.fromkeys(WAYS, np.array([float(self.lam)]))
        space = self.space(point)
        moments = Moments.of(space.features(self.X), self.y)
        return dict.fromkeys(WAYS, np.sort(lam_grid(None, moments, space.signatures(self.S))))

    def _curve(self, place: int, point: Point, metrics: Sequence[Metric], lams: NDArray) -> NDArray:
        """Return accuracies on one fold, a row for each metric and direction."""
        fold, space = self.folds[place], self.space(point, place)
        known, new = (space.signatures(self.S[part]) for part in (fold.known, fold.new))
        moments = Moments.of(space.features(self.X[fold.train]), fold.y_train)
        equation = autoencoder_equation(moments, known, float(lams.max()))
        prototypes = equation.prototypes(new, lams)
        rules = [scoring_rule(prototypes, new, way, metric) for metric in metrics for way in WAYS]
        tests = space.features(self.X[fold.held_out])
        return path_accuracy(tests, fold.y_held_out, prototypes, rules).mean(axis=2)
