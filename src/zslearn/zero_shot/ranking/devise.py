"""Deep visual-semantic embedding, on given features."""

from __future__ import annotations

from typing import Any, ClassVar

from zslearn.core.losses import hinge_sum
from zslearn.zero_shot.ranking.bilinear import BilinearClassifier
from zslearn.zero_shot.tags import ZeroShotTags


class DeViSEClassifier(BilinearClassifier):
    """Bilinear model trained with the hinge rank loss of DeViSE.

    With unit-norm signatures t_c, M is trained by mini-batches on (Frome et al.)::

        mean over samples of  Σ_{c ≠ y} [Δ − t_yᵀ M x + t_cᵀ M x]₊

    (divided by the number of classes here, a constant). The authors stop at the first violating
    class in random order; all classes are summed here. The image network is not trained: features
    are given. Candidates are ranked by the inner product with M x.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    margin : float, default=0.1
        Δ. Sets the scale of W only: predictions do not depend on it.
    learning_rate : float or "cv", default=8.0
        Step length in units of the margin, for features and signatures of mean length one; "cv"
        chooses between 8 and 2 (it matters little next to the number of epochs).
    weight_decay : float, default=0.0
        L2 shrinkage; early stopping is the usual regularizer.
    epochs : "cv" or int, default="cv"
        Passes over the data; "cv" stops where held-out training classes are recognized best.
    max_epochs : int, default=60
        Upper limit for ``epochs="cv"``, and the number used where no class can be held out.
    batch_size : "auto" or int, default="auto"
        Samples in a batch, 16 to 256 by the size of the data.
    feature_norm, signature_norm : {"l2", None}, default="l2"
        Scale every sample and every signature to unit length, at fit and at prediction.
    cv : int, default=3
        Number of folds over classes.
    random_state : int, default=0
        Order of the samples, and of the classes dealt to folds.
    verbose : int, default=0
        1 reports each fold, 2 each epoch, on stderr.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        Wᵀ for normalized features minus `feature_mean_`.
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the normalized training features.
    learning_rate_, n_epochs_ : float, int
        What was chosen.
    loss_curve_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch of the final training.
    cv_results_ : dict or None
        Held-out accuracy of every setting after every epoch, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    References
    ----------
    A. Frome, G. S. Corrado, J. Shlens, S. Bengio, J. Dean, M. Ranzato, T. Mikolov. DeViSE: a deep
    visual-semantic embedding model. NIPS 2013.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import DeViSEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = DeViSEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Frome et al., NIPS 2013",
    )
    grids: ClassVar[dict[str, tuple[Any, ...]]] = {"learning_rate": (8.0, 2.0)}
    score_loss = staticmethod(hinge_sum)

    def __init__(
        self,
        signatures: Any = None,
        *,
        margin: float = 0.1,
        learning_rate: float | str = 8.0,
        weight_decay: float = 0.0,
        epochs: int | str = "cv",
        max_epochs: int = 60,
        batch_size: int | str = "auto",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            signatures,
            margin=margin,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            epochs=epochs,
            max_epochs=max_epochs,
            batch_size=batch_size,
            feature_norm=feature_norm,
            signature_norm=signature_norm,
            cv=cv,
            random_state=random_state,
            verbose=verbose,
        )
