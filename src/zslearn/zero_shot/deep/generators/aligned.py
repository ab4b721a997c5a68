"""The training of CADA-VAE: two variational autoencoders with one code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from zslearn.zero_shot.deep.generators.networks import hidden, output, start, xavier
from zslearn.zero_shot.deep.generators.objectives import kl_divergence, wasserstein_distance
from zslearn.zero_shot.deep.weights import to_arrays


@dataclass(frozen=True)
class Ramp:
    """A weight that grows evenly between two shares of the training, then stays."""

    first: float
    last: float
    weight: float

    def at(self, share: float) -> float:
        """Return the weight at a share of the training.

        Examples
        --------
        >>> Ramp(0.5, 1.0, 8.0).at(0.75)
        4.0
        """
        return self.weight * min(max((share - self.first) / (self.last - self.first), 0.0), 1.0)


# β from epoch 0 to 93, δ from 6 to 22 and γ from 21 to 75, of 100.
DIVERGENCE = Ramp(0.0, 0.93, 0.25)
ALIGNMENT = Ramp(0.06, 0.22, 8.13)
CROSSING = Ramp(0.21, 0.75, 2.37)
# Hidden units of the encoder and the decoder of features, and of signatures.
FEATURE_SIZES = (1560, 1660)
SIGNATURE_SIZES = (1450, 665)
N_CODE = 64


class AlignedGame:
    """Two autoencoders, of features and of signatures, whose codes are exchangeable.

    Parameters
    ----------
    X, y : ndarrays of shape (n_samples, n_features) and (n_samples,)
        Features between 0 and 1 and class indices.
    S : ndarray of shape (n_classes, n_dimensions)
        Signatures.
    n_epochs : int
        The schedules are laid over so many epochs.
    batch_size : int
        Rows in a batch.
    learning_rate : float
        Of Adam with AMSGrad.
    textbook_noise : bool
        Whether codes are drawn from N(μ, σ²), as the paper says; the released program draws one
        number ε for a sample and takes μ + σ² ε.
    width : float
        Share of the paper's hidden units.
    device : torch.device
        Where to train.
    """

    def __init__(
        self,
        X: NDArray,
        y: NDArray[np.intp],
        S: NDArray,
        *,
        n_epochs: int,
        batch_size: int,
        learning_rate: float,
        textbook_noise: bool,
        width: float,
        device: torch.device,
    ) -> None:
        self.X, self.S = (torch.tensor(part, device=device) for part in (X, S))
        self.y = torch.tensor(y, device=device)
        self.n_epochs, self.per_epoch = n_epochs, -(-len(X) // batch_size)
        self.textbook_noise = textbook_noise
        self.taken = 0
        self.networks: dict[str, torch.Tensor] = {}
        for side, n, (inward, outward) in (
            ("feature", X.shape[1], FEATURE_SIZES),
            ("signature", S.shape[1], SIGNATURE_SIZES),
        ):
            inward, outward = max(1, round(width * inward)), max(1, round(width * outward))
            self.networks |= start(f"{side}_encoder", (n, inward, 2 * N_CODE), xavier, device)
            self.networks |= start(f"{side}_decoder", (N_CODE, outward, n), xavier, device)
        self.optimizer = torch.optim.Adam(
            self.networks.values(), lr=learning_rate, amsgrad=True, fused=True
        )

    def step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take one step."""
        epoch = self.taken // self.per_epoch
        loss = self.loss(self.X[rows], self.S[self.y[rows]], epoch / self.n_epochs)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.taken += 1
        return loss

    def loss(self, X: torch.Tensor, A: torch.Tensor, share: float) -> torch.Tensor:
        """Return the loss summed over a batch, with the weights at a share of the training.

        L1 of both reconstructions + β KL of both + γ L1 of both cross reconstructions + δ W₂.
        """
        (on_x, log_x), (on_a, log_a) = self.encoded("feature", X), self.encoded("signature", A)
        code_x, code_a = self.drawn(on_x, log_x), self.drawn(on_a, log_a)
        beta, gamma, delta = (ramp.at(share) for ramp in (DIVERGENCE, CROSSING, ALIGNMENT))
        loss = self.missed("feature", code_x, X) + self.missed("signature", code_a, A)
        loss = loss + beta * (kl_divergence(on_x, log_x) + kl_divergence(on_a, log_a)).sum()
        if gamma:
            crossed = self.missed("feature", code_a, X) + self.missed("signature", code_x, A)
            loss = loss + gamma * crossed
        if delta:
            loss = loss + delta * wasserstein_distance(on_x, log_x, on_a, log_a).sum()
        return loss

    def encoded(self, side: str, X: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return mean and log variance of the codes."""
        name = f"{side}_encoder"
        found = output(self.networks, name, hidden(self.networks, name, X, 0.0))
        return found[:, :N_CODE], found[:, N_CODE:]

    def drawn(self, mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
        """Draw codes."""
        if self.textbook_noise:
            return mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        return mean + log_variance.exp() * torch.randn(len(mean), 1, device=mean.device)

    def missed(self, side: str, code: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return the L1 error of a reconstruction, summed."""
        name = f"{side}_decoder"
        found = output(self.networks, name, hidden(self.networks, name, code, 0.0))
        return (found - wanted).abs().sum()

    def arrays(self) -> dict[str, NDArray]:
        """Return the encoders; the decoders have done their work."""
        return to_arrays({name: one for name, one in self.networks.items() if "encoder" in name})
