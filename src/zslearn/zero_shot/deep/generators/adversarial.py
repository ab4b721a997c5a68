"""The game of a generator against a critic, and what a variational encoder adds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from zslearn.zero_shot.deep.generators.networks import hidden, normal, output, start
from zslearn.zero_shot.deep.generators.objectives import (
    SLOPE,
    critic_loss,
    kl_divergence,
    leaky,
)
from zslearn.zero_shot.deep.generators.softmax import Softmax
from zslearn.zero_shot.deep.weights import to_arrays

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Rules:
    """Constants of the game.

    Attributes
    ----------
    n_hidden : int
        Width of every hidden layer.
    learning_rate : float
        Of Adam, with β₁ = 0.5.
    n_critic : int
        Steps of the critic for each of the generator.
    penalty : float
        Weight of the gradient penalty.
    classification : float
        Weight of the cross entropy of synthesized samples under a softmax of the seen classes.
    adversarial : float
        Weight of the critic's judgment beside the loss of a variational autoencoder.
    decoding : float
        Weight of the error of decoded signatures, where there is a decoder of them.
    feedback : float
        Weight of what that decoder feeds back to the generator.
    """

    n_hidden: int
    learning_rate: float
    n_critic: int = 5
    penalty: float = 10.0
    classification: float = 0.0
    adversarial: float = 1.0
    decoding: float = 0.0
    feedback: float = 0.0

    @classmethod
    def of(cls, estimator: Any) -> Rules:
        """Return the constants that an estimator has as parameters, the others by default."""
        named = (field.name for field in fields(cls))
        return cls(**{name: getattr(estimator, name) for name in named if hasattr(estimator, name)})


class WassersteinGame:
    """A conditional Wasserstein game with gradient penalty (f-CLSWGAN).

    The generator is G(z, a) = max(0, φ([z, a] A + b) B + c), the critic as in
    `objectives.critic_loss`; noise has the dimension of the signatures.

    Parameters
    ----------
    X, y : ndarrays of shape (n_samples, n_features) and (n_samples,)
        Features between 0 and 1 and class indices.
    S : ndarray of shape (n_classes, n_dimensions)
        Signatures.
    rules : Rules
        Constants.
    seen : Softmax or None
        A classifier of the seen classes; it stays as it is.
    device : torch.device
        Where to play.
    """

    def __init__(
        self,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        rules: Rules,
        seen: Softmax | None,
        device: torch.device,
    ) -> None:
        self.rules = rules
        self.X, self.S = (torch.tensor(part, device=device) for part in (X, S))
        self.y = torch.tensor(y, device=device)
        self.seen = (
            None
            if seen is None
            else tuple(torch.tensor(part, dtype=torch.float32, device=device) for part in seen)
        )
        self.begin(X.shape[1], S.shape[1], rules.n_hidden, device)

    def begin(self, d: int, k: int, h: int, device: torch.device) -> None:
        """Start the networks for d features, k dimensions and h hidden units."""
        self.generator = start("generator", (2 * k, h, d), normal, device)
        self.critic = start("critic", (d + k, h, 1), normal, device)
        self.for_generator = self.adam(self.generator)
        self.for_critic = self.adam(self.critic)

    def adam(self, *networks: Tensors) -> torch.optim.Optimizer:
        """Return the optimizer of some networks."""
        every = [tensor for network in networks for tensor in network.values()]
        return torch.optim.Adam(every, lr=self.rules.learning_rate, betas=(0.5, 0.999), fused=True)

    def step(self, rows: torch.Tensor) -> torch.Tensor:
        """Train the critic on random batches, then the generator on the one given."""
        loss = torch.zeros(())
        for _ in range(self.rules.n_critic):
            batch = torch.randint(len(self.X), (len(rows),), device=self.X.device)
            loss = self.critic_step(batch)
        self.generator_step(rows)
        return loss

    def critic_step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take one step of the critic and return its loss."""
        X, A = self.X[rows], self.S[self.y[rows]]
        with torch.no_grad():
            fake = self.generated(self.noise(A), A)
        mix = torch.rand(len(X), 1, device=X.device)
        loss = critic_loss(self.critic, X, fake, A, mix, self.rules.penalty)
        descend(self.for_critic, loss)
        return loss

    def generator_step(self, rows: torch.Tensor) -> None:
        """Take one step of the generator."""
        descend(self.for_generator, self.generator_loss(self.y[rows]))

    def generator_loss(self, y: torch.Tensor) -> torch.Tensor:
        """Return − E D(G(z, a), a) + β · cross entropy of the seen classes."""
        A = self.S[y]
        fake = self.generated(self.noise(A), A)
        loss = -self.judged(fake, A)
        if self.seen is not None:
            coef, intercept = self.seen
            loss = loss + self.rules.classification * cross_entropy(fake @ coef.T + intercept, y)
        return loss

    def judged(self, X: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the mean value of the critic, with its weights held."""
        held = {name: tensor.detach() for name, tensor in self.critic.items()}
        W = held["critic_W0"]
        H = X @ W[: X.shape[1]] + A @ W[X.shape[1] :] + held["critic_b0"]
        return output(held, "critic", leaky(H)).mean()

    def noise(self, A: torch.Tensor) -> torch.Tensor:
        """Return noise of the shape of the signatures."""
        return torch.randn_like(A)

    def generated(self, Z: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return G(z, a)."""
        H = hidden(self.generator, "generator", torch.cat([Z, A], dim=1), SLOPE)
        return torch.relu(output(self.generator, "generator", H))

    def arrays(self) -> dict[str, NDArray]:
        """Return the generator."""
        return to_arrays(self.generator)


class VariationalGame(WassersteinGame):
    """The game with an encoder of samples, whose decoder is the generator (f-VAEGAN).

    The generator is σ(φ([z, a] A + b) B + c), and its loss has two terms more, for a code z drawn
    from the encoder's N(μ, σ²) of a real sample: the binary cross entropy of G(z, a), summed over
    features, and the divergence of N(μ, σ²) from N(0, I).

    Parameters are those of `WassersteinGame`.
    """

    def begin(self, d: int, k: int, h: int, device: torch.device) -> None:
        """Start the networks, the encoder too."""
        super().begin(d, k, h, device)
        self.encoder = start("encoder", (d + k, h, 2 * k), normal, device)
        self.for_generator = self.adam(self.generator, self.encoder)

    def generator_step(self, rows: torch.Tensor) -> None:
        """Take one step of the generator and the encoder."""
        y = self.y[rows]
        loss = self.rules.adversarial * self.generator_loss(y)
        descend(self.for_generator, loss + self.variational_loss(self.X[rows], self.S[y]))

    def variational_loss(self, X: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the mean over samples of cross entropy and divergence."""
        H = hidden(self.encoder, "encoder", torch.cat([X, A], dim=1), SLOPE)
        mean, log_variance = output(self.encoder, "encoder", H).chunk(2, dim=1)
        Z = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        missed = binary_cross_entropy_with_logits(self.logits(Z, A), X, reduction="sum") / len(X)
        return missed + kl_divergence(mean, log_variance).mean()

    def logits(self, Z: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the generator before its last nonlinearity."""
        H = hidden(self.generator, "generator", torch.cat([Z, A], dim=1), SLOPE)
        return output(self.generator, "generator", H)

    def generated(self, Z: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return G(z, a)."""
        return torch.sigmoid(self.logits(Z, A))


def descend(optimizer: torch.optim.Optimizer, loss: torch.Tensor) -> None:
    """Take one step down."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
