"""What methods trained by mini-batches share: scaling, choice of settings, early stopping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Number, Whole
from zslearn._progress import report
from zslearn.core.descent import Descent, Parameters, Trace, batch_size_for, descend
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.search import (
    Fold,
    Point,
    SearchingMethod,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)


@dataclass(frozen=True)
class Scaling:
    """Features and signatures, centered or not, brought to a mean squared length, or entry, of one.

    All four numbers come from the training data.
    """

    feature_mean: NDArray
    feature_scale: float
    signature_mean: NDArray
    signature_scale: float

    @classmethod
    def of(
        cls, X: NDArray, S: NDArray, *, unit_entries: bool = False, center: bool = True
    ) -> Scaling:
        """Measure samples and seen signatures."""
        means = [center * M.mean(axis=0, dtype=np.float64) for M in (X, S)]
        scales = [_inverse_length(M, mean) for M, mean in zip((X, S), means, strict=True)]
        # A mean squared entry of one in place of a mean squared length of one.
        if unit_entries:
            scales = [scale * np.sqrt(len(mean)) for scale, mean in zip(scales, means, strict=True)]
        return cls(means[0], float(scales[0]), means[1], float(scales[1]))

    def features(self, X: NDArray) -> NDArray:
        """Scaled samples."""
        return (X - self.feature_mean.astype(X.dtype)) * X.dtype.type(self.feature_scale)

    def signatures(self, S: NDArray) -> NDArray:
        """Scaled signatures."""
        return (S - self.signature_mean.astype(S.dtype)) * S.dtype.type(self.signature_scale)


@dataclass(frozen=True)
class Learned:
    """A trained model: its course, the scaling it expects and the point it was trained at."""

    trace: Trace
    scaling: Scaling
    point: Point

    @property
    def parameters(self) -> Parameters:
        """What was learned."""
        return self.trace.parameters


class GradientClassifier(SearchingMethod):
    """Base of classifiers trained by mini-batches.

    A method declares what it tries, the preferred value first, and provides ``_start``, ``_loss``
    and ``_scores``. Settings and the number of epochs are chosen together: every setting is trained
    on every fold of classes, the accuracy on the held-out classes is taken after each epoch, and
    the best pair is used to train on all seen classes.

    Parameters
    ----------
    weight_decay : float, default=0.0
        L2 shrinkage; early stopping is the usual regularizer.
    epochs : "cv" or int, default="cv"
        Passes over the data; "cv" stops where held-out training classes are recognized best.
    max_epochs : int, default=20
        Upper limit for ``epochs="cv"``, and the number used where no class can be held out.
    batch_size : "auto" or int, default="auto"
        Samples in a batch, 16 to 256 by the size of the data.
    random_state : int, default=0
        Order of the samples, and of the classes dealt to folds.
    verbose : int, default=0
        1 reports each fold, 2 each epoch, on stderr.

    Attributes
    ----------
    learning_rate_, n_epochs_ : float, int
        What was chosen.
    loss_curve_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch of the final training.
    cv_results_ : dict or None
        Held-out accuracy of every setting after every epoch, with scikit-learn's keys.
    """

    step: ClassVar[str] = "sgd"
    average: ClassVar[bool] = False
    unit_entries: ClassVar[bool] = False
    learning_rate: float | str = parameter(default=1.0, allowed=Number(above=0), tried=(1.0, 0.25))
    weight_decay: float = parameter(default=0.0, allowed=Number(least=0))
    epochs: int | str = parameter(default="cv", allowed=Either("cv", Whole(1)))
    max_epochs: int = parameter(default=20, allowed=Whole(1))
    batch_size: int | str = parameter(default="auto", allowed=Either("auto", Whole(1)))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    parameters_: dict[str, NDArray] = fitted("arrays")
    feature_mean_: NDArray = fitted("d")
    feature_scale_: float = fitted("")
    signature_mean_: NDArray = fitted("k")
    signature_scale_: float = fitted("")

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        """Parameters to begin with, for scaled signatures of shape (n_classes, n_dimensions)."""
        raise NotImplementedError(f"{type(self).__name__} must provide _start")

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        """Mean loss of a batch of scaled samples and its gradient."""
        raise NotImplementedError(f"{type(self).__name__} must provide _loss")

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        """Scores of scaled samples for scaled signatures."""
        raise NotImplementedError(f"{type(self).__name__} must provide _scores")

    def _learning_rate(self, point: Point) -> float:
        return float(point["learning_rate"])

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        self._keep(self._learn(dense(X), y, self.seen_signatures_))

    def _keep(self, learned: Learned) -> None:
        """Set the learned state."""
        self.parameters_ = learned.parameters
        self._keep_scaling(learned.scaling)
        self._keep_choice(learned)

    def _keep_scaling(self, scaling: Scaling) -> None:
        self.feature_mean_ = scaling.feature_mean
        self.feature_scale_ = scaling.feature_scale
        self.signature_mean_ = scaling.signature_mean
        self.signature_scale_ = scaling.signature_scale

    def _keep_choice(self, learned: Learned) -> None:
        for name in search_space(self):
            setattr(self, f"{name}_", learned.point[name])
        self.n_epochs_ = int(learned.point["epochs"])
        self.loss_curve_ = np.array(learned.trace.losses)

    def represent(self, rows: Features) -> NDArray:
        X = dense(rows)
        scaled = (X - self.feature_mean_.astype(X.dtype)) * X.dtype.type(self.feature_scale_)
        return np.asarray(scaled)

    def prepare(self, names: NDArray, vectors: NDArray) -> Any:
        S = self._unit_signatures(names, vectors)
        return (S - self.signature_mean_) * self.signature_scale_

    def compare(self, queries: Any, classes: Any) -> NDArray:
        # In the precision of the samples, as the features are.
        parameters = {name: v.astype(queries.dtype) for name, v in self.parameters_.items()}
        return self._scores(parameters, queries, classes.astype(queries.dtype))

    def _learn(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> Learned:
        """Choose setting and number of epochs on held-out classes, then train on all classes."""
        # Single precision: half the memory and time, and steps are noisier than its rounding.
        X, S = X.astype(np.float32, copy=False), S.astype(np.float32)
        point = self._chosen(X, y, S)
        scaling = self._scaling(X, S, point)
        trace = self._train(scaling.features(X), y, scaling.signatures(S), point)
        spelled = ", ".join(f"{name}={value:g}" for name, value in point.items())
        self._report(f"trained with {spelled}")
        return Learned(trace, scaling, point)

    def _chosen(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> Point:
        """Choose among all settings after each number of epochs, settings outermost."""
        # All numbers of epochs come from the longest training, judged after each epoch.
        points = grid_points(self, search_space(self) | {"epochs": range(1, self.max_epochs + 1)})
        longest = [point for point in points if point["epochs"] == points[-1]["epochs"]]

        def judge(fold: Fold) -> NDArray:
            curves = np.array([self._curve(X, S, fold, point) for point in longest])
            return (curves if self.epochs == "cv" else curves[:, -1]).ravel()

        folds = unseen_class_folds(self, y)
        return choose_parameters(self, points, folds, judge, default=longest[0])

    def _curve(self, X: NDArray, S: NDArray, fold: Fold, point: Point) -> list[float]:
        """Accuracy on the held-out classes of a fold after each epoch."""
        # Measured on what a fold learns from: held-out classes must not say where the middle is.
        scaling = self._scaling(X[fold.train], S[fold.known], point)
        rows, tests = scaling.features(X[fold.train]), scaling.features(X[fold.held_out])
        known, new = scaling.signatures(S[fold.known]), scaling.signatures(S[fold.new])

        def accuracy(parameters: Parameters) -> float:
            return held_out_accuracy(self._scores(parameters, tests, new), fold.y_held_out)

        return self._train(rows, fold.y_train, known, point, accuracy).values

    def _train(
        self,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        point: Point,
        validate: Any = None,
    ) -> Trace:
        rng = np.random.RandomState(self.random_state)
        how = Descent(
            step=self.step,
            learning_rate=self._learning_rate(point),
            weight_decay=float(self.weight_decay),
            batch_size=self._rows_per_batch(len(y)),
            epochs=int(point["epochs"]),
            average=self.average,
        )

        def loss(parameters: Parameters, rows: NDArray[np.intp]) -> tuple[float, Parameters]:
            return self._loss(parameters, X[rows], y[rows], S, point)

        start, progress = self._start(rng, S, X.shape[1]), self._epoch_lines(how.epochs)
        return descend(start, loss, len(y), how, rng, validate=validate, progress=progress)

    def _scaling(self, X: NDArray, S: NDArray, point: Point) -> Scaling:
        center = bool(point.get("center", True))
        return Scaling.of(X, S, unit_entries=self.unit_entries, center=center)

    def _rows_per_batch(self, n_rows: int) -> int:
        return batch_size_for(n_rows) if self.batch_size == "auto" else int(self.batch_size)

    def _report(self, message: str) -> None:
        report(self.verbose > 0, f"[{type(self).__name__}] {message}")

    def _epoch_lines(self, epochs: int) -> Any:
        """Progress of each epoch, from verbose=2 on."""
        if self.verbose < 2:
            return None

        def progress(epoch: int, loss: float, value: float | None) -> None:
            held_out = "" if value is None else f", held-out accuracy {value:.3f}"
            self._report(f"epoch {epoch}/{epochs}: loss {loss:.4f}{held_out}")

        return progress


def _inverse_length(M: NDArray, mean: NDArray) -> float:
    """1 / root of the mean squared length of the centered rows; 1 if they are all equal."""
    # mean ‖x − μ‖² = mean ‖x‖² − ‖μ‖²; what rounding leaves of equal rows counts as 0.
    square = float(np.einsum("ij,ij->", M, M, dtype=np.float64)) / len(M) - float(mean @ mean)
    return 1.0 / np.sqrt(square) if square > 1e-12 * float(mean @ mean) + 1e-30 else 1.0
