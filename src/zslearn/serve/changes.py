"""A model as it is served, and what is changed of it meanwhile, on disk before all else."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
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
    ZslearnWarning,
)
from zslearn.persistence import load
from zslearn.serve.edit_log import (
    BusyError,
    DamagedError,
    Edit,
    EditLog,
    Kind,
    NoDatabaseError,
    packed,
    packed_phrases,
    read_journal,
    take_over_journal,
    unpacked,
    unpacked_phrases,
)
from zslearn.serve.responses import RequestError
from zslearn.serve.settings import Limits
from zslearn.serve.work import Pace
from zslearn.signatures import Signatures
from zslearn.signatures.phrases import Phrases
from zslearn.zero_shot import Recognizer
from zslearn.zero_shot.teaching import Teachable

VERSION = "1"
Name = str | int


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
    classifier : ZeroShotClassifier or None
        What the recognizer was made of, if it learns from single samples.
    encoder : LazyEncoder or None
        What turns pictures or texts into samples, if the model knows it.
    prepare : callable or None
        The steps of a pipeline before the classifier.
    """

    name: str
    method: str
    recognizer: Recognizer
    n_features: int
    classifier: Any = None
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

    @property
    def kappa(self) -> float | None:
        """How many examples a description is worth, if the model learns from examples."""
        return None if self.classifier is None else float(self.classifier.kappa_)

    def check_teachable(self) -> None:
        """Refuse examples for a model that learns nothing from single samples."""
        if self.classifier is None:
            raise InvalidInputError(
                f"{self.name} is a {self.method}, which learns nothing from single examples; "
                "PrototypeRegression does, which zslearn fit takes by default."
            )

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
        classifier if learns_from_examples(classifier) else None,
        None if identity is None else LazyEncoder(identity),
        partial(features_of, whole) if steps_before(whole) else None,
    )


def learns_from_examples(classifier: Any) -> bool:
    """Say whether a fitted classifier can be taught single samples."""
    return isinstance(classifier, Teachable) and hasattr(classifier, "kappa_")


LOG = Kind(0x7A736C63, "the log of classes", "move it away to serve the classes of the model file")
# Edits that a log may hold beyond those that lead to the same before it is written anew.
SLACK = 1000
logger = logging.getLogger("zslearn.serve")


@dataclass(frozen=True)
class Changes:
    """All changes of a model in one value.

    Attributes
    ----------
    rows : mapping of class to edit
        Those that gave it another signature than in the model file.
    removed : frozenset
        Classes of the model file that were removed, or came back.
    examples : mapping of class to tuple of edits
        Those that brought examples of it.
    """

    rows: Mapping[Name, Edit] = field(default_factory=dict)
    removed: frozenset[Name] = frozenset()
    examples: Mapping[Name, tuple[Edit, ...]] = field(default_factory=dict)

    def after(self, edits: Iterable[Edit], base: ServedModel) -> Changes:
        """Return the changes after more of them."""
        rows, removed, examples = dict(self.rows), set(self.removed), dict(self.examples)
        for edit in edits:
            name = edit["name"]
            if edit.get("examples"):
                examples[name] = (*examples.get(name, ()), edit)
            elif "examples" in edit:
                examples.pop(name, None)
            elif edit["vector"] is not None:
                rows[name] = edit
            else:
                rows.pop(name, None)
                examples.pop(name, None)
                if name in base.recognizer.names:
                    removed.add(name)
        return Changes(rows, frozenset(removed), examples)

    def summary(self) -> list[Edit]:
        """Return as few edits as lead to the same classes in the same order."""
        # A class that was removed and came back stands last, so it is removed again first.
        return [
            *({"name": name, "vector": None} for name in sorted(self.removed, key=str)),
            *self.rows.values(),
            *(edit for edits in self.examples.values() for edit in edits),
        ]

    def recognizer(self, base: ServedModel) -> Recognizer:
        """Return the recognizer of a model with these changes."""
        described = base.recognizer
        for edit in self.summary():
            described = _described(described, edit)
        return _taught(base, described, self.examples) if self.examples else described


def _described(recognizer: Recognizer, edit: Edit) -> Recognizer:
    """Return a recognizer with a class added, changed or removed; examples are not for it."""
    if "examples" in edit:
        return recognizer
    name, vector, told = edit["name"], edit["vector"], edit.get("phrases")
    if vector is not None:
        phrases = None if told is None else unpacked_phrases(told, len(vector))
        return recognizer.replace(name, vector, phrases=phrases)
    # A model that was trained anew may lack what was removed of the one before.
    return recognizer.without(name) if name in recognizer.names else recognizer


def _taught(
    base: ServedModel, described: Recognizer, examples: Mapping[Name, tuple[Edit, ...]]
) -> Recognizer:
    """Return a recognizer of the same classes, and of those that only have examples."""
    base.check_teachable()
    table, known = described.signatures, base.signatures
    # Training classes that were removed are still needed, but are no candidates.
    seen = known.names[base.recognizer.seen].tolist()
    gone = {name: known[name] for name in seen if name not in table}
    twin = base.classifier.with_signatures(table.append(gone) if gone else table)
    parts = {name: _features(base, edits) for name, edits in examples.items()}
    X = np.concatenate(list(parts.values()))
    y = np.repeat(np.array(list(parts)), [len(part) for part in parts.values()])
    with warnings.catch_warnings():
        # Of names that are like others; an answer says when a class is new.
        warnings.simplefilter("ignore", ZslearnWarning)
        twin.partial_fit(X if base.prepare is None else base.prepare(X), y)
    return twin.recognizer([*table, *(name for name in parts if name not in table)])


def _features(base: ServedModel, edits: tuple[Edit, ...]) -> NDArray[np.float32]:
    """Return the examples in edits, if they fit the model."""
    if any(edit.get("encoder") != _encoder_of(base) for edit in edits):
        raise InvalidInputError(
            f"{base.name}: examples were added of other features than the model takes; "
            f"{LOG.remedy}, or serve the model that they belong to."
        )
    return np.concatenate([unpacked(edit["examples"], base.n_features) for edit in edits])


def _encoder_of(base: ServedModel) -> str | None:
    return None if base.encoder is None else base.encoder.identity.sha256


class ChangedModel:
    """A model as its file has it, with the changes of its classes; any thread may use it.

    Parameters
    ----------
    base : ServedModel
        As the model file has it.
    path : Path
        The log of the changes; made by the first of them.
    limits : Limits
        How many classes and examples may be added.
    read_only : bool
        Whether nothing is changed.

    Attributes
    ----------
    pace : Pace
        What small requests cost lately.
    """

    def __init__(
        self, base: ServedModel, path: Path, limits: Limits, *, read_only: bool = False
    ) -> None:
        self._base, self._path, self._limits, self._read_only = base, path, limits, read_only
        text = json.dumps(list(base.signatures.dimensions)).encode()
        self._path_text = str(path)
        self._dimensions = hashlib.sha256(text).hexdigest()
        self._lock = threading.Lock()
        self._log: EditLog | None = None
        self._settled = False  # whether the file is read once and for all
        self._problem = ""
        self._current = base
        self._changes = Changes()
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

    def put(self, name: Name, vector: list[float], phrases: Phrases | None = None) -> bool:
        """Add a class, or give it another signature; return whether it is new."""
        edit: Edit = {"name": name, "vector": vector}
        if phrases is not None:
            edit["phrases"] = packed_phrases(phrases)
        with self._lock, self._writing() as log:
            known = self._check_room(name)
            self._add(log, edit)
        self._settle()
        return not known

    def teach(self, name: Name, X: NDArray[Any]) -> bool:
        """Add examples of a class, known or not; return whether it is new."""
        self._base.check_teachable()
        edit = {"name": name, "examples": packed(X), "encoder": _encoder_of(self._base)}
        with self._lock, self._writing() as log:
            known = self._check_room(name)
            n = sum(map(self.n_examples, self._changes.examples))
            if n + len(X) > self._limits.examples:
                raise RequestError(
                    400,
                    f"{n} examples were added and {self._limits.examples} is the limit here; "
                    "remove some first, or fit the model again with them.",
                )
            self._add(log, edit)
        self._settle()
        return not known

    def forget(self, name: Name) -> None:
        """Take back the examples of a class; one that is known by them alone is gone."""
        with self._lock, self._writing() as log:
            if name not in self._changes.examples:
                raise RequestError(404, f"no examples of {name!s:.80} were added.")
            self._add(log, {"name": name, "examples": None})
        self._settle()

    def remove(self, name: Name) -> None:
        """Remove a class, and its examples."""
        with self._lock, self._writing() as log:
            if name not in self._current.recognizer.names:
                raise unknown_class(self._current, name)
            self._add(log, {"name": name, "vector": None})
        self._settle()

    def changed(self) -> set[Name]:
        """Return the names of the classes that are not as the model file has them."""
        return {*self._changes.rows, *self._changes.examples}

    def n_examples(self, name: Name) -> int:
        """Return how many examples of a class were added."""
        texts = (edit["examples"] for edit in self._changes.examples.get(name, ()))
        # Of four letters in base64 three are bytes; the last ones may only fill up.
        return sum(len(text.rstrip("=")) * 3 // 4 // (4 * self._base.n_features) for text in texts)

    def close(self) -> None:
        """Close the log."""
        with self._lock:
            if self._log is not None:
                self._log.close()
            self._log, self._settled = None, True

    def _is_behind(self) -> bool:
        log = self._log
        if log is not None:
            return log.is_behind()
        # In 0.4 of the time of `exists`.
        return not self._settled and os.access(self._path_text, os.F_OK)

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

    def _check_room(self, name: Name) -> bool:
        """Say whether a class is known; refuse one more than may be added."""
        known, most = name in self._current.recognizer.names, self._limits.classes
        if not known and len(self._current.recognizer) >= len(self._base.recognizer) + most:
            raise RequestError(
                400, f"{most} classes were added, the limit here; remove some first."
            )
        return bool(known)

    def _add(self, log: EditLog, edit: Edit) -> None:
        """Write a change, unless the model refuses what it would give."""
        self._recognizer([edit])
        log.append(edit)

    def _settle(self) -> None:
        """Serve what was written, and write the log anew if it is much longer than need be."""
        self.newest()
        if self._n_edits <= len(self._changes.summary()) + SLACK:
            return
        try:
            with self._lock, self._writing() as log:
                log.rewrite(self._changes.summary())
                self._n_edits = len(self._changes.summary())
        except (ZslearnError, OSError) as error:  # the next change tries again
            logger.warning("%s could not be shortened: %s", self._path, first_line(error))

    def _catch_up(self) -> None:
        if self._log is not None:
            self._apply(*self._log.read_on())
            self._problem = ""

    def _apply(self, again: bool, edits: list[Edit]) -> None:
        """Apply changes that were read; all of them anew if the log was read anew."""
        if again:
            self._changes, self._n_edits = Changes().after(edits, self._base), len(edits)
            recognizer = self._changes.recognizer(self._base)
        elif edits:
            recognizer = self._recognizer(edits)
            self._changes = self._changes.after(edits, self._base)
            self._n_edits += len(edits)
        else:
            return
        self._current = self._base.with_recognizer(recognizer)

    def _recognizer(self, edits: list[Edit]) -> Recognizer:
        """Return the recognizer after more changes; without examples, one class costs little."""
        after = self._changes.after(edits, self._base)
        if after.examples or self._changes.examples:
            return after.recognizer(self._base)
        recognizer = self._current.recognizer
        for edit in edits:
            recognizer = _described(recognizer, edit)
        return recognizer

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
