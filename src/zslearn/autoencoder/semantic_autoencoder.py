"""The semantic autoencoder as a transformer between features and semantics."""

from __future__ import annotations

import warnings
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import Declared, fitted, parameter
from zslearn._parameters import Constraint, Either, Number, Numbers, Whole, check_parameters
from zslearn.core import sylvester
from zslearn.core.fitting import fit_method
from zslearn.core.linear_maps import RELATIVE_LAMS, checked_lams
from zslearn.core.magnitudes import check_finite, check_not_vanishing, check_rows
from zslearn.core.moments import PairMoments
from zslearn.core.row_space import reduced
from zslearn.core.rows import unmasked, validate_rows, warn_if_shuffled
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import choose

Solver = Literal["auto", "spectral", "tridiagonal", "reference"]


class TiedLinearMap(Declared, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Encode with W and decode with its transpose; how W is learned is up to the subclass.

    Parameters
    ----------
    solver : {"auto", "spectral", "tridiagonal", "reference"}, default="auto"
        How to solve the equation. "auto" reduces XᵀX to tridiagonal form, and to its eigenvectors
        where rounding in its null space would show; "reference" is the paper's Algorithm 1 with
        ``scipy.linalg.solve_sylvester``, many times slower.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        The encoder W.
    n_features_in_ : int
        Number of features.
    n_samples_seen_ : int
        Number of samples the model was fitted on.
    """

    solver: Solver = parameter(default="auto", allowed=Either(*get_args(Solver)))
    coef_: NDArray[Any] = fitted("k d")
    dimension_names_: NDArray[Any] = fitted("optional names k")

    def transform(self, X: Any) -> NDArray[Any]:
        """Encode features to the semantic space.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_samples, n_dimensions)
        """
        check_is_fitted(self)
        X = unmasked(X, "X")
        X = validate_rows(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        return _product(X, self.coef_.T)

    def inverse_transform(self, S: Any) -> NDArray[Any]:
        """Decode semantics to the feature space.

        Parameters
        ----------
        S : array-like of shape (n_samples, n_dimensions)
            Semantics.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        S = check_array(unmasked(S, "S"), dtype=[np.float64, np.float32])
        if S.shape[1] != self.coef_.shape[0]:
            raise InvalidInputError(
                f"S has {S.shape[1]} dimensions, but the model was fitted with "
                f"{self.coef_.shape[0]}."
            )
        return _product(S, self.coef_)

    def reconstruction_error(self, X: Any) -> float:
        """Mean squared distance between samples and their decoded codes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        float
            ``mean ‖x - W ᵀW x‖²``.
        """
        codes = np.asarray(self.transform(X))
        check_rows(codes, what="the codes")
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        return float(np.mean(np.sum((X - codes @ self.coef_) ** 2, axis=1)))

    def _solved(self, pairs: PairMoments, lam: float) -> NDArray[Any]:
        A, G, C = pairs.semantic_gram, pairs.feature_gram, pairs.cross
        if self.solver == "reference":
            return sylvester.solve_reference(A, G, C, lam)
        return sylvester.solve(A, G, C, lam, self.solver)

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, NDArray[Any]]:
        warn_if_shuffled(X, y)
        X, S = validate_rows(
            self,
            unmasked(X, "X"),
            unmasked(y, "S"),
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
        )
        self._name_dimensions(y, reset)
        S = S.reshape(len(S), -1)
        S = S if S.dtype in (np.float32, np.float64) else S.astype(np.float64)
        for rows, what, words in ((X, "X", "features"), (S, "S", "semantics")):
            check_rows(rows, what=what)
            if reset:
                check_not_vanishing([rows], words)
        return X, S

    def _name_dimensions(self, y: Any, reset: bool) -> None:
        """Keep the column names of a data frame, for `get_feature_names_out` and `set_output`."""
        names = [name for name in getattr(y, "columns", ()) if isinstance(name, str)]
        if names and len(names) == len(y.columns):
            self.dimension_names_ = np.array(names, dtype=object)
        elif reset and hasattr(self, "dimension_names_"):
            del self.dimension_names_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the codes: the columns of S if it was a data frame, or numbers.

        Parameters
        ----------
        input_features : object, optional
            Ignored.

        Returns
        -------
        ndarray of str of shape (n_dimensions,)
        """
        check_is_fitted(self)
        named: NDArray[Any] | None = getattr(self, "dimension_names_", None)
        return super().get_feature_names_out() if named is None else named

    @property
    def _n_features_out(self) -> int:
        return self.coef_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = False
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags


def _product(rows: Any, W: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.asarray(rows @ W)
    check_finite(products, "products with W")
    return products


class SemanticAutoencoder(TiedLinearMap):
    """Linear autoencoder whose code is a given semantic space.

    Minimizes ``‖X - S W‖² + λ ‖X Wᵀ - S‖²`` over W of shape (n_dimensions, n_features), rows being
    samples: the encoder W maps features to semantics, its transpose maps them back (eq. 5 of
    Kodirov, Xiang and Gong, "Semantic Autoencoder for Zero-Shot Learning", CVPR 2017). W solves
    ``SᵀS W + λ W XᵀX = (1 + λ) SᵀX``. There is no intercept and no penalty on W; where the
    equation leaves W open, the solution of smallest norm is taken.

    Parameters
    ----------
    lam : float, default=1.0
        The paper's λ: weight of the encoder's error against the decoder's. λ → ∞ is least squares
        from features to semantics, λ → 0 least squares from semantics to features. Its scale is
        that of the data: ``λ tr(XᵀX) / tr(SᵀS)`` is scale-free, and about 0.2 in the paper's demos.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.autoencoder import SemanticAutoencoder
    >>> rng = np.random.default_rng(0)
    >>> S = rng.standard_normal((100, 3))
    >>> X = S @ rng.standard_normal((3, 10))
    >>> model = SemanticAutoencoder(lam=1.0).fit(X, S)
    >>> model.transform(X).shape, model.inverse_transform(S).shape
    ((100, 3), (100, 10))
    """

    lam: float = parameter(default=1.0, allowed=Number(above=0), kw_only=False)

    @fit_method
    def fit(self, X: Any, y: Any) -> SemanticAutoencoder:
        """Learn W from paired rows, forgetting whatever was learned before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_dimensions) or (n_samples,)
            Semantics S of each sample.

        Returns
        -------
        SemanticAutoencoder
            The fitted model.
        """
        check_parameters(self)
        lam = float(self.lam)
        X, S = self._validated(X, y, reset=True)
        self._moments: PairMoments | None = None
        self.n_samples_seen_ = X.shape[0]
        Z, basis = (X, None) if self.solver == "reference" else reduced(X)
        W = self._solved(PairMoments.of(Z, S), lam)
        self.coef_ = W if basis is None else basis.lifted(W)
        return self

    @fit_method
    def partial_fit(self, X: Any, y: Any) -> SemanticAutoencoder:
        """Add a batch to all batches given since the last `fit` and solve again.

        Any batching gives the W of one fit on all rows. Each call costs one solve.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_dimensions) or (n_samples,)
            Semantics S of each sample.

        Returns
        -------
        SemanticAutoencoder
            The updated model.
        """
        check_parameters(self)
        lam = float(self.lam)
        known: PairMoments | None = getattr(self, "_moments", None)
        X, S = self._validated(X, y, reset=known is None)
        batch = PairMoments.of(X, S)
        if known is not None and known.semantic_gram.shape != batch.semantic_gram.shape:
            raise InvalidInputError(
                f"the batch has {len(batch.semantic_gram)} semantic dimensions but earlier ones "
                f"had {len(known.semantic_gram)}."
            )
        moments = batch if known is None else known + batch
        self._moments = moments
        self.n_samples_seen_ = int(moments.n_samples)
        self.coef_ = self._solved(moments, lam)
        return self


def _is_splitter(cv: Any) -> bool:
    return callable(getattr(cv, "get_n_splits", None)) and not isinstance(cv, type)


class SemanticAutoencoderCV(TiedLinearMap):
    """Semantic autoencoder that chooses λ by cross-validation.

    One pass over the data gives the products of every fold; each fold is then solved once for all
    λ. Where rows of S repeat, S comes from classes, and folds keep each class whole: the score is
    then what the model does for semantics it has not seen.

    Parameters
    ----------
    lams : array-like of shape (n_lams,), optional
        Values of λ to try; by default 30 values spread over the scale of the data.
    cv : int or scikit-learn splitter, default=5
        Number of folds, or a splitter. A number means folds over classes when S comes from
        classes, folds over rows otherwise.
    direction : {"encode", "decode"}, default="encode"
        Whose error is judged: ``‖X Wᵀ - S‖²`` or ``‖X - S W‖²`` on held-out rows.
    solver : {"auto", "spectral", "tridiagonal"}, default="auto"
        See `SemanticAutoencoder`.

    Attributes
    ----------
    lam_ : float
        The chosen λ.
    cv_results_ : dict
        Scores of every λ on held-out rows, with scikit-learn's keys: ``1 - error / norm`` with the
        mean squared error over held-out rows and the mean squared norm of the target over all
        rows. One is perfect; zero is what W = 0 gives on average.
    best_params_ : dict
        The chosen λ, as "lam".
    folds_over_classes_ : bool
        Whether folds kept classes whole.
    coef_ : ndarray of shape (n_dimensions, n_features)
        The encoder W, fitted on all rows with the chosen λ.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.autoencoder import SemanticAutoencoderCV
    >>> rng = np.random.default_rng(0)
    >>> S = rng.standard_normal((12, 4))[np.repeat(np.arange(12), 10)]
    >>> X = S @ rng.standard_normal((4, 8)) + 0.1 * rng.standard_normal((120, 8))
    >>> model = SemanticAutoencoderCV().fit(X, S)
    >>> model.folds_over_classes_, len(model.cv_results_["params"])
    (True, 30)
    """

    lams: ArrayLike | None = parameter(
        default=None, allowed=Either(None, Numbers(Number(above=0))), kw_only=False
    )
    cv: Any = parameter(
        default=5, allowed=Either(Whole(2), Constraint("a scikit-learn splitter", _is_splitter))
    )
    direction: str = parameter(default="encode", allowed=Either("encode", "decode"))
    solver: Solver = parameter(default="auto", allowed=Either("auto", "spectral", "tridiagonal"))

    @fit_method
    def fit(self, X: Any, y: Any) -> SemanticAutoencoderCV:
        """Choose λ and learn W from paired rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_dimensions) or (n_samples,)
            Semantics S of each sample.

        Returns
        -------
        SemanticAutoencoderCV
            The fitted model.
        """
        check_parameters(self)
        X, S = self._validated(X, y, reset=True)
        X, basis = reduced(X)
        folds = self._folds(X, S)
        parts = [PairMoments.of(X[held_out], S[held_out]) for held_out in folds]
        total = sum(parts[1:], parts[0])
        target = total.semantic_gram if self.direction == "encode" else total.feature_gram
        norm = float(np.trace(target)) / total.n_samples or 1.0
        lams = self._grid(total)

        def judge(part: PairMoments) -> NDArray[Any]:
            return 1.0 - self._curve(total - part, part, lams) / norm

        choice = choose([{"lam": float(lam)} for lam in lams], parts, judge)
        self.cv_results_, self.best_params_ = choice.cv_results, choice.best_params
        self.lam_ = choice.best_params["lam"]
        W = self._solved(total, self.lam_)
        self.coef_ = W if basis is None else basis.lifted(W)
        self.n_samples_seen_ = X.shape[0]
        return self

    def _folds(self, X: NDArray[Any], S: NDArray[Any]) -> list[NDArray[np.intp]]:
        """Held-out rows of each fold, covering every row once."""
        _, groups = np.unique(S, axis=0, return_inverse=True)
        groups = groups.ravel()
        n_groups = int(groups.max()) + 1
        self.folds_over_classes_ = bool(1 < n_groups <= len(S) // 2)
        if isinstance(self.cv, (int, np.integer)):
            n_units = n_groups if self.folds_over_classes_ else len(S)
            n_splits = min(int(self.cv), n_units)
            if n_splits < 2:
                raise InvalidInputError(
                    f"cv needs at least 2 folds and 2 samples; got cv={self.cv} and "
                    f"{len(S)} sample(s)."
                )
            splitter = GroupKFold(n_splits) if self.folds_over_classes_ else check_cv(n_splits)
        else:
            splitter = check_cv(self.cv)
        with warnings.catch_warnings():
            # Groups are for splitters that use them; the others warn that they do not.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            folds = [held_out for _, held_out in splitter.split(X, S, groups)]
        if not np.array_equal(np.sort(np.concatenate(folds)), np.arange(len(S))):
            raise InvalidInputError(
                f"cv must hold out every row exactly once, as KFold does; {self.cv!r} does not."
            )
        return folds

    def _grid(self, total: PairMoments) -> NDArray[Any]:
        if self.lams is None:
            return RELATIVE_LAMS * sylvester.relative_lam(
                float(np.trace(total.semantic_gram)), float(np.trace(total.feature_gram))
            )
        return checked_lams(self.lams)

    def _curve(self, train: PairMoments, held_out: PairMoments, lams: NDArray[Any]) -> NDArray[Any]:
        """Mean squared error on held-out rows for every λ."""
        equation = sylvester.prepare(
            sylvester.semantic_spectrum(train.semantic_gram),
            train.feature_gram,
            train.cross,
            float(lams.max()),
            cast(sylvester.Method, self.solver),
        )
        return np.array([self._error(equation.coef(float(lam)), held_out) for lam in lams])

    def _error(self, W: NDArray[Any], part: PairMoments) -> float:
        # ‖XWᵀ - S‖² = tr(WGWᵀ) - 2 tr(WCᵀ) + tr(A); ‖X - SW‖² = tr(WᵀAW) - 2 tr(WCᵀ) + tr(G)
        cross = float(np.sum(W * part.cross))
        if self.direction == "encode":
            power, norm = float(np.sum((W @ part.feature_gram) * W)), part.semantic_gram
        else:
            power, norm = float(np.sum((part.semantic_gram @ W) * W)), part.feature_gram
        return (power - 2.0 * cross + float(np.trace(norm))) / part.n_samples
