"""The semantic autoencoder with one-hot class labels as its semantic space.

λ is given, or chosen by what the codes are for: the loss of k-means on rows that were held out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.utils import check_random_state

from zslearn._declared import fitted, parameter, search_space
from zslearn._parameters import Either, Number, Numbers, Seed, Whole, check_parameters
from zslearn.cluster.base import MappingTags, MomentMapping, Statistics, check_several_classes
from zslearn.cluster.kmeans import KMeansOptions, check_groups, cluster_codes, mean_loss
from zslearn.core import sylvester
from zslearn.core.fitting import all_or_nothing, fit_method
from zslearn.core.learner import FoldedMoments, MomentPlan
from zslearn.core.moments import Moments
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import Choice, choose

ClassWeight = Literal["balanced"] | None
Path = Callable[[Statistics, NDArray], NDArray]

# In units in which features have mean square 1, as standardized ones do.
LAM_GRID = tuple(np.logspace(-2, 4, 25).tolist())


class SAEMapping(MomentMapping):
    """Encoder of the semantic autoencoder trained on class labels.

    Minimizes ``‖X - Y W‖² + λ ‖X Wᵀ - Y‖²`` with one-hot labels Y. ``YᵀY`` is the diagonal matrix
    of class sizes n_c, so the equation of the paper splits into one ridge regression per class,
    ``w_c = (1 + λ) (n_c I + λ XᵀX)⁻¹ Σ_{i∈c} x_i``, and one eigendecomposition of ``XᵀX`` gives all
    classes and every λ. λ → ∞ is least squares to the labels, λ → 0 leaves the class means. For
    classes of equal size the codes are those of :class:`RVML` up to a common factor.

    There is no intercept and λ depends on the scale of the features: standardize them first, as
    :class:`SupervisedKMeans` does.

    Parameters
    ----------
    lam : float or "cv", default=0.5
        The paper's λ, or "cv" to choose it by cross-validation: the λ whose codes, clustered with
        k-means, have the least clustering loss on held-out training rows.
    class_weight : {"balanced"} or None, default=None
        Weight rows so that all classes count the same however many samples they have.
    lams : array-like of shape (n_lams,), optional
        Values to try with ``lam="cv"``; by default 25 from 0.01 to 10,000, divided by the mean
        square of the features.
    cv : int, default=3
        Number of folds for ``lam="cv"``.
    random_state : int, default=0
        Seed of the folds and of k-means for ``lam="cv"``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        The encoder W.
    lam_ : float
        The λ used.
    cv_results_ : dict or None
        With ``lam="cv"``, the negative clustering loss of every λ on held-out rows, with
        scikit-learn's keys.
    best_params_ : dict
        With ``lam="cv"``, the λ that was chosen.

    References
    ----------
    E. Kodirov, T. Xiang and S. Gong, "Semantic autoencoder for zero-shot learning", CVPR 2017.

    Examples
    --------
    >>> from zslearn.cluster import SAEMapping
    >>> from zslearn.datasets import make_subclusters
    >>> data = make_subclusters(random_state=0)
    >>> SAEMapping(0.5).fit(data.X_train, data.y_train).transform(data.X_test).shape
    (3000, 3)
    """

    mapping_tags: ClassVar[MappingTags] = MappingTags(
        reference="E. Kodirov, T. Xiang and S. Gong, Semantic autoencoder for zero-shot learning, "
        "CVPR 2017"
    )
    lam: float | str = parameter(
        default=0.5, allowed=Number(above=0), tried=LAM_GRID, kw_only=False
    )
    class_weight: ClassWeight = parameter(default=None, allowed=Either(None, "balanced"))
    lams: ArrayLike | None = parameter(default=None, allowed=Either(None, Numbers(Number(above=0))))
    cv: int = parameter(default=3, allowed=Whole(2))
    random_state: int = parameter(default=0, allowed=Seed())
    cv_results_: dict[str, Any] | None = fitted()
    best_params_: dict[str, Any] = fitted()

    @fit_method
    def fit(self, X: Any, y: Any, groups: ArrayLike | None = None) -> Self:
        """Learn the encoder, after choosing λ if ``lam="cv"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.
        groups : array-like of shape (n_samples,), optional
            Groups that are clustered by themselves, such as the pixels of one image; used only
            by ``lam="cv"``.

        Returns
        -------
        self
        """
        check_parameters(self)
        if self.lam != "cv":
            return super().fit(X, y)
        X, y = self._validated(X, y)
        self._statistics = None
        self._search(X, y, check_groups(groups, len(y)))
        return self._learn(Statistics.of(X, y, by_class=self._needs_class_grams()))

    @fit_method
    def partial_fit(self, X: Any, y: Any) -> Self:
        """Add a batch and solve again; `lam` must be a number.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        self
        """
        check_parameters(self)
        if self.lam == "cv":
            raise InvalidInputError(
                "lam='cv' needs all rows at once, which partial_fit does not have. Choose lam on a "
                "part of the data with fit and give partial_fit the number."
            )
        return super().partial_fit(X, y)

    def moment_plan(self, classes: ArrayLike | None = None) -> MomentPlan:
        """Return what is to be gathered from the data; `lam` must be a number.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), optional
            Classes whose rows are used; by default all.

        Returns
        -------
        MomentPlan
        """
        self._check_given()
        return super().moment_plan(classes)

    @all_or_nothing
    def learn(self, moments: FoldedMoments | Moments | Statistics) -> Self:
        """Learn the encoder from moments computed elsewhere; `lam` must be a number.

        Parameters
        ----------
        moments : FoldedMoments, Moments or Statistics
            With moments of each class for ``class_weight="balanced"``.

        Returns
        -------
        self
        """
        self._check_given()
        return super().learn(moments)

    def _check_given(self) -> None:
        if self.lam == "cv":
            raise InvalidInputError("lam='cv' needs rows; moments alone need lam as a number.")

    def _needs_class_grams(self) -> bool:
        return self.class_weight == "balanced"

    def _coef(self, statistics: Statistics) -> NDArray:
        if self.lam != "cv":
            self.lam_ = float(self.lam)
            self.cv_results_, self.best_params_ = None, {}
        return sae_path(statistics, np.array([self.lam_]), class_weight=self.class_weight)[0]

    def _search(self, X: NDArray, y: NDArray, groups: NDArray | None) -> None:
        check_several_classes(np.unique(y), type(self).__name__)
        options = SearchOptions(
            cv=self.cv, by_class=self._needs_class_grams(), random_state=self.random_state
        )
        choice = choose_lam(X, y, groups, self._path, self._grid(X), options)
        self.cv_results_, self.best_params_ = choice.cv_results, choice.best_params
        self.lam_ = choice.best_params["lam"]

    def _path(self, statistics: Statistics, lams: NDArray) -> NDArray:
        return sae_path(statistics, lams, class_weight=self.class_weight)

    def _grid(self, X: NDArray) -> NDArray:
        if self.lams is None:
            mean_square = float(np.einsum("ij,ij->", X, X, dtype=np.float64)) / X.size
            return np.array(search_space(self)["lam"]) / (mean_square or 1.0)
        return np.asarray(self.lams, dtype=np.float64)


def sae_path(statistics: Statistics, lams: NDArray, *, class_weight: ClassWeight = None) -> NDArray:
    """Return encoders of the one-hot semantic autoencoder for every λ, from one eigendecomposition.

    Parameters
    ----------
    statistics : Statistics
        Of the training rows, with `by_class` for ``class_weight="balanced"``.
    lams : ndarray of shape (n_lams,)
        Values of λ.
    class_weight : {"balanced"} or None, default=None
        Whether classes count the same.

    Returns
    -------
    ndarray of shape (n_lams, n_classes, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.cluster import Statistics, sae_path
    >>> statistics = Statistics.of(np.eye(2), np.array([0, 1]))
    >>> sae_path(statistics, np.array([1.0]))
    array([[[1., 0.],
            [0., 1.]]])
    """
    centered = statistics.total if class_weight is None else statistics.balanced()
    moments: Moments = centered.about(np.zeros(centered.n_features))
    # YᵀY = diag(n_c): its eigenvectors are the unit vectors and nothing has to be decomposed.
    spectrum = moments.counts, np.eye(len(moments.counts))
    lam_max = float(np.max(lams))
    path = sylvester.prepare(spectrum, moments.gram, moments.sums, lam_max, "spectral")
    return np.stack([path.coef(float(lam)) for lam in lams])


@dataclass(frozen=True)
class SearchOptions:
    """How to search for λ.

    Attributes
    ----------
    cv : int
        Number of folds.
    n_init : int
        Starts of each k-means.
    by_class : bool
        Whether the path needs Gram matrices of each class.
    random_state : int
        Seed of folds and k-means.
    """

    cv: int = 3
    n_init: int = 5
    by_class: bool = False
    random_state: int = 0


def choose_lam(
    X: NDArray,
    y: NDArray,
    groups: NDArray | None,
    path: Path,
    lams: NDArray,
    options: SearchOptions,
) -> Choice:
    """Choose the λ with the least clustering loss on held-out rows; among equals, the middle one.

    Each fold is left out by subtracting its statistics from those of all rows, its codes are
    clustered with k-means into as many clusters as there are classes, and the clusters are
    compared with its labels. With groups, folds keep groups whole and each is clustered by itself.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes.
    groups : ndarray of shape (n_samples,), optional
        Group of each row.
    path : callable
        Takes statistics and the λ, returns maps of shape (n_lams, n_components, n_features).
    lams : ndarray of shape (n_lams,)
        Values of λ.
    options : SearchOptions
        How to search.

    Returns
    -------
    Choice
        Among points {"lam": λ}; the scores are negative losses.
    """
    folds = _folds(y, groups, options)
    parts = [Statistics.of(X[rows], y[rows], by_class=options.by_class) for rows in folds]
    total = sum(parts[1:], parts[0])
    kmeans = KMeansOptions(len(total.classes), n_init=options.n_init)

    def judge(fold: tuple[NDArray[np.intp], Statistics]) -> list[float]:
        rows, part = fold
        held_groups = None if groups is None else groups[rows]
        scores = []
        for coef in path(total - part, lams):
            rng = check_random_state(options.random_state)
            labels = cluster_codes(X[rows] @ coef.T, held_groups, kmeans, rng)
            scores.append(-mean_loss(y[rows], labels, held_groups))
        return scores

    points = [{"lam": float(lam)} for lam in lams]
    return _in_the_middle(choose(points, list(zip(folds, parts, strict=True)), judge))


def _in_the_middle(choice: Choice) -> Choice:
    """Take the middle one of equally good points: neighboring λ often give the same clusters."""
    mean, params = choice.cv_results["mean_test_score"], choice.cv_results["params"]
    equal = np.flatnonzero(mean >= mean.max() - 1e-12)
    best = int(equal[len(equal) // 2])
    return replace(choice, best_index=best, best_params=params[best])


def _folds(y: NDArray, groups: NDArray | None, options: SearchOptions) -> list[NDArray[np.intp]]:
    """Held-out rows of each fold."""
    if groups is None:
        unit, smallest = "samples of each class", int(np.unique(y, return_counts=True)[1].min())
    else:
        unit, smallest = "groups", len(np.unique(groups))
    n_splits = min(options.cv, smallest)
    if n_splits < 2:
        raise InvalidInputError(
            f"lam='cv' needs at least 2 folds and 2 {unit}; got cv={options.cv} and {smallest}. "
            "Give lam a number instead."
        )
    if groups is not None:
        return [held for _, held in GroupKFold(n_splits).split(y, y, groups)]
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=options.random_state)
    return [held for _, held in splitter.split(np.zeros((len(y), 1)), y)]
