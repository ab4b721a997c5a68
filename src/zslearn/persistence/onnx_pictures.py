"""From the pixels of pictures to the vectors of an image encoder, as nodes of an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.features import ImageEncoder, Preprocessing
from zslearn.features.encoder_graph import encoder_graph
from zslearn.features.preprocessing import CORNERS
from zslearn.persistence.onnx_graph import Graph


def add_encoder(graph: Graph, pixels: str, encoder: ImageEncoder) -> str:
    """Add everything from pictures, all of one height and width, to their vectors.

    Parameters
    ----------
    graph : Graph
        Where to add.
    pixels : str
        Name of the pictures: uint8 of shape (samples, height, width, 3), in the order R, G, B.
    encoder : ImageEncoder
        Built in or of an ONNX file.

    Returns
    -------
    str
        Name of the vectors, of shape (samples, n_features).
    """
    settings = encoder.identity.settings
    prepare = Preprocessing.from_dict(settings["preprocessing"])
    views = _views(graph, pixels, prepare, settings.get("views", "center"))
    content = encoder_graph(encoder.model)
    vectors = graph.inlined(content, _batch(graph, views, prepare), encoder.model)
    by_view = graph.integers(len(views), -1, encoder.n_features)
    flat = graph.node("Reshape", [vectors, by_view])
    return graph.node("ReduceMean", [flat, graph.integers(0)], keepdims=0)


def _views(graph: Graph, pixels: str, prepare: Preprocessing, kind: str) -> list[str]:
    """Add the views of each picture, of shape (samples, 3, size, size), from 0 to 255."""
    planes = graph.node("Transpose", [graph.as_float(pixels)], perm=[0, 3, 1, 2])
    cuts = [
        _cut(graph, planes, prepare, corner) for corner in CORNERS[: 5 if kind == "crops" else 1]
    ]
    if kind == "center":
        return cuts
    mirror = graph.integers(*range(prepare.size - 1, -1, -1))
    return cuts + [graph.node("Gather", [cut, mirror], axis=3) for cut in cuts]


def _cut(graph: Graph, planes: str, prepare: Preprocessing, corner: tuple[float, float]) -> str:
    """Cut a square and scale it, first along the rows and then down, rounding as Pillow does."""
    height, width = (graph.size(planes, axis) for axis in (2, 3))
    side = graph.node("Mul", [graph.node("Min", [height, width]), graph.constant(prepare.crop)])
    across = _weights(graph, width, side, corner[0], prepare)
    down = _weights(graph, height, side, corner[1], prepare)
    rows = graph.node("MatMul", [planes, graph.node("Transpose", [across], perm=[1, 0])])
    return _bytes(graph, graph.node("MatMul", [down, _bytes(graph, rows)]))


def _weights(graph: Graph, length: str, side: str, shift: float, prepare: Preprocessing) -> str:
    """Add the share of every pixel of a line in every pixel of the result.

    Pixel i is the mean of the pixels j of the line, weighted by k((j + ½ − c) / max(s, 1)) with
    s = side / size, c = start + (i + ½) s and the kernel k of the interpolation.
    """
    scale = graph.node("Div", [side, graph.constant(prepare.size)])
    start = graph.node("Mul", [graph.node("Sub", [length, side]), graph.constant(shift)])
    steps = graph.constant(np.arange(prepare.size)[:, None] + 0.5)
    centers = graph.node("Add", [graph.node("Mul", [steps, scale]), start])
    pixels = graph.node("Range", [graph.constant(0.5), length, graph.constant(1.0)])
    wide = graph.node("Max", [scale, graph.constant(1.0)])
    distance = graph.node("Abs", [graph.node("Sub", [pixels, centers])])
    kernel = _KERNELS[prepare.interpolation](graph, graph.node("Div", [distance, wide]))
    return graph.node("Div", [kernel, graph.reduced("ReduceSum", kernel)])


def _bilinear(graph: Graph, t: str) -> str:
    """max(1 − t, 0)."""
    return graph.node("Relu", [graph.node("Sub", [graph.constant(1.0), t])])


def _bicubic(graph: Graph, t: str) -> str:
    """Keys' kernel with a = −½: 1.5 t³ − 2.5 t² + 1 up to 1, −½ t³ + 2.5 t² − 4 t + 2 up to 2."""
    near = _polynomial(graph, t, (1.5, -2.5, 0.0, 1.0))
    far = _polynomial(graph, t, (-0.5, 2.5, -4.0, 2.0))
    outer = graph.node("Where", [_below(graph, t, 2.0), far, graph.constant(0.0)])
    return graph.node("Where", [_below(graph, t, 1.0), near, outer])


def _below(graph: Graph, t: str, limit: float) -> str:
    return graph.node("Less", [t, graph.constant(limit)])


def _polynomial(graph: Graph, t: str, coefficients: tuple[float, ...]) -> str:
    """Add a polynomial by Horner's rule, the highest power first."""
    value = graph.constant(coefficients[0])
    for coefficient in coefficients[1:]:
        value = graph.node("Add", [graph.node("Mul", [value, t]), graph.constant(coefficient)])
    return value


_KERNELS: dict[str, Any] = {"bilinear": _bilinear, "bicubic": _bicubic}


def _bytes(graph: Graph, x: str) -> str:
    """Round to whole numbers from 0 to 255, halves up."""
    whole = graph.node("Floor", [graph.node("Add", [x, graph.constant(0.5)])])
    return graph.node("Clip", [whole, graph.constant(0), graph.constant(255)])


def _batch(graph: Graph, views: list[str], prepare: Preprocessing) -> str:
    """Add the normalization, and the order of channels and axes that the network wants."""
    x = views[0] if len(views) == 1 else graph.node("Concat", views, axis=0)
    mean, std = (np.array(values)[:, None, None] for values in (prepare.mean, prepare.std))
    x = graph.node("Div", [graph.node("Sub", [x, graph.constant(mean)]), graph.constant(std)])
    if prepare.channels == "BGR":
        x = graph.node("Gather", [x, graph.integers(2, 1, 0)], axis=1)
    return graph.node("Transpose", [x], perm=[0, 2, 3, 1]) if prepare.layout == "NHWC" else x
