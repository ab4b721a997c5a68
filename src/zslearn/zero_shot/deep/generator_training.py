"""The games that train the generators: networks, losses, and who moves when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, normalize

from zslearn.zero_shot.deep.generators import Softmax
from zslearn.zero_shot.deep.training import to_arrays

Draw = Callable[[int, int], torch.Tensor]


def normal(inputs: int, outputs: int) -> torch.Tensor:
    """Draw weights N(0, 0.02²), as the adversarial methods start."""
    return 0.02 * torch.randn(inputs, outputs)


def xavier(inputs: int, outputs: int) -> torch.Tensor:
    """Draw uniform weights of Glorot and Bengio with gain ½, as CADA-VAE starts."""
    return torch.nn.init.xavier_uniform_(torch.empty(inputs, outputs), gain=0.5)


def start(
    name: str, sizes: Sequence[int], draw: Draw, device: torch.device | None = None
) -> dict[str, torch.Tensor]:
    """Return weights and zero biases of a network, ready to be trained.

    Parameters
    ----------
    name : str
        Prefix: layer i has ``name_W{i}`` and ``name_b{i}``.
    sizes : sequence of int
        Width of the input, of every hidden layer and of the output.
    draw : callable
        `normal` or `xavier`.
    device : torch.device, optional
        Where to put them.

    Returns
    -------
    dict of str to Tensor

    Examples
    --------
    >>> sorted(start("critic", (3, 2, 1), normal))
    ['critic_W0', 'critic_W1', 'critic_b0', 'critic_b1']
    """
    made = {}
    for i, (inputs, outputs) in enumerate(pairwise(sizes)):
        made[f"{name}_W{i}"] = draw(inputs, outputs).to(device)
        made[f"{name}_b{i}"] = torch.zeros(outputs, device=device)
    return {key: value.requires_grad_() for key, value in made.items()}


def hidden(
    network: Mapping[str, torch.Tensor], name: str, X: torch.Tensor, slope: float
) -> torch.Tensor:
    """Return the first hidden layer."""
    Z = X @ network[f"{name}_W0"] + network[f"{name}_b0"]
    return torch.nn.functional.leaky_relu(Z, slope)


def output(network: Mapping[str, torch.Tensor], name: str, H: torch.Tensor) -> torch.Tensor:
    """Return the linear output of a network with one hidden layer, given that layer."""
    return H @ network[f"{name}_W1"] + network[f"{name}_b1"]


# Of leaky rectified layers in all adversarial methods here.
SLOPE = 0.2
# Keeps the gradient of a root finite where two posteriors, or two rows, are equal.
_TINY = 1e-12


def kl_divergence(mean: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
    """Return KL(N(μ, σ²) ‖ N(0, I)) = ½ Σ (μ² + σ² − 1 − log σ²) of each row.

    Examples
    --------
    >>> kl_divergence(torch.zeros(1, 3), torch.zeros(1, 3)).item()
    0.0
    """
    return 0.5 * (mean**2 + log_variance.exp() - 1.0 - log_variance).sum(dim=1)


def wasserstein_distance(
    mean: torch.Tensor,
    log_variance: torch.Tensor,
    other_mean: torch.Tensor,
    other_log_variance: torch.Tensor,
) -> torch.Tensor:
    """Return the 2-Wasserstein distance of diagonal Gaussians, √(‖μ − μ'‖² + ‖σ − σ'‖²), by row.

    Examples
    --------
    >>> flat = torch.zeros(1, 2)
    >>> round(wasserstein_distance(flat + 3, flat, flat, flat).item(), 3)  # 3√2
    4.243
    """
    spread = (0.5 * log_variance).exp() - (0.5 * other_log_variance).exp()
    return (((mean - other_mean) ** 2 + spread**2).sum(dim=1) + _TINY).sqrt()


def weighted_l1(found: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Return the mean over rows of Σ |d|³ / ‖d‖ with d the difference: |d| weighted by d² / ‖d‖.

    Examples
    --------
    >>> round(weighted_l1(torch.tensor([[3.0, 0.0]]), torch.tensor([[0.0, 4.0]])).item(), 3)
    18.2
    """
    gaps = (found - wanted).abs()
    return ((gaps**3).sum(dim=1) / ((gaps**2).sum(dim=1) + _TINY).sqrt()).mean()


def critic_loss(
    critic: Mapping[str, torch.Tensor],
    real: torch.Tensor,
    fake: torch.Tensor,
    signatures: torch.Tensor,
    mix: torch.Tensor,
    penalty: float,
) -> torch.Tensor:
    """Return E D(x̃, a) − E D(x, a) + penalty · E (‖∇D(x̂, a)‖ − 1)², x̂ between x and x̃.

    The critic is D(x, a) = wᵀ φ(x W + a V + b) + c with leaky φ. Its hidden layer at x̂ is the
    same mixture of those at x and x̃, and ∇D = (w ∘ φ') Wᵀ, so the penalty needs neither another
    pass nor a second derivative by automatic differentiation.

    Parameters
    ----------
    critic : mapping of str to Tensor
        ``critic_W0`` (W above V), ``critic_b0``, ``critic_W1``, ``critic_b1``.
    real, fake : Tensor of shape (n_rows, n_features)
        Samples of the same classes.
    signatures : Tensor of shape (n_rows, n_dimensions)
        Of these classes.
    mix : Tensor of shape (n_rows, 1)
        Share of the real sample in x̂.
    penalty : float
        Weight of the gradient penalty (Gulrajani et al. 2017).

    Returns
    -------
    Tensor
    """
    W, V = critic["critic_W0"][: real.shape[1]], critic["critic_W0"][real.shape[1] :]
    shift = signatures @ V + critic["critic_b0"]
    on_real, on_fake = real @ W + shift, fake @ W + shift
    between = (mix * on_real + (1.0 - mix) * on_fake).detach()
    slopes = 1.0 - (1.0 - SLOPE) * (between <= 0).to(between.dtype)
    gradient = (slopes * critic["critic_W1"][:, 0]) @ W.T
    values = [leaky(hidden) @ critic["critic_W1"] for hidden in (on_fake, on_real)]
    gap = values[0].mean() - values[1].mean()
    return gap + penalty * ((gradient.norm(dim=1) - 1.0) ** 2).mean()


def leaky(hidden: torch.Tensor) -> torch.Tensor:
    """Return a leaky rectified layer."""
    return torch.nn.functional.leaky_relu(hidden, SLOPE)


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
        named = {"n_hidden": estimator.n_hidden, **estimator.training.get_params()}
        return cls(**{one.name: named[one.name] for one in fields(cls) if one.name in named})


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


# Learning rate of the feedback in units of the others', as released for CUB.
SLOWER = 0.1


class FeedbackGame(VariationalGame):
    """The game with a decoder of signatures and feedback from it (TF-VAEGAN).

    The decoder finds the signature of a sample, â = φ(x A + b) B + c scaled to unit length. It
    learns from real samples and from the generator's, and its loss teaches the generator too.
    Every second step is played with feedback: a first pass of the generator is decoded, and the
    hidden layer h of the decoder changes that of the generator by ``feedback · F(h)`` in a second
    pass, F with two leaky layers. No gradient goes through h, hence none through the first pass.

    Parameters are those of `WassersteinGame`; signatures are scaled to unit length where the
    decoder's are compared with them.
    """

    def begin(self, d: int, k: int, h: int, device: torch.device) -> None:
        """Start the networks, decoder and feedback too; the first step is without feedback."""
        super().begin(d, k, h, device)
        self.decoder = start("decoder", (d, h, k), normal, device)
        self.feedback = start("feedback", (h, h, h), normal, device)
        self.for_generator = self.adam(self.generator, self.encoder, self.decoder)
        self.for_generator.add_param_group(
            {"params": list(self.feedback.values()), "lr": SLOWER * self.rules.learning_rate}
        )
        self.for_decoder = self.adam(self.decoder)
        self.with_feedback = False

    def step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take a step of all, the first without feedback, then in turn."""
        loss = super().step(rows)
        self.with_feedback = not self.with_feedback
        return loss

    def critic_step(self, rows: torch.Tensor) -> torch.Tensor:
        """Take one step of the critic, and one of the decoder on the same samples."""
        loss = super().critic_step(rows)
        descend(self.for_decoder, self.decoder_loss(self.X[rows], self.S[self.y[rows]]))
        return loss

    def generator_step(self, rows: torch.Tensor) -> None:
        """Take one step of everything but the critic."""
        descend(self.for_generator, self.whole_loss(rows))

    def whole_loss(self, rows: torch.Tensor) -> torch.Tensor:
        """Return what generator, encoder, decoder and feedback minimize on a batch."""
        X, A = self.X[rows], self.S[self.y[rows]]
        fake = self.generated(self.noise(A), A)
        loss = self.decoder_loss(fake, A) - self.rules.adversarial * self.judged(fake, A)
        return loss + self.variational_loss(X, A)

    def decoder_loss(self, X: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the weighted error of decoded signatures."""
        found = output(self.decoder, "decoder", self.noticed(X))
        return self.rules.decoding * weighted_l1(normalize(found), normalize(A))

    def noticed(self, X: torch.Tensor) -> torch.Tensor:
        """Return the hidden layer of the decoder."""
        return hidden(self.decoder, "decoder", X, SLOPE)

    def logits(self, Z: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return the generator before its last nonlinearity, after one pass or two."""
        H = hidden(self.generator, "generator", torch.cat([Z, A], dim=1), SLOPE)
        if self.with_feedback:
            with torch.no_grad():
                noticed = self.noticed(torch.sigmoid(output(self.generator, "generator", H)))
            G = hidden(self.feedback, "feedback", noticed, SLOPE)
            H = H + self.rules.feedback * leaky(output(self.feedback, "feedback", G))
        return output(self.generator, "generator", H)

    def arrays(self) -> dict[str, NDArray]:
        """Return generator, decoder and feedback."""
        return to_arrays(self.generator | self.decoder | self.feedback)


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
