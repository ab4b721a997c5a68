"""A model as it is served: immutable, shared by all requests."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from zslearn._files import first_line
from zslearn._pipelines import features_of, last_step, steps_before
from zslearn.encoders import (
    Encoder,
    EncoderIdentity,
    encoder_of,
    encoder_of_model,
    split_encoder,
    text_encoder_of,
)
from zslearn.exceptions import (
    InvalidInputError,
    MissingFileError,
    UnknownClassError,
    WriteError,
    ZslearnError,
    did_you_mean,
)
from zslearn.persistence import load
from zslearn.serve.edit_log import (
    BusyError,
    DamagedError,
    Edit,
    EditLog,
    Kind,
    NoDatabaseError,
    read_journal,
    take_over_journal,
)
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import ServerSettings, changes_path
from zslearn.serve.work import Pace
from zslearn.signatures import Signatures
from zslearn.zero_shot import Recognizer

VERSION = "1"
LOG = Kind(0x7A736C63, "the log of classes", "move it away to serve the classes of the model file")
# Edits that a log may hold beyond one per changed class before it is written anew.
SLACK = 1000
Name = str | int
logger = logging.getLogger("zslearn.serve")


class LazyEncoder:
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
        # Requests run in threads of their own; each encodes its samples in the thread it has.
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
    encoder : LazyEncoder or None
        What turns pictures or texts into samples, if the model knows it.
    prepare : callable or None
        The steps of a pipeline before the classifier.
    """

    name: str
    method: str
    recognizer: Recognizer
    n_features: int
    columns: tuple[str, ...] = ()
    encoder: LazyEncoder | None = None
    prepare: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    @property
    def signatures(self) -> Signatures:
        """The table of the classes that can be answered."""
        return self.recognizer.signatures

    @property
    def text_encoder(self) -> str | None:
        """Name of the text encoder that made the signatures, if they say so."""
        identity = text_encoder_of(self.signatures)
        return None if identity is None else identity.model

    @property
    def inputs(self) -> tuple[str, ...]:
        """What a request may hold: features, and what the encoder takes."""
        return ("features",) if self.encoder is None else ("features", self.encoder.identity.kind)

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
    encoder, whole = split_encoder(load(path))
    classifier = last_step(whole)
    if not hasattr(classifier, "signatures_"):
        raise InvalidInputError(
            f"{path} holds a {type(classifier).__name__}, which names no classes; serve a "
            "zero-shot classifier."
        )
    identity = encoder_of_model(whole) or encoder_of_model(classifier)
    if encoder is not None:  # a pipeline: what follows its encoder takes vectors
        identity = encoder.known_identity
    return ServedModel(
        name,
        type(classifier).__name__,
        classifier.recognizer(),
        int(whole.n_features_in_),
        tuple(getattr(whole, "feature_columns_", ())),
        None if identity is None else LazyEncoder(identity),
        partial(features_of, whole) if steps_before(whole) else None,
    )


class ChangedModel:
    """A model as its file has it, with the changes of its classes; any thread may use it.

    Parameters
    ----------
    base : ServedModel
        As the model file has it.
    path : Path
        The log of the changes; made by the first of them.
    most : int
        How many classes may be added.
    read_only : bool
        Whether nothing is changed.

    Attributes
    ----------
    pace : Pace
        What small requests cost lately.
    """

    def __init__(
        self, base: ServedModel, path: Path, most: int, *, read_only: bool = False
    ) -> None:
        self._base, self._path, self._most, self._read_only = base, path, most, read_only
        text = json.dumps(list(base.signatures.dimensions)).encode()
        self._dimensions = hashlib.sha256(text).hexdigest()
        self._lock = threading.Lock()
        self._log: EditLog | None = None
        self._settled = False  # whether the file is read once and for all
        self._problem = ""
        self._current = base
        self._rows: dict[Name, list[float]] = {}
        self._removed: set[Name] = set()
        self._n_edits = 0
        self.pace = Pace()
        if path.exists():
            self._open()
            self._catch_up()

    def at_once(self) -> ServedModel | None:
        """Return the newest model if there is nothing to read before; this never waits."""
        return None if self._is_behind() else self._current

    def newest(self) -> ServedModel:
        """Return the model with every change made so far, in this process or another."""
        if self._is_behind():
            with self._lock:
                try:
                    self._open()
                    self._catch_up()
                except (ZslearnError, OSError) as error:
                    self._complain(first_line(error))
        return self._current

    def put(self, name: Name, vector: list[float]) -> bool:
        """Add a class, or give it another signature; return whether it is new."""
        with self._lock, self._writing() as log:
            known = name in self._current.recognizer.names
            if not known and len(self._current.recognizer) >= self._limit:
                raise RequestError(
                    400, f"{self._most} classes were added, the limit here; remove some first."
                )
            self._add(log, {"name": name, "vector": vector})
        self._settle()
        return not known

    def remove(self, name: Name) -> None:
        """Remove a class."""
        with self._lock, self._writing() as log:
            if name not in self._current.recognizer.names:
                raise unknown_class(self._current, name)
            self._add(log, {"name": name, "vector": None})
        self._settle()

    def changed(self) -> set[Name]:
        """Return the names of the classes whose signature is not that of the model file."""
        return set(self._rows)

    def close(self) -> None:
        """Close the log."""
        with self._lock:
            if self._log is not None:
                self._log.close()
            self._log, self._settled = None, True

    @property
    def _limit(self) -> int:
        return len(self._base.recognizer) + self._most

    def _is_behind(self) -> bool:
        log = self._log
        if log is not None:
            return log.is_behind()
        return not self._settled and self._path.exists()

    def _open(self) -> None:
        """Open the log; a text file of an earlier version becomes one, and stays beside it."""
        if self._log is not None and not self._log.is_file():
            self._log.close()
            self._log = None
        if self._log is not None or self._settled:
            return
        facts = {"dimensions": self._dimensions}
        try:
            log = EditLog(self._path, LOG, facts, read_only=self._read_only)
        except NoDatabaseError:
            if self._read_only:
                self._settled = True
                self._apply(True, read_journal(self._path, facts))
                return
            take_over_journal(self._path, LOG, facts)
            log = EditLog(self._path, LOG, facts)
        if log.facts != facts:
            log.close()
            raise InvalidInputError(
                f"{self._path} holds classes with other dimensions than those of the model. Move "
                "it away, or serve the model that it belongs to."
            )
        self._log = log

    @contextmanager
    def _writing(self) -> Iterator[EditLog]:
        """Write behind everything that was written before, in this process or another."""
        try:
            self._open()
            log = self._log
            if log is None:
                raise RequestError(503, "the model was read again; try again.", retry_after=1)
            with log.writing():
                self._catch_up()
                yield log
        except BusyError as error:
            raise RequestError(503, "another change is being written.", retry_after=1) from error
        except (DamagedError, MissingFileError) as error:
            raise WriteError(self._path, OSError(first_line(error))) from error

    def _add(self, log: EditLog, edit: Edit) -> None:
        """Write a change, unless the recognizer refuses what it would give."""
        _applied(self._current.recognizer, edit)
        log.append(edit)

    def _settle(self) -> None:
        """Serve what was written, and write the log anew if it is much longer than need be."""
        self.newest()
        if self._n_edits <= len(self._rows) + len(self._removed) + SLACK:
            return
        try:
            with self._lock, self._writing() as log:
                log.rewrite(self._summary())
                self._n_edits = len(self._summary())
        except (ZslearnError, OSError) as error:  # the next change tries again
            logger.warning("%s could not be shortened: %s", self._path, first_line(error))

    def _catch_up(self) -> None:
        if self._log is not None:
            self._apply(*self._log.read_on())
            self._problem = ""

    def _apply(self, again: bool, edits: list[Edit]) -> None:
        """Apply changes that were read; all of them anew if the log was read anew."""
        if again:
            self._rows, self._removed, self._n_edits = {}, set(), 0
        elif not edits:
            return
        for edit in edits:
            self._note(edit)
        todo = self._summary() if again else edits
        recognizer = self._base.recognizer if again else self._current.recognizer
        for edit in todo:
            recognizer = _applied(recognizer, edit)
        self._current = self._base.with_recognizer(recognizer)

    def _note(self, edit: Edit) -> None:
        self._n_edits += 1
        name, vector = edit["name"], edit["vector"]
        if vector is not None:
            self._rows[name] = vector
            return
        self._rows.pop(name, None)
        if name in self._base.recognizer.names:
            self._removed.add(name)

    def _summary(self) -> list[Edit]:
        """Return as few changes as lead to the same classes in the same order."""
        # A class that was removed and came back stands last, so it is removed again first.
        return [
            *({"name": name, "vector": None} for name in sorted(self._removed, key=str)),
            *({"name": name, "vector": vector} for name, vector in self._rows.items()),
        ]

    def _complain(self, problem: str) -> None:
        """Say once that the log cannot be read; the classes before it stay."""
        if problem != self._problem:
            logger.error("%s", problem)
        self._problem = problem


def unknown_class(model: ServedModel, name: Name) -> RequestError:
    """Return the refusal of a name that is no class, with the closest that is one."""
    error = UnknownClassError(
        [name], model.recognizer.names.tolist(), "Correct the name, or add it by PUT."
    )
    return RequestError(404, str(error))


def _applied(recognizer: Recognizer, edit: Edit) -> Recognizer:
    name, vector = edit["name"], edit["vector"]
    if vector is not None:
        return recognizer.replace(name, vector)
    # A model that was trained anew may lack what was removed of the one before.
    return recognizer.without(name) if name in recognizer.names else recognizer


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
        self._changes = changes_path(settings, name)
        self._most, self._read_only = settings.limits.classes, settings.read_only
        self._served: ChangedModel | None = None
        self._stamp: tuple[int, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the model can be asked."""
        return self._served is not None

    def load(self) -> None:
        """Read the file; if it cannot be read, what was served before stays."""
        self.note_file()
        base, before = open_model(self.name, self.path), self._served
        self._served = ChangedModel(base, self._changes, self._most, read_only=self._read_only)
        if before is not None:
            before.close()

    def unload(self) -> None:
        """Stop serving it."""
        served, self._served = self._served, None
        if served is not None:
            served.close()

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
        """Open the encoders of samples, in the process that will use them."""
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
                    logger.info("read %s again", slot.path)
                except (ZslearnError, OSError) as error:
                    logger.error("%s as served before stays: %s", slot.name, first_line(error))

    def is_outdated(self) -> bool:
        """Say whether a file is another one than when it was last read."""
        return any(slot.is_outdated() for slot in self.slots.values())

    def close(self) -> None:
        """Close what the models hold open."""
        for slot in self.slots.values():
            slot.unload()

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
