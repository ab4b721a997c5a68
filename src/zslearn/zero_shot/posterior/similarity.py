"""ConSE: a convex combination of the signatures of likely seen classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from zslearn._declared import parameter
from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.core.nearest import scores, unit_rows
from zslearn.zero_shot.posterior.base import PosteriorClassifier, SeenClasses, posterior
from zslearn.zero_shot.tags import ZeroShotTags


class ConSEClassifier(PosteriorClassifier):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014).

    ``f(x) = Σ_t p_t s_t / Σ_t p_t`` over the T most likely seen classes of a softmax classifier;
    the candidates are ranked by the cosine of f(x) with their signatures. Nothing beyond the
    classifier of the seen classes is learned. It is known to be weak, and with seen classes among
    the candidates it nearly always answers with one of them, because f(x) is made of those.

    Parameters
    ----------
    top : int, default=10
        T, how many seen classes are combined.
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    center : "cv" or bool, default="cv"
        Subtract the mean of the seen signatures from every signature first. The paper does not;
        with non-negative attributes, whose cosines are all close to 1, it helps: .44 instead of .37
        on CUB (EfficientNet features, 50 unseen classes).

    Attributes
    ----------
    temperature_, center_ : float, bool
        Values used.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import ConSEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = ConSEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Norouzi et al., ICLR 2014"
    )
    top: int = parameter(default=10, allowed=Whole(1))
    temperature: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(1.0, 0.3, 0.6, 1.5, 3.0)
    )
    center: bool | str = parameter(default="cv", allowed=Either(True, False), tried=(False, True))

    def _relate(self, candidates: NDArray, known: SeenClasses, point: dict[str, Any]) -> NDArray:
        return candidates - _origin(known, point)

    def _rank(
        self, logits: NDArray, related: NDArray, known: SeenClasses, point: dict[str, Any]
    ) -> NDArray:
        P = posterior(logits, point["temperature"], int(self.top))
        # f(x) = Σ_t p(y_t|x) s(y_t), the paper's convex combination, compared by its direction.
        return scores(P @ (known.signatures - _origin(known, point)), related, "cosine")


def _origin(known: SeenClasses, point: dict[str, Any]) -> NDArray:
    """Where signatures are measured from: zero, or the mean of the seen ones."""
    seen = known.signatures
    return seen.mean(axis=0) if point["center"] else np.zeros(seen.shape[1])


RULES = ("product", "mean")


class DirectSimilarityClassifier(PosteriorClassifier):
    """Direct similarity to seen classes (Rohrbach, Stark and Schiele, CVPR 2011).

    Every candidate takes the K seen classes with the most similar signatures, with weights w
    summing to one, and scores ``Σ_k w_k log(P(y_k|x) / P(y_k))`` ("product", as in DAP) or ``Σ_k
    w_k P(y_k|x)`` ("mean"). The paper weighs the K classes equally; the weights here are their
    similarities, so that a seen candidate is recognized mainly by its own classifier.

    Parameters
    ----------
    n_related : int, default=5
        K.
    weighted : bool, default=True
        Weigh the related classes by similarity; False weighs them equally, as the paper does.
    rule : "cv", "product" or "mean", default="cv"
        How posteriors are combined.
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    center : "cv" or bool, default="cv"
        Subtract the mean of the seen signatures before the cosine similarity is taken.

    Attributes
    ----------
    rule_, temperature_, center_ : str, float, bool
        Values used.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DirectSimilarityClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = DirectSimilarityClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, reference="Rohrbach, Stark & Schiele, CVPR 2011"
    )
    n_related: int = parameter(default=5, allowed=Whole(1))
    weighted: bool = parameter(default=True, allowed=Flag())
    rule: str = parameter(default="cv", allowed=Either(*RULES), tried=RULES)
    temperature: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(1.0, 0.3, 3.0)
    )
    center: bool | str = parameter(default="cv", allowed=Either(True, False), tried=(False, True))

    def _relate(self, candidates: NDArray, known: SeenClasses, point: dict[str, Any]) -> NDArray:
        origin = _origin(known, point)
        similarity = scores(candidates - origin, known.signatures - origin, "cosine")
        return related_weights(similarity, int(self.n_related), weighted=self.weighted)

    def _rank(
        self, logits: NDArray, related: NDArray, known: SeenClasses, point: dict[str, Any]
    ) -> NDArray:
        logs = log_softmax(logits.astype(np.float64) / point["temperature"], axis=1)
        if point["rule"] == "mean":
            return np.exp(logs) @ related.T
        # Π_k (p(y_k|x) / p(y_k))^(w_ck), as a sum of logarithms.
        return (logs - np.log(known.share)) @ related.T


def related_weights(similarity: NDArray, n_related: int, *, weighted: bool) -> NDArray:
    """Keep the most similar seen classes of each candidate, with weights that sum to one.

    Parameters
    ----------
    similarity : ndarray of shape (n_candidates, n_seen)
        Similarities; negative ones count as 0.
    n_related : int
        Classes to keep.
    weighted : bool
        Weigh by similarity rather than equally.

    Returns
    -------
    ndarray of shape (n_candidates, n_seen)
    """
    kept = np.argsort(-similarity, axis=1, kind="stable")[:, :n_related]
    chosen = np.maximum(np.take_along_axis(similarity, kept, axis=1), 0.0)
    # Equal weights also where no seen class is similar at all.
    flat = ~(chosen.sum(axis=1) > 0) if weighted else np.ones(len(kept), dtype=bool)
    chosen[flat] = 1.0
    weights = np.zeros_like(similarity, dtype=np.float64)
    np.put_along_axis(weights, kept, chosen / chosen.sum(axis=1, keepdims=True), axis=1)
    return weights


# Weight of the edges from every seen class to every candidate, relative to its k-NN edges; it
# lets each walk end even where no candidate is among the neighbors.
_TELEPORT = 1e-3


class AMPClassifier(PosteriorClassifier):
    """Absorbing Markov chain on the semantic graph (Fu, Xiang, Kodirov and Gong, CVPR 2015).

    Nodes are the seen classes and the candidates, joined to their k nearest by
    ``exp(−‖s_i − s_j‖² / σ²)`` and walked at random. Candidates are absorbing: with Q between seen
    classes and R from seen classes to candidates, ``B = (I − Q)⁻¹ R`` says where a walk ends, and
    a sample scores ``p(x)ᵀ B`` with p its seen-class posterior. Scores of a class depend on which
    others are candidates. Joined signatures give one graph for each space, averaged.

    Parameters
    ----------
    n_neighbors : "cv" or int, default="cv"
        k of the graph.
    width : "cv" or float, default="cv"
        σ², in units of the mean squared distance between two seen classes.
    top : int, default=10
        Seen classes of the posterior that are kept.
    center : "cv" or bool, default="cv"
        Subtract the mean of the seen signatures from each space before distances are taken; the
        paper does not, and non-negative attributes benefit from it.
    balance : "cv" or bool, default="cv"
        Divide the columns of B by their mean: how often a candidate absorbs a walk from anywhere.
        The paper does not. Without it candidates in dense parts of the semantic space absorb most
        walks: .33 instead of .42 on CUB (EfficientNet features, 50 unseen classes).
    temperature : "cv" or float, default="cv"
        Posterior = softmax(logits / temperature).
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature (then each of its spaces) to unit length.

    Attributes
    ----------
    n_neighbors_, width_, center_, balance_, temperature_ : int, float, bool, bool, float
        Values used.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import AMPClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> seen = data.rows(data.split("standard").seen)
    >>> clf = AMPClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> unseen = data.rows(data.split("standard").unseen)
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.3
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        several_spaces=True,
        separable=False,
        reference="Fu, Xiang, Kodirov & Gong, CVPR 2015",
    )
    n_neighbors: int | str = parameter(default="cv", allowed=Whole(1), tried=(20, 5))
    width: float | str = parameter(
        default="cv", allowed=Number(above=0), tried=(0.1, 0.03, 0.3, 1.0)
    )
    top: int = parameter(default=10, allowed=Whole(1))
    center: bool | str = parameter(default="cv", allowed=Either(True, False), tried=(False, True))
    balance: bool | str = parameter(default="cv", allowed=Either(True, False), tried=(False, True))
    temperature: float | str = parameter(default="cv", allowed=Number(above=0), tried=(1.0, 0.3))

    def _relate(self, candidates: NDArray, known: SeenClasses, point: dict[str, Any]) -> NDArray:
        seen, origin = known.signatures, _origin(known, point)
        chains = [
            absorption(
                unit_rows((seen - origin)[:, columns]),
                unit_rows((candidates - origin)[:, columns]),
                int(point["n_neighbors"]),
                float(point["width"]),
            )
            for columns in self.signatures_.blocks.values()
        ]
        B = np.mean(chains, axis=0)
        # Each candidate is divided by how often it is reached at all.
        return B / B.mean(axis=0) if point["balance"] else B

    def _rank(
        self, logits: NDArray, related: NDArray, known: SeenClasses, point: dict[str, Any]
    ) -> NDArray:
        return posterior(logits, point["temperature"], int(self.top)) @ related


def absorption(seen: NDArray, candidates: NDArray, n_neighbors: int, width: float) -> NDArray:
    """Probability that a walk from each seen class ends at each candidate.

    Parameters
    ----------
    seen : ndarray of shape (n_seen, n_dimensions)
        Signatures of the transient nodes.
    candidates : ndarray of shape (n_candidates, n_dimensions)
        Signatures of the absorbing nodes.
    n_neighbors : int
        Neighbors of a node; an edge stays if either end is a neighbor of the other.
    width : float
        σ², in units of the mean squared distance between seen classes.

    Returns
    -------
    ndarray of shape (n_seen, n_candidates)
        Rows sum to one.
    """
    # Absorption probabilities (I − Q)⁻¹ R of a chain in which candidates are absorbing.
    Q, R = transitions(seen, candidates, n_neighbors, width)
    return np.linalg.solve(np.eye(len(Q)) - Q, R)


def transitions(
    seen: NDArray, candidates: NDArray, n_neighbors: int, width: float
) -> tuple[NDArray, NDArray]:
    """Step probabilities between seen classes (Q) and from them to the candidates (R)."""
    nodes = np.vstack([seen, candidates])
    n = len(seen)
    squared = -scores(nodes, nodes, "euclidean")
    # No node is its own neighbor.
    np.fill_diagonal(squared, np.inf)
    between = squared[:n, :n][~np.eye(n, dtype=bool)]
    unit = float(between.mean()) if n > 1 else 0.0
    # Measured from the nearest node, so that a narrow kernel never underflows a whole row.
    logs = -squared / (width * (unit or 1.0))
    k = min(n_neighbors, len(nodes) - 1)
    # Equal distances, as to a seen class and to a candidate with its signature, are all kept.
    cut = np.partition(squared, k - 1, axis=1)[:, k - 1] + 1e-9 * (unit or 1.0)
    near = (squared <= cut[:, None]) | (squared <= cut[None, :])
    W = np.exp(logs - logs.max(axis=1, keepdims=True)) * near
    reach = np.exp(logs[:n, n:] - logs[:n, n:].max(axis=1, keepdims=True))
    W[:n, n:] += _TELEPORT * reach
    P = W[:n] / W[:n].sum(axis=1, keepdims=True)
    return P[:, :n], P[:, n:]
