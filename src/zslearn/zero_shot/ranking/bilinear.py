"""Bilinear ranking models: F(x, c) = xᵀ W s_c, trained by mini-batches."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Number
from zslearn.core.descent import Parameters
from zslearn.core.losses import ScoreLoss
from zslearn.core.nearest import Targets
from zslearn.zero_shot.base import Features
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.gradient import GradientClassifier, Learned
from zslearn.zero_shot.score_form import Branch, ScoreForm
from zslearn.zero_shot.search import Point


class BilinearClassifier(GradientClassifier):
    """Base of the bilinear ranking methods; a method names its loss.

    W starts at zero and the loss is positively homogeneous in W and the margin, so the margin only
    sets the scale of W: learning rates are in units of the margin, and the predictions do not
    depend on it. Early stopping on held-out classes is the regularizer.
    """

    grids: ClassVar[dict[str, tuple[Any, ...]]] = {"learning_rate": (1.0, 0.25)}
    score_loss: ClassVar[ScoreLoss]
    coef_: NDArray
    parameter_constraints: ClassVar = {
        "margin": Number(above=0),
    }
    learned_shapes: ClassVar = {
        "coef_": "k d",
        "parameters_": None,
        "feature_scale_": None,
        "signature_mean_": None,
        "signature_scale_": None,
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        margin: float = 1.0,
        learning_rate: float | str = 1.0,
        weight_decay: float = 0.0,
        epochs: int | str = "cv",
        max_epochs: int = 20,
        batch_size: int | str = "auto",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.margin = margin
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        return {"W": np.zeros((n_features, S.shape[1]), dtype=S.dtype)}

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        loss, G = type(self).score_loss(X @ parameters["W"] @ S.T, y, float(self.margin))
        return loss, {"W": X.T @ (G @ S)}

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        return X @ parameters["W"] @ S.T

    def _learning_rate(self, point: Point) -> float:
        return float(point["learning_rate"]) * float(self.margin)

    def _keep(self, learned: Learned) -> None:
        self.coef_ = folded(learned)
        self.feature_mean_ = learned.scaling.feature_mean
        self._keep_choice(learned)

    def _prepare(self, S: NDArray) -> Targets:
        classifiers = S @ self.coef_
        return Targets.of(classifiers, "dot", -(classifiers @ self.feature_mean_))

    def _score(self, X: Features, prepared: Targets) -> NDArray:
        return prepared.scores(X)

    def _form(self, prepared: Targets) -> ScoreForm:
        return ScoreForm((Branch(None, prepared),), self.feature_norm)

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        contributions = s * (self.coef_ @ (X[0] - self.feature_mean_))
        return Explanation.of(self.signatures_.dimensions, contributions)


def folded(learned: Learned) -> NDArray:
    """Wᵀ for unscaled features and signatures, of shape (n_dimensions, n_features).

    With the scaling a(x − μ) and b(s − m), F = ab (x − μ)ᵀ W (s − m); the part with m is the same
    for every class and is dropped.
    """
    factor = learned.scaling.feature_scale * learned.scaling.signature_scale
    return factor * learned.parameters["W"].T.astype(np.float64)
