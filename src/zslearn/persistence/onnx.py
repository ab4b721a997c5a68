"""Scores as an ONNX graph, for programs without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
)

from zslearn import __version__
from zslearn._files import first_line, replacing
from zslearn._optional import require
from zslearn._pipelines import last_step, steps_before
from zslearn.core.nearest import Targets
from zslearn.encoders import ImageEncoder, Preprocessing, encoder_of_model
from zslearn.encoders.efficientnet import encoder_graph
from zslearn.encoders.preprocessing import CORNERS
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ModelFileError
from zslearn.metrics.accuracy import checked_k
from zslearn.zero_shot import Recognizer, ZeroShotClassifier
from zslearn.zero_shot.scoring import LinearForm

# Old enough for every runtime of recent years; nothing newer is needed.
OPSET = 18
IR_VERSION = 9
# Names of the standard operators' domain.
_PLAIN = ("", "ai.onnx")


class Value(NamedTuple):
    """An input or output: its name, type of element, and sizes, those that vary by a name."""

    name: str
    kind: str
    shape: tuple[Any, ...]


class Graph:
    """Collects nodes and constants under unique names."""

    def __init__(self, onnx: Any) -> None:
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs = [Value("scores", "FLOAT", ("samples", None))]
        self._opset, self._ir_version = OPSET, IR_VERSION
        self._imports: list[Any] = []

    def node(self, operator: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        """Add an operator with one output; return the output's name."""
        name = output or f"n{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant; return its name."""
        name = f"c{len(self._constants)}"
        array = np.asarray(value, dtype=dtype, order="C")
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant vector of whole numbers."""
        return self.constant(values, np.int64)

    def reduced(self, operator: str, x: str) -> str:
        """Reduce each row of `x` to one number, kept as a column."""
        return self.node(operator, [x, self.integers(1)], keepdims=1)

    def unit_rows(self, x: str, *, zeros: bool = True) -> str:
        """Scale each row to unit length; rows of zeros stay zero, or become NaN."""
        # By the largest number first: squares overflow from 2e19 on.
        for operator, size in (("ReduceMax", self.node("Abs", [x])), ("ReduceL2", "")):
            length = self.reduced(operator, size or x)
            if zeros:
                tiny = self.constant([np.finfo(np.float32).tiny])
                length = self.node("Max", [length, tiny])
            x = self.node("Div", [x, length])
        return x

    def nothing(self, x: str) -> str:
        """Add 0 for every number that is finite, and NaN for every other; runtimes keep it."""
        return self.node("Sub", [x, x])

    def as_float(self, x: str) -> str:
        """Convert to single precision."""
        return self.node("Cast", [x], to=self._onnx.TensorProto.FLOAT)

    def size(self, x: str, axis: int) -> str:
        """Add the length of an axis as a number of single precision."""
        length = self.node("Gather", [self.node("Shape", [x]), self.constant(axis, np.int64)])
        return self.as_float(length)

    def top_k(self, scores: str, k: int) -> None:
        """Add the k best columns of each row as two more outputs."""
        outputs = ["top_scores", "top_indices"]
        inputs = [scores, self.integers(k)]
        self._nodes.append(self._onnx.helper.make_node("TopK", inputs, outputs, axis=1))
        kinds = zip(outputs, ("FLOAT", "INT64"), strict=True)
        self._outputs += [Value(name, kind, ("samples", None)) for name, kind in kinds]

    def labels(self, scores: str, names: NDArray[Any]) -> None:
        """Add the name of the best column of each row, the first of equal ones, as an output."""
        text = names.dtype.kind == "U"
        table = self.constant(names, object if text else np.int64)
        best = self.node("ArgMax", [scores], axis=1, keepdims=0)
        self.node("Gather", [table, best], "labels", axis=0)
        self._outputs.append(Value("labels", "STRING" if text else "INT64", ("samples",)))

    def inlined(self, content: bytes, x: str, name: str) -> str:
        """Add a whole network of one input, `x`; return the name of its first output."""
        model = self._model_of(content, name)
        inner = self._onnx.compose.add_prefix(model, "encoder/").graph
        constants = {tensor.name for tensor in inner.initializer}
        taken = next(value.name for value in inner.input if value.name not in constants)
        self.node("Identity", [x], taken)
        self._nodes += inner.node
        self._constants += inner.initializer
        output: str = inner.output[0].name
        return output

    def serialized(self, given: Value, metadata: dict[str, str]) -> bytes:
        """Return the checked model, of one input, as bytes."""
        helper = self._onnx.helper
        ends = [self._proto(given)], [self._proto(value) for value in self._outputs]
        graph = helper.make_graph(self._nodes, "zslearn", *ends, initializer=self._constants)
        opsets = [helper.make_opsetid("", self._opset), *self._imports]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="zslearn")
        model.ir_version = self._ir_version
        helper.set_model_props(model, metadata)
        self._onnx.checker.check_model(model, full_check=True)
        content: bytes = model.SerializeToString()
        return content

    def _model_of(self, content: bytes, name: str) -> Any:
        """Read a network and bring it and this graph to one version of the operators."""
        onnx = self._onnx
        try:
            model = onnx.load_model_from_string(content)
            version = next(item.version for item in model.opset_import if item.domain in _PLAIN)
            if version < OPSET:
                model = onnx.version_converter.convert_version(model, OPSET)
        except Exception as error:  # of protobuf, onnx and its converter; they share no base
            reason = f"onnx cannot read it or bring it to version {OPSET} ({first_line(error)})"
            raise ModelFileError(name, reason, "network") from error
        self._opset = max(OPSET, version)
        self._ir_version = max(IR_VERSION, model.ir_version)
        self._imports = [item for item in model.opset_import if item.domain not in _PLAIN]
        return model

    def _proto(self, value: Value) -> Any:
        number = getattr(self._onnx.TensorProto, value.kind)
        return self._onnx.helper.make_tensor_value_info(value.name, number, value.shape)


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


def add_step(graph: Graph, x: str, step: Any) -> str:
    """Add what a fitted step does to the rows `x`; return the name of the result.

    Parameters
    ----------
    graph : Graph
        Where to add.
    x : str
        Name of the rows.
    step : estimator, "passthrough" or None
        A step of a pipeline.

    Returns
    -------
    str
    """
    if step is None or step == "passthrough":
        return x
    for kinds, add in _STEPS.items():
        if type(step) in kinds:
            return add(graph, x, step)
    known = ", ".join(kind.__name__ for kinds in _STEPS for kind in kinds)
    raise InvalidInputError(
        f"{type(step).__name__} cannot be written as ONNX; the steps that can be are {known}. "
        "Export the last step alone and transform the features before."
    )


def _moved(graph: Graph, x: str, center: NDArray[Any] | None) -> str:
    return x if center is None else graph.node("Sub", [x, graph.constant(center[None])])


def _divided(graph: Graph, x: str, scale: NDArray[Any] | None) -> str:
    return x if scale is None else graph.node("Div", [x, graph.constant(scale[None])])


def _standardized(graph: Graph, x: str, step: StandardScaler) -> str:
    center = step.mean_ if step.with_mean else None
    return _divided(graph, _moved(graph, x, center), step.scale_)


def _robust(graph: Graph, x: str, step: RobustScaler) -> str:
    return _divided(graph, _moved(graph, x, step.center_), step.scale_)


def _between_limits(graph: Graph, x: str, step: MinMaxScaler) -> str:
    # About the smallest value seen, so that a large offset costs no digits.
    size = graph.node("Mul", [_moved(graph, x, step.data_min_), graph.constant(step.scale_[None])])
    low, high = step.feature_range
    y = graph.node("Add", [size, graph.constant(np.array([low]))])
    if not step.clip:
        return y
    limits = [graph.constant(np.array(limit)) for limit in (low, high)]
    # An infinity is refused and not cut to a limit.
    return graph.node("Clip", [graph.node("Add", [y, graph.nothing(y)]), *limits])


def _unit(graph: Graph, x: str, step: Normalizer) -> str:
    if step.norm != "l2":
        raise InvalidInputError(
            f"Normalizer(norm={step.norm!r}) cannot be written as ONNX; norm='l2' can."
        )
    return graph.unit_rows(x)


def _projected(graph: Graph, x: str, step: PCA | TruncatedSVD) -> str:
    center = getattr(step, "mean_", None)
    y = graph.node("MatMul", [_moved(graph, x, center), graph.constant(step.components_.T)])
    if not getattr(step, "whiten", False):
        return y
    tiny = np.finfo(step.explained_variance_.dtype).eps
    return _divided(graph, y, np.maximum(np.sqrt(step.explained_variance_), tiny))


def _selected(graph: Graph, x: str, step: Any) -> str:
    columns = graph.constant(step.get_support(indices=True), np.int64)
    return graph.node("Gather", [x, columns], axis=1)


_STEPS: dict[tuple[type, ...], Any] = {
    (StandardScaler,): _standardized,
    (RobustScaler,): _robust,
    (MaxAbsScaler,): lambda graph, x, step: _divided(graph, x, step.scale_),
    (MinMaxScaler,): _between_limits,
    (Normalizer,): _unit,
    (PCA, TruncatedSVD): _projected,
    (SelectKBest, SelectPercentile, VarianceThreshold): _selected,
}


def export_onnx(
    model: ZeroShotClassifier | Recognizer | Pipeline,
    path: str | os.PathLike[str],
    *,
    candidates: Sequence[Any] | None = None,
    top_k: int | None = None,
) -> None:
    """Write the scoring of a fitted classifier or of a recognizer as an ONNX model.

    The input is ``features`` (float32, samples × n_features), as the classifier takes them; the
    output is ``scores`` (samples × candidates), those of `decision_function`. The names of the
    candidates are a JSON list in the model's metadata under ``class_names``. Samples that the
    classifier refuses, with NaN, infinity or nothing but zeros, get NaN as scores.

    A pipeline that starts with an `ImageEncoder` becomes one graph from picture to label: the input
    is ``pixels`` (uint8, samples × height × width × 3, in the order R, G, B; any size, the same for
    all samples of a call), and ``labels``, the name of the best candidate, is one more output.
    Cutting and scaling are part of the graph; a pixel is Pillow's or differs by a step of 255.

    Parameters
    ----------
    model : ZeroShotClassifier, Recognizer or Pipeline
        Fitted, with a method whose scores are products of the features with class vectors: the
        semantic autoencoder, ridge regression, ESZSL, prototype regression, ALE, SJE, DS-SJE,
        DeViSE, SynC, and these calibrated. Steps of a pipeline before it may be scalers, PCA,
        TruncatedSVD, Normalizer and selections of features, and the first one an `ImageEncoder`
        with a built-in model or one of an ONNX file. A classifier that was trained on a store goes
        behind its encoder by ``make_pipeline(ImageEncoder(), classifier)``, without a fit.
    path : path-like
        Where to write; an existing file is replaced.
    candidates : sequence of class names, optional
        Columns of the scores; by default every class with a signature. A recognizer has its own.
    top_k : int, optional
        Also give the outputs ``top_indices`` and ``top_scores``, the k best candidates.

    Raises
    ------
    MissingExtraError
        If the package onnx is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from zslearn.datasets import make_zero_shot
    >>> from zslearn.persistence import export_onnx
    >>> from zslearn.zero_shot import SAEClassifier
    >>> data = make_zero_shot(random_state=0)
    >>> model = SAEClassifier(data.signatures, lam=0.1).fit(data.X, data.y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.onnx")
    >>> export_onnx(model, path, top_k=3)  # doctest: +SKIP
    """
    steps = [*steps_before(model), last_step(model)]
    recognizer = _recognizer(steps[-1], candidates)
    form, names = recognizer.linear_form(), recognizer.names
    graph = Graph(require("onnx", extra="onnx", purpose="ONNX export"))
    facts = {"class_names": json.dumps(names.tolist()), "producer": f"zslearn {__version__}"}
    widths = (step.n_features_in_ for step in steps[:-1] if hasattr(step, "n_features_in_"))
    n_features = next(widths, recognizer.n_features)
    encoder = steps.pop(0) if isinstance(steps[0], ImageEncoder) else None
    x, given = "features", Value("features", "FLOAT", ("samples", n_features))
    if encoder is not None:
        _check_encoder(encoder, steps[-1], n_features)
        facts["encoder"] = json.dumps(encoder.identity.as_dict())
        given = Value("pixels", "UINT8", ("samples", "height", "width", 3))
        x = add_encoder(graph, given.name, encoder)
    for step in [*steps[:-1], *form.steps]:
        x = add_step(graph, x, step)
    graph.node("Identity", [_scores(graph, form, x)], "scores")
    if top_k is not None:
        graph.top_k("scores", checked_k(top_k, len(names), "top_k"))
    if encoder is not None:
        graph.labels("scores", names)
    content = graph.serialized(given, facts)
    with replacing(path) as file:
        file.write(content)


def _check_encoder(encoder: ImageEncoder, last: Any, n_features: int) -> None:
    """Refuse an encoder that the model was not trained with."""
    if encoder.n_features != n_features:
        raise InvalidInputError(
            f"the encoder {encoder.model!r} gives {encoder.n_features} features, the model takes "
            f"{n_features}. Use the encoder it was trained with."
        )
    known = encoder_of_model(last)
    if known is not None and not known.matches(encoder.identity):
        raise InvalidInputError(
            f"the encoder is {encoder.identity}, the model was trained with {known}. Use that one: "
            "zslearn.encoders.encoder_of(zslearn.encoders.encoder_of_model(model))."
        )


def _recognizer(model: Any, candidates: Sequence[Any] | None) -> Recognizer:
    if isinstance(model, ZeroShotClassifier):
        return model.recognizer(candidates)
    if not isinstance(model, Recognizer):
        raise InvalidTypeError(
            "export_onnx takes a zero-shot classifier or a recognizer, or a pipeline that ends in "
            f"a classifier; got a {type(model).__qualname__}."
        )
    if candidates is not None:
        raise InvalidInputError(
            "a recognizer already has its candidates; leave out candidates=, or make another by "
            "classifier.recognizer(candidates)."
        )
    return model


def _scores(graph: Graph, form: LinearForm, features: str) -> str:
    """Add the nodes of all branches; return the name of their mean, less the bias."""
    x = _prepared_rows(graph, form, features)
    parts = []
    for coef, targets in form.branches:
        code = x if coef is None else graph.node("MatMul", [x, graph.constant(coef.T)])
        parts.append(_compared(graph, code, targets))
    scores = parts[0] if len(parts) == 1 else graph.node("Mean", parts)
    # What the classifier refuses gets no score, also where Relu or Max would lose a NaN.
    scores = graph.node("Add", [scores, graph.reduced("ReduceSum", graph.nothing(x))])
    if form.bias is None:
        return scores
    return graph.node("Sub", [scores, graph.constant(form.bias[None])])


def _prepared_rows(graph: Graph, form: LinearForm, features: str) -> str:
    """Add the scaling of samples, and their power if there is one."""
    unit = form.feature_norm == "l2"
    x = graph.unit_rows(features, zeros=form.allow_zero) if unit else features
    if form.power == 1.0:
        return x
    size = graph.node("Pow", [graph.node("Abs", [x]), graph.constant(np.array([form.power]))])
    powered = graph.node("Mul", [graph.node("Sign", [x]), size])
    return graph.unit_rows(powered) if unit else powered


def _compared(graph: Graph, x: str, targets: Targets) -> str:
    """Add the scores of samples `x` against one vector per class."""
    if targets.comparison.unit:
        x = graph.unit_rows(x)
    products = graph.node("MatMul", [x, graph.constant(targets.vectors.T)])
    if targets.offsets is None:
        return products
    offsets = graph.constant(targets.offsets[None])
    if not targets.comparison.distance:
        return graph.node("Add", [products, offsets])
    # −max(‖x‖² + ‖c‖² − 2 x·c, 0)
    total = graph.node("Sub", [graph.reduced("ReduceSumSquare", x), offsets])
    twice = graph.node("Mul", [products, graph.constant(np.array([2.0]))])
    return graph.node("Neg", [graph.node("Relu", [graph.node("Sub", [total, twice])])])
