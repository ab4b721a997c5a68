"""A model as it is served: immutable, shared by all requests."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from zslearn._files import first_line
from zslearn.encoders import Encoder, EncoderIdentity, encoder_of, encoder_of_model
from zslearn.exceptions import InvalidInputError, UnknownClassError, ZslearnError, did_you_mean
from zslearn.persistence import load
from zslearn.serve.journal import Change, ClassJournal, Name
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import ServerSettings, journal_path
from zslearn.serve.work import Pace
from zslearn.signatures import Signatures
from zslearn.zero_shot import Recognizer

VERSION = "1"
# The one text encoder that names its dimensions and whose weights are known by their checksum.
TEXT_ENCODER, TEXT_DIMENSIONS = "minilm", tuple(f"minilm{i}" for i in range(384))


class PictureEncoder:
    """The encoder of a model, opened when a process first needs it.

    An open encoder has threads, which worker processes cannot inherit.

    Parameters
    ----------
    identity : EncoderIdentity
        The encoder that the model was trained with.
    """

    def __init__(self, identity: EncoderIdentity) -> None:
        self.identity = identity

    @cached_property
    def opened(self) -> Encoder:
        """The encoder; refused if its weights are not those the model was trained with."""
        # Requests run in threads of their own; each encodes its pictures in the thread it has.
        return encoder_of(self.identity, n_jobs=1)


@dataclass(frozen=True)
class ServedModel:
    """What answers requests for one model.

    Attributes
    ----------
    name : str
        The name it is served under.
    method : str
        Class of the classifier.
    recognizer : Recognizer
        Every class that can be answered, with the changes made since the model was saved.
    n_features : int
        Length of a sample.
    columns : tuple of str
        Names of the features, if the model knows them.
    encoder : PictureEncoder or None
        What turns pictures into samples, if the model knows it.
    prepare : callable or None
        The steps of a pipeline before the classifier.
    """

    name: str
    method: str
    recognizer: Recognizer
    n_features: int
    columns: tuple[str, ...] = ()
    encoder: PictureEncoder | None = None
    prepare: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    @property
    def signatures(self) -> Signatures:
        """The table of the classes that can be answered."""
        return self.recognizer.signatures

    @property
    def text_encoder(self) -> str | None:
        """Name of the text encoder that made the signatures, if they say so."""
        return TEXT_ENCODER if self.signatures.dimensions == TEXT_DIMENSIONS else None

    def with_recognizer(self, recognizer: Recognizer) -> ServedModel:
        """Return the model with changed classes."""
        return replace(self, recognizer=recognizer)

    def class_of(self, name: str) -> str | int:
        """Return a class name in the type of the model's names."""
        if self.recognizer.names.dtype.kind not in "iu":
            return name
        if not (name.isascii() and name.lstrip("-").isdigit() and len(name) < 19):
            raise InvalidInputError(f"the classes of this model are whole numbers; got {name!r}.")
        return int(name)


def open_model(name: str, path: Path) -> ServedModel:
    """Load a model file to serve it.

    Parameters
    ----------
    name : str
        The name it is served under.
    path : Path
        A file written by `zslearn.persistence.save`.

    Returns
    -------
    ServedModel
    """
    whole = load(path)
    steps, classifier = _parts(whole)
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; serve a "
            "zero-shot classifier."
        )
    identity = encoder_of_model(whole) or encoder_of_model(classifier)
    return ServedModel(
        name,
        type(classifier).__name__,
        classifier.recognizer(),
        int(whole.n_features_in_),
        tuple(getattr(whole, "feature_columns_", ())),
        None if identity is None else PictureEncoder(identity),
        None if steps is None else steps.transform,
    )


def _parts(model: Any) -> tuple[Any, Any]:
    """Return the steps before the classifier, if there are any, and the classifier."""
    if not isinstance(model, Pipeline):
        return None, model
    return (model[:-1] if len(model) > 1 else None), model[-1]


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


class ModelSlot:
    """The place of one model: its file, and what is served of it now.

    Parameters
    ----------
    name : str
        The name it is served under.
    settings : ServerSettings
        Its file, and where the changes of its classes are kept.
    """

    def __init__(self, name: str, settings: ServerSettings) -> None:
        self.name = name
        self.path = Path(settings.models[name])
        self._journal = journal_path(settings, name)
        self._most = settings.limits.classes
        self._served: ChangedModel | None = None
        self._stamp: tuple[int, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the model can be asked."""
        return self._served is not None

    def load(self) -> None:
        """Read the file; if it cannot be read, what was served before stays."""
        self.note_file()
        self._served = ChangedModel(open_model(self.name, self.path), self._journal, self._most)

    def unload(self) -> None:
        """Stop serving it."""
        self._served = None

    def note_file(self) -> None:
        """Take the file as it is for read."""
        self._stamp = self._facts()

    def is_outdated(self) -> bool:
        """Say whether the file is another one than when it was last read."""
        return self.is_ready and self._facts() not in (self._stamp, ())

    def changes(self) -> ChangedModel:
        """Return the model whose classes can be changed."""
        if self._served is None:
            raise RequestError(503, f"{self.name} is not loaded.", retry_after=5)
        return self._served

    def model(self) -> ServedModel:
        """Return the model with the newest classes."""
        return self.changes().newest()

    def _facts(self) -> tuple[int, ...]:
        try:
            facts = self.path.stat()
        except OSError:
            return ()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size


class ModelShelf:
    """All models of a server.

    Parameters
    ----------
    settings : ServerSettings
        `models` are the files by name.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.slots = {name: ModelSlot(name, settings) for name in settings.models}

    def load(self) -> None:
        """Read every file."""
        for slot in self.slots.values():
            slot.load()

    def warm(self) -> None:
        """Open the encoders of pictures, in the process that will use them."""
        for slot in self.slots.values():
            encoder = slot.model().encoder if slot.is_ready else None
            if encoder is not None:
                encoder.opened.fit()

    def reload(self, *, every: bool) -> None:
        """Read every file again, or those that changed; a bad one leaves what was served."""
        for slot in self.slots.values():
            if slot.is_outdated() or (every and slot.is_ready):
                try:
                    slot.load()
                    log.info("read %s again", slot.path)
                except (ZslearnError, OSError) as error:
                    log.error("%s as served before stays: %s", slot.name, first_line(error))

    def is_outdated(self) -> bool:
        """Say whether a file is another one than when it was last read."""
        return any(slot.is_outdated() for slot in self.slots.values())

    def note_files(self) -> None:
        """Take the files as they are for read."""
        for slot in self.slots.values():
            slot.note_file()

    @property
    def ready(self) -> bool:
        """Whether every model can be asked."""
        return all(slot.is_ready for slot in self.slots.values())

    def slot(self, name: str, version: str = VERSION) -> ModelSlot:
        """Return the place of a model, or refuse an unknown name or version."""
        if name not in self.slots:
            hint = did_you_mean(name, self.slots)
            raise RequestError(404, f"there is no model {name!r:.80}.{hint}")
        if version != VERSION:
            raise RequestError(404, f"{name} has the version {VERSION} only.")
        return self.slots[name]
