"""Whether the server, or a model, can be asked."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn import __version__
from zslearn.serve.models import VERSION, ServedModel
from zslearn.serve.responses import json_response
from zslearn.serve.state import Server, server_of

EXTENSIONS = ["binary_tensor_data", "classification", "model_repository", "zslearn_classes"]


async def describe_server(request: Request) -> Response:
    """Answer what this server is."""
    return json_response({"name": "zslearn", "version": __version__, "extensions": EXTENSIONS})


async def live(request: Request) -> Response:
    """Answer that the server runs; clients read `live` or `ready`."""
    return json_response({"live": True, "ready": True})


async def ready(request: Request) -> Response:
    """Answer whether all models can be asked, and the server is not about to stop."""
    return _readiness(server_of(request).ready)


async def describe_model(request: Request) -> Response:
    """Answer the inputs and outputs of a model."""
    return json_response(metadata(_model(request)))


async def model_ready(request: Request) -> Response:
    """Answer whether a model can be asked."""
    server = server_of(request)
    slot = server.shelf.slot(**request.path_params)
    return _readiness(slot.is_ready and not server.stopping, name=slot.name)


def metadata(model: ServedModel) -> dict[str, Any]:
    """Return the description of a model as the protocol has it."""
    n_dimensions = model.signatures.n_dimensions
    inputs = [("features", "FP32", [-1, model.n_features])]
    if model.encoder is not None:
        inputs.append(("image", "BYTES", [-1]))
    outputs = [
        ("predict", "BYTES", [-1]),
        ("scores", "FP64", [-1, -1]),
        ("probabilities", "FP64", [-1, -1]),
        ("rejected", "BOOL", [-1]),
        ("confidence", "FP64", [-1]),
        ("attributes", "FP64", [-1, n_dimensions]),
        ("contributions", "FP64", [-1, -1]),
        ("offsets", "FP64", [-1]),
        ("classes", "BYTES", [-1]),
        ("dimensions", "BYTES", [-1]),
    ]
    return {
        "name": model.name,
        "versions": [VERSION],
        "platform": "zslearn",
        "inputs": list(map(_tensor, inputs)),
        "outputs": list(map(_tensor, outputs)),
        "parameters": {"method": model.method, "n_classes": len(model.recognizer)},
    }


def _tensor(facts: tuple[str, str, list[int]]) -> dict[str, Any]:
    return dict(zip(("name", "datatype", "shape"), facts, strict=True))


def _model(request: Request) -> ServedModel:
    server: Server = server_of(request)
    return server.shelf.slot(**request.path_params).model()


def _readiness(is_ready: bool, **facts: str) -> Response:
    if is_ready:
        return json_response({**facts, "ready": True, "live": True})
    error = f"{facts.get('name', 'the server')} is not ready."
    return json_response({**facts, "ready": False, "error": error}, 503, **{"retry-after": "5"})


ROUTES = [
    Route("/v2", describe_server),
    Route("/v2/health/live", live),
    Route("/v2/health/ready", ready),
    Route("/v2/models/{name}", describe_model),
    Route("/v2/models/{name}/versions/{version}", describe_model),
    Route("/v2/models/{name}/ready", model_ready),
    Route("/v2/models/{name}/versions/{version}/ready", model_ready),
]
