"""The semantic autoencoder with a hidden layer on both sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.core.nearest import METRICS, Direction, Metric, Targets
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.deep.base import DeepClassifier
from zslearn.zero_shot.deep.closed_start import SPACES, StartSearch
from zslearn.zero_shot.deep.feature_space import FeatureSpace
from zslearn.zero_shot.deep.two_sides import decoded, encoded
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.linear.sae import DIRECTIONS, LAM_PER_DIRECTION, WAYS_OF, SAEClassifier
from zslearn.zero_shot.search import (
    choose_parameters,
    grid_points,
    held_out_accuracy,
    left_open,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

STEPS = (0, 5, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560)
# Taken with one-hot signatures, where no class can be held out.
STEPS_WITHOUT_FOLDS = 40


class DeepSemanticAutoencoder(DeepClassifier):
    """Semantic autoencoder whose encoder and decoder have a hidden layer beside the linear map.

    The encoder is ``f(x) = W x + V₂ρ(V₁ x + a)``, the decoder ``g(s) = Mᵀ s + U₂ρ(U₁ s + b)``, with
    ρ = GELU. W and M start at the closed-form solution of `SAEClassifier` and the hidden layers at
    nothing, so that after no step the model *is* the semantic autoencoder and every gain is the
    network's. A batch costs (each term in units of what it compares with)::

        ‖g(s_y) − x‖² + ‖f(x) − s_y‖² + CE(scores over the seen classes, y) + ν ‖g(f(x)) − x‖²

    The first two terms are those of the linear model; there are no more different signatures than
    classes, so alone they overfit at once. The cross-entropy learns from every sample. The last
    term is the reconstruction that the linear model leaves out; it has no weight by default. How
    many steps are taken is chosen by holding out seen classes, and none may be the answer.

    Fitting needs PyTorch (``pip install 'zslearn[deep]'``); predicting and loading do not.

    Parameters
    ----------
    hidden : int, default=512
        Units of each hidden layer.
    tied : bool, default=False
        Whether the decoder is the encoder turned around, ``g(s) = Wᵀ s + V₁ᵀρ(V₂ᵀ s + b)``.
    direction : {"decode", "encode", "both"}, default="decode"
        Where a sample and a class are compared.
    metric : {"cv", "cosine", "euclidean", "dot"}, default="cv"
        How they are compared; "cv" tries the cosine and the distance.
    lam : "cv", float or dict, default="cv"
        λ of the closed-form start, as in `SAEClassifier`.
    power : "cv" or float, default="cv"
        Exponent of ``sign(x)|x|^power`` of the features; "cv" tries 1 and 0.5.
    shrinkage : "cv", None or float, default="cv"
        Features are centered and whitened by the within-class covariance shrunk by this much (0
        to 1), and reduced to the span of the class means, and signatures are centered; None leaves
        both as they are. "cv" tries None and 0.7.
        Power, shrinkage and metric are chosen together, with the closed form.
    n_steps : "cv" or int, default="cv"
        Steps of the optimizer; 0 is the closed form. "cv" stops where held-out classes are
        recognized best.
    max_steps : int, default=160
        Upper limit for ``n_steps="cv"``.
    decode_weight, encode_weight, classify_weight : float, default=1.0
        Weights of the first three terms.
    softness : float, default=5.0
        Temperature of the cross-entropy, in units of that at which the closed form is as sure of
        the training samples as it is right. New classes are harder than those, hence above 1.
    reconstruct_weight : float, default=0.0
        ν. It helped no held-out classes of CUB.
    learning_rate, weight_decay : float, default=1e-3 and 1e-4
        Of AdamW.
    batch_size : int, default=256
        Samples in a batch.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Start of the hidden layers, order of the samples, and of the classes dealt to folds.
    verbose : int, default=0
        1 reports each fold on stderr, 2 also shows a progress bar of each training.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Weights of both sides.
    lam_ : dict
        λ of the start, ``{"encode": ..., "decode": ...}``.
    power_, shrinkage_, metric_ : float, float or None, str
        The space in use.
    feature_mean_, whitening_ : ndarrays or None
        Samples in the space are ``(x - feature_mean_) @ whitening_``, (n_samples, n_directions).
    n_steps_ : int
        Steps taken.
    loss_curve_ : ndarray of shape (n_steps,)
        Loss of each step of the final training.
    cv_results_ : dict or None
        Accuracy on held-out classes after each number of steps, with scikit-learn's keys.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import DeepSemanticAutoencoder
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = DeepSemanticAutoencoder(data.signatures, hidden=32, n_steps=20)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="outlook of Kodirov, Xiang & Gong, CVPR 2017; see docs/deep.md",
    )
    hidden: int = parameter(default=512, allowed=Whole(1))
    tied: bool = parameter(default=False, allowed=Flag())
    direction: str = parameter(default="decode", allowed=Either(*DIRECTIONS))
    metric: str = parameter(default="cv", allowed=Either(*METRICS), tried=("cosine", "euclidean"))
    lam: float | str | Mapping[str, float] = parameter(
        default="cv", allowed=Either("cv", Number(above=0), LAM_PER_DIRECTION)
    )
    power: float | str = parameter(default="cv", allowed=Number(above=0), tried=(1.0, 0.5))
    shrinkage: float | str | None = parameter(
        default="cv", allowed=Either(None, Number(least=0, most=1)), tried=(None, 0.7)
    )
    n_steps: int | str = parameter(default="cv", allowed=Either("cv", Whole(0)))
    max_steps: int = parameter(default=160, allowed=Whole(0))
    decode_weight: float = parameter(default=1.0, allowed=Number(least=0))
    encode_weight: float = parameter(default=1.0, allowed=Number(least=0))
    classify_weight: float = parameter(default=1.0, allowed=Number(least=0))
    reconstruct_weight: float = parameter(default=0.0, allowed=Number(least=0))
    softness: float = parameter(default=5.0, allowed=Number(above=0))
    learning_rate: float = parameter(default=1e-3, allowed=Number(above=0))
    weight_decay: float = parameter(default=1e-4, allowed=Number(least=0))
    batch_size: int = parameter(default=256, allowed=Whole(1))
    feature_norm: str | None = parameter(default="l2")
    signature_norm: str | None = parameter(default="l2")
    cv: int = parameter(default=5, allowed=Whole(2))
    parameters_: dict[str, NDArray] = fitted("arrays")
    feature_mean_: NDArray | None = fitted("optional d")
    whitening_: NDArray | None = fitted("optional d r")
    signature_mean_: NDArray | None = fitted("optional k")
    lam_: dict[str, float] = fitted()

    def decode(self, S: ArrayLike) -> NDArray:
        """Return the features that signatures stand for, g(s).

        Parameters
        ----------
        S : array-like of shape (n_classes, n_dimensions)
            Signatures as they were collected.

        Returns
        -------
        ndarray of shape (n_classes, n_features or n_directions)
            In the space of `power_` and `shrinkage_`, which has the directions of `whitening_`.
        """
        vectors = np.asarray(S, dtype=np.float64)
        names = np.arange(len(vectors))
        return self._decoded(self._unit_signatures(names, vectors))

    def _train(self, X: NDArray, y: NDArray[np.intp], device: Any) -> None:
        X = X.astype(np.float64, copy=False)
        folds = unseen_class_folds(self, y)
        search = StartSearch(
            X, y, self.seen_signatures_, folds, self.lam, self.feature_norm == "l2"
        )
        space = self._chosen_start(search)
        chosen = dict(self.best_params_)
        self.n_steps_ = self._chosen_steps(search, device)
        self.best_params_ = chosen | self.best_params_
        self.feature_mean_, self.whitening_ = space.feature_mean, space.whitening
        self.signature_mean_ = space.signature_mean
        part = space.features(X), y, space.signatures(self.seen_signatures_)
        self.parameters_, losses = self._trained(part, (self.n_steps_, ()), device)
        self.loss_curve_ = np.array(losses)

    def _chosen_start(self, search: StartSearch) -> FeatureSpace:
        """Choose the space and λ by the closed form on held-out classes."""
        points = grid_points(self, search_space(self, *SPACES))
        point, lam = points[0], self.lam
        if search.folds and (len(points) > 1 or is_cv(self.lam)):
            point, lam = search.best(points, WAYS_OF[self.direction])
        self.power_, self.shrinkage_ = point["power"], point["shrinkage"]
        self.metric_: Metric = point["metric"]
        space = search.space(point)
        rows = space.features(search.X), search.y, space.signatures(search.S)
        self.lam_ = lam if isinstance(lam, dict) else self._closed_form(*rows, lam).lam_
        self.best_params_ = left_open(self, {**point, "lam": dict(self.lam_)})
        return space

    def _closed_form(self, Z: NDArray, y: NDArray[np.intp], S: NDArray, lam: Any) -> SAEClassifier:
        """Fit the semantic autoencoder on rows and signatures in the space."""
        names = np.array([f"{i:06d}" for i in range(len(S))])
        sae = SAEClassifier(
            None if self.signatures is None else Signatures(names, S),
            lam=lam,
            direction=self.direction,
            metric=self.metric_,
            feature_norm=None,
            signature_norm=None,
            cv=self.cv,
            random_state=self.random_state,
        )
        return sae.fit(Z, names[y])

    def _chosen_steps(self, search: StartSearch, device: Any) -> int:
        """Choose the number of steps on held-out classes."""
        tried = [n for n in STEPS if n <= self.max_steps]
        points = grid_points(self, {"n_steps": tried})

        def judge(place: int) -> list[float]:
            return self._curve(search, place, tried, device)

        folds = range(len(search.folds))
        without = min(STEPS_WITHOUT_FOLDS, self.max_steps) if is_cv(self.n_steps) else self.n_steps
        point = choose_parameters(self, points, folds, judge, default={"n_steps": without})
        return int(point["n_steps"])

    def _curve(self, search: StartSearch, place: int, tried: list[int], device: Any) -> list[float]:
        """Accuracy on the held-out classes of a fold after each number of steps."""
        fold = search.folds[place]
        space = search.space({"power": self.power_, "shrinkage": self.shrinkage_}, place)
        tests, new = space.features(search.X[fold.held_out]), space.signatures(search.S[fold.new])
        curve: list[float] = []

        def look(weights: dict[str, NDArray], _: int) -> None:
            scores = self.compare(self._queries_of(weights, tests), self._targets(weights, new))
            curve.append(held_out_accuracy(scores, fold.y_held_out))

        rows, known = space.features(search.X[fold.train]), space.signatures(search.S[fold.known])
        self._trained((rows, fold.y_train, known), (tried[-1], tuple(tried)), device, look)
        return curve

    def _trained(
        self,
        part: tuple[NDArray, NDArray[np.intp], NDArray],
        course: tuple[int, tuple[int, ...]],
        device: Any,
        look: Any = None,
    ) -> tuple[dict[str, NDArray], list[float]]:
        """Solve the closed form of rows, classes and signatures in the space; train from there."""
        from zslearn.zero_shot.deep.autoencoder_training import Problem, train_autoencoder

        start = self._closed_form(*part, self.lam_)
        problem = Problem(*part, start.coef_encode_, start.coef_decode_)
        recipe = self._recipe(*course)
        recipe = recipe if look is None else recipe.for_scores()
        return train_autoencoder(problem, recipe, device, self.random_state, look)

    def _recipe(self, n_steps: int, looks: tuple[int, ...]) -> Any:
        from zslearn.zero_shot.deep.autoencoder_training import Recipe
        from zslearn.zero_shot.deep.training import Course

        label = f"{type(self).__name__}, {n_steps} steps"
        return Recipe(
            ways=WAYS_OF[self.direction],
            metric=self.metric_,
            hidden=self.hidden,
            tied=self.tied,
            decode=self.decode_weight,
            encode=self.encode_weight,
            classify=self.classify_weight,
            reconstruct=self.reconstruct_weight,
            softness=self.softness,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            course=Course(n_steps, self.batch_size, looks, label, self.verbose > 1),
        )

    def _fitted_space(self) -> FeatureSpace:
        return FeatureSpace(
            self.power_,
            self.feature_mean_,
            self.whitening_,
            self.signature_mean_,
            self.feature_norm == "l2",
        )

    def represent(self, rows: Features) -> dict[Direction, NDArray]:
        return self._queries_of(self.parameters_, self._fitted_space().features(dense(rows)))

    def prepare(self, names: NDArray, vectors: NDArray) -> dict[Direction, Targets]:
        S = self._fitted_space().signatures(self._unit_signatures(names, vectors))
        return self._targets(self.parameters_, S)

    def compare(
        self, queries: Mapping[Direction, NDArray], classes: Mapping[Direction, Targets]
    ) -> NDArray:
        parts = [classes[way].scores(query) for way, query in queries.items()]
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2

    def encode_rows(self, rows: Features) -> NDArray:
        return encoded(self.parameters_, self._fitted_space().features(dense(rows)))

    def _targets(self, weights: dict[str, NDArray], S: NDArray) -> dict[Direction, Targets]:
        """Candidates, given in the space, as each direction compares with them."""
        rows = {"encode": lambda: S, "decode": lambda: decoded(weights, S)}
        return {way: Targets.of(rows[way](), self.metric_) for way in WAYS_OF[self.direction]}

    def _queries_of(self, weights: dict[str, NDArray], Z: NDArray) -> dict[Direction, NDArray]:
        """Return samples, given in the space, as each direction compares them."""
        return {
            way: encoded(weights, Z) if way == "encode" else Z for way in WAYS_OF[self.direction]
        }

    def _decoded(self, S: NDArray) -> NDArray:
        return decoded(self.parameters_, self._fitted_space().signatures(S))
