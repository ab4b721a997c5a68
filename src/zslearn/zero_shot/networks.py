"""What the small networks share: their training parameters, Adam, inputs of unit entries."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._parameters import Either, Flag, Number, Whole
from zslearn.core.descent import (
    Parameters,
    backward,
    distance_gradients,
    forward,
    squared_distances,
    start_layers,
)
from zslearn.core.losses import contrastive_pairs, hinge_pairs, logistic_pairs, squared_pairs
from zslearn.zero_shot.gradient import GradientClassifier
from zslearn.zero_shot.search import Point
from zslearn.zero_shot.tags import ZeroShotTags


class NetworkClassifier(GradientClassifier):
    """Base of the methods with hidden layers, in plain numpy with hand-written gradients.

    Parameters
    ----------
    learning_rate : float or "cv", default=0.001
        Step length of Adam; "cv" chooses between 0.001 and 0.0003.
    weight_decay : float, default=0.0
        Decoupled L2 shrinkage.
    random_state : int, default=0
        Start of the weights, order of the samples, and of the classes dealt to folds.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Weights and biases.
    feature_mean_, feature_scale_, signature_mean_, signature_scale_ : ndarray, float
        Centering and scale of normalized features and signatures, from the training data.
    """

    step: ClassVar[str] = "adam"
    unit_entries: ClassVar[bool] = True
    learning_rate: float | str = parameter(default=0.001, tried=(1e-3, 3e-4))


class BaFCClassifier(NetworkClassifier):
    """Two networks that predict classifiers from class descriptions (Ba et al., fc branch).

    score(x, c) = f(s_c)ᵀ g(x) with g: features → 300 → 50 and f: signatures → 300 → 50, rectified
    hidden layers. Losses over all (sample, seen class) pairs, matching and mismatching balanced::

        bce        log(1 + exp(−t f(s_c)ᵀ g(x))),  t = ±1
        hinge      [1 − t f(s_c)ᵀ g(x)]₊
        euclidean  ‖f(s_c) − g(x)‖² for matching pairs, [γ − ‖f(s_c) − g(x)‖²]₊ for the others;
                   scores are then the negative distances

    The authors describe classes by TF-IDF vectors of articles; any signatures work here. Their
    convolutional branch needs feature maps and is left out. No torch: plain numpy is enough.

    Parameters
    ----------
    loss : {"bce", "hinge", "euclidean"}, default="bce"
        Which loss.
    n_hidden, n_components : int, default=300 and 50
        Width of the hidden layers and of the common space.
    margin : float, default=1.0
        γ of the Euclidean loss.

    References
    ----------
    J. Ba, K. Swersky, S. Fidler, R. Salakhutdinov. Predicting deep zero-shot convolutional neural
    networks using textual descriptions. ICCV 2015.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import BaFCClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = BaFCClassifier(data.signatures, epochs=5).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Ba, Swersky, Fidler & Salakhutdinov, ICCV 2015 (fc)",
    )
    loss: str = parameter(default="bce", allowed=Either("bce", "hinge", "euclidean"))
    n_hidden: int = parameter(default=300, allowed=Whole(1))
    n_components: int = parameter(default=50, allowed=Whole(1))
    margin: float = parameter(default=1.0, allowed=Number(above=0))

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        parameters = start_layers(rng, "g", (n_features, self.n_hidden, self.n_components))
        parameters |= start_layers(rng, "f", (S.shape[1], self.n_hidden, self.n_components))
        for name in ("g_W1", "f_W1"):
            parameters[name] *= np.float32(self.n_components**-0.25)  # scores of order one
        return parameters

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        g, f = forward(parameters, "g", X), forward(parameters, "f", S)
        # Back from the pairs into each of the two networks, which share no parameters.
        loss, dg, df = self._pair_loss(g[-1], f[-1], y)
        return loss, backward(parameters, "g", g, dg) | backward(parameters, "f", f, df)

    def _pair_loss(self, g: NDArray, f: NDArray, y: NDArray) -> tuple[float, NDArray, NDArray]:
        """Loss and its gradients in the outputs of the two networks."""
        if self.loss == "euclidean":
            loss, G = contrastive_pairs(squared_distances(g, f), y, self.margin)
            return loss, *distance_gradients(g, f, G)
        loss, G = (logistic_pairs if self.loss == "bce" else hinge_pairs)(g @ f.T, y)
        # F = g fᵀ: ∂L/∂g = G f and ∂L/∂f = Gᵀ g.
        return loss, G @ f, G.T @ g

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        g, f = forward(parameters, "g", X)[-1], forward(parameters, "f", S)[-1]
        # Nearer is better where the loss pulls pairs together.
        return -squared_distances(g, f) if self.loss == "euclidean" else g @ f.T


class MTMDLClassifier(NetworkClassifier):
    """Two-sided network whose signature side produces the classifier (MTMDL).

    score(x, c) = (P x + p)ᵀ σ(Q s_c + q): the semantic descriptor of a task, here the signature of
    a class, gates r directions of the features. σ is the rectifier, or nothing (a bilinear map of
    rank r). Trained on all (sample, seen class) pairs with targets ±1, matching and mismatching
    pairs balanced, with the squared or the hinge loss. No torch: plain numpy is enough.

    Parameters
    ----------
    loss : {"squared", "hinge"}, default="hinge"
        Which loss.
    n_components : int, default=200
        r.
    rectify : bool, default=True
        Whether σ is the rectifier.
    learning_rate : float or "cv", default=0.0001
        Step length of Adam; "cv" chooses between 0.0001 and 0.00003.

    References
    ----------
    Y. Yang, T. M. Hospedales. A unified perspective on multi-domain and multi-task learning. ICLR
    2015.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import MTMDLClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = MTMDLClassifier(data.signatures, epochs=10, learning_rate=1e-3)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.8
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, deterministic=False, reference="Yang & Hospedales, ICLR 2015"
    )
    loss: str = parameter(default="hinge", allowed=Either("squared", "hinge"))
    n_components: int = parameter(default=200, allowed=Whole(1))
    rectify: bool = parameter(default=True, allowed=Flag())
    learning_rate: float | str = parameter(default=0.0001, tried=(1e-4, 3e-5))

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        parameters = start_layers(rng, "P", (n_features, self.n_components))
        parameters |= start_layers(rng, "Q", (S.shape[1], self.n_components))
        # Started at zero, P holds only what it learned; a random start would remain in it as noise.
        parameters["P_W0"] *= 0.0
        return parameters

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        p, q = forward(parameters, "P", X), forward(parameters, "Q", S, relu_last=self.rectify)
        pairs = hinge_pairs if self.loss == "hinge" else squared_pairs
        # The signature side gives the classifier of a class: f(x, c) = (xP)·(s_c Q).
        loss, G = pairs(p[-1] @ q[-1].T, y)
        right = backward(parameters, "Q", q, G.T @ p[-1], relu_last=self.rectify)
        return loss, backward(parameters, "P", p, G @ q[-1]) | right

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        q = forward(parameters, "Q", S, relu_last=self.rectify)[-1]
        return forward(parameters, "P", X)[-1] @ q.T


class MLZSCClassifier(NetworkClassifier):
    """Metric between predicted attributes and signatures (Bucher et al.).

    Attributes are predicted by â(x) = [x W_x + b]₊ and compared by a learned metric,
    D²(x, c) = ‖(â(x) − s_c) W_A‖². Over matching (t = 1) and mismatching (t = −1) pairs, balanced::

        Σ_c ω_c [1 − t (τ − D²(x, c))]₊ + μ ‖â(x) − s_y‖²

    Smallest distance wins. The authors draw mismatching pairs, hard ones first; here a sample meets
    all seen classes at once, and those beyond the margin have no gradient, which keeps the hard
    ones. Signatures are shifted to be non-negative, as the rectifier needs (by their smallest seen
    entry in each dimension). No torch: plain numpy is enough.

    Parameters
    ----------
    n_components : int, default=100
        Columns of W_A.
    threshold : float, default=2.0
        τ, the squared distance that separates matching from mismatching pairs.
    attribute_weight : float or "cv", default=0.1
        μ; "cv" chooses between 0.1 and 1.
    learning_rate : "cv" or float, default="cv"
        Step length of Adam; "cv" chooses between 0.001 and 0.0001.

    References
    ----------
    M. Bucher, S. Herbin, F. Jurie. Improving semantic embedding consistency by metric learning for
    zero-shot classification. ECCV 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import MLZSCClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = MLZSCClassifier(data.signatures, epochs=10, learning_rate=1e-3)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.8
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, deterministic=False, reference="Bucher, Herbin & Jurie, ECCV 2016"
    )
    n_components: int = parameter(default=100, allowed=Whole(1))
    threshold: float = parameter(default=2.0, allowed=Number(above=0))
    attribute_weight: float | str = parameter(
        default=0.1, allowed=Number(least=0), tried=(0.1, 1.0)
    )
    learning_rate: float | str = parameter(default="cv", tried=(1e-3, 1e-4))

    def _start(self, rng: np.random.RandomState, S: NDArray, n_features: int) -> Parameters:
        parameters = start_layers(rng, "x", (n_features, S.shape[1]))
        m = min(self.n_components, S.shape[1])
        metric = rng.standard_normal((S.shape[1], m)) / np.sqrt(m * S.shape[1])
        lowest = S.min(axis=0)
        # Start by predicting the mean signature; random weights would stay in W_x as noise.
        parameters["x_W0"] *= 0.0
        parameters["x_b0"] += (S - lowest).mean(axis=0).astype(np.float32)
        return parameters | {"A": metric.astype(np.float32), "lowest": lowest.astype(np.float32)}

    def _loss(
        self, parameters: Parameters, X: NDArray, y: NDArray, S: NDArray, point: Point
    ) -> tuple[float, Parameters]:
        outputs, A = forward(parameters, "x", X, relu_last=True), parameters["A"]
        a, Z = outputs[-1], S - parameters["lowest"]
        # ‖(a − z)A‖² is a Mahalanobis distance of predicted and true attributes, A Aᵀ its metric.
        P, Q = a @ A, Z @ A
        loss, G = hinge_pairs(self.threshold - squared_distances(P, Q), y)
        dP, dQ = distance_gradients(P, Q, -G)
        # The second term of the objective holds the predictions to the attributes themselves.
        gap = a - Z[y]
        weight = float(point["attribute_weight"]) / gap.size
        da = dP @ A.T + 2.0 * weight * gap
        gradients = backward(parameters, "x", outputs, da, relu_last=True)
        return loss + weight * float((gap * gap).sum()), gradients | {"A": a.T @ dP + Z.T @ dQ}

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        a, A = forward(parameters, "x", X, relu_last=True)[-1], parameters["A"]
        return -squared_distances(a @ A, (S - parameters["lowest"]) @ A)
