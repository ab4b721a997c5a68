"""Attribute label embedding."""

from __future__ import annotations

from typing import Any, ClassVar

from zslearn._parameters import Either, Flag
from zslearn.core.losses import warp_loss
from zslearn.zero_shot.ranking.bilinear import BilinearClassifier
from zslearn.zero_shot.tags import ZeroShotTags


class ALEClassifier(BilinearClassifier):
    """Bilinear compatibility trained with a weighted ranking loss (ALE).

    F(x, c) = xᵀ W s_c is trained by mini-batches on (Akata et al.)::

        mean over samples of  (β_r / r) Σ_{c ≠ y} [Δ + F(x, c) − F(x, y)]₊ ,   β_r = Σ_{i ≤ r} 1/i

    with r the number of classes that violate the margin. The authors estimate r by drawing classes
    until one violates the margin (WARP); all classes fit in memory here, so r is counted and the
    objective itself is descended, which removes the noise of the sampling.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot.
    margin : float, default=1.0
        Δ. Sets the scale of W only: predictions do not depend on it.
    learning_rate : float or "cv", default=1.0
        Step length in units of the margin, for features and signatures of mean length one; "cv"
        chooses between 1 and 0.25 (it matters little next to the number of epochs).
    weight_decay : float, default=0.0
        L2 shrinkage; early stopping is the usual regularizer.
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
        Order of the samples, and of the classes dealt to folds.
    verbose : int, default=0
        1 reports each fold, 2 each epoch, on stderr.
    center : "cv" or bool, default="cv"
        Whether the means of features and of seen signatures are taken off; the authors keep
        them. "cv" takes what recognizes held-out classes better.

    Attributes
    ----------
    coef_ : ndarray of shape (n_dimensions, n_features)
        Wᵀ for normalized features minus `feature_mean_`.
    feature_mean_ : ndarray of shape (n_features,)
        Mean of the normalized training features; zero if they are not centered.
    learning_rate_, center_, n_epochs_ : float, bool, int
        What was chosen.
    loss_curve_ : ndarray of shape (n_epochs,)
        Mean loss of each epoch of the final training.
    cv_results_ : dict or None
        Held-out accuracy of every setting after every epoch, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    References
    ----------
    Z. Akata, F. Perronnin, Z. Harchaoui, C. Schmid. Label-embedding for image classification.
    IEEE TPAMI 38(7), 2016.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot import ALEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = ALEClassifier(data.signatures).fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        reference="Akata, Perronnin, Harchaoui & Schmid, TPAMI 2016",
    )
    score_loss = staticmethod(warp_loss)
    grids: ClassVar[dict[str, tuple[Any, ...]]] = {
        **BilinearClassifier.grids,
        "center": (True, False),
    }
    parameter_constraints: ClassVar = {"center": Either("cv", Flag())}

    def __init__(
        self,
        signatures: Any = None,
        *,
        margin: float = 1.0,
        learning_rate: float | str = 1.0,
        weight_decay: float = 0.0,
        epochs: int | str = "cv",
        max_epochs: int = 20,
        batch_size: int | str = "auto",
        feature_norm: str | None = "l2",
        signature_norm: str | None = "l2",
        cv: int = 3,
        random_state: int | None = 0,
        verbose: int = 0,
        center: bool | str = "cv",
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
        self.center = center
