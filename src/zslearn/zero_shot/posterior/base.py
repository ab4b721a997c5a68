"""Base of the methods that carry posteriors of the seen classes over to the candidates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone, is_classifier

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Constraint, Either, Number, Whole
from zslearn._progress import report
from zslearn.core.logistic import Axes, LogisticModel, Progress, fit_logistic, logits
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.search import (
    DEALS,
    Fold,
    Point,
    SearchingMethod,
    choose_parameters,
    even_rows,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)


def iteration_lines(estimator: Any) -> Progress | None:
    """Lines about every tenth iteration, from verbose=2 on."""
    if estimator.verbose < 2:
        return None
    name = type(estimator).__name__
    return lambda i, loss: report(i % 10 == 0, f"[{name}] iteration {i}: loss {loss:.5f}")


def forget_logistic(model: Any) -> None:
    """Remove the logistic regression of an earlier fit."""
    for name in ("coef_", "intercept_", "n_iter_"):
        vars(model).pop(name, None)


def seen_logits(model: Any, X: Any) -> NDArray:
    """Return logits of shape (n_samples, n_seen) from an estimator's `coef_` and `intercept_`."""
    if sparse.issparse(X):
        return np.asarray(X @ model.coef_.astype(X.dtype)) + model.intercept_.astype(X.dtype)
    return logits(X, model.coef_, model.intercept_)


# Probabilities below this count as this, so that their logarithms are finite.
_LEAST = 1e-12


def _gives_probabilities(value: Any) -> bool:
    estimator = isinstance(value, BaseEstimator) and is_classifier(value)
    return estimator and hasattr(value, "predict_proba")


CLASSIFIER = Either(
    None, Constraint("a scikit-learn classifier with predict_proba", _gives_probabilities)
)


class GivenClassifier(NamedTuple):
    """A fitted classifier of the seen classes, numbered from 0."""

    fitted: Any

    @classmethod
    def fit(cls, classifier: Any, X: NDArray, y: NDArray[np.intp]) -> GivenClassifier:
        """Fit a clone on class indices, each of them present."""
        return cls(clone(classifier).fit(X, y))

    def logits(self, X: NDArray) -> NDArray:
        """Return the logarithms of its probabilities, of shape (n_samples, n_seen)."""
        # Softmax of log p is p again, so what follows need not know where logits come from.
        return np.log(np.maximum(self.fitted.predict_proba(X), _LEAST))


# Parameters are chosen on at most this many samples; the final model learns from all.
_SEARCH_ROWS = 3000


class SeenClasses(NamedTuple):
    """The seen classes: signatures of shape (n_seen, n_dimensions), share of the samples."""

    signatures: NDArray
    share: NDArray


class PosteriorClassifier(SearchingMethod):
    """A softmax classifier of the seen classes, and a rule from its posterior to any class.

    A method declares what it tries, its own choice first, and provides
    ``_relate(candidates, known, point)``, done once with one row per candidate, and
    ``_rank(logits, related, known, point)``, the scores of shape (n_samples, n_candidates).

    Parameters
    ----------
    classifier : scikit-learn classifier with ``predict_proba``, optional
        Classifier of the seen classes; it is cloned. By default logistic regression.
    penalty : float, default=1e-5
        Penalty of the logistic regression.
    max_iter : int, default=30
        Maximum number of its iterations.
    cv : int, default=3
        Number of folds over classes by which "cv" chooses, for each of three deals of the classes.
    verbose : int, default=0
        1 reports each fold, 2 also iterations of the classifiers, on stderr.

    Attributes
    ----------
    classifier_ : estimator or None
        The fitted seen-class classifier, if one was given.
    coef_, intercept_ : ndarrays of shape (n_features, n_seen) and (n_seen,)
        Otherwise the logistic regression.
    n_iter_ : int
        Iterations it took.
    prior_ : ndarray of shape (n_seen,)
        Share of each seen class in training.
    """

    classifier: Any = parameter(default=None, allowed=CLASSIFIER)
    penalty: float = parameter(default=1e-5, allowed=Number(above=0))
    max_iter: int = parameter(default=30, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    coef_: NDArray = fitted("optional d c")
    intercept_: NDArray = fitted("optional c")
    prior_: NDArray = fitted("c")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        self.prior_ = np.bincount(y) / len(y)
        # A classifier that was given gets the features themselves, ours their principal axes.
        axes = Axes.of(X) if self.classifier is None else None
        Z = X if axes is None else axes.coordinates(X)
        for name, value in self._chosen(Z, y, axes).items():
            setattr(self, f"{name}_", value)
        self._keep(self._classifier(Z, y, axes), axes)

    def _keep(self, model: LogisticModel | GivenClassifier, axes: Axes | None) -> None:
        """Set the learned state."""
        forget_logistic(self)
        self.classifier_ = model.fitted if isinstance(model, GivenClassifier) else None
        if isinstance(model, LogisticModel) and axes is not None:
            model = model.in_features(axes)
            self.coef_, self.intercept_ = model.coef, model.intercept
            self.n_iter_ = max(model.n_iter, 1)

    def _classifier(
        self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None
    ) -> LogisticModel | GivenClassifier:
        if axes is None:
            return GivenClassifier.fit(self.classifier, Z, y)
        return fit_logistic(
            Z,
            y,
            "softmax",
            axes,
            penalty=self.penalty,
            max_iter=self.max_iter,
            progress=iteration_lines(self),
        )

    def _chosen(self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None) -> Point:
        """Take what was given, and choose the rest by holding out classes."""
        rows = even_rows(y, _SEARCH_ROWS, np.random.default_rng(self.random_state))
        Z, y = Z[rows], y[rows]
        S, points = self.seen_signatures_, grid_points(self, search_space(self))

        def judge(fold: Fold) -> list[float]:
            # One classifier per fold; the points differ only in what is made of its logits.
            model = self._classifier(Z[fold.train], fold.y_train, axes)
            logits = model.logits(Z[fold.held_out])
            # What the whole fit will know, of the classes of this fold.
            known = SeenClasses(S[fold.known], np.bincount(fold.y_train) / len(fold.y_train))
            related = (self._relate(S[fold.new], known, point) for point in points)
            ranked = (self._rank(logits, r, known, p) for r, p in zip(related, points, strict=True))
            return [held_out_accuracy(scores, fold.y_held_out) for scores in ranked]

        return choose_parameters(self, points, unseen_class_folds(self, y, DEALS), judge)

    def _point(self) -> Point:
        return {name: getattr(self, f"{name}_") for name in search_space(self)}

    def _known(self) -> SeenClasses:
        return SeenClasses(self.seen_signatures_, self.prior_)

    def represent(self, rows: Features) -> NDArray:
        return self._logits(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> Any:
        S = self._unit_signatures(names, vectors)
        return self._relate(S, self._known(), self._point())

    def compare(self, queries: NDArray, classes: Any) -> NDArray:
        return self._rank(queries, classes, self._known(), self._point())

    def _logits(self, X: Features) -> NDArray:
        """Logits of the seen classes, of shape (n_samples, n_seen)."""
        if self.classifier_ is None:
            return seen_logits(self, X)
        return GivenClassifier(self.classifier_).logits(dense(X))

    def _relate(self, candidates: NDArray, known: SeenClasses, point: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _rank(
        self, logits: NDArray, related: Any, known: SeenClasses, point: dict[str, Any]
    ) -> NDArray:
        raise NotImplementedError


def posterior(logits: NDArray, temperature: float, top: int | None = None) -> NDArray:
    """Softmax of logits over a temperature; with `top`, only the most likely classes are kept.

    Parameters
    ----------
    logits : ndarray of shape (n_samples, n_seen)
        Outputs of the seen-class classifier.
    temperature : float
        Above 1 the posterior is flatter, below 1 sharper.
    top : int, optional
        Classes to keep; the others get 0 and the rest is scaled to sum to 1.

    Returns
    -------
    ndarray of shape (n_samples, n_seen)
    """
    P = softmax(logits.astype(np.float64) / temperature, axis=1)
    if top is None or top >= P.shape[1]:
        return P
    # A stable order, so that equal probabilities are kept by class order and not by chance.
    kept = np.argsort(-P, axis=1, kind="stable")[:, :top]
    sparse = np.zeros_like(P)
    np.put_along_axis(sparse, kept, np.take_along_axis(P, kept, axis=1), axis=1)
    return sparse / sparse.sum(axis=1, keepdims=True)
