"""What methods trained by mini-batches share: scaling, choice of settings, early stopping."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Number, Whole
from zslearn.core.minibatch import Descent, Parameters, Trace, batch_size_for, descend
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot.base import Features, ZeroShotClassifier, dense

Setting = dict[str, Any]


@dataclass(frozen=True)
class Scaling:
    """Features and signatures centered and brought to a mean squared length, or entry, of one.

    All four numbers come from the training data.
    """

    feature_mean: NDArray
    feature_scale: float
    signature_mean: NDArray
    signature_scale: float

    @classmethod
    def of(cls, X: NDArray, S: NDArray, *, unit_entries: bool = False) -> Scaling:
        """Measure samples and seen signatures."""
        means = [M.mean(axis=0, dtype=np.float64) for M in (X, S)]
        scales = [_inverse_length(M, mean) for M, mean in zip((X, S), means, strict=True)]
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
    """A trained model: parameters, the scaling they expect and how they were chosen."""

    parameters: Parameters
    scaling: Scaling
    setting: Setting
    epochs: int
    trace: Trace
    search: dict[str, Any] | None


class GradientClassifier(ZeroShotClassifier):
    """Base of classifiers trained by mini-batches.

    A method names the parameters that may be "cv" in `grids`, the preferred value first, and
    provides ``_start``, ``_loss`` and ``_scores``. Settings and the number of epochs are chosen
    together: every setting is trained on every fold of classes, the accuracy on the held-out
    classes is taken after each epoch, and the best pair is used to train on all seen classes.
    """

    grids: ClassVar[dict[str, tuple[Any, ...]]] = {}
    step: ClassVar[str] = "sgd"
    average: ClassVar[bool] = False
    unit_entries: ClassVar[bool] = False
    epochs: int | str
    max_epochs: int
    batch_size: int | str
    weight_decay: float
    cv: int
    random_state: int | None
    verbose: int
    parameter_constraints: ClassVar = {
        "learning_rate": Either("cv", Number(above=0)),
        "weight_decay": Number(least=0),
        "epochs": Either("cv", Whole(1)),
        "max_epochs": Whole(1),
        "batch_size": Either("auto", Whole(1)),
    }

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        """Parameters to begin with, for scaled signatures of shape (n_classes, n_dimensions)."""
        raise NotImplementedError(f"{type(self).__name__} must provide _start")

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, setting: Setting
    ) -> tuple[float, Parameters]:
        """Mean loss of a batch of scaled samples and its gradient."""
        raise NotImplementedError(f"{type(self).__name__} must provide _loss")

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        """Scores of scaled samples for scaled signatures."""
        raise NotImplementedError(f"{type(self).__name__} must provide _scores")

    def _learning_rate(self, setting: Setting) -> float:
        return float(setting["learning_rate"])

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
        self.n_epochs_ = learned.epochs
        self.loss_curve_ = np.array(learned.trace.losses)
        self.cv_results_ = learned.search
        self.chosen_ = dict(learned.setting)

    def _choices(self) -> dict[str, Any]:
        chosen = {**self.chosen_, "epochs": self.n_epochs_}
        return {name: value for name, value in chosen.items() if getattr(self, name) == "cv"}

    def _prepare(self, S: NDArray) -> Any:
        return (S - self.signature_mean_) * self.signature_scale_

    def _score(self, X: Features, prepared: Any) -> NDArray:
        rows = dense(X)
        rows = (rows - self.feature_mean_.astype(rows.dtype)) * rows.dtype.type(self.feature_scale_)
        parameters = {name: v.astype(rows.dtype) for name, v in self.parameters_.items()}
        return self._scores(parameters, rows, prepared.astype(rows.dtype))

    def _learn(self, X: NDArray, y: NDArray[np.intp], S: NDArray) -> Learned:
        """Choose setting and number of epochs on held-out classes, then train on all classes."""
        X, S = X.astype(np.float32, copy=False), S.astype(np.float32)
        settings = self._settings()
        folds = class_folds(y, self.cv, self.random_state) if self.signatures is not None else []
        search = None
        setting, epochs = settings[0], self._fixed_epochs()
        if folds and (len(settings) > 1 or self.epochs == "cv"):
            search = self._search(X, y, S, settings, folds)
            setting, epochs = settings[search["best"]], search["epochs"]
        scaling = self._scaling(X, S)
        trace = self._train(scaling.features(X), y, scaling.signatures(S), setting, epochs)
        self._tell(f"trained {epochs} epochs with {_spelled(setting)}")
        return Learned(trace.parameters, scaling, setting, epochs, trace, search)

    def _search(
        self, X: NDArray, y: NDArray, S: NDArray, settings: list[Setting], folds: list[Any]
    ) -> dict[str, Any]:
        """Held-out accuracy of each setting after each epoch, and the best of both."""
        epochs = self.max_epochs if self.epochs == "cv" else int(self.epochs)
        curves = np.empty((len(settings), len(folds), epochs))
        for j, (train, held_out) in enumerate(folds):
            old, y_train = np.unique(y[train], return_inverse=True)
            new, y_test = np.unique(y[held_out], return_inverse=True)
            scaling = self._scaling(X[train], S[old])
            rows, tests = scaling.features(X[train]), scaling.features(X[held_out])
            S_train, S_test = scaling.signatures(S[old]), scaling.signatures(S[new])

            def accuracy(parameters: Parameters, T: Any = tests, Z: Any = S_test, t: Any = y_test):
                return class_accuracy(self._scores(parameters, T, Z), t)

            for i, setting in enumerate(settings):
                trace = self._train(rows, y_train, S_train, setting, epochs, accuracy)
                curves[i, j] = trace.values
                self._tell(
                    f"fold {j + 1}/{len(folds)} {_spelled(setting)}: "
                    f"best held-out accuracy {max(trace.values):.3f}"
                )
        mean = curves.mean(axis=1)
        if self.epochs != "cv":
            mean = mean[:, -1:]
        best, epoch = np.unravel_index(int(mean.argmax()), mean.shape)
        chosen = int(epoch) + 1 if self.epochs == "cv" else epochs
        return {"settings": settings, "curves": curves, "best": int(best), "epochs": chosen}

    def _train(
        self,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        setting: Setting,
        epochs: int,
        validate: Any = None,
    ) -> Trace:
        rng = np.random.RandomState(self.random_state)
        how = Descent(
            step=self.step,
            learning_rate=self._learning_rate(setting),
            weight_decay=float(setting.get("weight_decay", self.weight_decay)),
            batch_size=batch_size_for(len(y))
            if self.batch_size == "auto"
            else int(self.batch_size),
            epochs=epochs,
            average=self.average,
        )

        def loss(parameters: Parameters, rows: NDArray[np.intp]) -> tuple[float, Parameters]:
            return self._loss(parameters, X[rows], y[rows], S, setting)

        start = self._start(rng, S, X.shape[1])
        return descend(
            start, loss, len(y), how, rng, validate=validate, progress=self._epoch_told(epochs)
        )

    def _scaling(self, X: NDArray, S: NDArray) -> Scaling:
        return Scaling.of(X, S, unit_entries=self.unit_entries)

    def _settings(self) -> list[Setting]:
        """Every combination of the parameters that are to be chosen, the preferred one first."""
        values = {
            name: grid if getattr(self, name) == "cv" else (getattr(self, name),)
            for name, grid in self.grids.items()
        }
        return [dict(zip(values, point, strict=True)) for point in product(*values.values())]

    def _rows_a_batch(self, n_rows: int) -> int:
        return batch_size_for(n_rows) if self.batch_size == "auto" else int(self.batch_size)

    def _fixed_epochs(self) -> int:
        return self.max_epochs if self.epochs == "cv" else int(self.epochs)

    def _tell(self, message: str) -> None:
        if self.verbose:
            sys.stderr.write(f"[{type(self).__name__}] {message}\n")

    def _epoch_told(self, epochs: int) -> Any:
        """Progress of each epoch, from verbose=2 on."""
        if self.verbose < 2:
            return None

        def told(epoch: int, loss: float, value: float | None) -> None:
            held_out = "" if value is None else f", held-out accuracy {value:.3f}"
            self._tell(f"epoch {epoch}/{epochs}: loss {loss:.4f}{held_out}")

        return told


def class_folds(
    y: NDArray[np.intp], n_splits: int, random_state: int | None
) -> list[tuple[NDArray, NDArray]]:
    """Folds that hold out at least two classes each; none if there are too few classes."""
    n_splits = min(n_splits, len(np.unique(y)) // 2)
    if n_splits < 2:
        return []
    splitter = ClassKFold(n_splits, shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros((len(y), 1)), y))


def even_rows(y: NDArray[np.intp], limit: int, random_state: int | None) -> NDArray[np.intp]:
    """Return at most `limit` rows, about the same number of each class, in ascending order."""
    if len(y) <= limit:
        return np.arange(len(y))
    order = np.random.RandomState(random_state).permutation(len(y))
    nth = np.empty(len(y), dtype=np.intp)  # 0 for the first drawn of its class, 1 for the next
    for c in np.unique(y):
        mine = order[y[order] == c]
        nth[mine] = np.arange(len(mine))
    return np.sort(order[np.argsort(nth[order], kind="stable")][:limit])


def class_accuracy(scores: NDArray, y: NDArray[np.intp]) -> float:
    """Mean over classes 0, 1, ... of the share of their samples whose best column is theirs."""
    right = np.bincount(y, weights=scores.argmax(axis=1) == y, minlength=scores.shape[1])
    count = np.bincount(y, minlength=scores.shape[1])
    return float((right[count > 0] / count[count > 0]).mean())


def _inverse_length(M: NDArray, mean: NDArray) -> float:
    """1 / root of the mean squared length of the centered rows; 1 if they are all equal."""
    square = float(np.einsum("ij,ij->", M, M, dtype=np.float64)) / len(M) - float(mean @ mean)
    return 1.0 / np.sqrt(square) if square > 1e-12 * float(mean @ mean) + 1e-30 else 1.0


def _spelled(setting: Iterable[Any] | Setting) -> str:
    items = dict(setting).items()
    return ", ".join(f"{name}={value:g}" for name, value in items) or "default settings"
