"""Training of the deep semantic autoencoder, from the closed-form solution on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from zslearn.core.confidence import LabeledScores, fit_temperature
from zslearn.zero_shot.deep.autoencoder import decoder_of, encoder_of, through
from zslearn.zero_shot.deep.training import Arrays, Course, to_arrays, to_tensors, train

Tensors = Mapping[str, torch.Tensor]
# So many rows are enough to know how sure the start is.
_ROWS_FOR_TEMPERATURE = 4000
# Hidden units of the decoder meet signatures this small, so that it bends no more than it must.
SMALL = 0.03


@dataclass(frozen=True)
class Problem:
    """Training rows in the feature space, and the closed-form maps to start from.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Rows.
    y : ndarray of shape (n_samples,)
        Class indices.
    S : ndarray of shape (n_classes, n_dimensions)
        Signatures.
    W_encode, W_decode : ndarrays of shape (n_dimensions, n_features)
        W of the semantic autoencoder for each direction.
    """

    Z: NDArray
    y: NDArray[np.intp]
    S: NDArray
    W_encode: NDArray
    W_decode: NDArray


@dataclass(frozen=True)
class Recipe:
    """What is minimized, and how.

    The loss of a batch is a sum of means, each in units of what it compares with::

        decode · ‖g(s_y) − x‖² + encode · ‖f(x) − s_y‖²
        + classify · (cross-entropy of the scores over the seen classes)
        + reconstruct · ‖g(f(x)) − x‖²

    Attributes
    ----------
    ways : tuple of str
        Directions that are scored, of "encode" and "decode".
    metric : str
        How they are compared.
    """

    ways: tuple[str, ...]
    metric: str
    hidden: int
    tied: bool
    decode: float
    encode: float
    classify: float
    reconstruct: float
    softness: float
    learning_rate: float
    weight_decay: float
    course: Course
    dtype: Any = field(default=torch.float32)

    @property
    def encodes(self) -> bool:
        """Whether any part of the loss needs the encoder."""
        return bool(self.encode or self.reconstruct or "encode" in self.ways)

    def for_scores(self) -> Recipe:
        """Return the recipe without an encoder that changes no score; the decoder is the same."""
        alone = not (self.tied or self.reconstruct or "encode" in self.ways)
        return replace(self, encode=0.0) if alone else self


def start(problem: Problem, recipe: Recipe, rng: np.random.RandomState) -> Arrays:
    """Return weights whose hidden layers add nothing yet: the closed-form solution."""
    n_dimensions, n_features = problem.W_decode.shape
    W = {"encode": problem.W_encode, "decode": problem.W_decode}
    made = {
        "encoder_skip": W[recipe.ways[-1] if recipe.tied else "encode"].T,
        "encoder_in": rng.standard_normal((n_features, recipe.hidden)) / _length(problem.Z),
        "encoder_bias": np.zeros(recipe.hidden),
        "encoder_out": np.zeros((recipe.hidden, n_dimensions)),
        "decoder_bias": np.zeros(recipe.hidden),
    }
    if not recipe.tied:
        made |= {
            "decoder_skip": W["decode"],
            "decoder_in": SMALL
            * rng.standard_normal((n_dimensions, recipe.hidden))
            / _length(problem.S),
            "decoder_out": np.zeros((recipe.hidden, n_features)),
        }
    return {name: np.ascontiguousarray(one) for name, one in made.items()}


def encode(weights: Tensors, Z: torch.Tensor) -> torch.Tensor:
    """f(x)."""
    return through(encoder_of(weights), Z, functional.gelu)


def decode(weights: Tensors, S: torch.Tensor) -> torch.Tensor:
    """g(s)."""
    return through(decoder_of(weights), S, functional.gelu)


def class_scores(
    weights: Tensors, codes: torch.Tensor, Z: torch.Tensor, S: torch.Tensor, recipe: Recipe
) -> torch.Tensor:
    """Scores of rows for classes, the mean over the directions in use."""
    sides = {"encode": lambda: (codes, S), "decode": lambda: (Z, decode(weights, S))}
    parts = [_compared(*sides[way](), recipe.metric) for way in recipe.ways]
    return torch.stack(parts).mean(dim=0)


def batch_loss(
    weights: Tensors,
    batch: tuple[torch.Tensor, torch.Tensor],
    S: torch.Tensor,
    recipe: Recipe,
    temperature: float,
) -> torch.Tensor:
    """Loss of one batch of rows and their classes."""
    Z, y = batch
    codes = encode(weights, Z) if recipe.encodes else Z[:, :0]
    loss = torch.zeros((), dtype=Z.dtype, device=Z.device)
    if recipe.decode:
        loss = loss + recipe.decode * _relative(decode(weights, S)[y], Z)
    if recipe.encode:
        loss = loss + recipe.encode * _relative(codes, S[y])
    if recipe.classify:
        scores = class_scores(weights, codes, Z, S, recipe)
        loss = loss + recipe.classify * functional.cross_entropy(scores / temperature, y)
    if recipe.reconstruct:
        loss = loss + recipe.reconstruct * _relative(decode(weights, codes), Z)
    return loss


def train_autoencoder(
    problem: Problem,
    recipe: Recipe,
    device: torch.device,
    seed: int | None,
    look: Callable[[Arrays, int], None] | None = None,
) -> tuple[Arrays, list[float]]:
    """Train from the closed-form solution.

    Parameters
    ----------
    problem : Problem
        Data and start.
    recipe : Recipe
        Losses, optimizer and course.
    device : torch.device
        Where.
    seed : int or None
        Of the hidden layers' start and the order of the rows.
    look : callable, optional
        ``look(weights, n_steps)`` at the steps of the course's looks.

    Returns
    -------
    weights : dict of str to ndarray
    losses : list of float
        Of each step.
    """
    rng = np.random.RandomState(seed)
    weights = to_tensors(start(problem, recipe, rng), device, recipe.dtype, trained=True)
    Z, S = (torch.tensor(M, dtype=recipe.dtype, device=device) for M in (problem.Z, problem.S))
    y = torch.tensor(problem.y, device=device)
    temperature = recipe.softness * _temperature(weights, (Z, y), S, recipe, rng)
    optimizer = torch.optim.AdamW(
        _groups(weights, recipe, problem.Z), weight_decay=recipe.weight_decay
    )

    def step(rows: torch.Tensor) -> torch.Tensor:
        loss = batch_loss(weights, (Z[rows], y[rows]), S, recipe, temperature)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    losses = train(
        step,
        len(y),
        recipe.course,
        rng,
        look=None if look is None else lambda number: look(to_arrays(weights), number),
        device=device,
    )
    return to_arrays(weights), losses


def _groups(weights: Tensors, recipe: Recipe, Z: NDArray) -> list[dict[str, Any]]:
    """Learning rates that make a step mean the same whatever the scale of the features.

    Adam moves every weight by about the learning rate, so weights that make features move by it
    times the size of a feature, and weights that meet features by it over that size.
    """
    size = _length(Z) / np.sqrt(Z.shape[1])
    rates = {"decoder_skip": size, "decoder_out": size}
    if not recipe.tied:
        rates |= {"encoder_skip": 1.0 / size, "encoder_in": 1.0 / size}
    return [
        {"params": [one], "lr": recipe.learning_rate * rates.get(name, 1.0)}
        for name, one in weights.items()
    ]


def _temperature(
    weights: Tensors,
    rows: tuple[torch.Tensor, torch.Tensor],
    S: torch.Tensor,
    recipe: Recipe,
    rng: np.random.RandomState,
) -> float:
    """Temperature at which the start is as sure of the training rows as it is right."""
    some = torch.from_numpy(rng.permutation(len(rows[1]))[:_ROWS_FOR_TEMPERATURE])
    Z, y = (part[some.to(part.device)] for part in rows)
    with torch.no_grad():
        scores = class_scores(weights, encode(weights, Z), Z, S, recipe).cpu().double().numpy()
    return fit_temperature([LabeledScores(scores, y.cpu().numpy(), np.ones(len(scores)))])


def _compared(queries: torch.Tensor, classes: torch.Tensor, metric: str) -> torch.Tensor:
    """As `zslearn.core.nearest.scores`, with gradients."""
    if metric == "cosine":
        return functional.normalize(queries) @ functional.normalize(classes).T
    products = queries @ classes.T
    if metric == "dot":
        return products
    squares = (queries**2).sum(dim=1)[:, None] + (classes**2).sum(dim=1)
    return 2.0 * products - squares


def _relative(made: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """Squared error, one where nothing is made."""
    return ((made - wanted) ** 2).sum() / (wanted**2).sum().clamp_min(1e-30)


def _length(M: NDArray) -> float:
    """Root mean square length of rows; 1 if all are zero."""
    return float(np.sqrt(np.einsum("ij,ij->", M, M, dtype=np.float64) / len(M))) or 1.0
