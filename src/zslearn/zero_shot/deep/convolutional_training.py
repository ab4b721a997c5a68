"""The convolutional semantic autoencoder as PyTorch trains it, and networks that are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from zslearn.encoders.hub_models import hash_weights
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot.deep.convolutional import halved
from zslearn.zero_shot.deep.training import Arrays, Course, to_arrays, train


class ConvEncoder(nn.Module):
    """Halving convolutions, the mean and the maximum of every channel, a linear map.

    Parameters
    ----------
    n_in : int
        Channels of what comes in: 3 of a picture, or those of a trunk's feature map.
    channels : tuple of int
        Of the convolutions; none if a trunk has made the feature map.
    n_codes : int
        Length of a code.
    """

    def __init__(self, n_in: int, channels: tuple[int, ...], n_codes: int) -> None:
        super().__init__()
        widths = (n_in, *channels)
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=2, padding=1, bias=False) for a, b in pairwise(widths)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in channels)
        self.out = nn.Linear(2 * widths[-1], n_codes)

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Return codes of centered pictures or maps of shape (n, n_in, height, width)."""
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            maps = torch.relu(norm(convolution(maps)))
        return self.out(torch.cat([maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3))], dim=1))


class ConvDecoder(nn.Module):
    """A linear map to a small picture of many channels, and doubling convolutions.

    Doubling followed by a convolution is a transposed convolution without its checkered traces.

    Parameters
    ----------
    n_codes : int
        Length of a code.
    channels : tuple of int
        Of the layers, in reverse.
    shape : tuple of int
        Channels, height and width of what is made.
    """

    def __init__(
        self, n_codes: int, channels: tuple[int, ...], shape: tuple[int, int, int]
    ) -> None:
        super().__init__()
        widths = (*reversed(channels), shape[0])
        self.corner, *self.sides = reversed(halved(shape[1:], len(channels)))
        self.start = nn.Linear(n_codes, widths[0] * self.corner[0] * self.corner[1])
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1, bias=i == len(channels) - 1)
            for i, (a, b) in enumerate(pairwise(widths))
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in widths[1:-1])

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Return maps of the shape; the logistic function makes them a picture."""
        maps = torch.relu(self.start(codes)).reshape(len(codes), -1, *self.corner)
        for i, (height, width) in enumerate(self.sides):
            maps = nn.functional.interpolate(maps, scale_factor=2.0)[:, :, :height, :width]
            maps = self.convolutions[i](maps)
            if i < len(self.norms):
                maps = torch.relu(self.norms[i](maps))
        return maps


def folded(encoder: ConvEncoder, decoder: ConvDecoder) -> Arrays:
    """Return the weights for `conv_forward`, normalization folded into the convolutions."""
    made: Arrays = {}
    for side, network in (("encoder", encoder), ("decoder", decoder)):
        state = to_arrays(network.state_dict())
        for i in range(len(network.convolutions)):
            made |= _folded_layer(state, side, i)
        first = "out" if side == "encoder" else "start"
        kept = ("encoder_out", "encoder_shift") if side == "encoder" else DECODER_START
        made[kept[0]] = np.ascontiguousarray(state[f"{first}.weight"].T)
        made[kept[1]] = state[f"{first}.bias"]
    return made


DECODER_START = ("decoder_in", "decoder_start")


def _folded_layer(state: Arrays, side: str, i: int) -> Arrays:
    kernel: NDArray = state[f"convolutions.{i}.weight"]
    if f"norms.{i}.weight" not in state:
        return {f"{side}_kernel{i}": kernel, f"{side}_bias{i}": state[f"convolutions.{i}.bias"]}
    scale = state[f"norms.{i}.weight"] / np.sqrt(state[f"norms.{i}.running_var"] + 1e-5)
    shift = state[f"norms.{i}.bias"] - scale * state[f"norms.{i}.running_mean"]
    return {f"{side}_kernel{i}": kernel * scale[:, None, None, None], f"{side}_bias{i}": shift}


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


# Pictures worked on at once.
_AT_ONCE = 64
# What a trunk was when it was hashed, and its SHA-256.
_KNOWN: WeakKeyDictionary[nn.Module, tuple[tuple[object, ...], str]] = WeakKeyDictionary()


def identity_of(trunk: nn.Module) -> str:
    """Return the SHA-256 of a network's weights; it is computed again where one has changed.

    Examples
    --------
    >>> import torch
    >>> trunk = torch.nn.Conv2d(3, 4, 1)
    >>> before = identity_of(trunk)
    >>> _ = torch.nn.init.zeros_(trunk.bias)
    >>> identity_of(trunk) == before
    False
    """
    # PyTorch counts the changes of a tensor.
    now = tuple((name, id(one), one._version) for name, one in _tensors(trunk))
    if trunk not in _KNOWN or _KNOWN[trunk][0] != now:
        _KNOWN[trunk] = now, hash_weights(trunk)
    return _KNOWN[trunk][1]


def check_identity(trunk: nn.Module, sha256: str | None) -> None:
    """Refuse a network whose weights have another SHA-256."""
    given = identity_of(trunk)
    if given != sha256:
        raise InvalidInputError(
            f"this model was trained with another trunk: the SHA-256 of its weights was {sha256}, "
            f"that of the given one is {given}."
        )


def maps_of(
    trunk: nn.Module, pictures: NDArray, shape: tuple[int, ...] | None = None
) -> NDArray[np.float32]:
    """Return the feature maps of pictures; the network is left as it was.

    Parameters
    ----------
    trunk : Module
        From (n, 3, height, width) to (n, channels, height, width).
    pictures : ndarray of shape (n, height, width, 3)
        Values between 0 and 1.
    shape : tuple of int, optional
        Height, width and channels that the maps must have.

    Returns
    -------
    ndarray of shape (n, height, width, channels)
    """
    place = next((one for _, one in _tensors(trunk) if one.is_floating_point()), torch.zeros(0))
    made = []
    with _evaluated(trunk), torch.no_grad():
        for start in range(0, len(pictures), _AT_ONCE):
            part = np.moveaxis(pictures[start : start + _AT_ONCE], 3, 1)
            given = torch.tensor(part).to(device=place.device, dtype=place.dtype)
            made.append(_map_in_numpy(trunk(given), len(part)))
            if shape is not None and made[-1].shape[1:] != shape:
                raise InvalidInputError(
                    f"the trunk makes maps of shape {made[-1].shape[1:]}; in training they had "
                    f"the shape {shape}."
                )
    return np.concatenate(made)


def _map_in_numpy(found: object, n: int) -> NDArray[np.float32]:
    if not isinstance(found, torch.Tensor) or found.ndim != 4 or len(found) != n:
        what = f"shape {tuple(found.shape)}" if isinstance(found, torch.Tensor) else type(found)
        raise InvalidInputError(
            "a trunk must turn pictures of shape (n, 3, height, width) into one tensor of shape "
            f"(n, channels, height, width); got {what} for {n} pictures."
        )
    values: NDArray[np.float32] = found.float().cpu().numpy()
    return np.ascontiguousarray(np.moveaxis(values, 1, 3))


def _tensors(trunk: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    return chain(trunk.named_parameters(), trunk.named_buffers())


@contextmanager
def _evaluated(trunk: nn.Module) -> Iterator[None]:
    """Put a network into the mode of evaluation for as long as the block runs."""
    learning = [one for one in trunk.modules() if one.training]
    for one in learning:
        one.training = False
    try:
        yield
    finally:
        for one in learning:
            one.training = True


class GraphTrunk(nn.Module):
    """Runs the convolutions, cuts and sums of an ONNX graph, in their order.

    Parameters
    ----------
    graph : onnx.GraphProto
        From ``pictures`` on; "same" padding. Nodes after the last sum, cut or convolution are left
        out.
    """

    def __init__(self, graph: Any) -> None:
        from onnx import numpy_helper

        super().__init__()
        for one in graph.initializer:
            self.register_buffer(one.name, torch.tensor(numpy_helper.to_array(one)))
        self.nodes = [_plain(node) for node in graph.node if node.op_type in _OPERATORS]

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return the last map of pictures of shape (n, 3, height, width), between 0 and 1."""
        values = dict(self.named_buffers()) | {"pictures": (255.0 * pictures - 127.0) / 128.0}
        last = pictures
        for operator, inputs, output, settings in self.nodes:
            last = _OPERATORS[operator](*(values[name] for name in inputs), **settings)
            values[output] = last
        return last


def _plain(node: Any) -> tuple[str, tuple[str, ...], str, dict[str, int]]:
    """Return operator, inputs, output and settings of a node."""
    from onnx import helper

    found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    settings = {"stride": found["strides"][0], "groups": found["group"]} if found else {}
    return node.op_type, tuple(node.input), node.output[0], settings


def _convolved(
    maps: torch.Tensor, kernel: torch.Tensor, bias: torch.Tensor, stride: int, groups: int
) -> torch.Tensor:
    """Convolve with padding "same": what is odd of it goes to the right and below."""
    edges: list[int] = []
    for size, side in zip(reversed(maps.shape[2:]), reversed(kernel.shape[2:]), strict=True):
        whole = max((-(-size // stride) - 1) * stride + side - size, 0)
        edges += [whole // 2, whole - whole // 2]
    return functional.conv2d(functional.pad(maps, edges), kernel, bias, stride, groups=groups)


_OPERATORS: dict[str, Any] = {"Conv": _convolved, "Clip": torch.clamp, "Add": torch.add}
