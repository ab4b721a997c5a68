"""Scores as an ONNX graph, for programs without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from zslearn import __version__
from zslearn._files import replacing
from zslearn._optional import require
from zslearn.core.nearest import Targets
from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.features import ImageEncoder, known_encoder
from zslearn.metrics.hits import checked_k
from zslearn.persistence.onnx_graph import Graph, Value
from zslearn.persistence.onnx_pictures import add_encoder
from zslearn.persistence.onnx_steps import add_step
from zslearn.zero_shot import Recogniser, ZeroShotClassifier
from zslearn.zero_shot.pipelines import last_step, steps_before
from zslearn.zero_shot.score_form import ScoreForm


def export_onnx(
    model: ZeroShotClassifier | Recogniser | Pipeline,
    path: str | os.PathLike[str],
    *,
    candidates: Sequence[Any] | None = None,
    top_k: int | None = None,
) -> None:
    """Write the scoring of a fitted classifier or of a recogniser as an ONNX model.

    The input is ``features`` (float32, samples × n_features), as the classifier takes them; the
    output is ``scores`` (samples × candidates), those of `decision_function`. The names of the
    candidates are a JSON list in the model's metadata under ``class_names``.

    A pipeline that starts with an `ImageEncoder` becomes one graph from picture to label: the input
    is ``pixels`` (uint8, samples × height × width × 3, in the order R, G, B; any size, the same for
    all samples of a call), and ``labels``, the name of the best candidate, is one more output.
    Cutting and scaling are part of the graph; a pixel is Pillow's or differs by a step of 255.

    Parameters
    ----------
    model : ZeroShotClassifier, Recogniser or Pipeline
        Fitted, with a method whose scores are products of the features with class vectors: the
        semantic autoencoder, ridge regression, ESZSL, prototype regression, ALE, SJE, DS-SJE,
        DeViSE, SynC, and these calibrated. Steps of a pipeline before it may be scalers, PCA,
        TruncatedSVD, Normalizer and selections of features, and the first one an `ImageEncoder`
        with a built-in model or one of an ONNX file. A classifier that was trained on a store goes
        behind its encoder by ``make_pipeline(ImageEncoder(), classifier)``, without a fit.
    path : path-like
        Where to write; an existing file is replaced.
    candidates : sequence of class names, optional
        Columns of the scores; by default every class with a signature. A recogniser has its own.
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
    recogniser = _recogniser(steps[-1], candidates)
    form, names = recogniser.form(), recogniser.names
    graph = Graph(require("onnx", extra="onnx", purpose="ONNX export"))
    facts = {"class_names": json.dumps(names.tolist()), "producer": f"zslearn {__version__}"}
    widths = (step.n_features_in_ for step in steps[:-1] if hasattr(step, "n_features_in_"))
    n_features = next(widths, recogniser.n_features)
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
    known = known_encoder(last)
    if known is not None and not known.matches(encoder.identity):
        raise InvalidInputError(
            f"the encoder is {encoder.identity}, the model was trained with {known}. Use that one: "
            "ImageEncoder.from_identity(zslearn.features.known_encoder(model))."
        )


def _recogniser(model: Any, candidates: Sequence[Any] | None) -> Recogniser:
    if isinstance(model, ZeroShotClassifier):
        return model.recogniser(candidates)
    if not isinstance(model, Recogniser):
        raise InvalidTypeError(
            "export_onnx takes a zero-shot classifier or a recogniser, or a pipeline that ends in "
            f"a classifier; got a {type(model).__qualname__}."
        )
    if candidates is not None:
        raise InvalidInputError(
            "a recogniser already has its candidates; leave out candidates=, or make another by "
            "classifier.recogniser(candidates)."
        )
    return model


def _scores(graph: Graph, form: ScoreForm, features: str) -> str:
    """Add the nodes of all branches; return the name of their mean, less the bias."""
    x = _prepared_rows(graph, form, features)
    parts = []
    for coef, targets in form.branches:
        code = x if coef is None else graph.node("MatMul", [x, graph.constant(coef.T)])
        parts.append(_compared(graph, code, targets))
    scores = parts[0] if len(parts) == 1 else graph.node("Mean", parts)
    if form.bias is None:
        return scores
    return graph.node("Sub", [scores, graph.constant(form.bias[None])])


def _prepared_rows(graph: Graph, form: ScoreForm, features: str) -> str:
    """Add the scaling of samples, and their power if there is one."""
    unit = form.feature_norm == "l2"
    x = graph.unit_rows(features) if unit else features
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
