"""The base of methods that synthesize samples of unseen classes and train a softmax on them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import fitted, parameter
from zslearn._parameters import Either, Group, Number, Whole
from zslearn._progress import report
from zslearn.core.descent import Descent, Parameters, descend
from zslearn.core.logistic import Axes, fit_logistic, softmax_loss
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.model_selection import stratified_holdout
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.deep.base import Checkpoints, DeepClassifier, Settings, setting
from zslearn.zero_shot.search import (
    Fold,
    Point,
    choose_parameters,
    grid_points,
    unseen_class_folds,
)

Arrays = dict[str, NDArray]
# Synthetic samples per class that are tried, as multiples of the mean size of a training class.
MULTIPLES = (2, 6)
# Passes of the softmax that are tried; the papers take 20 to 50, or the best on the test.
EPOCHS = (5, 25)
# Of the softmax where nothing is synthesized.
ORDINARY_PENALTY = 1e-4
# Share of the samples of known classes that is held out where settings are chosen.
HELD_OUT = 0.2


class Game(Protocol):
    """A training under way."""

    def step(self, rows: Any) -> Any:
        """Take one step on a batch and return a loss."""

    def arrays(self) -> Arrays:
        """Return the weights that prediction needs."""


class Stage(NamedTuple):
    """Weights, and what is kept of the training samples with their classes."""

    weights: Arrays
    samples: NDArray
    classes: NDArray


@dataclass(frozen=True, kw_only=True, repr=False)
class GeneratorTraining(Settings):
    """Settings of every generator.

    Parameters
    ----------
    batch_size : int, default=64
        Samples in a batch.
    learning_rate : float, default=1e-3
        Of Adam.
    n_synthetic : "cv" or int, default="cv"
        Synthesized samples per class; "cv" tries two and six times the mean size of a training
        class. More of them favor unseen classes over seen ones.
    softmax_epochs : "cv" or int, default="cv"
        Passes of the softmax over the samples, by Adam; "cv" tries 5 and 25.
    feature_norm : {"l2", None}, default=None
        Whether samples are scaled to unit length before their features are scaled to [0, 1] by the
        training data; the originals do not.
    signature_norm : {"l2", None}, default="l2"
        Scale every signature to unit length, at fit and at prediction.
    """

    batch_size: int = parameter(default=64, allowed=Whole(1))
    learning_rate: float = parameter(default=1e-3, allowed=Number(above=0))
    n_synthetic: int | str = parameter(default="cv", allowed=Either("cv", Whole(1)))
    softmax_epochs: int | str = parameter(default="cv", allowed=Either("cv", Whole(1)))
    feature_norm: str | None = parameter(default=None, allowed=Either("l2", None))
    signature_norm: str | None = parameter(default="l2", allowed=Either("l2", None))


@dataclass(frozen=True, kw_only=True, repr=False)
class AdversarialTraining(GeneratorTraining):
    """Settings of a generator that is trained against a critic.

    Adam has β₁ = 0.5 for all networks.

    Parameters
    ----------
    n_steps : "cv" or int, default="cv"
        Steps of the generator.
    n_critic : int, default=2
        Steps of the critic for each step of the generator.
    penalty : float, default=10.0
        Weight of the gradient penalty.
    """

    n_steps: int | str = parameter(default="cv", allowed=Either("cv", Whole(1)))
    n_critic: int = parameter(default=2, allowed=Whole(1))
    penalty: float = parameter(default=10.0, allowed=Number(least=0))


@dataclass(frozen=True, kw_only=True, repr=False)
class GeneratorSearch(Checkpoints):
    """How a generator chooses what is left to "cv".

    Parameters
    ----------
    cv : int, default=4
        The seen classes are dealt into so many folds.
    n_folds : int, default=1
        How many of them play unseen classes in turn; each costs a training.
    max_steps, n_checkpoints : int, default=2000 and 2
        So many lengths are tried, evenly up to the largest.
    keep_stages : bool, default=False
        Whether to train up to `max_steps` and keep the model at every checkpoint.
    """

    cv: int = parameter(default=4, allowed=Whole(2))
    n_folds: int = parameter(default=1, allowed=Whole(1))
    max_steps: int = parameter(default=2000, allowed=Whole(1))
    n_checkpoints: int = parameter(default=2, allowed=Whole(1))


class GenerativeClassifier(DeepClassifier):
    """Base of methods that turn zero-shot recognition into ordinary classification.

    A method provides

    - ``_game(X, y, S, device)``: the training, on features scaled to [0, 1],
    - ``_synthesized(weights, S, n)``: samples for each signature, (n_classes, n, n_outputs),
    - ``_represented(weights, X)``, unless these outputs are features: samples in their space,
    - ``_kept(weights, X, y)``, if it keeps something else of the training samples, with their
      classes, and ``_of_kept(weights, kept)``, how the softmax sees that.

    Candidates that were seen are represented by their training samples, which the model keeps,
    the others by synthesized ones, and the softmax of the paper is trained on them whenever
    candidates are prepared. Every class gets the same draws of noise, so that what is
    synthesized for it does not depend on the other candidates, nor on their order.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot, where nothing is
        synthesized.

    Attributes
    ----------
    n_steps_, n_synthetic_, softmax_epochs_ : int
        What was used.
    feature_low_, feature_range_ : ndarray of shape (n_features,)
        Features are scaled by ``(x - low) / range``.
    stages_ : dict of int to Stage
        With ``search__keep_stages=True`` the model at every checkpoint, see `at_step`.
    """

    training: GeneratorTraining = parameter(
        default=GeneratorTraining(), allowed=Group(GeneratorTraining)
    )
    search: Checkpoints = parameter(default=Checkpoints(), allowed=Group(Checkpoints))
    feature_norm = setting("training.feature_norm")
    signature_norm = setting("training.signature_norm")
    parameters_: dict[str, NDArray] = fitted("arrays")
    feature_low_: NDArray = fitted("d")
    feature_range_: NDArray = fitted("d")
    samples_: NDArray = fitted("n q")
    sample_classes_: NDArray = fitted("names n")

    def at_step(self, n_steps: int) -> Self:
        """Return the classifier as it was after so many steps; needs ``search__keep_stages=True``.

        Parameters
        ----------
        n_steps : int
            A key of `stages_`.

        Returns
        -------
        GenerativeClassifier
            A fitted copy.
        """
        check_is_fitted(self)
        if n_steps not in self.stages_:
            kept = ", ".join(map(str, self.stages_)) or "none; fit with search__keep_stages=True"
            raise InvalidInputError(f"no weights of step {n_steps} were kept; kept: {kept}.")
        twin = copy.copy(self)
        twin._set(self.stages_[n_steps])
        twin.n_steps_ = n_steps
        return twin

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        raise NotImplementedError(f"{type(self).__name__} must provide _game")

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        raise NotImplementedError(f"{type(self).__name__} must provide _synthesized")

    def _represented(self, weights: Arrays, X: NDArray) -> NDArray:
        return X

    def _kept(self, weights: Arrays, X: NDArray, y: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        return X, y

    def _of_kept(self, weights: Arrays, kept: NDArray) -> NDArray:
        return kept

    def _train(self, X: NDArray, y: NDArray[np.intp], device: Any) -> None:
        X = X.astype(np.float32)
        point = self._chosen(X, y, device)
        self.n_steps_, self.n_synthetic_, self.softmax_epochs_ = map(int, point.values())
        self.feature_low_, self.feature_range_ = bounds(X)
        rows, self.stages_ = self._scaled(X), {}
        if self.signatures is None:  # there is no class to synthesize
            self._set(Stage({}, rows, y))
            return
        stages = self._stages(rows, y, self.seen_signatures_, device)
        self._set(stages[self.n_steps_])
        self.stages_ = stages if self.search.keep_stages else {}

    def _set(self, stage: Stage) -> None:
        self.parameters_, self.samples_, self.sample_classes_ = stage

    def _stages(self, X: NDArray, y: NDArray[np.intp], S: NDArray, device: Any) -> dict[int, Stage]:
        """Train, and return the model after the chosen steps, or at every checkpoint."""
        wanted = [self.n_steps_]
        if self.search.keep_stages:
            wanted = sorted({*self._checkpoints(len(X)), self.n_steps_})
        stages: dict[int, Stage] = {}

        def look(n_steps: int, weights: Arrays) -> None:
            stages[n_steps] = Stage(weights, *self._kept(weights, X, y))

        self._play(X, y, S, device, wanted, look)
        return stages

    def _play(
        self,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        device: Any,
        wanted: list[int],
        look: Callable[[int, Arrays], None],
    ) -> None:
        """Train on scaled features and look at the weights after numbers of steps."""
        import torch

        from zslearn.zero_shot.deep.training import Course, train

        if self.random_state is not None:  # every training starts alike, in folds too
            torch.manual_seed(self.random_state)
        course = Course(
            wanted[-1],
            int(self.training.batch_size),
            wanted,
            type(self).__name__,
            show=self.verbose > 1,
        )
        game = self._game(X, y, S.astype(np.float32), device)
        train(
            game.step,
            len(X),
            course,
            np.random.RandomState(self.random_state),
            look=lambda n_steps: look(n_steps, game.arrays()),
            device=device,
        )

    def _chosen(self, X: NDArray, y: NDArray[np.intp], device: Any) -> Point:
        """Return number of steps, of synthetic samples, and of epochs of the softmax."""
        raise NotImplementedError(f"{type(self).__name__} must provide _chosen")

    def _checkpoints(self, n_rows: int) -> list[int]:
        """Numbers of steps after which the training is looked at."""
        raise NotImplementedError(f"{type(self).__name__} must provide _checkpoints")

    def _scaled(self, X: NDArray) -> NDArray:
        return (X - self.feature_low_.astype(X.dtype)) / self.feature_range_.astype(X.dtype)

    def represent(self, rows: Features) -> NDArray:
        return self._represented(self.parameters_, self._scaled(dense(rows)))

    def prepare(self, names: NDArray, vectors: NDArray) -> Softmax:
        S = self._unit_signatures(names, vectors)
        own = self._seen_places(names, S)
        # A fixed order, so that the fit does not depend on that of the candidates.
        order = np.lexsort([own, *S.T])
        samples: list[Any] = [None] * len(own)
        new = np.flatnonzero(own < 0)
        if len(new):
            made = self._synthesized(self.parameters_, S[new].astype(np.float32), self.n_synthetic_)
            for place, rows in zip(new, made, strict=True):
                samples[place] = rows
        for place in np.flatnonzero(own >= 0):
            kept = self.samples_[self.sample_classes_ == own[place]]
            samples[place] = self._of_kept(self.parameters_, kept)
        fitted = self._softmax([samples[place] for place in order])
        back = np.argsort(order)
        return Softmax(fitted.coef[back], fitted.intercept[back])

    def _softmax(self, samples: list[NDArray]) -> Softmax:
        if self.signatures is None:  # ordinary classification, maybe of very few samples
            return fit_softmax(samples, ORDINARY_PENALTY)
        return fit_softmax_by_steps(samples, self.softmax_epochs_)

    def _seen_places(self, names: NDArray, S: NDArray) -> NDArray[np.intp]:
        """Place among the seen classes; -1 for new classes and for seen ones described anew."""
        if self.signatures is None:
            return np.searchsorted(self.seen_classes_, names)
        places = {name: i for i, name in enumerate(self.seen_classes_.tolist())}
        found = np.array([places.get(name, -1) for name in names.tolist()], dtype=np.intp)
        same = (self.seen_signatures_[found] == S).all(axis=1)
        return np.where((found >= 0) & same, found, -1)

    def compare(self, queries: NDArray, classes: Softmax) -> NDArray:
        return classes.scores(queries)

    def _report(self, message: str) -> None:
        report(self.verbose > 0, f"[{type(self).__name__}] {message}")


class AdversarialClassifier(GenerativeClassifier):
    """Base of the methods that train a generator against a critic.

    Parameters
    ----------
    n_hidden : int, default=512
        Units of the hidden layers.
    training : AdversarialTraining, optional
        Weights of the losses, optimizer and length.
    search : GeneratorSearch, optional
        What is tried for settings left to "cv".
    random_state : int, default=0
        Start of the networks, batches, noise, and deal of the classes.
    verbose : int, default=0
        1 reports each fold on stderr, 2 also shows a progress bar of each training.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        The generator; prediction needs no PyTorch.
    samples_, sample_classes_ : ndarray of shape (n_kept, n_features) and (n_kept,)
        Scaled training samples, which the softmax needs, and positions in `seen_classes_`.
    cv_results_ : dict or None
        What every setting reached on held-out classes, with scikit-learn's keys.
    """

    n_hidden: int = parameter(default=512, allowed=Whole(1))
    training: AdversarialTraining = parameter(
        default=AdversarialTraining(), allowed=Group(AdversarialTraining)
    )
    search: GeneratorSearch = parameter(default=GeneratorSearch(), allowed=Group(GeneratorSearch))
    cv = setting("search.cv")

    def _chosen(self, X: NDArray, y: NDArray[np.intp], device: Any) -> Point:
        """Choose length and number of synthetic samples on classes that play unseen ones."""
        size = len(y) / len(self.seen_classes_)
        numbers = [max(1, round(size * factor)) for factor in MULTIPLES]
        points = grid_points(
            self,
            {
                "training__n_steps": self._checkpoints(len(y)),
                "training__n_synthetic": numbers,
                "training__softmax_epochs": EPOCHS,
            },
        )

        def judge(fold: Fold) -> list[float]:
            return self._judged(X, fold, points, device)

        folds = unseen_class_folds(self, y)[: self.search.n_folds]
        # Where no class can be held out: the longest training and the most samples.
        return choose_parameters(self, points, folds, judge, default=points[-1])

    def _judged(self, X: NDArray, fold: Fold, points: list[Point], device: Any) -> list[float]:
        """Return what each point reaches where the new classes of a fold are unseen.

        That is the mean of the accuracy among the new classes and of the harmonic mean of the
        accuracies on new and known classes among all: both settings count the same.
        """
        kept, spare = stratified_holdout(
            fold.y_train, share=HELD_OUT, random_state=self.random_state or 0
        )
        rows, y = X[fold.train][kept], fold.y_train[kept]
        low, width = bounds(rows)
        rows, new, old = (
            (part - low) / width for part in (rows, X[fold.held_out], X[fold.train][spare])
        )
        S = self.seen_signatures_.astype(np.float32)
        # The order of `points`, the last fastest.
        wanted, numbers, epochs = (
            list(dict.fromkeys(int(value) for value in column))
            for column in zip(*(point.values() for point in points), strict=True)
        )
        found: dict[int, list[float]] = {}

        def look(n_steps: int, weights: Arrays) -> None:
            samples, classes = self._kept(weights, rows, y)
            real = by_class(self._of_kept(weights, samples), classes)
            tests = [self._represented(weights, part) for part in (new, old)]
            truth = fold.y_held_out, fold.y_train[spare]
            found[n_steps] = [
                score
                for n in numbers
                for score in both_settings(
                    real, list(self._synthesized(weights, S[fold.new], n)), tests, truth, epochs
                )
            ]
            told = ", ".join(f"{score:.3f}" for score in found[n_steps])
            self._report(f"{n_steps} steps: on held-out classes {told}")

        self._play(rows, y, S[fold.known], device, wanted, look)
        return [score for n_steps in wanted for score in found[n_steps]]

    def _checkpoints(self, n_rows: int) -> list[int]:
        """Numbers of steps that are tried, evenly up to the largest."""
        return evenly(self.search.max_steps, self.search.n_checkpoints)


def bounds(X: NDArray) -> tuple[NDArray, NDArray]:
    """Return the smallest value and the range of each feature; a constant has range 1.

    Examples
    --------
    >>> bounds(np.array([[1.0, 5.0], [3.0, 5.0]]))
    (array([1., 5.]), array([2., 1.]))
    """
    low = X.min(axis=0)
    width = X.max(axis=0) - low
    return low, np.where(width > 0, width, 1.0).astype(X.dtype)


def noise_for(random_state: int | None, shape: tuple[int, ...]) -> NDArray:
    """Return normal noise, the same whenever it is asked for."""
    rng = np.random.default_rng(random_state or 0)
    return rng.standard_normal(shape, dtype=np.float32)


def evenly(most: int, n: int) -> list[int]:
    """Return up to n whole numbers, evenly up to the largest.

    Examples
    --------
    >>> evenly(2000, 4)
    [500, 1000, 1500, 2000]
    """
    return sorted({max(1, round(most * (i + 1) / n)) for i in range(n)})


def by_class(X: NDArray, y: NDArray[np.intp]) -> list[NDArray]:
    """Return the rows of each class."""
    return [X[y == c] for c in range(int(y.max()) + 1)]


def both_settings(
    real: list[NDArray],
    made: list[NDArray],
    tests: list[NDArray],
    truth: tuple[NDArray[np.intp], NDArray[np.intp]],
    epochs: Sequence[int],
) -> list[float]:
    """Return the mean of the accuracy among new classes and of the harmonic mean among all.

    Parameters
    ----------
    real, made : list of ndarray
        Samples of the known classes, and synthesized ones of the new classes.
    tests, truth : two arrays each
        Samples of new and of known classes, and their positions in `made` and `real`.
    epochs : sequence of int
        Of the softmax.

    Returns
    -------
    list of float
        For each number of epochs; without samples of known classes, the accuracy among the new.
    """
    found = [
        per_class_accuracy(truth[0], alone.scores(tests[0]).argmax(axis=1))
        for alone in fit_softmaxes_by_steps(made, epochs)
    ]
    if not len(truth[1]):
        return found
    for i, among in enumerate(fit_softmaxes_by_steps([*real, *made], epochs)):
        on_new, on_known = (among.scores(rows).argmax(axis=1) for rows in tests)
        new = per_class_accuracy(truth[0] + len(real), on_new)
        found[i] = (found[i] + harmonic_mean(per_class_accuracy(truth[1], on_known), new)) / 2
    return found


# The papers train by Adam for 20 to 50 epochs without a penalty and so stop early. L-BFGS with a
# penalty has neither seed nor learning rate, but the penalty has to be chosen.
MAX_ITER = 40
# By steps of Adam.
BATCH, MIN_STEPS = 32, 2000


class Softmax(NamedTuple):
    """Linear scores of classes.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, n_features)
        Weights.
    intercept : ndarray of shape (n_classes,)
        Offsets.
    """

    coef: NDArray
    intercept: NDArray

    def scores(self, X: NDArray) -> NDArray:
        """Return logits of shape (n_samples, n_classes), in the precision of X."""
        scores: NDArray = X @ self.coef.T.astype(X.dtype) + self.intercept.astype(X.dtype)
        return scores


def fit_softmax(samples: Sequence[NDArray], penalty: float) -> Softmax:
    """Fit a multinomial logistic regression.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    penalty : float
        Weight of ``½ ‖W‖²`` in units of the mean squared length of a sample.

    Returns
    -------
    Softmax

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.array([[0.0], [1.0]]), np.array([[3.0], [4.0]])
    >>> fit_softmax([low, high], 1e-3).scores(np.array([[0.5], [3.5]])).argmax(axis=1)
    array([0, 1])
    """
    X, y = _stacked(samples)
    axes = Axes.of(X)
    found = fit_logistic(
        axes.coordinates(X), y, "softmax", axes, penalty=penalty, max_iter=MAX_ITER
    ).in_features(axes)
    return Softmax(np.ascontiguousarray(found.coef.T), found.intercept)


def fit_softmax_by_steps(samples: Sequence[NDArray], epochs: int) -> Softmax:
    """Fit a softmax by Adam, without a penalty, as released programs do.

    Batches of 32 in an order that is the same every time, a learning rate of 1e-3 and β₁ = 0.5.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    epochs : int
        Passes over all samples; more where that is less than 2,000 steps, which leaves a softmax
        hardly trained.

    Returns
    -------
    Softmax

    Examples
    --------
    >>> import numpy as np
    >>> low, high = np.full((400, 1), -1.0), np.full((400, 1), 1.0)
    >>> fit_softmax_by_steps([low, high], 25).scores(np.array([[-1.0], [1.0]])).argmax(axis=1)
    array([0, 1])
    """
    return fit_softmaxes_by_steps(samples, [epochs])[0]


def fit_softmaxes_by_steps(samples: Sequence[NDArray], epochs: Sequence[int]) -> list[Softmax]:
    """Return `fit_softmax_by_steps` of each number of epochs, all by the longest of these fits.

    Parameters
    ----------
    samples : sequence of ndarrays of shape (n_samples, n_features)
        The samples of each class, real or synthesized; none of them empty.
    epochs : sequence of int
        Passes over all samples.

    Returns
    -------
    list of Softmax
    """
    X, y = _stacked(samples)

    def loss(at: Parameters, rows: NDArray[np.intp]) -> tuple[float, Parameters]:
        value, slopes = softmax_loss(y[rows])(X[rows] @ at["coef"] + at["intercept"])
        return value, {"coef": X[rows].T @ slopes, "intercept": slopes.sum(axis=0)}

    wanted = [max(n, round(MIN_STEPS * BATCH / len(X))) for n in epochs]
    reached: dict[int, Softmax] = {}
    passes = count(1)

    def keep(at: Parameters) -> float:
        n = next(passes)
        if n in wanted:
            reached[n] = Softmax(at["coef"].T.copy(), at["intercept"].copy())
        return n

    n = len(samples)
    start = {"coef": np.zeros((X.shape[1], n), X.dtype), "intercept": np.zeros(n, X.dtype)}
    how = Descent("adam", learning_rate=1e-3, momentum=0.5, batch_size=BATCH, epochs=max(wanted))
    descend(start, loss, len(X), how, np.random.RandomState(0), validate=keep)
    return [reached[n] for n in wanted]


def _stacked(samples: Sequence[NDArray]) -> tuple[NDArray, NDArray[np.intp]]:
    """Return all samples and the positions of their classes."""
    return np.concatenate(samples), np.repeat(np.arange(len(samples)), [*map(len, samples)])
