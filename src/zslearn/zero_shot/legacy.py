"""The authors' three released demos, step by step, including what the paper does not tell.

They exist to reproduce the published numbers (84.7 / 84.0 on AwA, 61.4 / 60.9 on CUB, 26.3 / 27.1
hit@5 on ImNet-2, encoder / decoder, per sample) from the authors' feature files. For anything
else use `SAEClassifier`: two of the demos standardize over the test batch, and all of them
compare with prototypes whose scale depends on which other classes are candidates or which other
samples are tested.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import fitted, parameter
from zslearn._parameters import Either, Number
from zslearn.core.linear_maps import autoencoder_equation
from zslearn.core.moments import Moments
from zslearn.core.nearest import scores, unit_rows
from zslearn.zero_shot.base import Features, ZeroShotMethod, dense
from zslearn.zero_shot.tags import ZeroShotTags

_PAPER = "Kodirov, Xiang & Gong, CVPR 2017; the authors' released demo"
# A column can be standardized over two samples, but not to any use.
_MIN_BATCH = 30


class _LegacySAE(ZeroShotMethod):
    """What the three demos share: one W, found with a fixed λ, for both directions.

    Parameters
    ----------
    direction : {"encode", "decode"}, default="encode"
        Where to compare.
    lam : float, default=0.2
        The paper's λ.
    """

    feature_norm: str | None = parameter(default=None, init=False)
    signature_norm: str | None = parameter(default=None, init=False)
    direction: str = parameter(default="encode", allowed=Either("encode", "decode"))
    lam: float = parameter(default=0.2, allowed=Number(above=0))

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        lam = float(self.lam)
        moments = self._transformed(Moments.of(X, y))
        self.coef_ = autoencoder_equation(moments, self.seen_signatures_, lam).coef(lam)

    def _transformed(self, moments: Moments) -> Moments:
        raise NotImplementedError(f"{type(self).__name__} must provide _transformed")


class LegacyAwA(_LegacySAE):
    """The AwA demo: 84.7 with the encoder, 84.0 with the decoder, on the authors' features.

    Training features are scaled to unit length dimension by dimension, test features are not; λ is
    500000 for attributes from 0 to 100. The encoder's filters are scaled to unit length, and the
    candidates' signatures attribute by attribute *over the candidates*, so a score depends on which
    other classes are candidates; the decoder scales its prototypes in the same way again.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame
        Raw attributes, one vector per class.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        W for features scaled dimension by dimension.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import LegacyAwA
    >>> data = make_zero_shot(random_state=0)
    >>> seen, unseen = (data.rows(c) for c in (data.split("standard").seen,
    ...                                        data.split("standard").unseen))
    >>> clf = LegacyAwA(data.signatures, lam=1.0).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        separable=False, raw_signatures=True, reference=_PAPER
    )
    lam: float = parameter(default=500_000.0)
    coef_: NDArray = fitted("k d")

    def _transformed(self, moments: Moments) -> Moments:
        # Features are scaled to unit length by column; the diagonal of XᵀX has the squared lengths.
        length = np.sqrt(np.diag(moments.gram))
        scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        gram = moments.gram * np.outer(scale, scale)
        return replace(moments, sums=moments.sums * scale, gram=gram)

    def represent(self, rows: Features) -> NDArray:
        # W with rows of unit length, as the demo compares.
        return rows @ unit_rows(self.coef_).T if self.direction == "encode" else rows

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        # Over the candidates, column by column: that is why no candidate can be changed alone.
        per_attribute = unit_rows(self._unit_signatures(names, vectors).T).T
        if self.direction == "encode":
            return per_attribute
        return unit_rows((per_attribute @ unit_rows(self.coef_)).T).T

    def compare(self, queries: Features, classes: NDArray) -> NDArray:
        return scores(queries, classes, "cosine")


class _Projected(_LegacySAE):
    """Demos that first project features to ridge scores of the seen classes.

    Parameters
    ----------
    ridge : float, default=50.0
        Ridge of the projection to class scores.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_seen)
        The projection to class scores.
    coef_ : ndarray of shape (n_dimensions, n_seen)
        W for projected features.
    """

    ridge: float = parameter(default=50.0, allowed=Number(above=0))
    projection_: NDArray = fitted("d c")
    coef_: NDArray = fitted("k c")

    def _transformed(self, moments: Moments) -> Moments:
        # P = (XᵀX + r I)⁻¹ Xᵀ Y with one-hot Y; XᵀY holds the class sums.
        G = moments.gram + self.ridge * np.eye(moments.n_features)
        P = np.linalg.solve(G, moments.sums.T)
        self.projection_ = P
        gram = P.T @ moments.gram @ P
        return replace(moments, sums=moments.sums @ P, gram=gram, origin=np.zeros(P.shape[1]))

    def represent(self, rows: Features) -> NDArray:
        projected = dense(rows) @ self.projection_
        return np.asarray(projected @ self.coef_.T if self.direction == "encode" else projected)


class LegacyCUB(_Projected):
    """The CUB demo: 61.4 with the encoder, 60.9 with the decoder, on the authors' features.

    Features are replaced by ridge scores of the seen classes (ridge 50), a supervised step that the
    paper's own regression baselines were not given. Distances are standardized class by class
    **over the test batch**, which assumes that every candidate is about equally frequent in it: the
    method is transductive and refuses batches below 30 samples.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame
        Attributes, one vector per class; scaled to unit length.
    """

    signature_norm: str | None = parameter(default="l2", init=False)
    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        transductive=True, min_batch=_MIN_BATCH, reference=_PAPER
    )

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S = self._unit_signatures(names, vectors)
        return S if self.direction == "encode" else S @ self.coef_

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        # Distances are standardized over the batch, so an answer depends on the other samples.
        return -_standardized(1.0 - scores(queries, classes, "cosine"))


class LegacyImNet2(_Projected):
    """The ImNet-2 demo: hit@5 26.3 (encoder) and 27.1 (decoder) on the authors' features.

    Features are replaced by ridge scores of the seen classes (ridge 150). Encoded samples are
    standardized dimension by dimension **over the test batch** and signatures over their own
    dimensions; the decoder standardizes its prototypes only. The class as a whole is marked
    transductive and refuses batches below 30 samples.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame
        Word vectors, one per class.
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        transductive=True, min_batch=_MIN_BATCH, reference=_PAPER
    )
    lam: float = parameter(default=5.0)
    ridge: float = parameter(default=150.0)

    def prepare(self, names: NDArray, vectors: NDArray) -> NDArray:
        S = self._unit_signatures(names, vectors)
        prototypes = S if self.direction == "encode" else S @ self.coef_
        return _standardized(prototypes.T).T

    def compare(self, queries: NDArray, classes: NDArray) -> NDArray:
        if self.direction == "encode":  # over the batch, so not before the batch is whole
            queries = _standardized(queries)
        return scores(queries, classes, "cosine")


def _standardized(M: NDArray) -> NDArray:
    """Center each column and divide it by its standard deviation; constant columns become zero."""
    deviation = M.std(axis=0, ddof=1) if len(M) > 1 else np.zeros(M.shape[1])
    centered = M - M.mean(axis=0)
    return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0)
