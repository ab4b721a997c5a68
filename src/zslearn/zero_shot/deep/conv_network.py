"""The convolutional encoder and decoder as PyTorch trains them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from zslearn.zero_shot.deep.weights import Arrays, to_arrays


class ConvEncoder(nn.Module):
    """Halving convolutions, the mean and the maximum of every channel, a linear map."""

    def __init__(self, channels: tuple[int, ...], n_codes: int) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=2, padding=1, bias=False) for a, b in pairwise((3, *channels))
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in channels)
        self.out = nn.Linear(2 * channels[-1], n_codes)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return codes of pictures of shape (n, 3, height, width)."""
        maps = pictures - 0.5
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            maps = torch.relu(norm(convolution(maps)))
        return self.out(torch.cat([maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3))], dim=1))


class ConvDecoder(nn.Module):
    """A linear map to a small picture of many channels, and doubling convolutions.

    Doubling followed by a convolution is a transposed convolution without its checkered traces.
    """

    def __init__(self, channels: tuple[int, ...], n_codes: int, corner: tuple[int, int]) -> None:
        super().__init__()
        widths = (*reversed(channels), 3)
        self.corner = corner
        self.start = nn.Linear(n_codes, widths[0] * corner[0] * corner[1])
        self.convolutions = nn.ModuleList(
            nn.Conv2d(a, b, 3, padding=1, bias=b == 3) for a, b in pairwise(widths)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in widths[1:-1])

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Return pictures of shape (n, 3, height, width), with values between 0 and 1."""
        maps = torch.relu(self.start(codes)).reshape(len(codes), -1, *self.corner)
        for i, convolution in enumerate(self.convolutions):
            maps = convolution(nn.functional.interpolate(maps, scale_factor=2.0))
            if i < len(self.norms):
                maps = torch.relu(self.norms[i](maps))
        return torch.sigmoid(maps)


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
