"""The semantic autoencoder as a zero-shot classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from zslearn._parameters import Either, Number, Numbers, check_parameters
from zslearn.core.folded_moments import FoldedMoments
from zslearn.core.lam_path import (
    decode_path,
    fold_moments,
    held_out_curve,
    lam_grid,
    prepared,
    unit_lam,
)
from zslearn.core.moments import Moments
from zslearn.core.nearest import METRICS, Metric, Targets
from zslearn.core.paths import Direction
from zslearn.core.row_space import reduced
from zslearn.core.sylvester import Method
from zslearn.exceptions import InvalidInputError
from zslearn.signatures import Signatures
from zslearn.zero_shot.base import Features, ZeroShotClassifier
from zslearn.zero_shot.explanation import Explanation
from zslearn.zero_shot.search import folds_of_classes, parameter_folds
from zslearn.zero_shot.tags import ZeroShotTags

DIRECTIONS = ("decode", "encode", "both")
# Scale-free λ of the authors' demos, taken where there are too few classes to choose one.
DEFAULT_RELATIVE_LAM = 0.2


def _takes_batches(classifier: SAEClassifier) -> bool:
    """Say whether `partial_fit` exists: λ must be given, because choosing it needs all the data."""
    if classifier.signatures is None or classifier.lam == "cv":
        raise AttributeError(
            "partial_fit needs signatures= and a number for lam; with lam='cv' use fit on all "
            "data, or choose λ on a part of it first."
        )
    return True


class SAEClassifier(ZeroShotClassifier):
    """Zero-shot classification with the semantic autoencoder.

    W solves ``A W + λ W G = (1 + λ) C`` (eq. 7 of Kodirov, Xiang and Gong, CVPR 2017). A sample is
    encoded to the semantic space and compared with the candidates' signatures, or the signatures
    are decoded to the feature space and compared with the sample. The decoder is the better of the
    two almost always, and the two need different λ.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector a class, for seen and unseen classes; None means one-hot.
    lam : "cv" or float, default="cv"
        The paper's λ, for features and signatures normalized as below. "cv" chooses it for each
        direction by holding out classes of the training data (samples, with one-hot signatures).
    direction : {"decode", "encode", "both"}, default="decode"
        Where to compare; "both" averages the two scores.
    metric : {"cosine", "euclidean", "dot"}, default="cosine"
        How to compare.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    lams : array-like of shape (n_lams,), optional
        Values of λ to try; by default 30 values spread over the scale of the data.
    cv : int, default=5
        Number of folds over classes.
    random_state : int, default=0
        Order in which classes are dealt to folds.
    solver : {"auto", "spectral", "tridiagonal"}, default="auto"
        See `zslearn.autoencoder.SemanticAutoencoder`.

    Attributes
    ----------
    lam_ : dict
        λ used by each direction, ``{"encode": ..., "decode": ...}``.
    coef_encode_, coef_decode_ : ndarrays of shape (n_dimensions, n_features)
        W of each direction.
    cv_results_ : dict
        With ``lam="cv"``: "lams", "lams_relative", and for each direction the held-out per-class
        accuracy of shape (n_lams, n_folds); None where λ was not searched.
    folds_ : list of ndarray
        Classes held out in each fold.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> from zslearn.zero_shot import SAEClassifier
    >>> animals = load_animals()
    >>> split = animals.split("proposed")
    >>> seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
    >>> clf = SAEClassifier(animals.signatures, lam=1.0).fit(animals.X[seen], animals.y[seen])
    >>> accuracy = clf.score(animals.X[unseen], animals.y[unseen])
    >>> accuracy > 0.4
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        reference="Kodirov, Xiang & Gong, CVPR 2017"
    )
    _from_moments: ClassVar[bool] = True
    coef_encode_: NDArray
    coef_decode_: NDArray
    parameter_constraints: ClassVar = {
        "lam": Either("cv", Number(above=0)),
        "direction": Either(*DIRECTIONS),
        "metric": Either(*METRICS),
        "lams": Either(None, Numbers(Number(above=0))),
        "solver": Either("auto", "spectral", "tridiagonal"),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        lam: float | str = "cv",
        direction: str = "decode",
        metric: Metric = "cosine",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        lams: ArrayLike | None = None,
        cv: int = 5,
        random_state: int | None = 0,
        solver: Method = "auto",
    ) -> None:
        self.signatures = signatures
        self.lam = lam
        self.direction = direction
        self.metric = metric
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.lams = lams
        self.cv = cv
        self.random_state = random_state
        self.solver = solver

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        self._moments: Moments | None = None
        X, lift = reduced(X)
        folds = []
        if self.lam == "cv":
            one_hot = self.signatures is None
            folds = parameter_folds(X, y, self.cv, self.random_state, one_hot=one_hot)
        parts = fold_moments(X, y, folds) if folds else [Moments.of(X, y)]
        moments = sum(parts[1:], parts[0])
        self._choose_lam(X, y, moments, folds, parts)
        self._solve(moments, self.seen_signatures_)
        if lift is not None:
            self.coef_encode_ = self.coef_encode_ @ lift.T
            self.coef_decode_ = self.coef_decode_ @ lift.T

    @available_if(_takes_batches)
    def partial_fit(self, X: Any, y: Any) -> SAEClassifier:
        """Add a batch to all batches given since the last `fit` and solve again.

        Any batching gives the model of one fit on all rows. Classes may appear at any time, those
        of `add_classes` too; λ must be a number, because choosing it needs all the data. A batch
        that is refused leaves the model as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Class of each sample.

        Returns
        -------
        SAEClassifier
            The updated classifier.
        """
        before = vars(self).copy()
        known: Moments | None = before.get("_moments")
        try:
            X, labels = self._validated(X, y, reset=known is None)
            batch = Moments.of(self._normalized_features(X), labels)
            if known is None:
                return self.fit_moments(batch)
            return self._learn(known + batch, self.signatures_)
        except ValueError:
            self.__dict__ = before
            raise

    def fit_moments(self, moments: Moments) -> SAEClassifier:
        """Learn from moments of features normalized as `feature_norm` says.

        With ``lam="cv"`` there are no samples to choose λ by: the scale-free value of the authors'
        demos, 0.2, is taken.

        Parameters
        ----------
        moments : Moments
            Raw (not centered) moments of the training data, labeled by class names.

        Returns
        -------
        SAEClassifier
            The fitted classifier.
        """
        return self._learn(moments, None)

    def fit_folded(self, folded: FoldedMoments) -> SAEClassifier:
        """Learn from moments of folds of classes, choosing λ by the rows kept of them.

        Parameters
        ----------
        folded : FoldedMoments
            Raw moments and rows, normalized as `feature_norm` says, labeled by class names.

        Returns
        -------
        SAEClassifier
            The fitted classifier.
        """
        check_parameters(self)
        self._moments = None
        self.n_features_in_ = folded.X.shape[1]
        self.classes_ = folded.total.classes
        self._set_signatures(self.classes_)
        numbered = folded.numbered(self.classes_)
        moments = numbered.total
        self._choose_lam(numbered.X, numbered.y, moments, numbered.folds, numbered.parts)
        self._solve(moments, self.seen_signatures_)
        return self

    def _chooses(self) -> bool:
        return self.lam == "cv"

    def _class_folds(self, classes: NDArray) -> list[NDArray]:
        return folds_of_classes(classes, self.cv, self.random_state)

    def _learn(self, moments: Moments, table: Signatures | None) -> SAEClassifier:
        """Learn from moments, with the signatures given at construction or a table grown since."""
        check_parameters(self)
        if moments.centered or len(moments.classes) < 2:
            raise InvalidInputError(
                "fit_moments needs raw moments (centered=False) of at least two classes; got "
                f"{'centered' if moments.centered else 'raw'} ones of {len(moments.classes)}."
            )
        self.n_features_in_ = moments.n_features
        self.classes_ = moments.classes
        self._set_signatures(self.classes_, table)
        self._choose_lam(None, None, moments, [], [])
        self._solve(moments, self.seen_signatures_)
        self._moments = moments
        return self

    @property
    def coef_(self) -> NDArray:
        """W of the direction in use (of the decoder when both are)."""
        return self.coef_encode_ if self.direction == "encode" else self.coef_decode_

    def _explain(self, X: Features, s: NDArray) -> Explanation:
        parts = [self._contributions(X[0], s, way) for way in self._ways()]
        contributions = np.mean([part for part, _ in parts], axis=0)
        offset = float(np.mean([rest for _, rest in parts]))
        return Explanation.of(self.signatures_.dimensions, contributions, offset)

    def _contributions(self, x: NDArray, s: NDArray, way: str) -> tuple[NDArray, float]:
        """Contribution of each dimension to one direction's score, and what is left over."""
        W = self.coef_encode_ if way == "encode" else self.coef_decode_
        code = W @ x
        if self.metric == "dot":
            return s * code, 0.0
        if self.metric == "cosine":
            lengths = (code, s) if way == "encode" else (x, s @ W)
            norm = np.prod([np.linalg.norm(v) for v in lengths])
            return s * code / norm if norm > 0 else np.zeros_like(s), 0.0
        if way == "encode":
            return -((code - s) ** 2), 0.0
        # -‖x - Wᵀs‖² = -‖x‖² + Σ_j s_j (2 (W x)_j - (W Wᵀ s)_j)
        return s * (2.0 * code - W @ (s @ W)), -float(x @ x)

    def _prepare(self, S: NDArray) -> dict[str, Targets]:
        rows = {"encode": lambda: S, "decode": lambda: S @ self.coef_decode_}
        return {way: Targets.of(rows[way](), self.metric) for way in self._ways()}

    def _score(self, X: Features, prepared: dict[str, Targets]) -> NDArray:
        parts = []
        if "encode" in prepared:
            encoded = np.asarray(X @ self.coef_encode_.T.astype(X.dtype))
            parts.append(prepared["encode"].scores(encoded))
        if "decode" in prepared:
            parts.append(prepared["decode"].scores(X))
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2

    def _choices(self) -> dict[str, Any]:
        if self.lam != "cv" or self.direction == "both":  # "both" has a λ for each direction
            return {}
        return {"lam": self.lam_[self.direction]}

    def _ways(self) -> tuple[str, ...]:
        return ("encode", "decode") if self.direction == "both" else (self.direction,)

    def _solve(self, moments: Moments, signatures: NDArray) -> None:
        equation = prepared(moments, signatures, max(self.lam_.values()), self.solver)
        self.coef_encode_ = equation.coef(self.lam_["encode"])
        same = self.lam_["encode"] == self.lam_["decode"]
        self.coef_decode_ = self.coef_encode_ if same else equation.coef(self.lam_["decode"])

    def _choose_lam(
        self, X: Features, y: Any, moments: Moments, folds: Sequence[Any], parts: Sequence[Moments]
    ) -> None:
        """Set `lam_` and what it was chosen by."""
        S = self.seen_signatures_
        self.cv_results_ = None
        self.folds_ = [self.classes_[part.classes] for part in parts] if folds else []
        if self.lam != "cv":
            value = float(self.lam)
            self.lam_ = {"encode": value, "decode": value}
        elif not folds:
            value = DEFAULT_RELATIVE_LAM * unit_lam(moments, S)
            self.lam_ = {"encode": value, "decode": value}
        else:
            lams = lam_grid(self.lams, moments, S)
            ways: tuple[Direction, ...] = ("encode", "decode")
            rules = [(way, self.metric) for way in ways]
            decode = decode_path(lams, self.solver)
            curves = held_out_curve(X, y, S, folds, parts, decode, rules)
            self.cv_results_ = {
                "lams": lams,
                "lams_relative": lams / unit_lam(moments, S),
                **dict(zip(ways, curves, strict=True)),
            }
            best = curves.mean(axis=2).argmax(axis=1)
            self.lam_ = {way: float(lams[i]) for way, i in zip(ways, best, strict=True)}
