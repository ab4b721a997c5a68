"""Losses of the generators, as functions of tensors."""

from __future__ import annotations

from collections.abc import Mapping

import torch

Tensors = Mapping[str, torch.Tensor]
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
    critic: Tensors,
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
