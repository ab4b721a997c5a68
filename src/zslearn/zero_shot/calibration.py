"""Calibrated stacking: a bias against seen classes, chosen on the training classes alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from zslearn._parameters import Either, Number, Whole, check_parameters
from zslearn.core.all_or_nothing import all_or_nothing
from zslearn.core.threads import limits_blas
from zslearn.metrics import SeenUnseenCurve, seen_unseen_curve
from zslearn.model_selection import Choice, ClassKFold, choose
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features, ZeroShotClassifier
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.inputs import as_signatures
from zslearn.zero_shot.pipelines import (
    CLASSIFIER,
    features_of,
    frozen,
    last_step,
    steps_before,
)
from zslearn.zero_shot.score_form import ScoreForm
from zslearn.zero_shot.tags import ZeroShotTags
from zslearn.zero_shot.weights import refuses_weights

MAX_FOLDS = 10
# Biases kept in `cv_results_`; there are as many to choose from as samples.
MAX_KEPT = 1000


class CalibratedStacking(ZeroShotClassifier):
    """Subtract a bias γ from the scores of seen classes (Chao et al., ECCV 2016).

    A classifier trained on seen classes prefers them, so that with all classes as candidates
    samples of unseen classes are lost. The answer here is the candidate c of largest
    f_c(x) − γ·[c is seen].

    γ is chosen from the training data: classes are held out in folds as pseudo-unseen ones, with
    a share of the samples of the remaining classes; the classifier is fitted on the rest and all
    training classes are candidates. The γ of highest harmonic mean, averaged over the folds, is
    found exactly by a sweep over the gaps between best seen and best unseen score. No test sample
    and no sample of an unseen class takes part. Parameters that the classifier chooses itself are
    chosen once, on all training classes, and kept in the folds.

    The folds are smaller problems than the real one. The best of many unseen candidates scores
    higher than the best of few, so the gap, and with it γ, depends on how many candidates each
    side has; ``cv="auto"`` therefore makes as many folds as keep the share of unseen candidates
    what it will be at prediction: round((seen + unseen) / unseen), between 2 and 10. The number of
    candidates and what a fold's classifier knows still differ, so γ stays an estimate; compare
    the result with the oracle's of `SeenUnseenCurve`.

    Parameters
    ----------
    estimator : ZeroShotClassifier or Pipeline that ends in one
        The classifier to calibrate; it is cloned. Earlier steps of a pipeline are fitted in every
        fold on its training samples alone.
    gamma : "auto" or float, default="auto"
        The bias, in units of the classifier's scores, or "auto" to choose it.
    cv : "auto" or int, default="auto"
        Number of folds over the training classes.
    holdout : float, default=0.2
        Share of the samples of each remaining class that is held out in a fold.
    random_state : int or None, default=0
        Order in which classes are dealt to folds, and the draw of held-out samples.

    Attributes
    ----------
    estimator_ : ZeroShotClassifier or Pipeline
        The classifier fitted on all training data.
    gamma_ : float
        The bias in use. 0 where it cannot be chosen: with one-hot signatures no class is unseen,
        and below four training classes no fold can be made.
    curves_ : list of SeenUnseenCurve
        The curve of each fold; empty if γ was not chosen.
    cv_results_ : dict or None
        Harmonic mean of about 1,000 of the γ tried, spread evenly and the best among them, on
        every fold, with scikit-learn's keys; None if γ was not chosen.
    best_params_ : dict
        γ, if it was left to "auto".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.evaluation import GeneralizedProtocol
    >>> from zslearn.zero_shot import CalibratedStacking, SAEClassifier
    >>> data = make_zero_shot(noise=2.0, random_state=0)
    >>> task = GeneralizedProtocol().task(data)
    >>> clf = CalibratedStacking(SAEClassifier(data.signatures, lam=1.0))
    >>> clf = clf.fit(data.X[task.train], data.y[task.train])
    >>> clf.gamma_ > 0
    True
    """

    parameter_constraints: ClassVar = {
        "estimator": CLASSIFIER,
        "gamma": Either("auto", Number()),
        "cv": Either("auto", Whole(2)),
        "holdout": Number(above=0, below=1),
    }
    learned_shapes: ClassVar = {"seen_signatures_": None, "gamma_": ""}

    def __init__(
        self,
        estimator: ZeroShotClassifier | Pipeline,
        *,
        gamma: float | str = "auto",
        cv: int | str = "auto",
        holdout: float = 0.2,
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.gamma = gamma
        self.cv = cv
        self.holdout = holdout
        self.random_state = random_state

    @property
    def signatures(self) -> Any:
        """The class table of the classifier."""
        return last_step(self.estimator).signatures

    @property
    def signatures_(self) -> Signatures:  # type: ignore[override]
        """Every class that can be predicted."""
        return self._classifier.signatures_

    @property
    def zero_shot_tags(self) -> ZeroShotTags:  # type: ignore[override]
        """The facts the classifier tells about itself."""
        return last_step(self.estimator).zero_shot_tags

    @refuses_weights
    @all_or_nothing
    @limits_blas
    def fit(self, X: Any, y: Any) -> CalibratedStacking:
        """Choose the bias and fit the classifier on all training data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        CalibratedStacking
            The fitted classifier.
        """
        check_parameters(self)
        X, labels = self._validated(X, y, ensure_all_finite=self._finite())
        self.estimator_ = clone(self.estimator).fit(X, labels)
        self.seen_classes_ = self._classifier.seen_classes_
        self.fit_gamma(X, labels)
        return self

    def fit_gamma(self, X: Any, y: NDArray) -> CalibratedStacking:
        """Choose the bias only, without the fit on all training data.

        Parameters
        ----------
        X : {array, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        CalibratedStacking
            With `gamma_`, `curves_`, `cv_results_` and `best_params_` set.
        """
        check_parameters(self)
        n_folds = 0 if self.gamma != "auto" else self._n_folds(np.unique(y))
        self.curves_ = self._fold_curves(X, y, n_folds) if n_folds else []
        if self.curves_:
            choice = choose_gamma(self.curves_)
            self.cv_results_, self.gamma_ = choice.cv_results, choice.best_params["gamma"]
        else:
            self.cv_results_ = None
            self.gamma_ = 0.0 if self.gamma == "auto" else float(self.gamma)
        self.best_params_ = {"gamma": self.gamma_} if self.gamma == "auto" else {}
        return self

    def frozen(self) -> CalibratedStacking:
        """Return an unfitted copy with the bias and the classifier's parameters as numbers.

        Returns
        -------
        CalibratedStacking
        """
        check_is_fitted(self)
        return clone(self).set_params(**self.best_params_, estimator=frozen(self.estimator_))

    def add_classes(self, new: Signatures | Mapping[Any, ArrayLike]) -> CalibratedStacking:
        """Make new classes predictable; they count as unseen. See `ZeroShotClassifier`."""
        self._classifier.add_classes(new)
        return self

    def _fold_curves(self, X: Any, y: NDArray, n_folds: int) -> list[SeenUnseenCurve]:
        """Fit on part of the classes and trace the curve on what was held out, fold by fold."""
        classes, curves = np.unique(y), []
        # Parameters that the fit on all training data chose are not chosen again in every fold.
        prototype = frozen(self.estimator_) if hasattr(self, "estimator_") else self.estimator
        folds = ClassKFold(
            n_folds, shuffle=True, holdout=self.holdout, random_state=self.random_state
        )
        for train, test in folds.split(X, y):
            if not np.isin(y[test], y[train]).any():  # no class has a sample to spare
                continue
            fitted = clone(prototype).fit(X[train], y[train])
            scores = last_step(fitted)._live(classes).scores(features_of(fitted, X[test]))
            seen = np.unique(y[train])
            curves.append(seen_unseen_curve(y[test], scores, candidates=classes, seen=seen))
        return curves

    def _n_folds(self, classes: NDArray) -> int:
        """Return the number of folds, or 0 if none can be made."""
        if self.signatures is None or len(classes) < 4:
            return 0
        most = len(classes) // 2
        if self.cv != "auto":
            return min(int(self.cv), most)
        unseen = int((~np.isin(as_signatures(self.signatures).names, classes)).sum())
        wanted = round((len(classes) + unseen) / unseen) if unseen else 5
        return int(np.clip(wanted, 2, min(MAX_FOLDS, most)))

    def _ready_rows(self, X: Any) -> Any:
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=self._finite(),
        )
        return self._classifier._ready_rows(features_of(self.estimator_, X))

    @property
    def _classifier(self) -> ZeroShotClassifier:
        """The fitted classifier, the last step if there is a pipeline."""
        fitted: ZeroShotClassifier = last_step(self.estimator_)
        return fitted

    def _finite(self) -> bool | str:
        """Leave NaN to the steps of a pipeline, one of which may fill it in."""
        return "allow-nan" if isinstance(self.estimator, Pipeline) else True

    def _prepared(self, names: NDArray, vectors: NDArray) -> tuple[Any, NDArray]:
        return self._classifier._prepared(names, vectors), self._biases(names)

    def _biases(self, names: NDArray) -> NDArray:
        """Return what is subtracted from the scores of each class."""
        return self.gamma_ * np.isin(names, self.seen_classes_)

    def _explained(self, X: Features, name: Any, vector: NDArray) -> Explanation:
        why = self._classifier._explained(X, name, vector)
        bias = float(self._biases(np.array([name]))[0])
        return Explanation.of(why.dimensions, why.contributions, why.offset - bias, why.deviations)

    def _encode(self, X: Features) -> NDArray:
        return self._classifier._encode(X)

    def _score(self, X: Features, prepared: tuple[Any, NDArray]) -> NDArray:
        inner, bias = prepared
        scores = self._classifier._score(X, inner)
        return scores - bias.astype(scores.dtype)

    def _form(self, prepared: tuple[Any, NDArray]) -> ScoreForm:
        inner, bias = prepared
        form = self._classifier._form(inner)
        total = bias if form.bias is None else form.bias + bias
        return replace(form, steps=steps_before(self.estimator_) + form.steps, bias=total)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags


def choose_gamma(curves: Sequence[SeenUnseenCurve]) -> Choice:
    """Choose the bias of highest harmonic mean, averaged over curves: exact, no grid.

    Parameters
    ----------
    curves : sequence of SeenUnseenCurve
        At least one.

    Returns
    -------
    Choice
        The middle of the interval in which the mean is highest, the lowest of equal intervals;
        of the others about `MAX_KEPT` are kept.
    """
    # The mean of step functions is a step function: it can only change at a gap of one of them.
    gaps = np.unique(np.concatenate([curve.gaps for curve in curves]))
    inside = gaps if len(gaps) == 1 else gaps[:-1] + (gaps[1:] - gaps[:-1]) / 2
    points = [{"gamma": gamma} for gamma in inside.tolist()]
    choice = choose(points, curves, lambda curve: curve.harmonic_means[curve.indices_at(inside)])
    return _thinned(choice, len(curves))


def _thinned(choice: Choice, n_folds: int) -> Choice:
    """Keep the best point and a number of others, spread evenly."""
    params = choice.cv_results["params"]
    spread = np.linspace(0, len(params) - 1, min(len(params), MAX_KEPT)).astype(np.intp)
    kept = np.unique(np.append(spread, choice.best_index))
    scores = [choice.cv_results[f"split{i}_test_score"][kept] for i in range(n_folds)]
    return Choice.of([params[i] for i in kept], np.array(scores))
