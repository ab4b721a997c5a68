"""Zero-shot classification by metric learning."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import Either, Number, Whole
from zslearn.core.descent import (
    Parameters,
    backward,
    distance_gradients,
    forward,
    squared_distances,
    start_layers,
)
from zslearn.core.losses import hinge_pairs
from zslearn.zero_shot.networks.base import NetworkClassifier
from zslearn.zero_shot.search import Point
from zslearn.zero_shot.tags import ZeroShotTags


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
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    n_components : int, default=100
        Columns of W_A.
    threshold : float, default=2.0
        τ, the squared distance that separates matching from mismatching pairs.
    attribute_weight : float or "cv", default=0.1
        μ; "cv" chooses between 0.1 and 1.
    learning_rate : "cv" or float, default="cv"
        Step length of Adam; "cv" chooses between 0.001 and 0.0001.
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

    grids: ClassVar[dict[str, tuple[Any, ...]]] = {
        "learning_rate": (1e-3, 1e-4),
        "attribute_weight": (0.1, 1.0),
    }
    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False, deterministic=False, reference="Bucher, Herbin & Jurie, ECCV 2016"
    )
    parameter_constraints: ClassVar = {
        "n_components": Whole(1),
        "threshold": Number(above=0),
        "attribute_weight": Either("cv", Number(least=0)),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        n_components: int = 100,
        threshold: float = 2.0,
        attribute_weight: float | str = 0.1,
        learning_rate: float | str = "cv",
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
        self.n_components = n_components
        self.threshold = threshold
        self.attribute_weight = attribute_weight
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
        P, Q = a @ A, Z @ A
        loss, G = hinge_pairs(self.threshold - squared_distances(P, Q), y)
        dP, dQ = distance_gradients(P, Q, -G)
        gap = a - Z[y]
        weight = float(point["attribute_weight"]) / gap.size
        da = dP @ A.T + 2.0 * weight * gap
        gradients = backward(parameters, "x", outputs, da, relu_last=True)
        return loss + weight * float((gap * gap).sum()), gradients | {"A": a.T @ dP + Z.T @ dQ}

    def _scores(self, parameters: Parameters, X: NDArray, S: NDArray) -> NDArray:
        a, A = forward(parameters, "x", X, relu_last=True)[-1], parameters["A"]
        return -squared_distances(a @ A, (S - parameters["lowest"]) @ A)
