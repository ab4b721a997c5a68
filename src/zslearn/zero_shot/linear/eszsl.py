"""ESZSL: a bilinear compatibility in closed form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fitted, parameter
from zslearn._parameters import Either, Number, Whole
from zslearn.core.linear_maps import bilinear, mean_eigenvalue
from zslearn.core.moments import Moments
from zslearn.core.nearest import Metric, Targets, row_norms, scores
from zslearn.core.paths import path_accuracy, scoring_rule
from zslearn.core.rows import RowTransform
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.base import Features, dense
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.linear.base import LinearZeroShotClassifier, PenalizedClassifier
from zslearn.zero_shot.search import Fold, choose_parameters, even_rows, parameter_folds
from zslearn.zero_shot.tags import ZeroShotTags

# Entry of Y for the classes a sample does not belong to.
CODINGS = {"signed": -1.0, "binary": 0.0}
# Multiples of the mean eigenvalue of the matrix that a penalty is added to.
DECADES = tuple(np.logspace(-3, 3, 7).tolist())


class BilinearRegressionClassifier(PenalizedClassifier):
    """What ESZSL on features and on a kernel share: two penalties and the bilinear map.

    Parameters
    ----------
    gamma, lam : "cv" or float, default="cv"
        γ and λ, for features and signatures normalized as below. "cv" chooses them by holding out
        classes of the training data (samples, with one-hot signatures) on a grid of decades, from
        shared decompositions.
    coding : {"binary", "signed"}, default="binary"
        Labels Y: 0/1 as in the authors' code, or −1/+1 as the paper writes. It matters: with −1
        for every other class the mean signature dominates, and on CUB (150 seen classes,
        EfficientNet features, both tuned) the accuracy falls from .58 to .38.

    Attributes
    ----------
    gamma_, lam_ : float
        Penalties used.
    """

    _direction: ClassVar = "decode"
    gamma: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=DECADES, fallback=1.0
    )
    lam: float | str = parameter(default="cv", allowed=Number(above=0), tried=DECADES, fallback=1.0)
    coding: str = parameter(default="binary", allowed=Either(*CODINGS))

    def _units(self, moments: Moments) -> dict[str, float]:
        # γ is added to XᵀX and λ to SᵀS, each in units of its mean eigenvalue.
        seen = self.seen_signatures_
        return {"gamma": mean_eigenvalue(moments.gram), "lam": mean_eigenvalue(seen.T @ seen)}

    def _vectors(
        self, moments: Moments, seen: NDArray, rows: NDArray, values: tuple[NDArray, ...]
    ) -> NDArray:
        # All pairs of γ and λ, the last fastest, as the points of the search are ordered.
        grid = bilinear(moments, seen, rows, (values[0], values[1]), CODINGS[self.coding])
        return grid.reshape(-1, *grid.shape[2:])


class ESZSLClassifier(LinearZeroShotClassifier, BilinearRegressionClassifier):
    """Embarrassingly simple zero-shot learning (Romera-Paredes and Torr, ICML 2015).

    ``min ‖X V Sᵀ − Y‖² + γ ‖V Sᵀ‖² + λ ‖X V‖² + γ λ ‖V‖²`` has the solution
    ``V = (XᵀX + γ I)⁻¹ XᵀY S (SᵀS + λ I)⁻¹``, where S holds every seen class once. A sample gets
    the class with the largest ``xᵀ V s_c``, a plain dot product.

    Parameters
    ----------
    metric : {"dot", "cosine", "euclidean"}, default="dot"
        How the sample is compared with ``V s_c``; the paper takes the dot product.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        Vᵀ.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import ESZSLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = ESZSLClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.8
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Romera-Paredes & Torr, ICML 2015"
    )

    metric: Metric = parameter(default="dot")


KERNELS = ("rbf", "precomputed")


class KernelESZSLClassifier(BilinearRegressionClassifier):
    """ESZSL on a kernel (Romera-Paredes and Torr, ICML 2015, section on kernels).

    ``A = (K K + γ K)⁻¹ K Y S (SᵀS + λ I)⁻¹`` and the score of class c is ``k(x)ᵀ A s_c``. It is
    linear ESZSL on the features ``k(x) K⁻½``. With more samples than `n_landmarks` those features
    are taken from a sample of the rows (Nyström), the same number from every class; with all rows
    as landmarks the result is the paper's.

    The authors' released script validates with ``K K + γ I`` and tests with ``K K + γ K``; here
    it is the latter throughout.

    Parameters
    ----------
    kernel : {"rbf", "precomputed"}, default="rbf"
        ``exp(−‖x − x'‖² / width)``, or the kernel itself in place of X: of shape
        (n_samples, n_samples) in `fit`, (n_samples, n_training_samples) afterwards, and never
        normalized.
    width : float, default=0.5
        Of "rbf", in units of the mean squared distance between two samples.
    n_landmarks : int, default=1000
        Maximum number of training rows used as landmarks of the kernel.
    metric : {"dot"}, default="dot"
        How kernel values are compared with class vectors; there is no other way.

    Attributes
    ----------
    rows_ : ndarray of shape (n_landmarks,)
        Rows of the training data that are landmarks.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Their features; empty for a precomputed kernel.
    scale_ : float
        Squared length by which distances are divided.
    dual_ : ndarray of shape (n_dimensions, n_landmarks)
        Aᵀ: ``S @ dual_`` weighs the kernel values of a sample.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import KernelESZSLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = KernelESZSLClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.7
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Romera-Paredes & Torr, ICML 2015"
    )
    kernel: str = parameter(default="rbf", allowed=Either(*KERNELS))
    width: float = parameter(default=0.5, allowed=Number(above=0))
    n_landmarks: int = parameter(default=1000, allowed=Whole(1))
    metric: Metric = parameter(default="dot", allowed=Either("dot"))
    cv: int = parameter(default=3)
    landmarks_: NDArray = fitted("m d")
    dual_: NDArray = fitted("k m")
    scale_: float = fitted("")

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        X = dense(X)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InvalidInputError(
                f"a precomputed kernel must be square at fit; got shape {X.shape}."
            )
        self.scale_ = float(self.width) * _mean_squared_distance(X)
        rng = np.random.default_rng(self.random_state)
        self.rows_ = even_rows(y, int(self.n_landmarks), rng)
        searched = self._search(X, y)
        K, root = self._expanded(X, self.rows_)
        # Z = K K_mm⁻½, m the landmarks, has Z Zᵀ ≈ the kernel: ESZSL on Z is the kernel method.
        moments = Moments.of(K @ root.astype(K.dtype), y)
        if not searched:
            default = self._default(self._units(moments))
            self._use(choose_parameters(self, [default], [], np.empty))
        # Aᵀ = Vᵀ K⁻½: back from those features to weights of kernel values.
        self.dual_ = self._solved(moments) @ root.T
        # A precomputed kernel has columns, and no features to keep.
        keep = self.rows_ if self.kernel == "rbf" else self.rows_[:0]
        self.landmarks_ = X[keep].copy()

    def _search(self, X: NDArray, y: NDArray[np.intp]) -> bool:
        """Choose γ and λ, if they are left to "cv" and there are folds to choose by."""
        one_hot = self.signatures is None
        parts = parameter_folds(y, self.cv, self.random_state, one_hot=one_hot)
        if not parts or "cv" not in (self.gamma, self.lam):
            return False
        folds = [Fold.of(y, *part) for part in parts]
        first = self._held_in(X, folds[0])
        units = self._units(first[1])
        points = self._points(units)
        values = self._values(points)
        S = self.seen_signatures_

        def judge(fold: Fold) -> NDArray:
            Z, moments = first if fold is folds[0] else self._held_in(X, fold)
            vectors = self._vectors(moments, S[fold.known], S[fold.new], values)
            rule = scoring_rule(vectors, S[fold.new], self._direction, self.metric)
            return path_accuracy(Z[fold.held_out], fold.y_held_out, vectors, [rule])[0].mean(axis=1)

        self._use(choose_parameters(self, points, folds, judge))
        return True

    def _held_in(self, X: NDArray, fold: Fold) -> tuple[NDArray, Moments]:
        """Features from landmarks among the training rows of a fold only, and their moments."""
        K, root = self._expanded(X, self.rows_[np.isin(self.rows_, fold.train)])
        Z = K @ root.astype(K.dtype)
        return Z, Moments.of(Z[fold.train], fold.y_train)

    def _expanded(self, X: NDArray, rows: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        """Kernel values with the landmarks, and K⁻½ among the landmarks."""
        K = self._kernel_values(X, rows, X[rows])
        values, vectors = np.linalg.eigh(K[rows].astype(np.float64))
        # Landmarks that repeat each other make K singular; its null space is left out.
        kept = values > len(values) * np.finfo(K.dtype).eps * values[-1]
        return K, (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T

    def _kernel_values(self, X: NDArray, rows: NDArray[np.intp], landmarks: NDArray) -> NDArray:
        if self.kernel == "precomputed":
            return X[:, rows]
        return np.exp(scores(X, landmarks, "euclidean") / X.dtype.type(self.scale_))

    def represent(self, rows: Features) -> NDArray:
        return self._expansion(rows)

    def prepare(self, names: NDArray, vectors: NDArray) -> Targets:
        return Targets.of(self._unit_signatures(names, vectors) @ self.dual_, self.metric)

    def compare(self, queries: NDArray, classes: Targets) -> NDArray:
        return classes.scores(queries)

    def decompose(self, rows: Features, name: Any, vector: NDArray) -> Explanation:
        # k(x)ᵀ A s_c, one term for each dimension of s_c
        s = self._unit_signatures([name], vector[None])[0]
        contributions = s * (self.dual_ @ self._expansion(rows)[0])
        return Explanation.of(self.signatures_.dimensions, contributions)

    def _expansion(self, X: Features) -> NDArray:
        """Kernel values of samples with the landmarks."""
        return self._kernel_values(dense(X), self.rows_, self.landmarks_.astype(X.dtype))

    def _row_transform(self) -> RowTransform:
        return RowTransform() if self.kernel == "precomputed" else super()._row_transform()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _mean_squared_distance(X: NDArray) -> float:
    """Mean over pairs of rows of ``‖x − x'‖²``, from the mean and the lengths only."""
    # E‖x − x'‖² = 2 (E‖x‖² − ‖E x‖²).
    mean = X.mean(axis=0, dtype=np.float64)
    lengths = float(np.mean(row_norms(X).astype(np.float64) ** 2))
    return max(2.0 * (lengths - float(mean @ mean)), 1e-12 * lengths) or 1.0
