"""A model with the changes of its classes: each change is on disk before it is answered."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from zslearn.exceptions import UnknownClassError, ZslearnError
from zslearn.serve.errors import RequestError
from zslearn.serve.journal import Change, ClassJournal, Name
from zslearn.serve.models import ServedModel
from zslearn.serve.work import Pace
from zslearn.zero_shot import Recognizer

log = logging.getLogger("zslearn.serve")
# Lines that a journal may hold beyond one per changed class before it is written anew.
SLACK = 1000


class ChangedModel:
    """A model as its file has it, with what its journal changed; any thread may use it.

    Parameters
    ----------
    base : ServedModel
        As the model file has it.
    journal : Path
        The file of the changes.
    most : int
        How many classes may be added.

    Attributes
    ----------
    pace : Pace
        What small requests cost lately.
    """

    def __init__(self, base: ServedModel, journal: Path, most: int) -> None:
        self._base = base
        self._most = most
        self._journal = ClassJournal(journal, base.signatures.dimensions)
        self._lock = threading.Lock()
        self._rows: dict[Name, list[float]] = {}
        self._removed: set[Name] = set()
        self._lines = 0
        self._problem = ""
        self._current = base
        self.pace = Pace()
        self._catch_up(*self._journal.read())

    def at_once(self) -> ServedModel | None:
        """Return the newest model if there is nothing to read before; this never waits."""
        return None if self._journal.is_behind() else self._current

    def newest(self) -> ServedModel:
        """Return the model with every change made so far, in this process or another."""
        if self._journal.is_behind():
            with self._lock:
                try:
                    self._catch_up(*self._journal.read())
                except (ZslearnError, OSError) as error:
                    self._complain(str(error))
        return self._current

    def put(self, name: Name, vector: list[float]) -> bool:
        """Add a class, or give it another signature; return whether it is new."""
        with self._lock, self._journal.writing() as file:
            self._catch_up(*self._journal.read_open(file))
            known = name in self._current.recognizer.names
            if not known and len(self._current.recognizer) >= self._limit:
                raise RequestError(
                    400, f"{self._most} classes were added, the limit here; remove some first."
                )
            self._make(file, Change(name, vector))
            return not known

    def remove(self, name: Name) -> None:
        """Remove a class."""
        with self._lock, self._journal.writing() as file:
            self._catch_up(*self._journal.read_open(file))
            names = self._current.recognizer.names
            if name not in names:
                raise unknown_class(self._current, name)
            self._make(file, Change(name, None))

    def changed(self) -> set[Name]:
        """Return the names of the classes whose signature is not that of the model file."""
        return set(self._rows)

    def _complain(self, problem: str) -> None:
        """Say once that the journal cannot be read; the classes before it stay."""
        if problem != self._problem:
            log.error("%s", problem)
        self._problem = problem

    @property
    def _limit(self) -> int:
        return len(self._base.recognizer) + self._most

    def _make(self, file: int, change: Change) -> None:
        """Make one change: first what it gives, then the disk, then the swap."""
        recognizer = _applied(self._current.recognizer, change)
        self._journal.append(file, change)
        self._note(change)
        self._current = self._base.with_recognizer(recognizer)
        if self._lines > len(self._rows) + len(self._removed) + SLACK:
            self._journal.rewrite(self._summary())
            self._lines = len(self._summary())

    def _catch_up(self, again: bool, changes: list[Change]) -> None:
        """Apply changes that were read; all of them anew if the file was read anew."""
        if again:
            self._rows, self._removed, self._lines = {}, set(), 0
        elif not changes:
            return
        for change in changes:
            self._note(change)
        todo = self._summary() if again else changes
        recognizer = self._base.recognizer if again else self._current.recognizer
        for change in todo:
            recognizer = _applied(recognizer, change)
        self._current = self._base.with_recognizer(recognizer)

    def _note(self, change: Change) -> None:
        self._lines += 1
        if change.vector is not None:
            self._rows[change.name] = change.vector
            return
        self._rows.pop(change.name, None)
        if change.name in self._base.recognizer.names:
            self._removed.add(change.name)

    def _summary(self) -> list[Change]:
        """Return as few changes as lead to the same classes in the same order."""
        # A class that was removed and came back stands last, so it is removed again first.
        return [
            *(Change(name, None) for name in sorted(self._removed, key=str)),
            *(Change(name, vector) for name, vector in self._rows.items()),
        ]


def unknown_class(model: ServedModel, name: Name) -> RequestError:
    """Return the refusal of a name that is no class, with the closest that is one."""
    error = UnknownClassError(
        [name], model.recognizer.names.tolist(), "Correct the name, or add it by PUT."
    )
    return RequestError(404, str(error))


def _applied(recognizer: Recognizer, change: Change) -> Recognizer:
    if change.vector is not None:
        return recognizer.replace(change.name, change.vector)
    # A model that was trained anew may lack what was removed of the one before.
    return recognizer.without(change.name) if change.name in recognizer.names else recognizer
