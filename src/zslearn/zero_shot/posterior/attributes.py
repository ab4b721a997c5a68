"""DAP: one yes/no classifier for each attribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Number, Whole
from zslearn.core.logistic import Axes, LogisticModel, fit_logistic
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.posterior.base import (
    CLASSIFIER,
    PosteriorClassifier,
    SeenClasses,
    forget_logistic,
    iteration_lines,
    posterior,
    seen_logits,
)
from zslearn.zero_shot.search import (
    DEALS,
    Fold,
    Point,
    SearchingMethod,
    choose_parameters,
    grid_points,
    held_out_accuracy,
    unseen_class_folds,
)
from zslearn.zero_shot.tags import ZeroShotTags

THRESHOLDS = ("global", "attribute")
PRIORS = ("seen", None)
# One attribute that is sure must not overrule all others: its evidence is at most log 10⁶.
_CLIP = 1e-6


def thresholds(seen: NDArray, how: str) -> NDArray:
    """Return the value of each attribute above which a class has it, of shape (n_dimensions,).

    "global" is the mean of the whole matrix, "attribute" the mean of each column. Only seen
    classes are measured, so that adding a class changes no other.
    """
    # The paper's choice is one threshold for all; "attribute" splits the seen classes by each.
    if how == "global":
        return np.full(seen.shape[1], seen.mean())
    return seen.mean(axis=0)


def prior(B: NDArray, how: str | None) -> NDArray:
    """Share of seen classes with each attribute; 0.5 where all or none have it, or if None."""
    share = B.mean(axis=0) if how == "seen" else np.full(B.shape[1], 0.5)
    return np.where((share <= 0) | (share >= 1), 0.5, share)


def attribute_scores(P: NDArray, B: NDArray, pi: NDArray) -> NDArray:
    """Return ``Σ_m B_cm log(p_m / π_m) + (1 − B_cm) log((1 − p_m) / (1 − π_m))``.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_dimensions)
        Probability that the sample has each attribute; kept away from 0 and 1 by 1e-6.
    B : ndarray of shape (n_classes, n_dimensions)
        Zeros and ones.
    pi : ndarray of shape (n_dimensions,)
        Prior of each attribute.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    # b·present + (1 − b)·absent = b·(present − absent) + absent: one product for all classes.
    present, absent = _evidence(P, pi)
    return (present - absent) @ B.T + absent.sum(axis=1, keepdims=True)


def attribute_contributions(p: NDArray, b: NDArray, pi: NDArray) -> NDArray:
    """Terms of the sum in `attribute_scores` for one sample and one class, one per attribute."""
    present, absent = _evidence(p, pi)
    return np.where(b > 0, present, absent)


def _evidence(P: NDArray, pi: NDArray) -> tuple[NDArray, NDArray]:
    """``log(p / π)`` and ``log((1 − p) / (1 − π))``."""
    P = np.clip(P.astype(np.float64), _CLIP, 1.0 - _CLIP)
    return np.log(P / pi), np.log((1.0 - P) / (1.0 - pi))


# The choice is made on at most this many principal axes; the final fit uses all.
_SEARCH_AXES = 200


class DAPClassifier(SearchingMethod):
    """Direct attribute prediction (Lampert, Nickisch and Harmeling, CVPR 2009 / TPAMI 2014).

    Classes have or lack each attribute (B, from a threshold). A classifier for each attribute
    gives ``p_m(x)``, and a class scores
    ``Σ_m B_cm log(p_m / π_m) + (1 − B_cm) log((1 − p_m) / (1 − π_m))`` with the prior π of the
    attributes. Here all attributes are learned at once by logistic regression, unless another
    classifier is given; the paper uses calibrated kernel SVMs.

    Parameters
    ----------
    threshold : "cv", "global" or "attribute", default="global"
        A class has an attribute if its value is above the mean of the matrix of seen classes
        (the paper, on all classes; it reproduces AwA's binary matrix from the raw one), or above
        the mean of that attribute.
    prior : {"seen", None}, default="seen"
        Divide by the share of seen classes that have the attribute, or not.
    classifier : scikit-learn classifier with ``predict_proba``, optional
        Classifier of one attribute; it is cloned for each. An attribute that all seen classes have,
        or none, then counts for nothing. By default logistic regression. Give one where attributes
        are no linear function of the features, as in measurements of sensors.
    penalty : "cv" or float, default="cv"
        Penalty of the logistic regression, see `zslearn.core.logistic.fit_logistic`.
    signature_norm : {"l2", None}, default=None
        Scale every signature to unit length before it is compared with the threshold.
    max_iter : int, default=30
        Maximum number of iterations of the classifiers.
    cv : int, default=3
        Number of folds over classes by which "cv" chooses, for each of three deals of the classes,
        on the first 200 principal axes; the final fit uses all.
    verbose : int, default=0
        1 reports each fold, 2 also iterations of the classifiers, on stderr.

    Attributes
    ----------
    threshold_, penalty_ : str, float or None
        Values used; a classifier that was given has no penalty.
    thresholds_, prior_ : ndarrays of shape (n_dimensions,)
        Threshold and prior of each attribute.
    classifiers_ : list of estimators or None
        The fitted attribute classifiers, if one was given; None in the list for an attribute that
        all seen classes have, or none.
    coef_, intercept_ : ndarrays of shape (n_features, n_dimensions) and (n_dimensions,)
        Otherwise the logistic regression.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DAPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = DAPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.5
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        raw_signatures=True,
        reference="Lampert, Nickisch & Harmeling, CVPR 2009",
    )
    threshold: str = parameter(default="global", allowed=Either(*THRESHOLDS), tried=THRESHOLDS)
    prior: str | None = parameter(default="seen", allowed=Either(*PRIORS))
    classifier: Any = parameter(default=None, allowed=CLASSIFIER)
    penalty: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(1e-4, 1e-5, 1e-3)
    )
    signature_norm: str | None = parameter(default=None)
    max_iter: int = parameter(default=30, allowed=Whole(1))
    cv: int = parameter(default=3)
    verbose: int = parameter(default=0, allowed=Whole(0))
    coef_: NDArray = fitted("optional d k")
    intercept_: NDArray = fitted("optional k")
    thresholds_: NDArray = fitted("k")
    prior_: NDArray = fitted("k")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        # A classifier that was given gets the features themselves, ours their principal axes.
        axes = Axes.of(X) if self.classifier is None else None
        Z = X if axes is None else axes.coordinates(X)
        chosen = self._chosen(Z, y, axes)
        self.threshold_, self.penalty_ = chosen["threshold"], chosen.get("penalty")
        # Learned from the seen classes, so that new classes do not move it.
        self.thresholds_ = thresholds(self.seen_signatures_, self.threshold_)
        B = self._binary(self.seen_signatures_)
        self.prior_ = prior(B, self.prior)
        self._keep(self._classifiers(Z, B[y], self.penalty_, axes), axes)

    def _keep(self, model: LogisticModel | GivenAttributeClassifiers, axes: Axes | None) -> None:
        """Set the learned state."""
        forget_logistic(self)
        self.classifiers_ = model.fitted if isinstance(model, GivenAttributeClassifiers) else None
        if isinstance(model, LogisticModel) and axes is not None:
            model = model.in_features(axes)
            self.coef_, self.intercept_ = model.coef, model.intercept
            self.n_iter_ = max(model.n_iter, 1)

    def _chosen(self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None) -> Point:
        """Take what was given, and choose the rest by holding out classes."""
        few, grid = axes, search_space(self)
        if few is None:
            del grid["penalty"]
        else:
            # Axes come strongest first.
            few, Z = few.restricted(_SEARCH_AXES), Z[:, :_SEARCH_AXES]
        points = grid_points(self, grid)

        def judge(fold: Fold) -> list[float]:
            return [self._held_out(Z, y, few, fold, point) for point in points]

        return choose_parameters(self, points, unseen_class_folds(self, y, DEALS), judge)

    def _held_out(
        self, Z: NDArray, y: NDArray[np.intp], axes: Axes | None, fold: Fold, point: Point
    ) -> float:
        S = self.seen_signatures_
        # Thresholds of the classes that the fold knows.
        B = (thresholds(S[fold.known], point["threshold"]) < S).astype(np.float64)
        targets = B[y[fold.train]]
        model = self._classifiers(Z[fold.train], targets, point.get("penalty"), axes)
        P = model.probabilities(Z[fold.held_out])
        ranked = attribute_scores(P, B[fold.new], prior(B[fold.known], self.prior))
        return held_out_accuracy(ranked, fold.y_held_out)

    def _classifiers(
        self, Z: NDArray, targets: NDArray, penalty: Any, axes: Axes | None
    ) -> LogisticModel | GivenAttributeClassifiers:
        if axes is None:
            return GivenAttributeClassifiers.fit(self.classifier, Z, targets)
        return fit_logistic(
            Z,
            targets,
            "sigmoid",
            axes,
            penalty=float(penalty),
            max_iter=int(self.max_iter),
            progress=iteration_lines(self),
        )

    def _binary(self, S: NDArray) -> NDArray:
        return (self.thresholds_ < S).astype(np.float64)

    def _probabilities(self, X: Features) -> NDArray:
        """Probability of each attribute, of shape (n_samples, n_dimensions)."""
        if self.classifiers_ is None:
            return expit(seen_logits(self, X))
        return GivenAttributeClassifiers(self.classifiers_).probabilities(dense(X))

    def represent(self, rows: Features) -> NDArray:
        return self._probabilities(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        return self._binary(self._unit_signatures(names, vectors))

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        return attribute_scores(queries, classes, self.prior_)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        b = self._binary(self._unit_signatures([name], vector[None])[0])
        terms = attribute_contributions(self._probabilities(rows)[0], b, self.prior_)
        # Of an attribute that the class lacks, the term is the probability that it is not there.
        return Explanation.of(self.signatures_.dimensions, terms, deviations=2 * b - 1)


class IAPClassifier(PosteriorClassifier):
    """Indirect attribute prediction (Lampert, Nickisch and Harmeling, CVPR 2009 / TPAMI 2014).

    A sample has attribute m with probability ``p_m(x) = Σ_y P(y|x) B_ym`` over the seen classes,
    where B says which class has which attribute; the candidates are ranked by the Bayes rule of
    `DAPClassifier`. P(y|x) is a softmax classifier here, a calibrated kernel SVM in the paper.

    Parameters
    ----------
    threshold : "cv", "global" or "attribute", default="global"
        A class has an attribute if its value is above the mean of the matrix of seen classes
        (the paper, on all classes), or above the mean of that attribute.
    prior : {"seen", None}, default="seen"
        Divide by the share of seen classes that have the attribute, or not.
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    signature_norm : {"l2", None}, default=None
        Scale every signature to unit length before it is compared with the threshold.

    Attributes
    ----------
    threshold_, temperature_ : str, float
        Values used.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import IAPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = IAPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        raw_signatures=True,
        reference="Lampert, Nickisch & Harmeling, CVPR 2009",
    )
    threshold: str = parameter(default="global", allowed=Either(*THRESHOLDS), tried=THRESHOLDS)
    prior: str | None = parameter(default="seen", allowed=Either(*PRIORS))
    temperature: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(1.0, 0.3, 0.6, 1.5, 3.0)
    )
    signature_norm: str | None = parameter(default=None)

    def _relate(self, candidates: NDArray, known: SeenClasses, point: dict[str, Any]) -> NDArray:
        return (candidates > thresholds(known.signatures, point["threshold"])).astype(np.float64)

    def _rank(
        self, logits: NDArray, related: NDArray, known: SeenClasses, point: dict[str, Any]
    ) -> NDArray:
        seen = self._relate(known.signatures, known, point)
        # p(a_m | x) = Σ_k p(a_m | y_k) p(y_k | x), the second layer of IAP.
        P = posterior(logits, point["temperature"]) @ seen
        return attribute_scores(P, related, prior(seen, self.prior))

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        known, point = self._known(), self._point()
        seen = self._relate(known.signatures, known, point)
        p = (posterior(self._logits(rows), point["temperature"]) @ seen)[0]
        b = self._relate(self._unit_signatures([name], vector[None]), known, point)[0]
        terms = attribute_contributions(p, b, prior(seen, self.prior))
        # Of an attribute that the class lacks, the term is the probability that it is not there.
        return Explanation.of(self.signatures_.dimensions, terms, deviations=2 * b - 1)


def is_plain_bayes(classifier: Any) -> bool:
    """Say whether a classifier is scikit-learn's Gaussian naive Bayes with priors from the data."""
    return type(classifier) is GaussianNB and classifier.priors is None


def fit_naive_bayes(
    classifier: GaussianNB, X: NDArray, targets: NDArray
) -> list[GaussianNB | None]:
    """Return what scikit-learn would fit for each column of targets, found in one pass.

    Parameters
    ----------
    classifier : GaussianNB
        Whose `var_smoothing` is taken.
    X : ndarray of shape (n_samples, n_features)
        Features.
    targets : ndarray of shape (n_samples, n_dimensions)
        Zeros and ones.

    Returns
    -------
    list of GaussianNB or None
        Fitted, with the means and variances of both sides; None for a column of one value.
    """
    # Sums are taken about the mean, so that E x² − (E x)² keeps its digits.
    n, middle = len(X), X.mean(axis=0, dtype=np.float64)
    centered = X - middle
    squares = centered**2
    # As scikit-learn: a share of the largest variance is added to all.
    least = classifier.var_smoothing * float(squares.mean(axis=0).max())
    T = targets.astype(np.float64)
    # Both sides of an attribute: those that have it, and all the others.
    have, total = T.sum(axis=0), centered.sum(axis=0)
    sums = np.stack([total - T.T @ centered, T.T @ centered], axis=1)
    square_sums = T.T @ squares
    square_sums = np.stack([squares.sum(axis=0) - square_sums, square_sums], axis=1)
    counts = np.stack([n - have, have], axis=1)
    means = sums / np.maximum(counts, 1.0)[:, :, None]
    variances = np.maximum(square_sums / np.maximum(counts, 1.0)[:, :, None] - means**2, 0.0)
    return [
        _fitted(classifier, count, mean + middle, variance + least, least) if count.all() else None
        for count, mean, variance in zip(counts, means, variances, strict=True)
    ]


def naive_bayes_probabilities(fitted: Sequence[GaussianNB], X: NDArray) -> NDArray:
    """Return the probability of each attribute, of shape (n_samples, n_dimensions).

    The logarithm of the odds is a quadratic function of the features without products:
    ``log(π₁/π₀) − ½ Σ log(v₁/v₀) − ½ Σ ((x − m₁)²/v₁ − (x − m₀)²/v₀)``.
    """
    means, variances = (np.stack([getattr(m, name) for m in fitted]) for name in ("theta_", "var_"))
    priors = np.stack([m.class_prior_ for m in fitted])
    middle = means.mean(axis=(0, 1))
    # About a common middle, for the digits of the expanded square.
    means, centered = means - middle, X - middle
    # log p(x|1) − log p(x|0) of Gaussians is a quadratic in each feature: −½(x − μ)²/v, minus for
    # the side without the attribute. All attributes are then two products.
    sign = np.array([-0.5, 0.5])[None, :, None]
    quadratic = -(sign / variances).sum(axis=1)
    linear = (2.0 * sign * means / variances).sum(axis=1)
    constant = -(sign * (means**2 / variances + np.log(variances))).sum(axis=(1, 2))
    odds = centered**2 @ quadratic.T + centered @ linear.T + constant
    return np.asarray(expit(odds + np.log(priors[:, 1] / priors[:, 0])))


def _fitted(
    classifier: GaussianNB, counts: NDArray, means: NDArray, variances: NDArray, least: float
) -> GaussianNB:
    """Return a fitted GaussianNB of two classes, 0 and 1."""
    model = clone(classifier)
    model.classes_, model.n_features_in_ = np.array([0, 1]), means.shape[1]
    model.theta_, model.var_, model.epsilon_ = means, variances, least
    model.class_count_, model.class_prior_ = counts, counts / counts.sum()
    return model


class GivenAttributeClassifiers(NamedTuple):
    """A fitted yes/no classifier for each attribute; None where all seen classes agree."""

    fitted: list[Any]

    @classmethod
    def fit(cls, classifier: Any, X: NDArray, targets: NDArray) -> GivenAttributeClassifiers:
        """Fit a clone for each column of zeros and ones, of shape (n_samples, n_dimensions)."""
        if is_plain_bayes(classifier):
            return cls(fit_naive_bayes(classifier, X, targets))
        return cls(
            [
                clone(classifier).fit(X, column) if np.ptp(column) else None
                for column in targets.T.astype(np.intp)
            ]
        )

    def probabilities(self, X: NDArray) -> NDArray:
        """Return the probability of each attribute; 0.5 of those nothing is known about."""
        known = [i for i, one in enumerate(self.fitted) if one is not None]
        if known and all(is_plain_bayes(self.fitted[i]) for i in known):
            P = np.full((len(X), len(self.fitted)), 0.5)
            P[:, known] = naive_bayes_probabilities([self.fitted[i] for i in known], X)
            return P
        columns = [
            np.full(len(X), 0.5) if one is None else one.predict_proba(X)[:, 1]
            for one in self.fitted
        ]
        return np.stack(columns, axis=1)
