"""Aligned variational autoencoders of features and signatures."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zslearn._declared import parameter
from zslearn._parameters import Either, Number, Whole
from zslearn.core.descent import forward
from zslearn.zero_shot.deep.generators.base import (
    Arrays,
    Game,
    GenerativeClassifier,
    evenly,
    noise_for,
)
from zslearn.zero_shot.search import Point
from zslearn.zero_shot.tags import ZeroShotTags


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
    epochs : int, default=100
        Passes over the samples; the schedules are laid over them.
    n_real, n_synthetic : int, default=200 and 400
        Codes of every candidate that was seen, and of every other.
    softmax_epochs : int, default=25
        Passes of the softmax over the codes, 2,000 steps at least. More favor seen classes.
    noise : {"released", "paper"}, default="released"
        How codes are drawn.
    width : float, default=1.0
        Hidden units as a share of the paper's 1,560 and 1,660 (encoder and decoder of features),
        1,450 and 665 (of signatures).
    learning_rate : float, default=1.5e-4
        Of Adam with AMSGrad.
    keep_stages : bool, default=False
        Whether to keep the model at every checkpoint.
    n_checkpoints : int, default=5
        How many there are, evenly up to the last epoch.
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
    >>> from zslearn.zero_shot.deep import CADAVAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> split = data.split("standard")
    >>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    >>> clf = CADAVAEClassifier(data.signatures, epochs=40, width=0.05, learning_rate=3e-3)
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
    epochs: int = parameter(default=100, allowed=Whole(1))
    n_real: int = parameter(default=200, allowed=Whole(1))
    n_synthetic: int = parameter(default=400, allowed=Whole(1))
    softmax_epochs: int = parameter(default=25, allowed=Whole(1))
    noise: str = parameter(default="released", allowed=Either("released", "paper"))
    width: float = parameter(default=1.0, allowed=Number(above=0))
    learning_rate: float = parameter(default=1.5e-4)
    batch_size: int = parameter(default=50)
    n_checkpoints: int = parameter(default=5)

    def _chosen(self, X: NDArray, y: NDArray[np.intp], device: Any) -> Point:
        return {
            "n_steps": self._checkpoints(len(y))[-1],
            "n_synthetic": self.n_synthetic,
            "softmax_epochs": self.softmax_epochs,
        }

    def _checkpoints(self, n_rows: int) -> list[int]:
        per_epoch = -(-n_rows // self.batch_size)
        return [per_epoch * epochs for epochs in evenly(self.epochs, self.n_checkpoints)]

    def _game(self, X: NDArray, y: NDArray, S: NDArray, device: Any) -> Game:
        from zslearn.zero_shot.deep.generators.aligned import AlignedGame

        return AlignedGame(
            X,
            y,
            S,
            n_epochs=int(self.epochs),
            batch_size=int(self.batch_size),
            learning_rate=float(self.learning_rate),
            textbook_noise=self.noise == "paper",
            width=float(self.width),
            device=device,
        )

    def _kept(self, weights: Arrays, X: NDArray, y: NDArray[np.intp]) -> tuple[NDArray, NDArray]:
        """Return `n_real` codes of each class, drawn from those of its samples in turn."""
        rows = [np.resize(np.flatnonzero(y == c), self.n_real) for c in range(int(y.max()) + 1)]
        found = encoded(weights, "feature", X)
        codes = [self._drawn(found[part]) for part in rows]
        return np.concatenate(codes), np.repeat(np.arange(len(rows)), self.n_real)

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
        if self.noise == "paper":
            noise = noise_for(self.random_state, mean.shape)
            return mean + np.exp(0.5 * log_variance) * noise
        return mean + np.exp(log_variance) * noise_for(self.random_state, (len(mean), 1))


def encoded(weights: Arrays, side: str, X: NDArray) -> NDArray:
    """Return means and log variances of codes, side by side, by numpy."""
    return forward(weights, f"{side}_encoder", X)[-1]
