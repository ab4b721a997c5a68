"""A feature generator that is corrected by a decoder of signatures."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn._parameters import Number
from zslearn.core.descent import forward
from zslearn.core.nearest import unit_rows
from zslearn.zero_shot.deep.generators.base import Arrays, Game, noise_for
from zslearn.zero_shot.deep.generators.f_vaegan import FVAEGANClassifier
from zslearn.zero_shot.tags import ZeroShotTags

SLOPE = 0.2


class TFVAEGANClassifier(FVAEGANClassifier):
    """Features of unseen classes, synthesized again after a look at them (TF-VAEGAN).

    `FVAEGANClassifier` with a decoder of signatures x → â (Narayan et al., ECCV 2020). Its hidden
    layer h is used twice. It is fed back: samples are synthesized in two passes, and in the
    second the hidden layer of the generator is changed by ``feedback · F(h)`` of the first. And
    the softmax sees [x, h, â] where the other generators show it x. The losses have one term
    more, for the decoder on real samples and for all on synthesized ones::

        decoding · E Σ |â − a|³ / ‖â − a‖

    How it answers, and how its settings are chosen, is as for `FCLSWGANClassifier`.

    What differs from the paper and its released program: 512 hidden units, not 4,096; one
    setting for all data, that released for CUB, except for learning rates (that of the feedback
    is a tenth of the others', as there) and 2 steps of the critic, not 5; steps with and without
    feedback in turn, not passes over the data; noise for the critic from N(0, I), as at
    synthesis, not from the encoder; a constant weight of the gradient penalty; the encoder has
    one hidden layer; and the points named for `FCLSWGANClassifier`. Fitting needs PyTorch
    (``pip install 'zslearn[deep]'``); predicting and loading do not.

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
        Weight of the critic's judgment.
    decoding : float, default=0.01
        Weight of the error of decoded signatures, for the decoder and for the generator.
    feedback, synthesis_feedback : float, default=1.0
        Weight of what the decoder feeds back, in training and at synthesis.
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
        Generator, decoder and feedback; prediction needs no PyTorch.
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
    S. Narayan, A. Gupta, F. S. Khan, C. G. M. Snoek, L. Shao. Latent embedding feedback and
    discriminative features for zero-shot classification. ECCV 2020.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import TFVAEGANClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = TFVAEGANClassifier(
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
        reference="Narayan, Gupta, Khan, Snoek & Shao, ECCV 2020",
    )
    parameter_constraints: ClassVar = {
        "decoding": Number(least=0),
        "feedback": Number(least=0),
        "synthesis_feedback": Number(least=0),
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
        decoding: float = 0.01,
        feedback: float = 1.0,
        synthesis_feedback: float = 1.0,
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
        super().__init__(
            signatures,
            n_hidden=n_hidden,
            learning_rate=learning_rate,
            n_critic=n_critic,
            penalty=penalty,
            adversarial=adversarial,
            n_steps=n_steps,
            max_steps=max_steps,
            n_checkpoints=n_checkpoints,
            n_synthetic=n_synthetic,
            softmax_epochs=softmax_epochs,
            batch_size=batch_size,
            keep_stages=keep_stages,
            feature_norm=feature_norm,
            signature_norm=signature_norm,
            cv=cv,
            n_folds=n_folds,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.decoding = decoding
        self.feedback = feedback
        self.synthesis_feedback = synthesis_feedback

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generators.adversarial import Rules
        from zslearn.zero_shot.deep.generators.feedback import FeedbackGame

        return FeedbackGame(X, y, S, Rules.of(self), None, device)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        noise = noise_for(self.random_state, (n, S.shape[1]))
        share = float(self.synthesis_feedback)
        made = [synthesized_twice(weights, noise, s, share) for s in S]
        return np.stack([self._represented(weights, rows) for rows in made])

    def _represented(self, weights: Arrays, X: NDArray) -> NDArray:
        if not weights:  # nothing was trained
            return X
        weights = {name: one.astype(X.dtype, copy=False) for name, one in weights.items()}
        _, noticed, found = forward(weights, "decoder", X, slope=SLOPE)
        return np.hstack([X, noticed, unit_rows(found)])

    def _of_kept(self, weights: Arrays, kept: NDArray) -> NDArray:
        return self._represented(weights, kept)


def synthesized_twice(weights: Arrays, Z: NDArray, s: NDArray, feedback: float) -> NDArray:
    """Return G(z, s) of each row of noise after feedback on a first pass, by numpy."""
    inputs = np.hstack([Z, np.broadcast_to(s, (len(Z), len(s)))])
    _, hidden, first = forward(weights, "generator", inputs, slope=SLOPE)
    noticed = forward(weights, "decoder", expit(first), slope=SLOPE)[1]
    back = forward(weights, "feedback", noticed, slope=SLOPE)[-1]
    hidden = hidden + hidden.dtype.type(feedback) * np.maximum(back, SLOPE * back)
    return np.asarray(expit(hidden @ weights["generator_W1"] + weights["generator_b1"]))
