"""The addresses of the studio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, Any
from urllib.parse import unquote

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from zslearn.serve.openapi import JSON, read_body
from zslearn.serve.responses import RequestError, json_response, write_json
from zslearn.serve.state import read_request, server_of
from zslearn.serve.studio import charts, exports, views
from zslearn.serve.studio.collection import Thumbnails
from zslearn.serve.studio.edits import (
    Edit,
    Number,
    Text,
    Wish,
    read_changes,
    read_class,
    read_described,
    understood,
)
from zslearn.serve.studio.session import Session, Studio, View, closed
from zslearn.serve.studio.state import BoardClass
from zslearn.serve.studio.views import cautions, nearest
from zslearn.serve.work import checked

KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
EXPORTED = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".py": "text/x-python",
    ".zsl": "application/octet-stream",
}
MOST_BODY = 4 * 2**20
Answer = Callable[[Studio, Request], Awaitable[Response]]


class Phrase(Struct):
    """A description that is only to be understood, at once without what may be meant."""

    text: Text
    suggest: bool = True


class Brought(Struct):
    """A text that is to be named."""

    text: Annotated[str, Meta(min_length=1, max_length=100_000)]


class Selection(Struct):
    """Some samples."""

    ids: list[int]


class Intervention(Struct):
    """Corrected semantics of a sample, by dimension."""

    encoded: dict[int, Number]


class Nothing(Struct):
    """An object, whatever it holds."""


def studio_routes(studio: Studio) -> list[BaseRoute]:
    """Return the addresses of a studio, each behind its entrance."""

    def behind(answer: Answer) -> Any:
        async def guarded(request: Request) -> Response:
            studio.entrance.check(request)
            return await answer(studio, request)

        return guarded

    async def enter(request: Request) -> Response:
        return studio.entrance.enter(request)

    async def front(request: Request) -> Response:
        return page_file("index.html") if studio.entrance.admits(request) else closed()

    async def to_front(request: Request) -> Response:
        return RedirectResponse("/studio/", status_code=307)

    api = [
        Route(f"/studio/api/{path}", behind(answer), methods=[method])
        for method, path, answer in ADDRESSES
    ]
    return [
        Route("/studio/enter", enter, methods=["GET"]),
        Route("/studio/", front, methods=["GET"]),
        Route("/studio", to_front, methods=["GET"]),
        Route("/studio/page/{name}", behind(page), methods=["GET"]),
        *api,
    ]


def page_file(name: str) -> Response:
    """Return a file of the page; only those in the package exist."""
    ending = name[name.rfind(".") :]
    if name not in known_files() or ending not in KINDS:
        raise RequestError(404, f"the page has no file {name!r:.80}.")
    return Response(known_files()[name].read_bytes(), media_type=KINDS[ending])


@cache
def known_files() -> dict[str, Traversable]:
    """Return the files of the page by their names."""
    folder = files("zslearn.serve.studio") / "page"
    return {file.name: file for file in folder.iterdir() if file.is_file()}


async def page(studio: Studio, request: Request) -> Response:
    """Send a file of the page."""
    return page_file(request.path_params["name"])


async def state(studio: Studio, request: Request) -> Response:
    """Send everything but arrays."""
    if studio.session is None:
        return json_response({"ready": False, "progress": studio.progress, "revision": 0})
    return json_response(await studio.run(views.state_of, studio.session))


def in_turn(work: Callable[[Session], bytes]) -> Answer:
    """Return what sends packed arrays of the session."""

    async def answer(studio: Studio, request: Request) -> Response:
        return packed(await studio.run(work, studio.opened()))

    return answer


async def answers(studio: Studio, request: Request) -> Response:
    """Send the answers to all samples."""
    session, of_two = studio.opened(), request.query_params.get("of") == "compare"
    return packed(await studio.run(lambda: views.answers_of(session, session.view, of_two=of_two)))


async def sample_map(studio: Studio, request: Request) -> Response:
    """Send a point for each sample."""
    session, kind = studio.opened(), request.query_params.get("kind", "pca")
    # UMAP may take longer than a request may: its first run compiles.
    if kind == "umap":
        xy = await asyncio.to_thread(checked, studio.map, session, kind)
    else:
        xy = await server_of(request).pool.run(studio.map, session, kind)
    return packed(charts.pack_map(kind, xy))


async def lam(studio: Studio, request: Request) -> Response:
    """Send the curves of λ."""
    pool = server_of(request).pool
    return json_response(await pool.run(charts.lam_curves, studio.opened()))


async def phrase(studio: Studio, request: Request) -> Response:
    """Send what is understood of a description, without changing anything."""
    session = studio.opened()
    wanted = await read_struct(request, Phrase)

    def told() -> dict[str, Any]:
        said = understood(session, wanted.text, suggest=wanted.suggest)
        like = None if said.like is None else session.kept.class_called(said.like)
        return {
            "like": None if like is None else like.id,
            "changes": {str(index): value for index, value in said.changes.items()},
            "understood": said.understood,
            "unknown": said.unknown,
            "suggestions": said.suggestions,
            "constant": said.constant,
            "row": said.row,
        }

    # Edits need not wait for a text encoder that is loaded.
    return json_response(await server_of(request).pool.run(told))


async def export(studio: Studio, request: Request) -> Response:
    """Send something to take home."""
    session, name = studio.opened(), request.path_params["name"]
    if name == "report.html":
        parts = await studio.run(exports.to_report, session)
        # It is fitted several times; edits need not wait for that, nor the limit of a request.
        with session.busy("Making the page"):
            content = await asyncio.to_thread(checked, exports.report, session, parts)
        return attachment(name, content)
    makers = {
        "classes.csv": exports.classes_csv,
        "model.zsl": exports.model_file,
        "model.py": exports.python_lines,
    }
    if name not in makers:
        raise RequestError(404, f"there is no export {name!r:.40}.")
    return attachment(name, await studio.run(makers[name], session))


async def selection(studio: Studio, request: Request) -> Response:
    """Send some samples as CSV."""
    numbers = (await read_struct(request, Selection)).ids
    content = await studio.run(exports.selection_csv, studio.opened(), numbers)
    return attachment("selection.csv", content)


def attachment(name: str, content: bytes) -> Response:
    """Return a file that the browser saves."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    kind = EXPORTED[name[name.rfind(".") :]]
    return Response(content, headers=headers, media_type=kind)


async def one_class(studio: Studio, request: Request) -> Response:
    """Send one class with its signature."""
    session = studio.opened()
    one = read_class(session.view.state, number_in(request))
    return json_response(views.class_of(session, one))


def card_by(work: Callable[[Session, int, BoardClass | None], dict[str, Any]]) -> Answer:
    """Return what sends the card of a sample, or of what was brought, as it is answered now."""

    async def answer(studio: Studio, request: Request) -> Response:
        session, number = studio.opened(), number_in(request)
        other = request.query_params.get("against")

        def card() -> bytes:
            against = None if other is None else read_described(session.view.state, whole(other))
            return write_json(work(session, number, against))

        return Response(await studio.run(card), media_type=JSON)

    return answer


async def drop(studio: Studio, request: Request) -> Response:
    """Name a photograph or a text that a visitor brings, and send its card."""
    session, server = studio.opened(), server_of(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == JSON:
        text = (await read_struct(request, Brought)).text
        brought = await server.pool.run(session.drops.add_text, text)
    else:
        title = unquote(request.headers.get("x-title", ""))
        title = "".join(letter for letter in title if letter.isprintable())
        content = await read_request(request)
        limits = server.settings.limits
        brought = await server.pool.run(session.drops.add_picture, content, title, limits)
    return json_response(await studio.run(views.dropped_of, session, brought.number))


async def suggest(studio: Studio, request: Request) -> Response:
    """Send the samples whose labels would help most."""
    session = studio.opened()
    n = min(max(whole(request.query_params.get("n", "6")), 1), 50)
    return json_response({"samples": await server_of(request).pool.run(session.suggest, n)})


async def intervene(studio: Studio, request: Request) -> Response:
    """Send the ranking of a sample whose semantics were corrected."""
    session, number = studio.opened(), number_in(request)
    moved = (await read_struct(request, Intervention)).encoded
    changes = dict(read_changes(moved, session.collection.signatures.n_dimensions))
    return json_response(await studio.run(views.intervened, session, number, changes))


def picture_by(kind: Callable[[Thumbnails], Callable[[int], bytes]]) -> Answer:
    """Return what sends the picture of a sample."""

    async def answer(studio: Studio, request: Request) -> Response:
        studio.opened()
        number, thumbnails = number_in(request), studio.thumbnails
        if thumbnails is None:
            raise RequestError(404, "there are no pictures yet.")
        content = await server_of(request).pool.run(kind(thumbnails), number)
        return Response(content, media_type="image/jpeg")

    return answer


async def edits(studio: Studio, request: Request) -> Response:
    """Change something, and send the answers after it."""
    session = studio.opened()
    asked = await read_struct(request, Wish)
    by = request.headers.get("x-tab", "")[:80]
    if (wanted := asked.fits(session)) is not None:
        asked.made(session)
        await server_of(request).pool.run(session.fit_ahead, *wanted)

    def change() -> bytes:
        edit = asked.made(session)
        view = session.change(edit, final=asked.final, by=by)
        return answered(session, view, edit)

    return packed(await studio.run_newest(change, asked.slider, asked.final, by))


def step(which: str) -> Answer:
    """Return what undoes the last edit, or does it again."""

    async def answer(studio: Studio, request: Request) -> Response:
        session = studio.opened()
        await read_struct(request, Nothing)
        view = await studio.run(session.step, which, request.headers.get("x-tab", "")[:80])
        return packed(await studio.run(answered, session, view, None))

    return answer


async def events(studio: Studio, request: Request) -> Response:
    """Send what changes, as it changes."""
    server = server_of(request)
    revision = 0 if studio.session is None else studio.session.view.revision
    hello = b"event: changed\ndata: %s\n\n" % write_json({"revision": revision, "by": ""})
    stream = studio.events.listen(hello, lambda: server.stopping)
    return StreamingResponse(stream, media_type="text/event-stream")


def answered(session: Session, view: View, edit: Edit | None) -> bytes:
    """Return the answers after an edit."""
    number = getattr(edit, "id", -1)
    said: dict[str, Any] = {"class": number, "warnings": [], "nearest": []}
    one = session.candidates(state=view.state).get(number)
    if one is not None:
        said["warnings"] = cautions(session, view, one)
        said["nearest"] = nearest(session, view, one)
    return views.answers_of(session, view, edit=said)


def packed(content: bytes) -> Response:
    """Return packed arrays."""
    return Response(content, media_type="application/octet-stream")


async def read_struct(request: Request, kind: Any) -> Any:
    """Return the JSON object in a request as a struct, or as one of several."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON:
        raise RequestError(415, "send JSON, with Content-Type: application/json.")
    body = await read_request(request)
    if len(body) > MOST_BODY:
        raise RequestError(413, f"the body has more than {MOST_BODY} bytes, the limit here.")
    return read_body(body, kind)


def number_in(request: Request) -> int:
    """Return the number at the end of an address."""
    return whole(request.path_params["number"])


def whole(text: str) -> int:
    """Return a number of an address, or say that there is no such thing."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise RequestError(404, f"there is no number {text!r:.40}.")
    return int(text)


ADDRESSES: list[tuple[str, str, Answer]] = [
    ("GET", "state", state),
    ("GET", "labels", in_turn(views.labels_of)),
    ("GET", "answers", answers),
    ("GET", "map", sample_map),
    ("GET", "confusion", in_turn(views.confusion_of)),
    ("GET", "balance", in_turn(charts.balance_curve)),
    ("GET", "rejection", in_turn(charts.rejection_curve)),
    ("GET", "lambda", lam),
    ("GET", "events", events),
    ("POST", "phrase", phrase),
    ("POST", "export/selection.csv", selection),
    ("GET", "export/{name}", export),
    ("GET", "classes/{number}", one_class),
    ("GET", "samples/{number}", card_by(views.sample_of)),
    ("POST", "samples/{number}/intervene", intervene),
    ("POST", "drop", drop),
    ("GET", "drop/{number}", card_by(views.dropped_of)),
    ("GET", "suggest", suggest),
    ("GET", "thumbnails/{number}", picture_by(lambda thumbnails: thumbnails.small)),
    ("GET", "pictures/{number}", picture_by(lambda thumbnails: thumbnails.picture)),
    ("POST", "edits", edits),
    ("POST", "undo", step("undo")),
    ("POST", "redo", step("redo")),
]
