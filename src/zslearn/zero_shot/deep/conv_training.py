"""Training of the convolutional semantic autoencoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from zslearn.zero_shot.deep.conv_network import ConvDecoder, ConvEncoder, folded
from zslearn.zero_shot.deep.training import Course, train
from zslearn.zero_shot.deep.weights import Arrays

# Deviation of the noise on the free part of a code in training.
_NOISE = 0.5


@dataclass(frozen=True)
class ConvRecipe:
    """Sizes, weights of the losses and the course.

    Attributes
    ----------
    channels : tuple of int
        Of the encoder's layers; the decoder has them in reverse.
    trunk : bool
        Whether maps of a given trunk come in, and not pictures; then the encoder has no layers.
    n_free : int
        Length of the part of a code that no signature says.
    classify, reconstruct : float
        Weights of the cross-entropy and of the reconstruction; the distance of the code to the
        signature has weight 1.
    sharpness : float
        Factor of the scores in the cross-entropy.
    """

    channels: tuple[int, ...]
    trunk: bool
    n_free: int
    classify: float
    reconstruct: float
    learning_rate: float
    weight_decay: float
    course: Course
    sharpness: float = 0.5


def train_pictures(
    maps: NDArray,
    y: NDArray[np.intp],
    S: NDArray,
    recipe: ConvRecipe,
    device: torch.device,
    seed: int | None,
    look: Callable[[Arrays, int], None] | None = None,
) -> tuple[Arrays, list[float]]:
    """Train both networks; the generators of PyTorch must be seeded by the caller.

    Parameters
    ----------
    maps : ndarray of shape (n, height, width, channels)
        Pictures with values between 0 and 1, or what a trunk made of them.
    y : ndarray of shape (n,)
        Class indices.
    S : ndarray of shape (n_classes, n_dimensions)
        Scaled signatures.
    recipe : ConvRecipe
        How.
    device : torch.device
        Where.
    seed : int or None
        Of the order of the pictures.
    look : callable, optional
        ``look(weights, n_steps)`` at the steps of the course's looks.

    Returns
    -------
    weights : dict of str to ndarray
        For `conv_forward`.
    losses : list of float
        Of each step.
    """
    weights, X = _entered(maps, recipe.trunk, device)
    n_codes, shape = S.shape[1] + recipe.n_free, (X.shape[1], X.shape[2], X.shape[3])
    layers = () if recipe.trunk else recipe.channels
    encoder = ConvEncoder(shape[0], layers, n_codes).to(device)
    decoder = ConvDecoder(n_codes, recipe.channels, shape).to(device)
    target, table = torch.tensor(y, device=device), torch.tensor(S, dtype=torch.float32).to(device)
    optimizer = torch.optim.AdamW(
        [*encoder.parameters(), *decoder.parameters()],
        lr=recipe.learning_rate,
        weight_decay=recipe.weight_decay,
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, recipe.learning_rate, total_steps=max(recipe.course.n_steps, 2)
    )

    def step(rows: torch.Tensor) -> torch.Tensor:
        seen = X[rows]
        if not recipe.trunk:  # the map of a mirrored picture is not the mirrored map
            mirrored = torch.rand(len(rows), 1, 1, 1, device=device) < 0.5
            seen = torch.where(mirrored, seen.flip(3), seen)
        loss = picture_loss(encoder, decoder, (seen, target[rows]), table, recipe)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    def looked(number: int) -> None:
        if look is not None:
            look(weights | folded(encoder, decoder), number)

    rng = np.random.RandomState(seed)
    losses = train(step, len(y), recipe.course, rng, look=looked, device=device)
    return weights | folded(encoder, decoder), losses


def _entered(maps: NDArray, trunk: bool, device: torch.device) -> tuple[Arrays, torch.Tensor]:
    """Return what centers and scales maps of a trunk, and what comes in as a tensor."""
    weights: Arrays = {}
    if trunk:
        weights = {"trunk_mean": maps.mean(axis=(0, 1, 2)), "trunk_scale": _scale_of(maps)}
        weights = {name: one.astype(np.float32) for name, one in weights.items()}
        maps = (maps - weights["trunk_mean"]) * weights["trunk_scale"]
    else:
        maps = maps - 0.5
    return weights, torch.tensor(np.moveaxis(maps, 3, 1), dtype=torch.float32, device=device)


def _scale_of(maps: NDArray) -> NDArray:
    """Return one over the deviation of each channel; one that never varies counts as typical."""
    spread = maps.std(axis=(0, 1, 2))
    typical = float(np.sqrt((spread**2).mean())) or 1.0
    return np.asarray(1.0 / np.where(spread > 1e-6 * typical, spread, typical))


def picture_loss(
    encoder: ConvEncoder,
    decoder: ConvDecoder,
    batch: tuple[torch.Tensor, torch.Tensor],
    S: torch.Tensor,
    recipe: ConvRecipe,
) -> torch.Tensor:
    """Distance to the signature, cross-entropy, and the reconstruction from signature and rest."""
    maps, y = batch
    codes = encoder(maps)
    said, free = codes[:, : S.shape[1]], codes[:, S.shape[1] :]
    distances = ((said[:, None] - S) ** 2).sum(dim=2)
    loss = ((said - S[y]) ** 2).mean()
    loss = loss + recipe.classify * functional.cross_entropy(-recipe.sharpness * distances, y)
    # The decoder sees the true signature, so that it learns what attributes look like, and the
    # rest through noise and at a price, so that the rest does not say them again.
    noisy = free + _NOISE * torch.randn_like(free)
    made = decoder(torch.cat([S[y], noisy], dim=1))
    made = made if recipe.trunk else torch.sigmoid(made) - 0.5
    spread = ((maps - maps.mean(dim=0)) ** 2).mean().clamp_min(1e-12)
    price = 1e-2 * (free**2).mean() if recipe.n_free else 0.0
    return loss + recipe.reconstruct * (((made - maps) ** 2).mean() / spread + price)
