"""A feature generator that is also the decoder of a variational autoencoder."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from zslearn._declared import parameter
from zslearn._parameters import Number
from zslearn.core.descent import forward
from zslearn.zero_shot.deep.generators.base import AdversarialClassifier, Arrays, Game, noise_for
from zslearn.zero_shot.tags import ZeroShotTags


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
    adversarial : float, default=10.0
        Weight of the critic's judgment, as in the released program of TF-VAEGAN.

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
    adversarial: float = parameter(default=10.0, allowed=Number(least=0))

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
