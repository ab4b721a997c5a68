"""Bilinear ranking models: F(x, c) = xᵀ W s_c, trained by mini-batches."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fitted, parameter
from zslearn._parameters import Either, Flag, Instance, Number
from zslearn.core.descent import Parameters
from zslearn.core.losses import ScoreLoss, hinge_sum, structured_hinge, symmetric_hinge, warp_loss
from zslearn.core.nearest import Targets, unit_rows
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.gradient import GradientClassifier, Learned, Scaling
from zslearn.zero_shot.scoring import Branch, LinearForm
from zslearn.zero_shot.search import (
    Choice,
    Fold,
    Point,
    choose,
    held_out_accuracy,
    left_open,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags


class BilinearRankingClassifier(GradientClassifier):
    """Base of the bilinear ranking methods; a method names its loss.

    W starts at zero and the loss is positively homogeneous in W and the margin, so the margin only
    sets the scale of W: learning rates are in units of the margin, and the predictions do not
    depend on it. Early stopping on held-out classes is the regularizer.

    Parameters
    ----------
    margin : float, default=1.0
        Δ. Sets the scale of W only: predictions do not depend on it.
    learning_rate : float or "cv", default=1.0
        Step length in units of the margin, for features and signatures of mean length one; "cv"
        chooses between 1 and 0.25 (it matters little next to the number of epochs).

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        Wᵀ for normalized features minus `feature_mean_`.
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the normalized training features.
    """

    score_loss: ClassVar[ScoreLoss]
    margin: float = parameter(default=1.0, allowed=Number(above=0))
    coef_: NDArray = fitted("k d")
    # The rest of what was learned is folded into `coef_`.
    parameters_: Parameters = fitted()
    feature_scale_: float = fitted()
    signature_mean_: NDArray = fitted()
    signature_scale_: float = fitted()

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        # All scores equal at first: they are linear in W, so there is no symmetry to break.
        return {"W": np.zeros((n_features, S.shape[1]), dtype=S.dtype)}

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        # F = X W Sᵀ, and with G = ∂L/∂F: ∂L/∂W = Xᵀ G S.
        loss, G = type(self).score_loss(X @ parameters["W"] @ S.T, y, float(self.margin))
        return loss, {"W": X.T @ (G @ S)}

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        return X @ parameters["W"] @ S.T

    def _learning_rate(self, point: Point) -> float:
        # Scores grow to the size of the margin, so steps are measured by it.
        return float(point["learning_rate"]) * float(self.margin)

    def _keep(self, learned: Learned) -> None:
        self.coef_ = folded(learned)
        self.feature_mean_ = learned.scaling.feature_mean
        self._keep_choice(learned)

    def represent(self, rows: Features) -> Features:
        return rows

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        # (x − μ)ᵀ W s_c is a product of x with W s_c, less that of μ.
        classifiers = self._unit_signatures(names, vectors) @ self.coef_
        return Targets.of(classifiers, "dot", -(classifiers @ self.feature_mean_))

    def compare(self, queries: Features, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        s = self._unit_signatures([name], vector[None])[0]
        contributions = s * (self.coef_ @ (rows[0] - self.feature_mean_))
        return Explanation.of(self.signatures_.dimensions, contributions)

    def linear_form(self, classes: Targets) -> LinearForm:
        return LinearForm((Branch(None, classes),), self.feature_norm)


def folded(learned: Learned) -> NDArray:
    """Wᵀ for unscaled features and signatures, of shape (n_dimensions, n_features).

    With the scaling a(x − μ) and b(s − m), F = ab (x − μ)ᵀ W (s − m); the part with m is the same
    for every class and is dropped.
    """
    # a(x − μ)ᵀ W b(s − ν): ν adds the same to all classes of a sample and is left out.
    factor = learned.scaling.feature_scale * learned.scaling.signature_scale
    return factor * learned.parameters["W"].T.astype(np.float64)


class SJEClassifier(BilinearRankingClassifier):
    """Bilinear compatibility trained with a structured hinge loss (SJE).

    F(x, c) = xᵀ W s_c is trained by mini-batches on (Akata et al.)::

        mean over samples of  max_c [Δ·1(c ≠ y) + F(x, c) − F(x, y)]₊

    With joined signatures (`Signatures.join`) each space b gets its own W_b, trained on its own,
    and F = Σ_b α_b xᵀ W_b s_c^b with Σ α_b = 1, α chosen on held-out classes. Every block of a
    signature is scaled to unit length then.

    Parameters
    ----------
    space_weights : "cv" or dict of str to float, default="cv"
        α of each space; "cv" tries steps of 0.1 (thirds with three spaces and more).

    Attributes
    ----------
    cv_results_ : dict or None
        Held-out accuracy of every setting after every epoch, with scikit-learn's keys; with joined
        signatures, for each "space", then of every "space_weights".
    best_params_ : dict
        What was taken for the parameters left to "cv" (for the first space, if it differs).
    space_weights_ : dict of str to float
        α of each space.

    References
    ----------
    Z. Akata, S. Reed, D. Walter, H. Lee, B. Schiele. Evaluation of output embeddings for
    fine-grained image classification. CVPR 2015.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import SJEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = SJEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        several_spaces=True,
        reference="Akata, Reed, Walter, Lee & Schiele, CVPR 2015",
    )
    score_loss = staticmethod(structured_hinge)
    space_weights: str | Mapping[str, float] = parameter(
        default="cv", allowed=Either("cv", Instance(Mapping, "a dict of space to number"))
    )

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X, S = dense(X), self.seen_signatures_
        spaces = self._spaces()
        learned, results = [], {}
        for name, columns in spaces.items():
            learned.append(self._learn(X, y, S[:, columns]))
            results[name] = self.cv_results_
        weights, found = self._weights(X, y, S, learned)
        self.space_weights_ = dict(zip(spaces, weights.tolist(), strict=True))
        if len(spaces) > 1:
            self.cv_results_ = _joined_results(results, found)
            used = {**learned[0].point, "space_weights": self.space_weights_}
            self.best_params_ = left_open(self, used)
        self._keep(learned[0])
        parts = zip(weights, learned, strict=True)
        # F = Σ_k α_k θ(x)ᵀ W_k φ_k(c) is one product with the maps [α_k W_k] side by side.
        self.coef_ = np.concatenate([weight * folded(part) for weight, part in parts])

    def _unit_signatures(self, names: Any, vectors: NDArray) -> NDArray:
        """Return normalized signatures with every block of unit length, if there are several."""
        S, spaces = super()._unit_signatures(names, vectors), self._spaces()
        if len(spaces) == 1:
            return S
        return np.hstack([unit_rows(S[:, columns]) for columns in spaces.values()])

    def _spaces(self) -> dict[str, slice]:
        """Columns of each semantic space; one space unless signatures were joined."""
        blocks = dict(self.signatures_.blocks)
        whole = {"signatures": slice(0, self.signatures_.n_dimensions)}
        return blocks if len(blocks) > 1 else whole

    def _weights(
        self, X: NDArray, y: NDArray, S: NDArray, learned: list[Learned]
    ) -> tuple[NDArray, dict[str, Any] | None]:
        """α of each space: given, or best on held-out classes, with the results of the search."""
        names = list(self._spaces())
        if isinstance(self.space_weights, Mapping):
            return _given_weights(self.space_weights, names), None
        folds = unseen_class_folds(self, y)
        if len(names) == 1 or not folds:
            return np.full(len(names), 1.0 / len(names)), None
        # Tenths for two spaces; thirds for more, whose number grows with a power.
        grid = simplex_grid(len(names), 10 if len(names) == 2 else 3)

        def judge(fold: Fold) -> list[float]:
            parts = self._held_out_scores(X, S, learned, fold)
            return [held_out_accuracy(np.tensordot(p, parts, 1), fold.y_held_out) for p in grid]

        points = [{"space_weights": dict(zip(names, p.tolist(), strict=True))} for p in grid]
        choice = choose(points, folds, judge, verbose=self.verbose, name=type(self).__name__)
        return grid[choice.best_index], choice.cv_results

    def _held_out_scores(
        self, X: NDArray, S: NDArray, learned: list[Learned], fold: Fold
    ) -> NDArray:
        """Scores of held-out samples by each space, of shape (n_spaces, n_samples, n_classes)."""
        scores = []
        for columns, part in zip(self._spaces().values(), learned, strict=True):
            scaling = Scaling.of(X[fold.train], S[fold.known, columns])
            Z = scaling.signatures(S[:, columns].astype(np.float32))
            rows = scaling.features(X[fold.train].astype(np.float32))
            trace = self._train(rows, fold.y_train, Z[fold.known], part.point)
            tests = scaling.features(X[fold.held_out].astype(np.float32))
            scores.append(self._scores(trace.parameters, tests, Z[fold.new]))
        return np.stack(scores)


def simplex_grid(n: int, steps: int) -> NDArray:
    """Points with n coordinates that are multiples of 1/steps and sum to one, middle first.

    Examples
    --------
    >>> simplex_grid(2, 2)
    array([[0.5, 0.5],
           [0. , 1. ],
           [1. , 0. ]])
    """
    points = np.array([p for p in product(range(steps + 1), repeat=n) if sum(p) == steps]) / steps
    # Among equal accuracies the first is taken, so even weights stand before a single space.
    return points[np.argsort(points.max(axis=1), kind="stable")]


def _joined_results(
    by_space: Mapping[str, dict[str, Any] | None], of_weights: dict[str, Any] | None
) -> dict[str, Any] | None:
    """One table of the searches of each space and of the weights, all on the same folds."""
    named = [
        (found, [{"space": space, **point} for point in found["params"]])
        for space, found in by_space.items()
        if found is not None
    ]
    if of_weights is not None:
        named.append((of_weights, of_weights["params"]))
    if not named:
        return None
    splits = [name for name in named[0][0] if name.startswith("split")]
    scores = [np.concatenate([found[split] for found, _ in named]) for split in splits]
    return Choice.of([p for _, points in named for p in points], np.array(scores)).cv_results


def _given_weights(weights: Mapping[str, float], names: list[str]) -> NDArray:
    """Weights a user gave, one for each space, scaled to sum to one."""
    values = np.array([weights.get(name, -1.0) for name in names], dtype=np.float64)
    if set(weights) != set(names) or values.min() < 0 or values.sum() == 0:
        raise InvalidInputError(
            f"space_weights must give a number of at least 0, not all 0, to each of the spaces "
            f"{', '.join(names)}; got {dict(weights)!r}."
        )
    return values / values.sum()


class ALEClassifier(BilinearRankingClassifier):
    """Bilinear compatibility trained with a weighted ranking loss (ALE).

    F(x, c) = xᵀ W s_c is trained by mini-batches on (Akata et al.)::

        mean over samples of  (β_r / r) Σ_{c ≠ y} [Δ + F(x, c) − F(x, y)]₊ ,   β_r = Σ_{i ≤ r} 1/i

    with r the number of classes that violate the margin. The authors estimate r by drawing classes
    until one violates the margin (WARP); all classes fit in memory here, so r is counted and the
    objective itself is descended, which removes the noise of the sampling.

    Parameters
    ----------
    center : "cv" or bool, default="cv"
        Whether the means of features and of seen signatures are taken off; the authors keep
        them. "cv" takes what recognizes held-out classes better.

    Attributes
    ----------
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the normalized training features; zero if they are not centered.
    learning_rate_, center_, n_epochs_ : float, bool, int
        What was chosen.

    References
    ----------
    Z. Akata, F. Perronnin, Z. Harchaoui, C. Schmid. Label-embedding for image classification.
    IEEE TPAMI 38(7), 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import ALEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = ALEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Akata, Perronnin, Harchaoui & Schmid, TPAMI 2016",
    )
    score_loss = staticmethod(warp_loss)
    center: bool | str = parameter(default="cv", allowed=Flag(), tried=(True, False))


class DeViSEClassifier(BilinearRankingClassifier):
    """Bilinear model trained with the hinge rank loss of DeViSE.

    With unit-norm signatures t_c, M is trained by mini-batches on (Frome et al.)::

        mean over samples of  Σ_{c ≠ y} [Δ − t_yᵀ M x + t_cᵀ M x]₊

    (divided by the number of classes here, a constant). The authors stop at the first violating
    class in random order; all classes are summed here. The image network is not trained: features
    are given. Candidates are ranked by the inner product with M x.

    Parameters
    ----------
    learning_rate : float or "cv", default=8.0
        Step length in units of the margin, for features and signatures of mean length one; "cv"
        chooses between 8 and 2 (it matters little next to the number of epochs).

    References
    ----------
    A. Frome, G. S. Corrado, J. Shlens, S. Bengio, J. Dean, M. Ranzato, T. Mikolov. DeViSE: a deep
    visual-semantic embedding model. NIPS 2013.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DeViSEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = DeViSEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Frome et al., NIPS 2013",
    )
    score_loss = staticmethod(hinge_sum)
    margin: float = parameter(default=0.1)
    learning_rate: float | str = parameter(default=8.0, tried=(8.0, 2.0))
    max_epochs: int = parameter(default=60)


class DSSJEClassifier(BilinearRankingClassifier):
    """Symmetric joint embedding of images and class texts (DS-SJE), on given embeddings.

    F(x, c) = xᵀ W s_c with s_c the embedding of the text of class c is trained on both sides
    (Reed et al.)::

        mean over x and c ≠ y of  [Δ + F(x, c) − F(x, y)]₊
        + mean over x and x' of   [Δ + F(x', y) − F(x, y)]₊

    where x' are the samples of other classes in the batch. The authors learn a character- or
    word-level text network together with the linear image encoder. Here the text tower is
    pre-computed: `signatures` holds its embeddings (averaged over the texts of a class, or any
    other text embedding) and only the linear image encoder is learned. Results are those of this
    smaller model, not of the published one.

    Parameters
    ----------
    learning_rate : float or "cv", default=8.0
        Step length in units of the margin, for features and signatures of mean length one; "cv"
        chooses between 8 and 2 (it matters little next to the number of epochs).

    References
    ----------
    S. Reed, Z. Akata, H. Lee, B. Schiele. Learning deep representations of fine-grained visual
    descriptions. CVPR 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DSSJEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = DSSJEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Reed, Akata, Lee & Schiele, CVPR 2016 (text tower pre-computed)",
    )
    score_loss = staticmethod(symmetric_hinge)
    learning_rate: float | str = parameter(default=8.0, tried=(8.0, 2.0))
