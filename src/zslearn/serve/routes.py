"""The addresses of the protocol and of operators, and a plain one that answers in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from zslearn import __version__
from zslearn.exceptions import ZslearnError
from zslearn.serve.changes import VERSION, ChangedModel, ServedModel
from zslearn.serve.connections import WHOLE
from zslearn.serve.inference import (
    Answer,
    Parameters,
    Rows,
    Texts,
    given_rows,
    infer,
    read_given,
    ready_rows,
)
from zslearn.serve.metrics import CONTENT_TYPE
from zslearn.serve.openapi import JSON, TEXT, Operation, Schema, read_body
from zslearn.serve.protocol import InferRequest, Message, decode_request
from zslearn.serve.responses import (
    HEADER_LENGTH,
    RequestError,
    json_response,
    refuse,
    send_message,
)
from zslearn.serve.settings import Limits
from zslearn.serve.state import (
    ModelShelf,
    ModelSlot,
    Server,
    header,
    read_content,
    read_request,
    server_of,
)
from zslearn.serve.work import checked

EXTENSIONS = ["binary_tensor_data", "classification", "model_repository", "zslearn_classes"]


class Index(Struct, forbid_unknown_fields=True):
    """Which models to list."""

    ready: bool = False


class Predict(Parameters, kw_only=True, forbid_unknown_fields=True):
    """What is wanted of samples, besides the parameters of every request."""

    top_k: Annotated[int, Meta(ge=1)] | None = 1
    model: str | None = None
    explain: bool | None = None


class PredictSamples(Predict, kw_only=True, forbid_unknown_fields=True):
    """The same with rows of numbers, or texts; a single one need not be in a list."""

    rows: Rows = field(default_factory=list)
    texts: Texts = field(default_factory=list)


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
    inputs += [(kind, "BYTES", [-1]) for kind in model.inputs[1:]]
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


# What is read without a thread, and what may be computed without one if the model is quick.
SMALL_BODY, SMALL_ROWS, SMALL_SCORES = 2**16, 16, 2**14
_HEADER_LENGTH = HEADER_LENGTH.encode()


class InferEndpoint:
    """Answers samples, without Starlette's wrappers, since most requests come here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        await send_message(await infer_request(scope, receive), send, whole=WHOLE in scope)


async def infer_request(scope: Scope, receive: Receive) -> Message:
    """Return the answer to the samples of a request."""
    server: Server = scope["app"].state.server
    served = server.shelf.slot(**scope["path_params"]).changes()  # before the body is read
    body = await read_content(server, scope, receive)
    message = Message(body, _header_length(header(scope, _HEADER_LENGTH)))
    limits = server.settings.limits
    if len(body) > SMALL_BODY:
        return await server.pool.run(answer, served, message, limits)
    wanted = checked(decode_request, message)
    model = served.at_once()
    if model is None or not _is_small(model, wanted):
        return await server.pool.run(compute, served, wanted, limits)
    work = infer, model, wanted, limits
    if served.pace.is_quick:
        return served.pace.run(*work)
    return await server.pool.run(served.pace.run, *work)


def answer(served: ChangedModel, message: Message, limits: Limits) -> Message:
    """Read a request, compute, and write the answer; the whole work of one thread."""
    return compute(served, decode_request(message), limits)


def compute(served: ChangedModel, request: InferRequest, limits: Limits) -> Message:
    """Compute, and write the answer."""
    return infer(served.newest(), request, limits)


def _is_small(model: ServedModel, request: InferRequest) -> bool:
    """Say whether a request has few rows of numbers; pictures take long."""
    [array, *more] = request.inputs.values()
    few = len(array) <= SMALL_ROWS and len(array) * len(model.recognizer) <= SMALL_SCORES
    return few and array.dtype.kind == "f" and not more


def _header_length(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise refuse(f"Inference-Header-Content-Length must be a number; got {text!r:.40}.")
    return int(text)


async def metrics(request: Request) -> Response:
    """Answer the figures of the server, for Prometheus."""
    server = server_of(request)
    text = await server.pool.run(server.metrics.text, server.shelf, server.pool.pending)
    return Response(text, headers={"content-type": CONTENT_TYPE})


async def index(request: Request) -> Response:
    """Answer the models of the server, all or those that are ready."""
    body = await read_request(request)
    only_ready = read_body(body, Index).ready if body.strip() else False
    slots = server_of(request).shelf.slots.values()
    found = [described(slot) for slot in slots if slot.is_ready or not only_ready]
    return json_response(found)


async def load(request: Request) -> Response:
    """Read a model file again; what was served before stays if it cannot be read."""
    return await _change(request, ModelSlot.load)


async def unload(request: Request) -> Response:
    """Stop serving a model."""
    return await _change(request, ModelSlot.unload)


def described(slot: ModelSlot) -> dict[str, Any]:
    """Return a model as the index has it."""
    state = "READY" if slot.is_ready else "UNAVAILABLE"
    reason = "" if slot.is_ready else "unloaded"
    return {"name": slot.name, "version": VERSION, "state": state, "reason": reason}


async def _change(request: Request, change: Any) -> Response:
    server = server_of(request)
    slot = server.shelf.slot(request.path_params["name"])
    await read_request(request)
    if server.settings.read_only or server.settings.workers > 1:
        flag = "--read-only" if server.settings.read_only else "--workers"
        raise RequestError(
            403, f"models of this server are not loaded by requests ({flag}); send it SIGHUP."
        )
    await server.pool.run(change, slot)
    return json_response({})


async def predict(request: Request) -> Response:
    """Answer rows of numbers, texts or pictures in words."""
    server = server_of(request)
    limits = server.settings.limits
    body = await read_request(request)
    wanted, pictures = await read_given(request.headers, body, PredictSamples, Predict)
    slot = _slot(server.shelf, wanted.model or request.query_params.get("model"))
    slot.changes()
    return json_response(await server.pool.run(answered, slot, wanted, pictures, limits))


def answered(
    slot: ModelSlot, wanted: Predict, pictures: Sequence[bytes], limits: Limits
) -> dict[str, Any]:
    """Return the answers to rows, texts or pictures."""
    model = slot.model()
    X = ready_rows(model, given_rows(wanted, pictures, model, limits))
    answer = Answer(model, X, wanted, limits)
    names, scores = (part.tolist() for part in answer.ranking)
    likely = answer.probabilities().tolist()
    found = [
        [
            {"class": name, "score": score, "probability": share}
            for name, score, share in zip(*row, strict=True)
        ]
        for row in zip(names, scores, likely, strict=True)
    ]
    answers: list[dict[str, Any]] = [
        best[0] | ({"best": best} if len(best) > 1 else {}) for best in found
    ]
    if wanted.reject:
        for one, rejected in zip(answers, answer.rejected().tolist(), strict=True):
            one["rejected"] = rejected
    if len(answers) == 1 if wanted.explain is None else wanted.explain:
        for one, because in zip(answers, _reasons(answer), strict=False):
            if because is not None:
                one["because"] = because
    return {"model": model.name, "answers": answers}


def _reasons(answer: Answer) -> list[list[dict[str, Any]] | None]:
    """Return the reasons of each answer, the largest first; none if the method cannot say."""
    try:
        reasons = answer.reasons
    except RequestError:
        raise
    except ZslearnError:
        return []
    return [[one._asdict() for one in why.reasons()] or None for why in reasons]


def _slot(shelf: ModelShelf, name: str | None) -> ModelSlot:
    """Return the model that was named, or the only one."""
    if name is None and len(shelf.slots) == 1:
        return next(iter(shelf.slots.values()))
    if name is None:
        raise refuse(f"say which model: model must be one of {', '.join(shelf.slots):.200}.")
    return shelf.slot(name)


# ---- the table of addresses

PICTURE: Schema = {"type": "string", "format": "binary"}
READY: Schema = {"type": "object", "properties": {"ready": {"type": "boolean"}}}
TENSOR: Schema = {
    "type": "object",
    "required": ["name", "shape", "datatype"],
    "properties": {
        "name": TEXT,
        "shape": {"type": "array", "items": {"type": "integer"}},
        "datatype": TEXT,
        "data": {"type": "array", "items": {}},
    },
}
# What the protocol says about a request; its numbers are not read by msgspec.
INFER: Schema = {
    "type": "object",
    "required": ["inputs"],
    "properties": {
        "id": TEXT,
        "inputs": {"type": "array", "items": TENSOR},
        "outputs": {
            "type": "array",
            "items": {"type": "object", "required": ["name"], "properties": {"name": TEXT}},
        },
        "parameters": {"type": "object"},
    },
}
FORM: Schema = {
    "type": "object",
    "required": ["image"],
    "properties": {"image": PICTURE, "model": TEXT, "top_k": TEXT},
}
CURL = """curl {base}/predict -d '{"rows": [[0.1, 0.2]], "top_k": 3}'
curl {base}/predict -d '{"texts": ["Where is my card?"], "top_k": 3}'
curl {base}/predict -F image=@photo.jpg"""
MODEL, OF_VERSION = "/v2/models/{name}", "/v2/models/{name}/versions/{version}"
REPOSITORY = "/v2/repository/models/{name}"
SAME = "The same, of a version; there is only 1."
INFERENCE = [
    Operation("POST", f"{MODEL}/infer", InferEndpoint(), "Inference.", body={JSON: INFER}),
    Operation("POST", f"{OF_VERSION}/infer", InferEndpoint(), SAME, body={JSON: INFER}),
]
OPERATIONS = [
    Operation(
        "POST",
        "/predict",
        predict,
        "Readable answers to rows of numbers, texts or pictures.",
        body={JSON: PredictSamples, "multipart/form-data": FORM},
        example=CURL,
    ),
    Operation("GET", "/v2", describe_server, "Name, version and extensions."),
    Operation("GET", "/v2/health/live", live, "Whether the server runs.", answer=READY),
    Operation("GET", "/v2/health/ready", ready, "Whether all models can be asked.", answer=READY),
    Operation("GET", MODEL, describe_model, "Inputs and outputs of a model."),
    Operation("GET", OF_VERSION, describe_model, SAME),
    Operation("GET", f"{MODEL}/ready", model_ready, "Whether it can be asked.", answer=READY),
    Operation("GET", f"{OF_VERSION}/ready", model_ready, SAME, answer=READY),
    Operation(
        "POST",
        "/v2/repository/index",
        index,
        "All models.",
        body={JSON: Index},
        answer={"type": "array", "items": {"type": "object"}},
    ),
    Operation("POST", f"{REPOSITORY}/load", load, "Read a model file again."),
    Operation("POST", f"{REPOSITORY}/unload", unload, "Stop serving a model."),
    Operation(
        "GET", "/metrics", metrics, "Figures for Prometheus.", answer=TEXT, kind="text/plain"
    ),
]
