"""Multi-task and multi-domain learning as a two-sided network."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Flag, Whole
from zslearn.core.descent import Parameters, backward, forward, start_layers
from zslearn.core.losses import hinge_pairs, squared_pairs
from zslearn.zero_shot.networks.base import NetworkClassifier
from zslearn.zero_shot.search import Point
from zslearn.zero_shot.tags import ZeroShotTags


class MTMDLClassifier(NetworkClassifier):
    """Two-sided network whose signature side produces the classifier (MTMDL).

    score(x, c) = (P x + p)ᵀ σ(Q s_c + q): the semantic descriptor of a task, here the signature of
    a class, gates r directions of the features. σ is the rectifier, or nothing (a bilinear map of
    rank r). Trained on all (sample, seen class) pairs with targets ±1, matching and mismatching
    pairs balanced, with the squared or the hinge loss. No torch: plain numpy is enough.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    loss : {"squared", "hinge"}, default="hinge"
        Which loss.
    n_components : int, default=200
        r.
    rectify : bool, default=True
        Whether σ is the rectifier.
    learning_rate : float or "cv", default=0.0001
        Step length of Adam; "cv" chooses between 0.0001 and 0.00003.
    weight_decay : float, default=0.0
        Decoupled L2 shrinkage.
    epochs : "cv" or int, default="cv"
        Passes over the data; "cv" stops where held-out training classes are recognized best.
    max_epochs : int, default=20
        Upper limit for ``epochs="cv"``, and the number used where no class can be held out.
    batch_size : "auto" or int, default="auto"
        Samples in a batch, 16 to 256 by the size of the data.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=3
        Number of folds over classes.
    random_state : int, default=0
        Start of the weights, order of the samples, and of the classes dealt to folds.
    verbose : int, default=0
        1 reports each fold, 2 each epoch, on stderr.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Weights and biases.
    feature_mean_, feature_scale_, signature_mean_, signature_scale_ : ndarray, float
        Centering and scale of normalized features and signatures, from the training data.
    learning_rate_, n_epochs_ : float, int
        Values used.
    loss_curve_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch of the final training.
    cv_results_ : dict or None
        Held-out accuracy of every setting after every epoch, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

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

    grids: ClassVar[dict[str, tuple[Any, ...]]] = {"learning_rate": (1e-4, 3e-5)}
    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, deterministic=False, reference="Yang & Hospedales, ICLR 2015"
    )
    parameter_constraints: ClassVar = {
        "loss": Either("squared", "hinge"),
        "n_components": Whole(1),
        "rectify": Flag(),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        loss: str = "hinge",
        n_components: int = 200,
        rectify: bool = True,
        learning_rate: float | str = 0.0001,
        weight_decay: float = 0.0,
        epochs: int | str = "cv",
        max_epochs: int = 20,
        batch_size: int | str = "auto",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.loss = loss
        self.n_components = n_components
        self.rectify = rectify
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose

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
        loss, G = pairs(p[-1] @ q[-1].T, y)
        right = backward(parameters, "Q", q, G.T @ p[-1], relu_last=self.rectify)
        return loss, backward(parameters, "P", p, G @ q[-1]) | right

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        q = forward(parameters, "Q", S, relu_last=self.rectify)[-1]
        return forward(parameters, "P", X)[-1] @ q.T
