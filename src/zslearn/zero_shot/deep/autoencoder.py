"""The space a deep autoencoder works in: features as they are, or the span of whitened means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erf

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Flag, Group, Number, Whole
from zslearn.core.linear_maps import autoencoder_equation, lam_grid
from zslearn.core.moments import Moments
from zslearn.core.nearest import METRICS, Direction, Metric, Targets, unit_rows
from zslearn.core.paths import path_accuracy, scoring_rule
from zslearn.core.rows import signed_power
from zslearn.core.whitening import WithinClassCovariance
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.deep.base import DeepClassifier, Search, Settings, setting
from zslearn.zero_shot.inputs import is_cv
from zslearn.zero_shot.linear.sae import DIRECTIONS, LAM_PER_DIRECTION, WAYS, WAYS_OF, SAEClassifier
from zslearn.zero_shot.search import (
    Fold,
    Point,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    left_open,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

# Directions in which class means differ by less than this share of the most are rounding.
_FLAT = 1e-6


@dataclass(frozen=True)
class FeatureSpace:
    """Features to the power of `power`, then centered and whitened if `whitening` is given.

    Of the whitened space only the span of the class means is kept. What is left out adds the same
    to the distances from all means, and a network that learns to tell classes apart would find
    differences of training samples there that say nothing about other classes.

    Attributes
    ----------
    power : float
        Exponent of ``sign(x)|x|^power``; rows are scaled to unit length again.
    feature_mean : ndarray of shape (n_features,) or None
        Mean of the class means, subtracted.
    whitening : ndarray of shape (n_features, n_directions) or None
        ``Σ(α)^(-1/2) V``, of the within-class covariance shrunk by α, with V a basis of the span
        of the centered class means after ``Σ(α)^(-1/2)``.
    signature_mean : ndarray of shape (n_dimensions,) or None
        Mean of the seen signatures, subtracted.
    unit : bool
        Whether rows have unit length after the power.
    """

    power: float = 1.0
    feature_mean: NDArray | None = None
    whitening: NDArray | None = None
    signature_mean: NDArray | None = None
    unit: bool = True

    @classmethod
    def of(
        cls,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        *,
        power: float,
        shrinkage: float | None,
        unit: bool,
    ) -> FeatureSpace:
        """Learn the space of training rows; no shrinkage means features as they are.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Training rows.
        y : ndarray of shape (n_samples,)
            Class indices.
        S : ndarray of shape (n_classes, n_dimensions)
            Signatures of the classes.
        power : float
            Exponent.
        shrinkage : float or None
            α from 0 to 1, or None for no whitening.
        unit : bool
            Whether rows are scaled to unit length after the power.

        Returns
        -------
        FeatureSpace
        """
        plain = cls(power, unit=unit)
        if shrinkage is None:
            return plain
        moments = Moments.of(plain.features(X), y)
        covariance = WithinClassCovariance.of(moments)
        values, vectors = np.linalg.eigh(covariance.matrix)
        shrunk = (1.0 - shrinkage) * np.maximum(values, 0.0) + shrinkage * covariance.target
        # A direction without any variance stays out.
        root = np.sqrt(np.where(shrunk > 1e-12 * covariance.target, shrunk, np.inf))
        center = moments.class_means.mean(axis=0)
        white = (moments.class_means - center) @ vectors / root
        _, sizes, directions = np.linalg.svd(white, full_matrices=False)
        span = directions[sizes >= _FLAT * sizes[0]].T
        return cls(power, center, (vectors / root) @ span, S.mean(axis=0), unit)

    def features(self, X: NDArray) -> NDArray:
        """Rows in the space."""
        if self.power != 1.0:
            X = signed_power(X, self.power)
            X = unit_rows(X) if self.unit else X
        if self.whitening is None or self.feature_mean is None:
            return X
        return (X - self.feature_mean.astype(X.dtype)) @ self.whitening.astype(X.dtype)

    def signatures(self, S: NDArray) -> NDArray:
        """Signatures in the space."""
        return S if self.signature_mean is None else S - self.signature_mean.astype(S.dtype)


Weights = Mapping[str, Any]  # arrays or tensors
Side = tuple[Any, Any, Any, Any]


def encoder_of(weights: Weights) -> Side:
    """Return W, V₁, a and V₂."""
    return _side(weights, "encoder")


def decoder_of(weights: Weights) -> Side:
    """Return M, U₁, b and U₂."""
    if "decoder_skip" in weights:
        return _side(weights, "decoder")
    skip, first, _, second = encoder_of(weights)
    return skip.T, second.T, weights["decoder_bias"], first.T


def _side(weights: Weights, name: str) -> Side:
    return (
        weights[f"{name}_skip"],
        weights[f"{name}_in"],
        weights[f"{name}_bias"],
        weights[f"{name}_out"],
    )


def through(side: Side, rows: Any, activation: Callable[[Any], Any]) -> Any:
    """Return what a side makes of rows."""
    skip, first, bias, second = side
    return rows @ skip + activation(rows @ first + bias) @ second


def gelu(values: NDArray) -> NDArray:
    """Return x Φ(x), with Φ the normal distribution function (Hendrycks & Gimpel, 2016)."""
    return 0.5 * values * (1.0 + erf(values * values.dtype.type(np.sqrt(0.5))))


def in_precision(weights: Mapping[str, NDArray], dtype: Any) -> dict[str, NDArray]:
    """Return the weights in the precision of what they meet."""
    return {name: one.astype(dtype, copy=False) for name, one in weights.items()}


def encoded(weights: Mapping[str, NDArray], Z: NDArray) -> NDArray:
    """f(x) of rows in the space, in their precision."""
    return np.asarray(through(encoder_of(in_precision(weights, Z.dtype)), Z, gelu))


def decoded(weights: Mapping[str, NDArray], S: NDArray) -> NDArray:
    """g(s) of signatures in the space, in their precision."""
    return np.asarray(through(decoder_of(in_precision(weights, S.dtype)), S, gelu))


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


STEPS = (0, 5, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560)
# Taken with one-hot signatures, where no class can be held out.
STEPS_WITHOUT_FOLDS = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class ClosedFormStart(Settings):
    """The closed form that a deep autoencoder starts at, and the space it works in.

    Parameters
    ----------
    direction : {"decode", "encode", "both"}, default="decode"
        Where a sample and a class are compared.
    metric : {"cv", "cosine", "euclidean", "dot"}, default="cv"
        How they are compared; "cv" tries the cosine and the distance.
    lam : "cv", float or dict, default="cv"
        λ, as in `SAEClassifier`.
    power : "cv" or float, default="cv"
        Exponent of ``sign(x)|x|^power`` of the features; "cv" tries 1 and 0.5.
    shrinkage : "cv", None or float, default="cv"
        Features are centered and whitened by the within-class covariance shrunk by this much (0
        to 1), and reduced to the span of the class means, and signatures are centered; None leaves
        both as they are. "cv" tries None and 0.7.
        Power, shrinkage and metric are chosen together, with the closed form.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length.
    """

    direction: str = parameter(default="decode", allowed=Either(*DIRECTIONS))
    metric: str = parameter(default="cv", allowed=Either(*METRICS), tried=("cosine", "euclidean"))
    lam: float | str | Mapping[str, float] = parameter(
        default="cv", allowed=Either("cv", Number(above=0), LAM_PER_DIRECTION)
    )
    power: float | str = parameter(default="cv", allowed=Number(above=0), tried=(1.0, 0.5))
    shrinkage: float | str | None = parameter(
        default="cv", allowed=Either(None, Number(least=0, most=1)), tried=(None, 0.7)
    )
    feature_norm: str | None = parameter(default="l2", allowed=Either("l2", None))
    signature_norm: str | None = parameter(default="l2", allowed=Either("l2", None))


@dataclass(frozen=True, kw_only=True, repr=False)
class AutoencoderTraining(Settings):
    """Losses and optimizer of `DeepSemanticAutoencoder`.

    Parameters
    ----------
    n_steps : "cv" or int, default="cv"
        Steps of the optimizer; 0 is the closed form. "cv" stops where held-out classes are
        recognized best.
    batch_size : int, default=256
        Samples in a batch.
    learning_rate, weight_decay : float, default=1e-3 and 1e-4
        Of AdamW.
    tied : bool, default=False
        Whether the decoder is the encoder turned around, ``g(s) = Wᵀ s + V₁ᵀρ(V₂ᵀ s + b)``.
    decode_weight, encode_weight, classify_weight : float, default=1.0
        Weights of the first three terms.
    reconstruct_weight : float, default=0.0
        ν. It helped no held-out classes of CUB.
    softness : float, default=5.0
        Temperature of the cross-entropy, in units of that at which the closed form is as sure of
        the training samples as it is right. New classes are harder than those, hence above 1.
    """

    n_steps: int | str = parameter(default="cv", allowed=Either("cv", Whole(0)))
    batch_size: int = parameter(default=256, allowed=Whole(1))
    learning_rate: float = parameter(default=1e-3, allowed=Number(above=0))
    weight_decay: float = parameter(default=1e-4, allowed=Number(least=0))
    tied: bool = parameter(default=False, allowed=Flag())
    decode_weight: float = parameter(default=1.0, allowed=Number(least=0))
    encode_weight: float = parameter(default=1.0, allowed=Number(least=0))
    classify_weight: float = parameter(default=1.0, allowed=Number(least=0))
    reconstruct_weight: float = parameter(default=0.0, allowed=Number(least=0))
    softness: float = parameter(default=5.0, allowed=Number(above=0))


@dataclass(frozen=True, kw_only=True, repr=False)
class AutoencoderSearch(Search):
    """How the number of steps is chosen.

    Parameters
    ----------
    cv : int, default=5
        The seen classes are dealt into so many folds.
    max_steps : int, default=160
        Upper limit for ``n_steps="cv"``.
    """

    max_steps: int = parameter(default=160, allowed=Whole(0))


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
    n_hidden : int, default=512
        Units of each hidden layer.
    start : ClosedFormStart, optional
        The closed form it starts at, and where samples and classes are compared.
    training : AutoencoderTraining, optional
        Losses and optimizer.
    search : AutoencoderSearch, optional
        How many steps are tried, on which folds.
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
    >>> clf = DeepSemanticAutoencoder(data.signatures, n_hidden=32)
    >>> clf.set_params(training__n_steps=20)  # doctest: +ELLIPSIS
    DeepSemanticAutoencoder(...)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="outlook of Kodirov, Xiang & Gong, CVPR 2017; see docs/deep.md",
    )
    n_hidden: int = parameter(default=512, allowed=Whole(1))
    start: ClosedFormStart = parameter(default=ClosedFormStart(), allowed=Group(ClosedFormStart))
    training: AutoencoderTraining = parameter(
        default=AutoencoderTraining(), allowed=Group(AutoencoderTraining)
    )
    search: AutoencoderSearch = parameter(
        default=AutoencoderSearch(), allowed=Group(AutoencoderSearch)
    )
    renamed: ClassVar[Mapping[str, str]] = {"hidden": "n_hidden"}
    feature_norm = setting("start.feature_norm")
    signature_norm = setting("start.signature_norm")
    cv = setting("search.cv")
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
            X, y, self.seen_signatures_, folds, self.start.lam, self.feature_norm == "l2"
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
        points = grid_points(self.start, search_space(self.start, *SPACES))
        point, lam = points[0], self.start.lam
        if search.folds and (len(points) > 1 or is_cv(lam)):
            point, lam = search.best(points, WAYS_OF[self.start.direction])
        self.power_, self.shrinkage_ = point["power"], point["shrinkage"]
        self.metric_: Metric = point["metric"]
        space = search.space(point)
        rows = space.features(search.X), search.y, space.signatures(search.S)
        self.lam_ = lam if isinstance(lam, dict) else self._closed_form(*rows, lam).lam_
        chosen = left_open(self.start, {**point, "lam": dict(self.lam_)})
        self.best_params_ = {f"start__{name}": value for name, value in chosen.items()}
        return space

    def _closed_form(self, Z: NDArray, y: NDArray[np.intp], S: NDArray, lam: Any) -> SAEClassifier:
        """Fit the semantic autoencoder on rows and signatures in the space."""
        names = np.array([f"{i:06d}" for i in range(len(S))])
        sae = SAEClassifier(
            None if self.signatures is None else Signatures(names, S),
            lam=lam,
            direction=self.start.direction,
            metric=self.metric_,
            feature_norm=None,
            signature_norm=None,
            cv=self.cv,
            random_state=self.random_state,
        )
        return sae.fit(Z, names[y])

    def _chosen_steps(self, search: StartSearch, device: Any) -> int:
        """Choose the number of steps on held-out classes."""
        tried = [n for n in STEPS if n <= self.search.max_steps]
        points = grid_points(self, {"training__n_steps": tried})

        def judge(place: int) -> list[float]:
            return self._curve(search, place, tried, device)

        folds = range(len(search.folds))
        steps = self.training.n_steps
        without = min(STEPS_WITHOUT_FOLDS, self.search.max_steps) if is_cv(steps) else steps
        default = {"training__n_steps": without}
        point = choose_parameters(self, points, folds, judge, default=default)
        return int(point["training__n_steps"])

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

        how = self.training
        label = f"{type(self).__name__}, {n_steps} steps"
        return Recipe(
            ways=WAYS_OF[self.start.direction],
            metric=self.metric_,
            hidden=self.n_hidden,
            tied=how.tied,
            decode=how.decode_weight,
            encode=how.encode_weight,
            classify=how.classify_weight,
            reconstruct=how.reconstruct_weight,
            softness=how.softness,
            learning_rate=how.learning_rate,
            weight_decay=how.weight_decay,
            course=Course(n_steps, how.batch_size, looks, label, self.verbose > 1),
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
        return {way: Targets.of(rows[way](), self.metric_) for way in WAYS_OF[self.start.direction]}

    def _queries_of(self, weights: dict[str, NDArray], Z: NDArray) -> dict[Direction, NDArray]:
        """Return samples, given in the space, as each direction compares them."""
        return {
            way: encoded(weights, Z) if way == "encode" else Z
            for way in WAYS_OF[self.start.direction]
        }

    def _decoded(self, S: NDArray) -> NDArray:
        return decoded(self.parameters_, self._fitted_space().signatures(S))
