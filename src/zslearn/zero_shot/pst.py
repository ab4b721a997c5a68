"""PST: confident predictions spread over the graph of the test samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from zslearn._declared import parameter
from zslearn._parameters import Either, Instance, Number, Whole
from zslearn.zero_shot.base import Features, NormalizedMethod, ZeroShotClassifier, dense
from zslearn.zero_shot.candidates import Candidates
from zslearn.zero_shot.posterior.similarity import ConSEClassifier
from zslearn.zero_shot.tags import ZeroShotTags

GRAPHS = ("scores", "features")
# Steps of F ← α S F + (1 − α) Z; 0.8⁶⁰ is 1.5e-6, beyond which nothing moves.
_STEPS = 60


class PSTClassifier(NormalizedMethod):
    """Propagated semantic transfer (Rohrbach, Ebert and Schiele, NIPS 2013).

    A zero-shot classifier scores the whole test batch; for each class the most confident share of
    its samples keeps a label Z. On the k-NN graph of the batch, with weights
    ``w = exp(−d / (2 σ²))`` and ``S = D^−½ W D^−½``, labels spread by
    ``F ← α S F + (1 − α) Z``, whose limit is ``(1 − α)(I − α S)⁻¹ Z``. Transductive: a prediction
    depends on the other samples of the batch.

    Parameters
    ----------
    estimator : zero-shot classifier, optional
        Provides the first scores; `ConSEClassifier` by default. It gets `signatures`.
    alpha : float, default=0.8
        How far labels spread, between 0 and 1.
    n_neighbors : int, default=20
        k of the graph.
    share : float, default=0.15
        Share of the samples predicted as a class that keep their label; at least one does.
    graph : {"features", "scores"}, default="features"
        Where neighbors are looked for: in the features by Euclidean distance, or in the vectors
        of class probabilities by the L1 distance, as in the paper.

    Attributes
    ----------
    estimator_ : ZeroShotClassifier
        The fitted classifier that gives the first scores.
    cv_results_, best_params_ : dict or None, dict
        What the estimator chose, under names such as "estimator__temperature".

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import PSTClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = PSTClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        transductive=True,
        closed_form=False,
        separable=False,
        min_batch=5,
        reference="Rohrbach, Ebert & Schiele, NIPS 2013",
    )
    estimator: Any = parameter(
        default=None, allowed=Either(None, Instance(ZeroShotClassifier, "a zero-shot classifier"))
    )
    alpha: float = parameter(default=0.8, allowed=Number(above=0, below=1))
    n_neighbors: int = parameter(default=20, allowed=Whole(1))
    share: float = parameter(default=0.15, allowed=Number(above=0, most=1))
    graph: str = parameter(default="features", allowed=Either(*GRAPHS))

    def _fit(self, X: Features, y: NDArray[np.intp]) -> None:
        base = ConSEClassifier() if self.estimator is None else clone(self.estimator)
        self.estimator_ = base.set_params(signatures=self.signatures)
        self.estimator_.fit(X, self.seen_classes_[y])
        self.best_params_ = _of_estimator(self.estimator_.best_params_)
        found = self.estimator_.cv_results_
        if found is not None:
            self.cv_results_ = found | {"params": [_of_estimator(p) for p in found["params"]]}

    def frozen(self) -> PSTClassifier:
        """Return an unfitted copy with the estimator's chosen parameters given as numbers.

        Returns
        -------
        PSTClassifier
        """
        check_is_fitted(self)
        return clone(self).set_params(estimator=self.estimator_.frozen())

    def prepare(self, names: NDArray, vectors: NDArray) -> Candidates:
        return Candidates.of(self.estimator_.scorer(), names, vectors)

    def compare(self, queries: Features, classes: Candidates) -> NDArray:
        # What the base method says of the batch, as probabilities.
        first = classes.scores(queries)
        P = softmax(_standardized(first), axis=1)
        labels = confident_labels(P, float(self.share))
        points, metric = (
            (P, "manhattan") if self.graph == "scores" else (dense(queries), "euclidean")
        )
        graph = neighbor_graph(points, int(self.n_neighbors), metric)
        # The prior probabilities break ties of samples that no label reaches.
        return propagated(graph, labels, float(self.alpha)) + 1e-9 * P


def _of_estimator(params: dict[str, Any]) -> dict[str, Any]:
    """Name parameters of the wrapped estimator as scikit-learn does."""
    return {f"estimator__{name}": value for name, value in params.items()}


def _standardized(first: NDArray) -> NDArray:
    """Scores of every class over the batch, with mean 0 and deviation 1 of all scores."""
    values = first.astype(np.float64)
    spread = float(values.std()) or 1.0
    return (values - values.mean()) / spread


def confident_labels(P: NDArray, share: float) -> NDArray:
    """Keep, of the samples whose best class is c, the most confident share, at least one.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Class probabilities.
    share : float
        Share of samples that keep their label.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        One 1 in a row that keeps its label, zeros elsewhere.
    """
    best = P.argmax(axis=1)
    labels = np.zeros_like(P)
    # By class, so that a class of timid answers also gets labels.
    for c in np.unique(best):
        members = np.flatnonzero(best == c)
        kept = max(1, int(np.ceil(share * len(members))))
        sure = members[np.argsort(-P[members, c], kind="stable")[:kept]]
        labels[sure, c] = 1.0
    return labels


def neighbor_graph(points: NDArray, n_neighbors: int, metric: str) -> sparse.csr_array:
    """Return ``D^−½ W D^−½`` of the symmetric k-NN graph, of shape (n_samples, n_samples)."""
    n = len(points)
    k = min(n_neighbors, n - 1)
    search = NearestNeighbors(n_neighbors=k, metric=metric).fit(points)
    distances, columns = search.kneighbors()
    # w = exp(−d / 2σ) with σ the mean distance to the neighbors.
    unit = float(distances.mean()) or 1.0
    weights = np.exp(-distances / (2.0 * unit))
    rows = np.repeat(np.arange(n), k)
    W = sparse.csr_array((weights.ravel(), (rows, columns.ravel())), shape=(n, n))
    # Two samples are neighbors if either is among those of the other.
    W = W.maximum(W.T)
    scaling = sparse.diags_array(1.0 / np.sqrt(np.asarray(W.sum(axis=1)).ravel()))
    return sparse.csr_array(scaling @ W @ scaling)


def propagated(graph: sparse.csr_array, labels: NDArray, alpha: float) -> NDArray:
    """Spread labels until they settle: ``(1 − α)(I − α S)⁻¹ Z`` by iteration."""
    # F ← α S F + (1 − α) Z, of which (1 − α)(I − αS)⁻¹ Z is the limit (Zhou et al., NIPS 2003).
    spread = labels
    for _ in range(_STEPS):
        spread = alpha * (graph @ spread) + (1.0 - alpha) * labels
    return spread
