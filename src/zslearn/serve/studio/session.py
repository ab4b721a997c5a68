"""One studio: its samples, its project, the boards of the methods shown, and who listens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn.exceptions import user_data
from zslearn.serve.errors import RequestError, refuse
from zslearn.serve.studio.board import Board
from zslearn.serve.studio.collection import Collection
from zslearn.serve.studio.edits import State, applied, begin, replayed
from zslearn.serve.studio.events import Events
from zslearn.serve.studio.methods import MODEL, Fitted, Methods
from zslearn.serve.studio.project import Project
from zslearn.serve.studio.statistics import Answers, count_answers
from zslearn.zero_shot import ZeroShotClassifier

log = logging.getLogger("zslearn.serve")


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
    project : Project
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
        project: Project,
        events: Events,
        *,
        folder: Path | None = None,
        model: ZeroShotClassifier | None = None,
    ) -> None:
        self.collection, self.project, self.events = collection, project, events
        self.methods = Methods(collection, folder, model)
        if not self.methods.offered:
            raise refuse("there is nothing to train on: samples need classes with signatures.")
        self._boards: dict[tuple[str, float | None], Board] = {}
        self._encoded: dict[tuple[str, float | None], list[list[float]]] = {}
        self._background = ThreadPoolExecutor(1, "zslearn-studio-fit")
        self._lock = threading.RLock()
        table = {str(name): collection.signatures[name] for name in collection.signatures}
        labels = [] if collection.labels is None else np.unique(collection.labels).tolist()
        offered = self.methods.offered
        usual = offered[0] == MODEL or collection.first not in offered
        first = offered[0] if usual else str(collection.first)
        seen = self.methods.fitted(first).classifier.seen_classes_
        self.start = begin(table, map(str, seen), labels, first)
        self._ranges = self._find_ranges()
        self._label_names, self._label_of = _numbered(collection)
        self.kept = replayed(self.start, self._usable(project.edits().done))
        self.view = self._shown(self.kept, 1)
        self._later(self._calibrate, self.kept.method)

    # ---- changes

    def change(self, edit: Mapping[str, Any], *, final: bool, by: str) -> View:
        """Apply an edit; a final one is in the project file before this returns."""
        with self._lock:
            state = applied(self.kept, edit)
            self._prepare(state)
            view = self._shown(state, self.view.revision + 1)
            if final:
                self.project.add(dict(edit))
                self.kept = state
            return self._show(view, by)

    def step(self, which: str, by: str) -> View:
        """Undo or redo an edit."""
        with self._lock:
            if not (self.project.undo() if which == "undo" else self.project.redo()):
                raise RequestError(409, f"there is nothing to {which}.")
            self.kept = replayed(self.start, self._usable(self.project.edits().done))
            self._prepare(self.kept)
            return self._show(self._shown(self.kept, self.view.revision + 1), by)

    def fitted(self, method: str, state: State | None = None) -> Fitted:
        """Return a method as the state wants it."""
        return self.methods.fitted(method, self._lam(method, state or self.view.state))

    def board(self, method: str | None = None) -> Board:
        """Return the scores of a method, by default the one shown."""
        state = self.view.state
        return self._board(state.method if method is None else method, state)

    def bias(self, method: str | None = None, state: State | None = None) -> float:
        """Return the bias in use: what was set, or what was learned."""
        state = state or self.view.state
        method = method or state.method
        if method in state.bias:
            return state.bias[method]
        learned = self.methods.calibration(method, self._lam(method, state))
        return 0.0 if learned is None else learned.bias

    def threshold(self, method: str | None = None, state: State | None = None) -> float | None:
        """Return the margin below which answers are rejected; None if it is not known."""
        state = state or self.view.state
        method = method or state.method
        if method in state.threshold:
            return state.threshold[method]
        learned = self.methods.calibration(method, self._lam(method, state))
        return None if learned is None else learned.threshold

    def truth(self, state: State | None = None) -> NDArray[np.intp]:
        """Return the place of each sample's class among those described, -1 where it has none."""
        state = state or self.view.state
        return self._by_label(
            {one.label: place for place, one in enumerate(state.described.values())}
        )

    def truth_ids(self) -> NDArray[np.intp]:
        """Return the number of each sample's class, described or not; -1 where it has none."""
        return self._by_label({one.label: one.id for one in self.view.state.classes.values()})

    def _by_label(self, values: Mapping[str | None, int]) -> NDArray[np.intp]:
        found = np.array([values.get(label, -1) for label in self._label_names] + [-1], np.intp)
        return found[self._label_of]

    def ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the smallest and largest value of each dimension over the training classes."""
        return self._ranges

    def _find_ranges(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        every = list(self.start.described.values())
        rows = np.stack([one.row for one in every if one.seen] or [one.row for one in every])
        return rows.min(axis=0), rows.max(axis=0)

    def gaps(self) -> tuple[float, float]:
        """Return the biases between which answers change sides."""
        board = self.board()
        if board.seen.all() or not board.seen.any():
            return 0.0, 0.0
        gap = board.scores[:, board.seen].max(axis=1) - board.scores[:, ~board.seen].max(axis=1)
        low, high = np.quantile(gap, [0.001, 0.999])
        return min(float(low), 0.0), max(float(high), 0.0)

    def encoded_range(self) -> list[list[float]]:
        """Return between which values the encoded semantics of most samples lie."""
        state = self.view.state
        key = state.method, self._lam(state.method, state)
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

    def _usable(self, edits: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Leave out edits that name methods which are not offered now."""
        offered = self.methods.offered
        return [e for e in edits if e.get("method") is None or e["method"] in offered]

    def _lam(self, method: str, state: State) -> float | None:
        return state.lam.get(method)

    def fit_ahead(self, method: str, lam: float | None) -> None:
        """Fit a method, telling the tabs that it takes a moment; sliders go on meanwhile."""
        if not self.methods.is_fitted(method, lam):
            text = f"Fitting {self.methods.title(method)}"
            self.events.publish("progress", {"text": text, "done": 0, "total": 1})
            try:
                self.methods.fitted(method, lam)
            finally:
                self.events.publish("progress", {"text": text, "done": 1, "total": 1})

    def _prepare(self, state: State) -> None:
        """Fit what a state needs, and learn its bias afterwards."""
        for method in {state.method, state.compare} - {None}:
            lam = self._lam(str(method), state)
            self.fit_ahead(str(method), lam)
            if self.methods.calibration(str(method), lam) is None:
                self._later(self._calibrate, str(method))

    def _board(self, method: str, state: State) -> Board:
        key = method, self._lam(method, state)
        if key not in self._boards:
            # Boards that are not shown are dropped: each holds all samples once more.
            shown = {(m, self._lam(m, state)) for m in (state.method, state.compare) if m}
            self._boards = {k: board for k, board in self._boards.items() if k in shown}
            self._boards[key] = Board(self.methods.fitted(*key).recognizer, self.collection.X)
        return self._boards[key]

    def _shown(self, state: State, revision: int) -> View:
        two = None if state.compare is None else self._answers(state.compare, state)
        return View(revision, state, self._answers(state.method, state), two)

    def _answers(self, method: str, state: State) -> Answers:
        board = self._board(method, state)
        board.sync(state.described)
        choice = board.choose(self.bias(method, state))
        threshold = self.threshold(method, state) if state.reject else None
        test = ~self.collection.train
        return count_answers(board.ids, board.seen, choice, self.truth(state), test, threshold)

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
        """Learn bias and threshold of a method, and answer anew with them."""
        lam = self._lam(method, self.view.state)
        if self.methods.calibration(method, lam) is not None:
            return
        self.methods.calibrate(method, lam)
        with self._lock:
            if method in (self.view.state.method, self.view.state.compare):
                self._show(self._shown(self.view.state, self.view.revision + 1), "")


def _numbered(collection: Collection) -> tuple[list[str], NDArray[np.intp]]:
    """Return the labels, each once, and the number of each sample's; -1 without labels."""
    if collection.labels is None:
        return [], np.full(collection.n, -1, np.intp)
    names, numbers = np.unique(collection.labels, return_inverse=True)
    return names.tolist(), numbers.astype(np.intp)
