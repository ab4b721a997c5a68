"""The convolutional encoder and decoder as PyTorch trains them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zslearn.zero_shot.deep.conv_forward import halved
from zslearn.zero_shot.deep.weights import Arrays, to_arrays


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
