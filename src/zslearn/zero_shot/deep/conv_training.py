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
    n_free : int
        Length of the part of a code that no signature says.
    classify, reconstruct : float
        Weights of the cross-entropy and of the reconstruction; the distance of the code to the
        signature has weight 1.
    sharpness : float
        Factor of the scores in the cross-entropy.
    """

    channels: tuple[int, ...]
    n_free: int
    classify: float
    reconstruct: float
    learning_rate: float
    weight_decay: float
    course: Course
    sharpness: float = 0.5


def train_pictures(
    pictures: NDArray,
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
    pictures : ndarray of shape (n, height, width, 3)
        Values between 0 and 1.
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
    n_codes, halvings = S.shape[1] + recipe.n_free, 2 ** len(recipe.channels)
    corner = (pictures.shape[1] // halvings, pictures.shape[2] // halvings)
    encoder = ConvEncoder(recipe.channels, n_codes).to(device)
    decoder = ConvDecoder(recipe.channels, n_codes, corner).to(device)
    X = torch.tensor(np.moveaxis(pictures, 3, 1), dtype=torch.float32, device=device)
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
        seen = torch.where(torch.rand(len(rows), 1, 1, 1, device=device) < 0.5, seen.flip(3), seen)
        loss = picture_loss(encoder, decoder, (seen, target[rows]), table, recipe)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    def looked(number: int) -> None:
        if look is not None:
            look(folded(encoder, decoder), number)

    rng = np.random.RandomState(seed)
    losses = train(step, len(y), recipe.course, rng, look=looked, device=device)
    return folded(encoder, decoder), losses


def picture_loss(
    encoder: ConvEncoder,
    decoder: ConvDecoder,
    batch: tuple[torch.Tensor, torch.Tensor],
    S: torch.Tensor,
    recipe: ConvRecipe,
) -> torch.Tensor:
    """Distance to the signature, cross-entropy, and the reconstruction from signature and rest."""
    pictures, y = batch
    codes = encoder(pictures)
    said, free = codes[:, : S.shape[1]], codes[:, S.shape[1] :]
    distances = ((said[:, None] - S) ** 2).sum(dim=2)
    loss = ((said - S[y]) ** 2).mean()
    loss = loss + recipe.classify * functional.cross_entropy(-recipe.sharpness * distances, y)
    # The decoder sees the true signature, so that it learns what attributes look like, and the
    # rest through noise and at a price, so that the rest does not say them again.
    noisy = free + _NOISE * torch.randn_like(free)
    made = decoder(torch.cat([S[y], noisy], dim=1))
    spread = ((pictures - pictures.mean(dim=0)) ** 2).mean().clamp_min(1e-12)
    price = 1e-2 * (free**2).mean() if recipe.n_free else 0.0
    return loss + recipe.reconstruct * (((made - pictures) ** 2).mean() / spread + price)
