"""One studio: its samples, its project, the boards of the methods shown, and who listens."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import os
import secrets
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from zslearn._files import first_line
from zslearn.exceptions import InvalidInputError, ZslearnWarning, user_data
from zslearn.serve.edit_log import EditLog
from zslearn.serve.responses import RequestError, refuse, write_json
from zslearn.serve.settings import Limits
from zslearn.serve.studio.board import Answers, Board, count_answers
from zslearn.serve.studio.charts import make_map, pack
from zslearn.serve.studio.collection import Collection, Drops, Thumbnails
from zslearn.serve.studio.edits import Edit, replayed
from zslearn.serve.studio.methods import Fitted, Methods
from zslearn.serve.studio.state import BoardClass, Example, State, begin, table_named
from zslearn.serve.work import WorkPool
from zslearn.signatures import Signatures
from zslearn.zero_shot import ZeroShotClassifier

# Seconds between looks whether the server is about to end, and between signs of life.
LOOK, ALIVE = 0.5, 15.0
# A tab that reads nothing misses events; it asks for the state when it reads again.
WAITING = 256


class Events:
    """Passes events from any thread to the tabs that listen."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[bytes], asyncio.AbstractEventLoop] = {}

    def publish(self, event: str, data: Any) -> None:
        """Send an event to all tabs."""
        message = b"event: %s\ndata: %s\n\n" % (event.encode(), write_json(data))
        for queue, loop in list(self._listeners.items()):
            if not loop.is_closed():
                loop.call_soon_threadsafe(_put, queue, message)

    async def listen(self, hello: bytes, stopping: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Yield events as a tab reads them, until the server is about to end.

        Parameters
        ----------
        hello : bytes
            What is sent first.
        stopping : callable
            Says whether to end.
        """
        queue: asyncio.Queue[bytes] = asyncio.Queue(WAITING)
        self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield b"retry: 500\n\n" + hello
            idle = 0.0
            while not stopping():
                try:
                    yield await asyncio.wait_for(queue.get(), LOOK)
                    idle = 0.0
                except TimeoutError:
                    idle += LOOK
                    if idle >= ALIVE:
                        idle = 0.0
                        yield b": alive\n\n"
        finally:
            self._listeners.pop(queue, None)


def _put(queue: asyncio.Queue[bytes], message: bytes) -> None:
    if not queue.full():
        queue.put_nowait(message)


log = logging.getLogger("zslearn.serve")
# Samples whose confidence is computed at a time.
BLOCK = 4096
# Edits that set something of the method in use.
OF_METHOD = ("balance", "reject", "lam")


class BoardModel(NamedTuple):
    """A classifier that answers as the board does, and its names of the classes by number."""

    classifier: Any
    keys: dict[Any, int]


class _KeptBoard(NamedTuple):
    board: Board
    fitted: Fitted
    taught: Mapping[int, tuple[Example, ...]]
    rows: Mapping[int, BoardClass]

    def has_rows(self, rows: Mapping[int, BoardClass]) -> bool:
        """Say whether the classes with examples are called and described as they were."""
        return all(
            one.name == self.rows[number].name
            and one.alone == self.rows[number].alone
            and np.array_equal(one.row, self.rows[number].row)
            for number, one in rows.items()
        )


class _Sureness(NamedTuple):
    """How sure the answers were, what they were, and what they came from."""

    key: tuple[Any, ...]
    bias: float
    values: NDArray[np.float64]
    best: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class View:
    """What the browser is shown at one moment.

    Attributes
    ----------
    revision : int
        Grows with every change.
    state : State
        Classes and settings, with a slider that is being moved.
    answers : Answers
        By the method chosen.
    two : Answers or None
        By the method compared with.
    """

    revision: int
    state: State
    answers: Answers
    two: Answers | None


class Session:
    """Everything behind the page, changed by one thread at a time.

    Parameters
    ----------
    collection : Collection
        The samples.
    project : EditLog
        Where edits are kept.
    events : Events
        Who is told.
    folder : Path or None
        Where fitted models are kept.
    model : ZeroShotClassifier or None
        A model to begin with.
    """

    def __init__(
        self,
        collection: Collection,
        project: EditLog,
        events: Events,
        *,
        folder: Path | None = None,
        model: ZeroShotClassifier | None = None,
    ) -> None:
        self.collection, self.project, self.events = collection, project, events
        self.methods = Methods(collection, folder, model)
        if not self.methods.offered:
            raise refuse("there is nothing to train on: samples need classes with signatures.")
        self.drops = Drops(collection)
        self._boards: dict[str, _KeptBoard] = {}
        self._sureness: dict[str, _Sureness] = {}
        self._encoded: dict[tuple[str, float | None], list[list[float]]] = {}
        self._background = ThreadPoolExecutor(1, "zslearn-studio-fit")
        self._lock = threading.RLock()
        labels = [] if collection.labels is None else np.unique(collection.labels).tolist()
        first = self.methods.offered[0]
        seen = self.methods.fitted(first).model.seen_classes_
        self.start = begin(collection.signatures, map(str, seen), labels, first)
        self._label_names, self._label_of = _numbered(collection)
        self._places = {name: number for number, name in enumerate(collection.names or ())}
        self.kept = self._replayed()
        self.view = self._shown(self.kept, 1, settled=True)
        self._later(self._calibrate, self.kept.method)

    # ---- changes

    def change(self, edit: Edit, *, final: bool, by: str) -> View:
        """Apply an edit; a final one is in the project file before this returns."""
        with self._lock:
            state = edit.apply(self.kept)
            self._prepare(state)
            view = self._shown(state, self.view.revision + 1, settled=final)
            if final:
                self.project.add(msgspec.to_builtins(edit))
                self.kept = state
            return self._show(view, by)

    def step(self, which: str, by: str) -> View:
        """Undo or redo an edit."""
        with self._lock:
            if not (self.project.undo() if which == "undo" else self.project.redo()):
                raise RequestError(409, f"there is nothing to {which}.")
            self.kept = self._replayed()
            self._prepare(self.kept)
            view = self._shown(self.kept, self.view.revision + 1, settled=True)
            return self._show(view, by)

    def fitted(self, method: str, state: State | None = None) -> Fitted:
        """Return a method as the state wants it."""
        return self.methods.fitted(method, (state or self.view.state).lam.get(method))

    def board(self, method: str | None = None) -> Board:
        """Return the scores of a method, by default the one shown."""
        state = self.view.state
        return self._board(state.method if method is None else method, state, settled=False)

    def bias(self, method: str | None = None, state: State | None = None) -> float:
        """Return the bias in use: what was set, or what was learned."""
        state = state or self.view.state
        method = method or state.method
        return state.bias.get(method, self.fitted(method, state).bias)

    def sure(self, method: str | None = None, state: State | None = None) -> float | None:
        """Return how sure an answer must be not to be rejected; None if that is not known."""
        state = state or self.view.state
        return state.sure.get(method or state.method, self.learned_sure(method, state))

    def learned_sure(self, method: str | None = None, state: State | None = None) -> float | None:
        """Return what was learned of that, on held-out training classes."""
        state = state or self.view.state
        learned = self.fitted(method or state.method, state).model.calibration.threshold or {}
        is_all = any(one.seen for one in self.candidates(method, state).values())
        return learned.get("all" if is_all else "unseen")

    def sureness(self, method: str | None = None) -> NDArray[np.float64]:
        """Return how sure the answer to each sample is, by the method shown or another one."""
        state = self.view.state
        return self._sure_of(method or state.method, state).values

    def probabilities(self, scores: NDArray[Any]) -> NDArray[np.float64] | None:
        """Return the probabilities of biased scores of one sample; None if nobody knows them."""
        state = self.view.state
        fitted = self.fitted(state.method, state)
        if not fitted.is_calibrated:
            return None
        seen = np.array([one.seen for one in self.candidates().values()])
        found: NDArray[np.float64] = fitted.model.calibration.probabilities(scores[None], seen)[0]
        return found

    def model(self, method: str | None = None, *, bias: float | None = None) -> BoardModel:
        """Return a classifier that answers as the board does: its classes, examples and bias."""
        state = self.view.state
        method = method or state.method
        bias = self.bias(method, state) if bias is None else bias
        return self._model(method, state, bias)

    def vector(self, number: int) -> NDArray[np.float32]:
        """Return the features of a sample."""
        if not 0 <= number < self.collection.n:
            raise RequestError(404, f"there is no sample {number}.")
        row: NDArray[np.float32] = np.asarray(self.collection.X[number], np.float32)
        return row

    def sample_name(self, number: int) -> str:
        """Return what a sample is called in the project."""
        names = self.collection.names
        return str(number) if names is None else names[number]

    def example(self, sample: int | None, dropped: int | None) -> Example:
        """Return a sample of the board, or one that was brought, as an example."""
        if (sample is None) == (dropped is None):
            raise refuse("an example is a sample or a dropped one.")
        if dropped is not None:
            return self.drops.example(dropped)
        number = int(sample or 0)
        vector, name = self.vector(number), self.sample_name(number)
        identity = self.collection.encoder
        return Example(vector, name, name, None, None if identity is None else identity.sha256)

    def example_rows(self, state: State | None = None) -> NDArray[np.intp]:
        """Return the samples of the board that are examples of a class."""
        examples = (state or self.view.state).examples.values()
        names = [one.sample for each in examples for one in each if one.sample is not None]
        return np.array([row for name in names if (row := self.place(name)) is not None], np.intp)

    def place(self, name: str) -> int | None:
        """Return the number of the sample of a name; pictures may have gone since."""
        if self.collection.names is not None:
            return self._places.get(name)
        return int(name) if name.isdigit() and int(name) < self.collection.n else None

    def is_test(self, state: State | None = None) -> NDArray[np.bool_]:
        """Return which samples answers are judged on: no model has learned from them."""
        test = ~self.collection.train
        test[self.example_rows(state)] = False
        return test

    def suggest(self, n: int) -> list[dict[str, Any]]:
        """Return the samples whose labels would help most, each with the classes it is between."""
        state = self.view.state
        if not self.fitted(state.method, state).learns:
            raise RequestError(
                409,
                f"{self.methods.title(state.method)} learns nothing from single examples; choose "
                "prototype regression.",
            )
        made, rows = self.model(), np.flatnonzero(self.is_test(state))
        if not len(rows) or len(made.keys) < 2:
            raise RequestError(409, "there is nothing to choose from.")
        found = made.classifier.suggest(self.collection.X[rows], n, list(made.keys))
        return [
            {"sample": int(rows[row]), "classes": [made.keys[name] for name in pair]}
            for row, pair in zip(found.rows, found.names.tolist(), strict=True)
        ]

    def candidates(
        self, method: str | None = None, state: State | None = None
    ) -> dict[int, BoardClass]:
        """Return the classes that a method can answer, by default the one shown."""
        state = state or self.view.state
        if self.fitted(method or state.method, state).learns:
            return state.described
        # A class that is known by its examples alone is nothing to a method that does not learn.
        return {number: one for number, one in state.described.items() if not one.alone}

    def truth(self, method: str | None = None, state: State | None = None) -> NDArray[np.intp]:
        """Return the place of each sample's class among the candidates, -1 where it has none."""
        classes = self.candidates(method, state).values()
        return self._by_label({one.label: place for place, one in enumerate(classes)})

    def truth_ids(self) -> NDArray[np.intp]:
        """Return the number of each sample's class, described or not; -1 where it has none."""
        return self._by_label({one.label: one.id for one in self.view.state.classes.values()})

    def _by_label(self, values: Mapping[str | None, int]) -> NDArray[np.intp]:
        found = np.array([values.get(label, -1) for label in self._label_names] + [-1], np.intp)
        return found[self._label_of]

    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and largest value of each dimension over the training classes."""
        rows = np.stack([one.row for one in self.start.known])
        return rows.min(axis=0), rows.max(axis=0)

    def encoded_range(self) -> list[list[float]]:
        """Return between which values the encoded semantics of most samples lie."""
        state = self.view.state
        key = state.method, state.lam.get(state.method)
        if key not in self._encoded:
            linear = self.fitted(state.method).linear
            rows = self.collection.X[:: max(1, self.collection.n // 2000)]
            z = np.zeros((1, 1)) if linear is None else linear.project(rows)[0].z
            self._encoded[key] = np.quantile(z, [0.01, 0.99], axis=0).tolist()
        return self._encoded[key]

    def wait(self) -> None:
        """Wait until the background has nothing more to do."""
        self._background.submit(lambda: None).result()

    def close(self) -> None:
        """Close the project."""
        self._background.shutdown(wait=False, cancel_futures=True)
        self.project.close()

    # ---- behind

    def _replayed(self) -> State:
        """Return the state after all edits but those that name methods not offered now."""
        offered, edits = (None, *self.methods.offered), self.project.edits()
        start = self.start
        # An older project began with another method, which its first settings name.
        for edit in (*edits.done, *edits.undone):
            if edit.get("op") == "method":
                break
            if edit.get("op") in OF_METHOD and edit.get("method") in offered[1:]:
                start = replace(start, method=edit["method"])
                break
        try:
            state = replayed(start, [e for e in edits.done if e.get("method") in offered])
            self._check_examples(state)
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.project.path}: {error}") from error
        return state

    def _check_examples(self, state: State) -> None:
        """Refuse examples that were encoded in another way than the samples."""
        identity, width = self.collection.encoder, self.collection.X.shape[1]
        sha = None if identity is None else identity.sha256
        for one in (example for each in state.examples.values() for example in each):
            if len(one.vector) != width or one.encoder not in (None, sha):
                raise InvalidInputError(
                    f"the example {one.title!r} was encoded by another encoder than the samples; "
                    "choose another --project."
                )

    def fit_ahead(self, method: str, lam: float | None) -> None:
        """Fit a method, telling the tabs that it takes a moment; sliders go on meanwhile."""
        if not self.methods.is_fitted(method, lam):
            with self.busy(f"Fitting {self.methods.title(method)}"):
                self.methods.fitted(method, lam)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Tell the tabs what takes a moment."""
        self.events.publish("progress", {"text": text, "done": 0, "total": 1})
        try:
            yield
        finally:
            self.events.publish("progress", {"text": text, "done": 1, "total": 1})

    def _prepare(self, state: State) -> None:
        """Fit what a state needs, and learn its bias afterwards."""
        for method in {state.method, state.compare} - {None}:
            lam = state.lam.get(str(method))
            self.fit_ahead(str(method), lam)
            if self.methods.wants_calibration(str(method), lam):
                self._later(self._calibrate, str(method))

    def _model(self, method: str, state: State, bias: float) -> BoardModel:
        """Return a classifier with the classes, the examples and a bias of a state."""
        fitted = self.fitted(method, state)
        classifier = fitted.with_bias(bias)
        known = classifier.signatures_
        classes = {self._key(one, known): one for one in self.candidates(method, state).values()}
        ids, table = {key: one.id for key, one in classes.items()}, table_named(classes, known)
        # What was trained on is still needed where it was taken off the board.
        gone = [name for name in classifier.seen_classes_.tolist() if name not in table]
        if gone:
            table = table.append({name: known[name] for name in gone})
        classifier = classifier.with_signatures(table)
        examples = [
            (key, one) for key, number in ids.items() for one in state.examples.get(number, ())
        ]
        if examples and fitted.learns:
            keys, added = zip(*examples, strict=True)
            with warnings.catch_warnings():
                # Of names that are like others; the board shows all of them.
                warnings.simplefilter("ignore", ZslearnWarning)
                classifier.partial_fit(np.stack([one.vector for one in added]), np.array(keys))
        return BoardModel(classifier, ids)

    def _key(self, one: BoardClass, known: Signatures) -> Any:
        """Return the name of a class inside a classifier: a training class keeps its own."""
        name = self.start.classes[one.id].name if one.seen else one.name
        if known.names.dtype.kind not in "iu":
            return name
        whole = name.lstrip("-").isdigit() and len(name) < 19
        return int(name) if whole else 10**9 + one.id

    def _board(self, method: str, state: State, *, settled: bool) -> Board:
        """Return the scores of a method, made anew where other examples or fits ask for it."""
        fitted = self.fitted(method, state)
        taught = state.examples if fitted.learns else {}
        rows = {number: state.classes[number] for number in taught}
        kept = self._boards.get(method)
        # While a slider moves, what its class was taught stays with its description before.
        same = kept is not None and kept.fitted is fitted and kept.taught == taught
        if kept is not None and same and (not settled or kept.has_rows(rows)):
            return kept.board
        # Boards that are not shown are dropped: each holds all samples once more.
        self._boards = {
            key: one for key, one in self._boards.items() if key in (state.method, state.compare)
        }
        recognizer = fitted.recognizer
        if taught:
            recognizer = self._model(method, state, 0.0).classifier.recognizer()
        known = fitted.model.signatures_
        board = Board(recognizer, self.collection.X, lambda one: self._key(one, known))
        self._boards[method] = _KeptBoard(board, fitted, taught, rows)
        return board

    def _shown(self, state: State, revision: int, *, settled: bool) -> View:
        two = None
        if state.compare is not None:
            two = self._answers(state.compare, state, settled=settled)
        return View(revision, state, self._answers(state.method, state, settled=settled), two)

    def _answers(self, method: str, state: State, *, settled: bool) -> Answers:
        board = self._board(method, state, settled=settled)
        board.sync(self.candidates(method, state))
        choice = board.choose(self.bias(method, state))
        kept = None
        if state.reject and (level := self.sure(method, state)) is not None:
            known = self._sureness.get(method)
            if settled or known is None:
                known = self._sure_of(method, state)
            # While a slider moves, what gets another answer is taken for sure.
            kept = (known.values >= level) | (known.best != choice.best)
        return count_answers(
            board.ids, board.seen, choice, self.truth(method, state), self.is_test(state), kept
        )

    def _sure_of(self, method: str, state: State) -> _Sureness:
        """Return how sure all answers are; kept until classes, examples or bias change."""
        fitted, bias = self.fitted(method, state), self.bias(method, state)
        key = fitted, state.classes, state.examples
        known = self._sureness.get(method)
        same = known is not None and all(a is b for a, b in zip(known.key, key, strict=True))
        if known is None or not same or known.bias != bias:
            made = self._model(method, state, bias)
            recognizer = made.classifier.recognizer(list(made.keys))
            blocks = range(0, self.collection.n, BLOCK)
            rows = [self.collection.X[start : start + BLOCK] for start in blocks]
            values = np.concatenate([recognizer.confidence(block) for block in rows])
            best = self._board(method, state, settled=False).choose(bias).best
            known = self._sureness[method] = _Sureness(key, bias, values, best)
        return known

    def _show(self, view: View, by: str) -> View:
        self.view = view
        self.events.publish("changed", {"revision": view.revision, "by": by})
        return view

    def _later(self, work: Callable[..., None], *args: Any) -> None:
        """Do something in the background; a failure is logged and stops nothing."""

        def guarded() -> None:
            try:
                with user_data():
                    work(*args)
            except Exception as error:
                log.error("the studio could not finish: %s", first_line(error), exc_info=error)

        self._background.submit(guarded)

    def _calibrate(self, method: str) -> None:
        """Learn bias and probabilities of a method, and answer anew with them."""
        lam = self.view.state.lam.get(method)
        if not self.methods.wants_calibration(method, lam):
            return
        self.methods.calibrate(method, lam)
        with self._lock:
            if method in (self.view.state.method, self.view.state.compare):
                revision = self.view.revision + 1
                self._show(self._shown(self.view.state, revision, settled=True), "")


def _numbered(collection: Collection) -> tuple[list[str], NDArray[np.intp]]:
    """Return the labels, each once, and the number of each sample's; -1 without labels."""
    if collection.labels is None:
        return [], np.full(collection.n, -1, np.intp)
    names, numbers = np.unique(collection.labels, return_inverse=True)
    return names.tolist(), numbers.astype(np.intp)


SHORTEST = 43
CLOSED = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>zslearn studio</title>"
    "<p>Open the address that <code>zslearn studio</code> printed; it works once. "
    "Start the program again for a new one.</p></html>"
)


class Entrance:
    """A token that works once, and the cookie that it is exchanged for.

    Parameters
    ----------
    kept : Path or None
        File of the cookie's secret, so that an open tab stays in when the program starts again.

    Attributes
    ----------
    token : str
        Part of the address that the program prints.
    """

    def __init__(self, kept: Path | None = None) -> None:
        self.token = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32) if kept is None else _kept_secret(kept)
        # Cookies do not distinguish ports, so each studio has a name of its own.
        mark = hashlib.sha256(self._secret.encode()).hexdigest()[:12]
        self.cookie = f"zslearn_studio_{mark}"
        self._used = False

    def admits(self, request: Request) -> bool:
        """Say whether a request brings the cookie."""
        given = request.cookies.get(self.cookie, "")
        return hmac.compare_digest(given.encode(), self._secret.encode())

    def check(self, request: Request) -> None:
        """Refuse a request without the cookie."""
        if not self.admits(request):
            raise RequestError(401, "open the address that zslearn studio printed first.")

    def enter(self, request: Request) -> Response:
        """Exchange the token for the cookie."""
        if not self.admits(request):
            given = request.query_params.get("token", "")
            right = hmac.compare_digest(given.encode(), self.token.encode())
            if self._used or not right:
                return closed()
            self._used = True
        response = RedirectResponse("/studio/", status_code=303)
        settings: dict[str, Any] = {"path": "/studio", "httponly": True, "samesite": "strict"}
        response.set_cookie(self.cookie, self._secret, **settings)
        return response


def _kept_secret(path: Path) -> str:
    """Return the secret in a file that only its owner can read; made if it is not there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text("ascii", errors="replace").strip()
        if len(kept) >= SHORTEST and path.stat().st_mode & 0o077 == 0:
            return kept
        path.unlink()  # damaged, or others could have read it
        return _kept_secret(path)
    secret = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret


def closed() -> Response:
    """Return the page for visitors without the cookie."""
    return HTMLResponse(CLOSED, status_code=401)


Result = TypeVar("Result")


class Studio:
    """What the requests of the page share.

    Parameters
    ----------
    kept : Path or None
        File of the secret of the entrance.
    limits : Limits or None
        What a request may cost.

    Attributes
    ----------
    entrance : Entrance
        Who may come in.
    events : Events
        Who is told of changes.
    session : Session or None
        The open studio; None while it is being prepared.
    progress : dict or None
        How far that is.
    """

    def __init__(self, kept: Path | None = None, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self.entrance = Entrance(kept)
        self.events = Events()
        self.session: Session | None = None
        self.thumbnails: Thumbnails | None = None
        self.progress: dict[str, Any] | None = None
        # One thread: changes happen in the order they were asked for.
        self._pool = WorkPool(replace(limits, concurrency=1, queue=max(limits.queue, 256)))
        self._newest: dict[tuple[str, Any], int] = {}
        self._maps: dict[tuple[Any, ...], NDArray[np.float32]] = {}

    def open(self, session: Session, xy: NDArray[np.float32] | None = None) -> None:
        """Show a session from now on; `xy` is its first map, if it is made already."""
        if xy is not None:
            self._maps["pca",] = xy
        self.thumbnails = Thumbnails(session.collection)
        self.session, self.progress = session, None
        self.events.publish("changed", {"revision": session.view.revision, "by": ""})

    def opened(self) -> Session:
        """Return the session, or refuse while there is none."""
        if self.session is None:
            raise RequestError(503, "the pictures are still being prepared.", retry_after=1)
        return self.session

    async def run(self, work: Callable[..., Result], *args: Any) -> Result:
        """Do something with the session, after all that was asked for before."""
        return await self._pool.run(work, *args)

    async def run_newest(
        self, work: Callable[[], bytes], slider: int | None, final: bool, by: str
    ) -> bytes:
        """Do an edit, unless it is a step of a slider and a later one waits already."""
        key = by, slider
        ticket = self._newest[key] = self._newest.get(key, 0) + 1

        def unless_newer() -> bytes:
            if not final and self._newest.get(key) != ticket:
                return pack({"superseded": True}, {})
            return work()

        return await self._pool.run(unless_newer)

    def map(self, session: Session, kind: str) -> NDArray[np.float32]:
        """Return a map, made once; that of the semantics for each method."""
        state = session.view.state
        key = (kind, state.method, state.lam.get(state.method)) if kind == "attributes" else (kind,)
        if key not in self._maps:
            self._maps[key] = make_map(session, kind)
        return self._maps[key]
