"""The addresses of a server: one table that makes its routes, its OpenAPI document and its page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple, TypeVar

import msgspec
import orjson
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn import __version__
from zslearn.serve.responses import json_response, refuse
from zslearn.serve.state import server_of

Schema = dict[str, Any]
Body = TypeVar("Body", bound=Struct)
JSON = "application/json"
ANYTHING: Schema = {"type": "object"}
MEANING = {
    "200": "The answer.",
    "201": "It is new.",
    "204": "It is gone.",
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
REFUSALS = tuple(status for status in MEANING if status >= "400")


class Error(Struct):
    """A refusal."""

    error: str


class Operation(NamedTuple):
    """One address with one method.

    Attributes
    ----------
    method, path : str
        As a client asks; parts of the path in braces are parameters.
    endpoint : callable
        What answers.
    summary : str
        One line.
    body : mapping of str to (schema, struct or structs), optional
        What a request holds, by its content type; several structs are ways to say it.
    answer : schema or struct
        What is answered.
    kind : str
        Content type of the answer.
    ok : tuple of str
        Statuses of an answer.
    example : str
        Commands, with ``{base}`` for the address of the server.
    """

    method: str
    path: str
    endpoint: Any
    summary: str
    body: Mapping[str, Any] = {}
    answer: Any = ANYTHING
    kind: str = JSON
    ok: tuple[str, ...] = ("200",)
    example: str = ""

    def route(self) -> Route:
        """Return the route of Starlette; a class may have slashes in its name."""
        path = self.path.replace("{class_name}", "{class_name:path}")
        return Route(path, self.endpoint, methods=[self.method])


def read_body(text: bytes, kind: type[Body]) -> Body:
    """Return the body of a request, or say what is wrong with it."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise refuse(f"the body is wrong: {error}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refuse(f"the body is not JSON ({error}).") from error


def convert_body(values: Any, kind: type[Body]) -> Body:
    """Return values that were read already as a body."""
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise refuse(f"the request is wrong: {error}.") from error


def document(operations: Sequence[Operation], models: Iterable[str]) -> Schema:
    """Return the OpenAPI document of a server.

    Parameters
    ----------
    operations : sequence of Operation
        Its addresses.
    models : iterable of str
        Names of its models.

    Returns
    -------
    dict
    """
    parts = {
        "name": {"type": "string", "enum": list(models)},
        "version": {"type": "string", "enum": ["1"]},
    }
    structs: list[type] = [Error]
    for one in operations:
        structs += [kind for kind in _structs(one) if kind not in structs]
    schemas, components = msgspec.json.schema_components(
        structs, ref_template="#/components/schemas/{name}"
    )
    named: dict[type, Schema] = dict(zip(structs, schemas, strict=True))
    paths: dict[str, Schema] = {}
    for one in operations:
        parameters = [
            {"name": name, "in": "path", "required": True}
            | {"schema": parts.get(name, {"type": "string"})}
            for name in re.findall(r"\{(\w+)\}", one.path)
        ]
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, named, parameters)
    return {
        "openapi": "3.1.0",
        "info": {"title": "zslearn serve", "version": __version__},
        "paths": paths,
        "components": {"schemas": components},
    }


def _structs(one: Operation) -> list[type[Struct]]:
    kinds = [kind for body in one.body.values() for kind in _ways(body)]
    return [kind for kind in (*kinds, one.answer) if isinstance(kind, type)]


def _ways(body: Any) -> tuple[Any, ...]:
    return body if isinstance(body, tuple) else (body,)


def _described(one: Operation, named: Mapping[type, Schema], parameters: list[Schema]) -> Schema:
    def schema(kind: Any) -> Schema:
        ways = [named[way] if isinstance(way, type) else way for way in _ways(kind)]
        return ways[0] if len(ways) == 1 else {"oneOf": ways}

    responses: Schema = {}
    for status in one.ok:
        responses[status] = {"description": MEANING[status]}
        if status != "204":
            responses[status]["content"] = {one.kind: {"schema": schema(one.answer)}}
    for status in REFUSALS:
        content = {JSON: {"schema": named[Error]}}
        responses[status] = {"description": MEANING[status], "content": content}
    found: Schema = {"summary": one.summary, "responses": responses}
    if parameters:
        found["parameters"] = parameters
    if one.body:
        content = {kind: {"schema": schema(body)} for kind, body in one.body.items()}
        found["requestBody"] = {"required": True, "content": content}
    return found


# ---- the page of the description, which needs no network and no script

STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.5rem;
border:1px solid #bbb}summary{cursor:pointer;padding:.3rem 0}table{border-collapse:collapse}
td{padding:.1rem .8rem .1rem 0;vertical-align:top}.method{display:inline-block;min-width:4.5rem;
font-weight:bold}"""


async def openapi(request: Request) -> Response:
    """Answer the description as OpenAPI."""
    return json_response(document(request.app.state.operations, server_of(request).shelf.slots))


async def page(request: Request) -> Response:
    """Answer the description as a page."""
    base = f"{request.url.scheme}://{request.headers.get('host', 'localhost')}"
    operations = request.app.state.operations
    description = document(operations, server_of(request).shelf.slots)
    parts = [_section(one, description, base) for one in operations]
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>zslearn serve</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" '
        f'href="/docs.css"></head><body><h1>zslearn {escape(__version__)}</h1><p>All addresses of '
        'this server. Programs read <a href="/openapi.json">openapi.json</a>. Errors are '
        '<code>{"error": "..."}</code>.</p>' + "".join(parts) + "</body></html>"
    )
    return Response(text, media_type="text/html")


async def style(request: Request) -> Response:
    """Answer the style of the page; the security policy allows none inside it."""
    return Response(STYLE, media_type="text/css")


def _section(one: Operation, description: Schema, base: str) -> str:
    """Return one address as HTML: examples, body, statuses."""
    facts = description["paths"][one.path][one.method.lower()]
    rows = "".join(
        f"<tr><td>{status}</td><td>{escape(answer['description'])}</td></tr>"
        for status, answer in facts["responses"].items()
    )
    bodies = facts.get("requestBody", {}).get("content", {})
    texts = {kind: _pretty(content, description) for kind, content in bodies.items()}
    schemas = "".join(
        f"<p>Body, <code>{escape(kind)}</code>:</p><pre>{escape(text)}</pre>"
        for kind, text in texts.items()
    )
    example = f"<pre>{escape(one.example.replace('{base}', base))}</pre>" if one.example else ""
    return (
        f'<details><summary><span class="method">{one.method}</span><code>{escape(one.path)}</code>'
        f" {escape(one.summary)}</summary>{example}{schemas}<table>{rows}</table></details>"
    )


def _pretty(content: Schema, description: Schema) -> str:
    """Return a schema as text, with what it refers to in its place."""

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            return whole(description["components"]["schemas"][value["$ref"].rpartition("/")[2]])
        return {key: whole(item) for key, item in value.items()}

    return orjson.dumps(whole(content["schema"]), option=orjson.OPT_INDENT_2).decode()


TEXT: Schema = {"type": "string"}
DOCS = [
    Operation("GET", "/openapi.json", openapi, "This document."),
    Operation("GET", "/docs", page, "This document as a page.", answer=TEXT, kind="text/html"),
    Operation("GET", "/docs.css", style, "Its style.", answer=TEXT, kind="text/css"),
]
