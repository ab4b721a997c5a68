"""The semantic autoencoder with λ chosen by cross-validation."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GroupKFold, check_cv

from zslearn._parameters import Constraint, Either, Number, Numbers, Whole, check_parameters
from zslearn.autoencoder.semantic_autoencoder import Solver, TiedLinearMap
from zslearn.core import sylvester
from zslearn.core.fitting import all_or_nothing
from zslearn.core.linear_maps import RELATIVE_LAMS, checked_lams
from zslearn.core.moments import PairMoments
from zslearn.core.row_space import reduced
from zslearn.core.threads import limits_blas
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import choose


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

    parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "lams": Either(None, Numbers(Number(above=0))),
        "cv": Either(Whole(2), Constraint("a scikit-learn splitter", _is_splitter)),
        "direction": Either("encode", "decode"),
        "solver": Either("auto", "spectral", "tridiagonal"),
    }

    def __init__(
        self,
        lams: ArrayLike | None = None,
        *,
        cv: Any = 5,
        direction: str = "encode",
        solver: Solver = "auto",
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.direction = direction
        self.solver = solver

    @all_or_nothing
    @limits_blas
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
