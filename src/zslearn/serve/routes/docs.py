"""The description of the server: as OpenAPI, and as a page that needs no network and no script."""

from __future__ import annotations

from html import escape
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zslearn import __version__
from zslearn.serve.openapi import document
from zslearn.serve.responses import json_response
from zslearn.serve.state import server_of

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
        _operation(path, method, facts, base)
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


def _operation(path: str, method: str, facts: dict[str, Any], base: str) -> str:
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


ROUTES = [Route("/openapi.json", openapi), Route("/docs", page), Route("/docs.css", style)]
