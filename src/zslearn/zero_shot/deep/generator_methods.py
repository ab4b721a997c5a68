"""The generative methods: f-CLSWGAN, f-VAEGAN, TF-VAEGAN and CADA-VAE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn._declared import parameter
from zslearn._parameters import Either, Group, Number, Whole
from zslearn.core.descent import forward
from zslearn.core.nearest import unit_rows
from zslearn.zero_shot.deep.generators import (
    AdversarialClassifier,
    AdversarialTraining,
    Arrays,
    Game,
    GenerativeClassifier,
    GeneratorTraining,
    by_class,
    evenly,
    fit_softmax_by_steps,
    noise_for,
)
from zslearn.zero_shot.search import Point
from zslearn.zero_shot.tags import ZeroShotTags

# Of the softmax of the seen classes that judges synthesized samples.
SEEN_EPOCHS = 50


@dataclass(frozen=True, kw_only=True, repr=False)
class FCLSWGANTraining(AdversarialTraining):
    """Settings of the training of `FCLSWGANClassifier`, besides those of every generator.

    Parameters
    ----------
    classification : float, default=0.1
        Weight of the cross entropy; 0 leaves it out (f-WGAN).
    """

    classification: float = parameter(default=0.1, allowed=Number(least=0))


class FCLSWGANClassifier(AdversarialClassifier):
    """Features of unseen classes synthesized by a conditional Wasserstein network (f-CLSWGAN).

    A generator G(z, a) turns noise and a signature into features, a critic D tells them from real
    ones of the seen classes (Xian et al., CVPR 2018)::

        max over D   E D(x, a) − E D(G(z, a), a) − penalty · E (‖∇D(x̂, a)‖ − 1)²
        min over G   − E D(G(z, a), a) + classification · cross entropy of G(z, a)

    the last under a fixed softmax of the seen classes. The answer comes from a softmax trained on
    real samples of the candidates that were seen and on synthesized ones of the others; it is
    trained whenever candidates are prepared, so keep a `recognizer` to predict often. Length of
    the training, number of synthesized samples and epochs of the softmax are chosen together
    where some seen classes play unseen ones, by the mean of the accuracy among these and of the
    harmonic mean among all; the released program takes the epoch of the softmax from the test
    data.

    What differs from the paper: 512 hidden units, not 4,096, and a learning rate of 1e-3 for all
    data, not of 1e-5 to 2e-4; 2 steps of the critic, not 5; a weight of the cross entropy of 0.1,
    not 0.01; the length and the epochs of the softmax by held-out classes; the same noise for
    every class. These defaults were chosen on held-out seen classes of CUB. Fitting needs PyTorch
    (``pip install 'zslearn[deep]'``); predicting and loading do not.

    Parameters
    ----------
    training : FCLSWGANTraining, optional
        Weights of the losses, optimizer and length. The paper's settings come to about 6,000 to
        9,000 steps.

    References
    ----------
    Y. Xian, T. Lorenz, B. Schiele, Z. Akata. Feature generating networks for zero-shot learning.
    CVPR 2018.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import FCLSWGANClassifier, FCLSWGANTraining
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> training = FCLSWGANTraining(
    ...     learning_rate=3e-3, n_steps=150, n_synthetic=30, softmax_epochs=25
    ... )
    >>> clf = FCLSWGANClassifier(data.signatures, n_hidden=64, training=training)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        separable=False,
        reference="Xian, Lorenz, Schiele & Akata, CVPR 2018",
    )
    training: FCLSWGANTraining = parameter(
        default=FCLSWGANTraining(), allowed=Group(FCLSWGANTraining)
    )

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generator_training import Rules, WassersteinGame

        seen = (
            fit_softmax_by_steps(by_class(X, y), SEEN_EPOCHS)
            if self.training.classification
            else None
        )
        return WassersteinGame(X, y, S, Rules.of(self), seen, device)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        noise = noise_for(self.random_state, (n, S.shape[1]))
        return np.stack([generated(weights, noise, s) for s in S])


def generated(weights: Arrays, Z: NDArray, s: NDArray) -> NDArray:
    """Return G(z, s) of each row of noise, by numpy."""
    inputs = np.hstack([Z, np.broadcast_to(s, (len(Z), len(s)))])
    return np.maximum(forward(weights, "generator", inputs, slope=0.2)[-1], 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class FVAEGANTraining(AdversarialTraining):
    """Settings of the training of `FVAEGANClassifier`, besides those of every generator.

    Parameters
    ----------
    adversarial : float, default=10.0
        Weight of the critic's judgment, as in the released program of TF-VAEGAN.
    """

    adversarial: float = parameter(default=10.0, allowed=Number(least=0))


class FVAEGANClassifier(AdversarialClassifier):
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
    training : FVAEGANTraining, optional
        Weights of the losses, optimizer and length.

    References
    ----------
    Y. Xian, S. Sharma, B. Schiele, Z. Akata. f-VAEGAN-D2: a feature generating framework for
    any-shot learning. CVPR 2019.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import FVAEGANClassifier, FVAEGANTraining
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> training = FVAEGANTraining(
    ...     learning_rate=3e-3, n_steps=400, n_synthetic=30, softmax_epochs=25
    ... )
    >>> clf = FVAEGANClassifier(data.signatures, n_hidden=64, training=training)
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
    training: FVAEGANTraining = parameter(default=FVAEGANTraining(), allowed=Group(FVAEGANTraining))

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generator_training import Rules, VariationalGame

        return VariationalGame(X, y, S, Rules.of(self), None, device)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        noise = noise_for(self.random_state, (n, S.shape[1]))
        return np.stack([decoded(weights, noise, s) for s in S])


def decoded(weights: Arrays, Z: NDArray, s: NDArray) -> NDArray:
    """Return G(z, s) of each row of noise, by numpy."""
    inputs = np.hstack([Z, np.broadcast_to(s, (len(Z), len(s)))])
    return np.asarray(expit(forward(weights, "generator", inputs, slope=0.2)[-1]))


SLOPE = 0.2


@dataclass(frozen=True, kw_only=True, repr=False)
class TFVAEGANTraining(FVAEGANTraining):
    """Settings of the training of `TFVAEGANClassifier`, besides those of `FVAEGANTraining`.

    Parameters
    ----------
    decoding : float, default=0.01
        Weight of the error of decoded signatures, for the decoder and for the generator.
    feedback, synthesis_feedback : float, default=1.0
        Weight of what the decoder feeds back, in training and at synthesis.
    """

    decoding: float = parameter(default=0.01, allowed=Number(least=0))
    feedback: float = parameter(default=1.0, allowed=Number(least=0))
    synthesis_feedback: float = parameter(default=1.0, allowed=Number(least=0))


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
    feedback in turn, not passes over the data; β₁ = 0.5 of Adam for all networks, where the program
    has 0.5 for critic, generator, decoder and feedback, and 0.9 for the encoder, which shares the
    optimizer of the generator here; noise for the critic from N(0, I), as at
    synthesis, not from the encoder; a constant weight of the gradient penalty; the encoder has
    one hidden layer; and the points named for `FCLSWGANClassifier`. Fitting needs PyTorch
    (``pip install 'zslearn[deep]'``); predicting and loading do not.

    Parameters
    ----------
    training : TFVAEGANTraining, optional
        Weights of the losses, optimizer and length.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Generator, decoder and feedback; prediction needs no PyTorch.

    References
    ----------
    S. Narayan, A. Gupta, F. S. Khan, C. G. M. Snoek, L. Shao. Latent embedding feedback and
    discriminative features for zero-shot classification. ECCV 2020.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import TFVAEGANClassifier, TFVAEGANTraining
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> training = TFVAEGANTraining(
    ...     learning_rate=3e-3, n_steps=400, n_synthetic=30, softmax_epochs=25
    ... )
    >>> clf = TFVAEGANClassifier(data.signatures, n_hidden=64, training=training)
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
    training: TFVAEGANTraining = parameter(
        default=TFVAEGANTraining(), allowed=Group(TFVAEGANTraining)
    )

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generator_training import FeedbackGame, Rules

        return FeedbackGame(X, y, S, Rules.of(self), None, device)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        noise = noise_for(self.random_state, (n, S.shape[1]))
        share = float(self.training.synthesis_feedback)
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


@dataclass(frozen=True, kw_only=True, repr=False)
class CADAVAETraining(GeneratorTraining):
    """Settings of the training of `CADAVAEClassifier`.

    Parameters
    ----------
    epochs : int, default=100
        Passes over the samples; the schedules are laid over them.
    batch_size : int, default=50
        Samples in a batch.
    learning_rate : float, default=1.5e-4
        Of Adam with AMSGrad.
    n_real, n_synthetic : int, default=200 and 400
        Codes of every candidate that was seen, and of every other.
    softmax_epochs : int, default=25
        Passes of the softmax over the codes, 2,000 steps at least. More favor seen classes.
    noise : {"released", "paper"}, default="released"
        How codes are drawn.
    width : float, default=1.0
        Hidden units as a share of the paper's 1,560 and 1,660 (encoder and decoder of features),
        1,450 and 665 (of signatures).
    feature_norm, signature_norm : {"l2", None}, default=None and "l2"
        Scale every sample and every signature to unit length.
    """

    epochs: int = parameter(default=100, allowed=Whole(1))
    batch_size: int = parameter(default=50, allowed=Whole(1))
    learning_rate: float = parameter(default=1.5e-4, allowed=Number(above=0))
    n_real: int = parameter(default=200, allowed=Whole(1))
    n_synthetic: int | str = parameter(default=400, allowed=Whole(1))
    softmax_epochs: int | str = parameter(default=25, allowed=Whole(1))
    noise: str = parameter(default="released", allowed=Either("released", "paper"))
    width: float = parameter(default=1.0, allowed=Number(above=0))


class CADAVAEClassifier(GenerativeClassifier):
    """Codes of unseen classes from aligned variational autoencoders (CADA-VAE).

    Features and signatures have an autoencoder each, with codes of 64 dimensions, trained so that
    either code gives both back and that the two posteriors of a sample are near (Schönfeld et al.,
    CVPR 2019)::

        ‖x − x̂‖₁ + ‖a − â‖₁ + β KL + γ (‖x − x̂(a)‖₁ + ‖a − â(x)‖₁) + δ W₂

    β grows to 0.25 by 93 % of the training, δ to 8.13 between 6 % and 22 %, γ to 2.37 between 21 %
    and 75 %, as in the paper, with one schedule for all data. The answer comes from a softmax on
    codes, drawn from the features of the candidates that were seen and from the signatures of the
    others; it is trained whenever candidates are prepared, so keep a `recognizer` to predict often.

    The released program takes μ + σ² ε with one number ε for all dimensions of a sample where the
    paper has μ + σ ∘ ε, and is much better for it (``noise="released"``). What differs otherwise:
    25 epochs of the softmax for all data, not 21 to 39; the same noise for every class. Fitting
    needs PyTorch (``pip install 'zslearn[deep]'``); predicting and loading do not.

    Parameters
    ----------
    training : CADAVAETraining, optional
        Sizes, length and optimizer.
    search : Checkpoints, optional
        At which lengths the model is kept; nothing is chosen.
    random_state : int, default=0
        Start of the networks, batches and noise.
    verbose : int, default=0
        2 shows a progress bar.

    Attributes
    ----------
    parameters_ : dict of str to ndarray
        Both encoders; prediction needs no PyTorch.
    samples_, sample_classes_ : ndarray of shape (n_kept, 64) and (n_kept,)
        Codes of the seen classes, which the softmax needs, and positions in `seen_classes_`.
    cv_results_ : dict or None
        None: nothing is chosen.

    References
    ----------
    E. Schönfeld, S. Ebrahimi, S. Sinha, T. Darrell, Z. Akata. Generalized zero- and few-shot
    learning via aligned variational autoencoders. CVPR 2019.

    Examples
    --------
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.zero_shot.deep import CADAVAEClassifier, CADAVAETraining
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> training = CADAVAETraining(epochs=40, width=0.05, learning_rate=3e-3)
    >>> clf = CADAVAEClassifier(data.signatures, training=training)
    >>> clf = clf.fit(data.X[seen], data.y[seen])
    >>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.6
    True
    """

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        closed_form=False,
        deterministic=False,
        separable=False,
        reference="Schönfeld, Ebrahimi, Sinha, Darrell & Akata, CVPR 2019",
    )
    training: CADAVAETraining = parameter(default=CADAVAETraining(), allowed=Group(CADAVAETraining))

    def _chosen(self, X: NDArray, y: NDArray[np.intp], device: Any) -> Point:
        return {
            "n_steps": self._checkpoints(len(y))[-1],
            "n_synthetic": self.training.n_synthetic,
            "softmax_epochs": self.training.softmax_epochs,
        }

    def _checkpoints(self, n_rows: int) -> list[int]:
        how = self.training
        per_epoch = -(-n_rows // how.batch_size)
        return [per_epoch * n for n in evenly(how.epochs, self.search.n_checkpoints)]

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generator_training import AlignedGame

        return AlignedGame(
            X,
            y,
            S,
            n_epochs=int(self.training.epochs),
            batch_size=int(self.training.batch_size),
            learning_rate=float(self.training.learning_rate),
            textbook_noise=self.training.noise == "paper",
            width=float(self.training.width),
            device=device,
        )

    def _kept(self, weights: Arrays, X: NDArray, y: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        """Return `n_real` codes of each class, drawn from those of its samples in turn."""
        rows = [
            np.resize(np.flatnonzero(y == c), self.training.n_real) for c in range(int(y.max()) + 1)
        ]
        found = encoded(weights, "feature", X)
        codes = [self._drawn(found[part]) for part in rows]
        return np.concatenate(codes), np.repeat(np.arange(len(rows)), self.training.n_real)

    def _synthesized(self, weights: Arrays, S: NDArray, n: int) -> NDArray:
        found = encoded(weights, "signature", S)
        return np.stack([self._drawn(np.repeat(row[None], n, axis=0)) for row in found])

    def _represented(self, weights: Arrays, X: NDArray) -> NDArray:
        if not weights:
            return X
        found = encoded(weights, "feature", X)
        return found[:, : found.shape[1] // 2]

    def _drawn(self, posterior: NDArray) -> NDArray:
        """Draw one code from each row of means and log variances."""
        mean, log_variance = np.hsplit(posterior, 2)
        if self.training.noise == "paper":
            noise = noise_for(self.random_state, mean.shape)
            return mean + np.exp(0.5 * log_variance) * noise
        return mean + np.exp(log_variance) * noise_for(self.random_state, (len(mean), 1))


def encoded(weights: Arrays, side: str, X: NDArray) -> NDArray:
    """Return means and log variances of codes, side by side, by numpy."""
    return forward(weights, f"{side}_encoder", X)[-1]
