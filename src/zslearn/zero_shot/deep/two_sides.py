"""An encoder and a decoder, each a linear map plus one hidden layer, on numpy or on tensors.

Encoder: ``f(x) = x W + ρ(x V₁ + a) V₂``; decoder: ``g(s) = s M + ρ(s U₁ + b) U₂``; ρ is GELU. Tied,
the decoder is the encoder turned around: M = Wᵀ, U₁ = V₂ᵀ, U₂ = V₁ᵀ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Weights = Mapping[str, Any]  # arrays or tensors
Side = tuple[Any, Any, Any, Any]


def encoder_of(weights: Weights) -> Side:
    """Return W, V₁, a and V₂."""
    return _side(weights, "encoder")


def decoder_of(weights: Weights) -> Side:
    """Return M, U₁, b and U₂."""
    if "decoder_skip" in weights:
        return _side(weights, "decoder")
    skip, first, _, second = encoder_of(weights)
    return skip.T, second.T, weights["decoder_bias"], first.T


def _side(weights: Weights, name: str) -> Side:
    return (
        weights[f"{name}_skip"],
        weights[f"{name}_in"],
        weights[f"{name}_bias"],
        weights[f"{name}_out"],
    )


def through(side: Side, rows: Any, activation: Callable[[Any], Any]) -> Any:
    """Return what a side makes of rows."""
    skip, first, bias, second = side
    return rows @ skip + activation(rows @ first + bias) @ second


def gelu(values: NDArray) -> NDArray:
    """Return x Φ(x), with Φ the normal distribution function (Hendrycks & Gimpel, 2016)."""
    return 0.5 * values * (1.0 + erf(values * values.dtype.type(np.sqrt(0.5))))


def in_precision(weights: Mapping[str, NDArray], dtype: Any) -> dict[str, NDArray]:
    """Return the weights in the precision of what they meet."""
    return {name: one.astype(dtype, copy=False) for name, one in weights.items()}


def encoded(weights: Mapping[str, NDArray], Z: NDArray) -> NDArray:
    """f(x) of rows in the space, in their precision."""
    return np.asarray(through(encoder_of(in_precision(weights, Z.dtype)), Z, gelu))


def decoded(weights: Mapping[str, NDArray], S: NDArray) -> NDArray:
    """g(s) of signatures in the space, in their precision."""
    return np.asarray(through(decoder_of(in_precision(weights, S.dtype)), S, gelu))
