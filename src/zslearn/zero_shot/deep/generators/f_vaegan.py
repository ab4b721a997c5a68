"""A feature generator that is also the decoder of a variational autoencoder."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn._parameters import Number, Whole
from zslearn.core.descent import forward
from zslearn.zero_shot.deep.generators.base import Arrays, Game, GenerativeClassifier, noise_for
from zslearn.zero_shot.tags import ZeroShotTags


class FVAEGANClassifier(GenerativeClassifier):
    """Features of unseen classes from a variational autoencoder with a critic (f-VAEGAN).

    The generator of `FCLSWGANClassifier`, here with outputs between 0 and 1, is at the same time
    the decoder of a variational autoencoder of the features, conditioned on the signature (Xian et
    al., CVPR 2019, inductive form)::

        max over D   E D(x, a) − E D(G(z, a), a) − penalty · E (‖∇D(x̂, a)‖ − 1)²
        min over G and encoder   BCE(x, x') + KL − adversarial · E D(G(z, a), a)

    with x' the reconstruction of x and the cross entropy summed over features. How it answers, and
    how its settings are chosen, is as for `FCLSWGANClassifier`.

    What differs from the paper: 512 hidden units, not 4,096; no second critic for unlabelled
    samples (D2), which is transductive; the encoder has one hidden layer; and the points named
    there. `TFVAEGANClassifier` adds a decoder of signatures and feedback from it. Fitting needs
    PyTorch (``pip install 'zslearn[deep]'``); predicting and loading do not.

    Parameters
    ----------
    signatures : Signatures, dict or DataFrame, optional
        One vector per class, for seen and unseen classes; None means one-hot, where nothing is
        synthesized.
    n_hidden : int, default=512
        Units of the hidden layers.
    learning_rate : float, default=1e-3
        Of Adam, with β₁ = 0.5.
    n_critic : int, default=2
        Steps of the critic for each step of the generator.
    penalty : float, default=10.0
        Weight of the gradient penalty.
    adversarial : float, default=10.0
        Weight of the critic's judgment, as in the released program of TF-VAEGAN.
    n_steps : "cv" or int, default="cv"
        Steps of the generator.
    max_steps, n_checkpoints : int, default=2000 and 2
        "cv" tries so many lengths, evenly up to the largest.
    n_synthetic : "cv" or int, default="cv"
        Synthesized samples per class; "cv" tries two and six times the mean size of a
        training class. More of them favor unseen classes over seen ones.
    softmax_epochs : "cv" or int, default="cv"
        Passes of the softmax over the samples, by Adam; "cv" tries 5 and 25.
    batch_size : int, default=64
        Samples in a batch.
    keep_stages : bool, default=False
        Whether to train up to `max_steps` and keep the model at every checkpoint.
    feature_norm : {"l2", None}, default=None
        Whether samples are scaled to unit length before their features are scaled to [0, 1] by the
        training data; the originals do not.
    signature_norm : {"l2", None}, default="l2"
        Scale every signature to unit length, at fit and at prediction.
    cv : int, default=4
        The seen classes are dealt into so many folds.
    n_folds : int, default=1
        How many of them play unseen classes in turn; each costs a training.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to train; "auto" takes CUDA where there is one.
    random_state : int, default=0
        Start of the networks, batches, noise, and deal of the classes.
    verbose : int, default=0
        1 reports each fold on stderr, 2 also shows a progress bar of each training.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        The generator; prediction needs no PyTorch.
    n_steps_, n_synthetic_, softmax_epochs_ : int
        What was used.
    feature_low_, feature_range_ : ndarray of shape (n_features,)
        Features are scaled by ``(x - low) / range``.
    samples_, sample_classes_ : ndarray of shape (n_kept, n_features) and (n_kept,)
        Scaled training samples, which the softmax needs, and positions in `seen_classes_`.
    stages_ : dict of int to Stage
        With ``keep_stages=True`` the model at every checkpoint, see `at_step`.
    cv_results_ : dict or None
        What every setting reached on held-out classes, with scikit-learn's keys.
    best_params_ : dict
        What was taken for the parameters left to "cv".

    References
    ----------
    Y. Xian, S. Sharma, B. Schiele, Z. Akata. f-VAEGAN-D2: a feature generating framework for
    any-shot learning. CVPR 2019.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import FVAEGANClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = FVAEGANClassifier(
    ...     data.signatures,
    ...     n_hidden=64,
    ...     learning_rate=3e-3,
    ...     n_steps=400,
    ...     n_synthetic=30,
    ...     softmax_epochs=25,
    ... )
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        separable=False,
        reference="Xian, Sharma, Schiele & Akata, CVPR 2019 (inductive)",
    )
    parameter_constraints: ClassVar = {
        "n_hidden": Whole(1),
        "n_critic": Whole(1),
        "penalty": Number(least=0),
        "adversarial": Number(least=0),
    }

    def __init__(
        self,
        signatures: Any = None,
        *,
        n_hidden: int = 512,
        learning_rate: float = 1e-3,
        n_critic: int = 2,
        penalty: float = 10.0,
        adversarial: float = 10.0,
        n_steps: int | str = "cv",
        max_steps: int = 2000,
        n_checkpoints: int = 2,
        n_synthetic: int | str = "cv",
        softmax_epochs: int | str = "cv",
        batch_size: int = 64,
        keep_stages: bool = False,
        feature_norm: str | None = None,
        signature_norm: str | None = "l2",
        cv: int = 4,
        n_folds: int = 1,
        device: str = "auto",
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.signatures = signatures
        self.n_hidden = n_hidden
        self.learning_rate = learning_rate
        self.n_critic = n_critic
        self.penalty = penalty
        self.adversarial = adversarial
        self.n_steps = n_steps
        self.max_steps = max_steps
        self.n_checkpoints = n_checkpoints
        self.n_synthetic = n_synthetic
        self.softmax_epochs = softmax_epochs
        self.batch_size = batch_size
        self.keep_stages = keep_stages
        self.feature_norm = feature_norm
        self.signature_norm = signature_norm
        self.cv = cv
        self.n_folds = n_folds
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generators.adversarial import Rules, VariationalGame

        return VariationalGame(X, y, S, Rules.of(self), None, device)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        noise = noise_for(self.random_state, (n, S.shape[1]))
        return np.stack([decoded(weights, noise, s) for s in S])


def decoded(weights: Arrays, Z: NDArray, s: NDArray) -> NDArray:
    """Return G(z, s) of each row of noise, by numpy."""
    inputs = np.hstack([Z, np.broadcast_to(s, (len(Z), len(s)))])
    return np.asarray(expit(forward(weights, "generator", inputs, slope=0.2)[-1]))
