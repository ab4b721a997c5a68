"""The description of all addresses as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn import __version__
from zslearn.serve.responses import json_response
from zslearn.serve.state import server_of

Schema = dict[str, Any]

VERSION = {
    "name": "version",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "enum": ["1"]},
}
CLASS = {"name": "class_name", "in": "path", "required": True, "schema": {"type": "string"}}
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
ANYTHING: Schema = {}


def _object(required: tuple[str, ...] = (), **properties: Any) -> Schema:
    found: Schema = {"type": "object", "properties": properties}
    return found | ({"required": list(required)} if required else {})


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


ERROR = _object(("error",), error=TEXT)
READY = _object((), ready=FLAG, live=FLAG)
SHAPE = _list({"type": "integer"})
PARAMETERS = _object(
    (),
    candidates={"oneOf": [TEXT, _list(TEXT)]},
    top_k={"type": "integer", "minimum": 1},
    bias=NUMBER,
    reject=FLAG,
)
TENSOR = _object(
    ("name", "shape", "datatype"), name=TEXT, shape=SHAPE, datatype=TEXT, data=_list(ANYTHING)
)
INFER = _object(
    ("inputs",),
    id=TEXT,
    inputs=_list(TENSOR),
    outputs=_list(_object(("name",), name=TEXT)),
    parameters=PARAMETERS,
)
METADATA = _object(
    ("name",), name=TEXT, versions=_list(TEXT), inputs=_list(ANYTHING), outputs=_list(ANYTHING)
)
CLASS_BODY = {
    "oneOf": [
        _object(("vector",), vector={"oneOf": [_list(NUMBER), {"type": "object"}]}),
        _object(("like",), like=TEXT, changes={"type": "object", "additionalProperties": NUMBER}),
        _object(("text",), text={"oneOf": [TEXT, _list(TEXT)]}),
    ]
}
PREDICT = _object(
    ("rows",),
    rows=_list(_list(NUMBER)),
    model=TEXT,
    candidates=PARAMETERS["properties"]["candidates"],
    top_k=PARAMETERS["properties"]["top_k"],
    bias=NUMBER,
    reject=FLAG,
    explain=FLAG,
)
FORM = _object(("image",), image={"type": "string", "format": "binary"}, model=TEXT, top_k=TEXT)
MEANING = {
    "200": "The answer.",
    "201": "The class is new.",
    "204": "The class is gone.",
    "400": "The request is wrong; the error says how.",
    "401": "The API key is missing or wrong.",
    "403": "Pages of this origin may not do this, or the server is read-only.",
    "404": "There is no such address, model, version or class.",
    "405": "Another method is needed.",
    "408": "The body did not arrive in time.",
    "413": "The body, its pictures or its rows are too large.",
    "415": "The compression is unknown.",
    "421": "The server does not answer to this name.",
    "503": "Too many requests wait, the model is not loaded, or the server stops; try again.",
    "504": "The answer took too long.",
}
REFUSALS = ("400", "401", "403", "404", "405", "408", "413", "415", "421", "503", "504")


def _operation(
    summary: str,
    answer: Schema,
    *parameters: Schema,
    body: dict[str, Schema] | None = None,
    ok: tuple[str, ...] = ("200",),
) -> Schema:
    responses: Schema = {
        status: {"description": MEANING[status]}
        | ({} if status == "204" else {"content": {"application/json": {"schema": answer}}})
        for status in ok
    }
    for status in REFUSALS:
        content = {"application/json": {"schema": ERROR}}
        responses[status] = {"description": MEANING[status], "content": content}
    found: Schema = {"summary": summary, "responses": responses}
    if parameters:
        found["parameters"] = list(parameters)
    if body is not None:
        content = {kind: {"schema": schema} for kind, schema in body.items()}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _text(summary: str, kind: str) -> Schema:
    operation = _operation(summary, TEXT)
    operation["responses"]["200"]["content"] = {kind: {"schema": TEXT}}
    return operation


def document(models: Iterable[str]) -> Schema:
    """Return the OpenAPI document of a server.

    Parameters
    ----------
    models : iterable of str
        Names of its models.

    Returns
    -------
    dict

    Examples
    --------
    >>> sorted(document(["animals"])["paths"]["/predict"])
    ['post']
    """
    names = {"type": "string", "enum": list(models)}
    name = {"name": "name", "in": "path", "required": True, "schema": names}
    json = "application/json"
    model, version = "/v2/models/{name}", "/v2/models/{name}/versions/{version}"
    repository = "/v2/repository/models/{name}"
    infer = {json: INFER}
    described = _operation("Inputs and outputs of a model.", METADATA, name)
    of_version = _operation("The same, of a version; there is only 1.", METADATA, name, VERSION)
    class_parts = (name, CLASS)
    return {
        "openapi": "3.0.3",
        "info": {"title": "zslearn serve", "version": __version__},
        "paths": {
            "/predict": {
                "post": _operation(
                    "Readable answers to rows of numbers or pictures.",
                    _object(("answers",), model=TEXT, answers=_list({"type": "object"})),
                    body={json: PREDICT, "multipart/form-data": FORM},
                )
            },
            "/v2": {"get": _operation("Name, version and extensions.", {"type": "object"})},
            "/v2/health/live": {"get": _operation("Whether the server runs.", READY)},
            "/v2/health/ready": {"get": _operation("Whether all models can be asked.", READY)},
            model: {"get": described},
            f"{model}/ready": {"get": _operation("Whether it can be asked.", READY, name)},
            f"{model}/infer": {
                "post": _operation("Inference.", {"type": "object"}, name, body=infer)
            },
            version: {"get": of_version},
            f"{version}/ready": {
                "get": _operation("The same, of a version.", READY, name, VERSION)
            },
            f"{version}/infer": {
                "post": _operation(
                    "The same, of a version.", {"type": "object"}, name, VERSION, body=infer
                )
            },
            f"{model}/classes": {
                "get": _operation("Classes and dimensions.", {"type": "object"}, name)
            },
            f"{model}/classes/{{class_name}}": {
                "get": _operation("The signature of a class.", {"type": "object"}, *class_parts),
                "put": _operation(
                    "Add a class or change it: a vector, a likeness with changes, or words.",
                    {"type": "object"},
                    *class_parts,
                    body={json: CLASS_BODY},
                    ok=("200", "201"),
                ),
                "delete": _operation("Remove a class.", {}, *class_parts, ok=("204",)),
            },
            "/v2/repository/index": {
                "post": _operation(
                    "All models.", _list({"type": "object"}), body={json: _object((), ready=FLAG)}
                )
            },
            f"{repository}/load": {
                "post": _operation("Read a model file again.", {"type": "object"}, name)
            },
            f"{repository}/unload": {
                "post": _operation("Stop serving a model.", {"type": "object"}, name)
            },
            "/metrics": {"get": _text("Figures for Prometheus.", "text/plain")},
            "/openapi.json": {"get": _operation("This document.", {"type": "object"})},
            "/docs": {"get": _text("This document as a page.", "text/html")},
        },
    }


STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.5rem;
border:1px solid #bbb}summary{cursor:pointer;padding:.3rem 0}table{border-collapse:collapse}
td{padding:.1rem .8rem .1rem 0;vertical-align:top}.method{display:inline-block;min-width:4.5rem;
font-weight:bold}"""
EXAMPLES = {
    "/predict": 'curl {base}/predict -d \'{{"rows": [[0.1, 0.2]], "top_k": 3}}\'\n'
    "curl {base}/predict -F image=@photo.jpg",
    "/v2/models/{name}/classes/{class_name}": "curl -X PUT {base}/v2/models/NAME/classes/okapi -d "
    '\'{{"like": "horse", "changes": {{"stripes": 80}}}}\'\n'
    "curl -X DELETE {base}/v2/models/NAME/classes/okapi",
}


async def openapi(request: Request) -> Response:
    """Answer the description as OpenAPI."""
    return json_response(document(server_of(request).shelf.slots))


async def page(request: Request) -> Response:
    """Answer the description as a page."""
    base = f"{request.url.scheme}://{request.headers.get('host', 'localhost')}"
    return Response(
        rendered(document(server_of(request).shelf.slots), base), media_type="text/html"
    )


async def style(request: Request) -> Response:
    """Answer the style of the page; the security policy allows none inside it."""
    return Response(STYLE, media_type="text/css")


def rendered(description: dict[str, Any], base: str) -> str:
    """Return the page of a description.

    Parameters
    ----------
    description : dict
        OpenAPI.
    base : str
        Address of the server, for the examples.

    Returns
    -------
    str
        HTML.
    """
    parts = [
        _section(path, method, facts, base)
        for path, methods in description["paths"].items()
        for method, facts in methods.items()
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>zslearn serve</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" '
        f'href="/docs.css"></head><body><h1>zslearn {escape(__version__)}</h1><p>All addresses of '
        'this server. Programs read <a href="/openapi.json">openapi.json</a>. Errors are '
        '<code>{"error": "..."}</code>.</p>' + "".join(parts) + "</body></html>"
    )


def _section(path: str, method: str, facts: dict[str, Any], base: str) -> str:
    rows = "".join(
        f"<tr><td>{status}</td><td>{escape(answer['description'])}</td></tr>"
        for status, answer in facts["responses"].items()
    )
    body = facts.get("requestBody", {}).get("content", {})
    schemas = "".join(
        f"<p>Body, <code>{escape(kind)}</code>:</p><pre>{escape(_pretty(content['schema']))}</pre>"
        for kind, content in body.items()
    )
    example = f"<pre>{escape(EXAMPLES[path].format(base=base))}</pre>" if path in EXAMPLES else ""
    return (
        f'<details><summary><span class="method">{method.upper()}</span><code>{escape(path)}</code>'
        f" {escape(facts['summary'])}</summary>{example}{schemas}<table>{rows}</table></details>"
    )


def _pretty(schema: Any) -> str:
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()


DOCS_ROUTES = [Route("/openapi.json", openapi), Route("/docs", page), Route("/docs.css", style)]
