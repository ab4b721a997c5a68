"""What a class table must be, and the messages when it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.core.rows import unmasked
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean
from zslearn.signatures.phrases import Phrases

FloatArray = NDArray[np.float64]


def listed(items: Iterable[object], limit: int = 5) -> str:
    """List the first few items, and how many more there are."""
    every = list(items)
    more = f" and {len(every) - limit} more" if len(every) > limit else ""
    return ", ".join(repr(item) for item in every[:limit]) + more


def label_list(labels: Any) -> list[Any]:
    """Return a one-dimensional array-like of labels as a list of Python values."""
    if isinstance(labels, str | bytes) or not hasattr(labels, "__iter__"):
        raise InvalidTypeError(
            f"Expected a sequence of class labels; got {labels!r}. Put a single one in a list."
        )
    if getattr(labels, "ndim", 1) != 1:
        raise InvalidInputError(
            f"Expected labels of shape (n_labels,); got shape {labels.shape}. Use ravel()."
        )
    if hasattr(labels, "tolist"):
        labels = unmasked(labels, "the labels").tolist()
    values: list[Any] = list(labels)
    nested = {kind for kind in set(map(type, values)) if kind.__hash__ is None}
    if nested:
        label = next(label for label in values if type(label) in nested)
        raise InvalidTypeError(f"Expected class labels that are text or integers; got {label!r}.")
    return values


def wanted_labels(labels: Any) -> list[Any]:
    """Return labels to look up; True and False are not the classes 1 and 0."""
    values = label_list(labels)
    if bool in set(map(type, values)):
        raise InvalidTypeError(
            "Class labels are text or integers; got True or False. Use the names of the table."
        )
    return values


def checked_names(names: Iterable[Any]) -> NDArray[Any]:
    """Return class names as an array of text or of int64."""
    labels = label_list(names)
    if not labels:
        raise InvalidInputError("The table is empty: it needs at least one class but got none.")
    kinds = set(map(_kind, set(map(type, labels))))
    if kinds == {"str"}:
        check_text(labels, "class name")
    elif kinds != {"int"}:
        raise InvalidTypeError(
            f"Class names must be all text or all integers; got {' and '.join(sorted(kinds))}. "
            "Convert them, for example with str."
        )
    _check_distinct(labels, "class names", "Keep one row per class.")
    try:
        return np.array(labels, dtype=str if kinds == {"str"} else np.int64)
    except OverflowError as error:
        raise InvalidInputError(
            "A class number does not fit in 64 bits; use text as class names instead."
        ) from error


def checked_vectors(vectors: ArrayLike, labels: Sequence[object]) -> FloatArray:
    """Return a float64 copy of shape (n_classes, n_dimensions)."""
    vectors = unmasked(vectors, "vectors")
    try:
        values = np.asarray(vectors)
    except ValueError as error:
        raise InvalidInputError(_ragged(vectors, labels)) from error
    if values.ndim != 2:
        raise InvalidInputError(
            f"vectors must have shape (n_classes, n_dimensions); got {values.shape}."
        )
    if len(values) != len(labels):
        raise InvalidInputError(
            f"{len(labels)} class names but {len(values)} vectors; give one vector per class."
        )
    if values.shape[1] == 0:
        raise InvalidInputError("The vectors have zero dimensions; give at least one.")
    if values.dtype.kind not in "biuf":
        _check_numeric(np.asarray(vectors, dtype=object), labels)
    return np.array(values, dtype=np.float64, order="C")


def checked_dimensions(dimensions: Sequence[str] | None, n_dimensions: int) -> tuple[str, ...]:
    """Return the names of the dimensions."""
    if dimensions is None:
        return tuple(f"d{i}" for i in range(n_dimensions))
    names = [str(name) if isinstance(name, str) else name for name in label_list(dimensions)]
    if len(names) != n_dimensions:
        raise InvalidInputError(
            f"{len(names)} dimension names but vectors of length {n_dimensions}; they must agree."
        )
    check_text(names, "dimension name")
    _check_distinct(names, "dimension names", "Rename them; in a file, is the header missing?")
    return tuple(names)


def check_text(texts: Sequence[object], what: str) -> None:
    """Refuse what is not text, and text that no file can hold."""
    if _can_be_stored(texts):
        return
    for text in texts:
        if not isinstance(text, str):
            raise InvalidTypeError(f"A {what} must be text; got {text!r}. Convert it with str.")
        if "\0" in text or text != text.encode(errors="ignore").decode():
            raise InvalidInputError(
                f"The {what} {text!r} holds a NUL or half a character and cannot be stored."
            )


def _can_be_stored(texts: Sequence[object]) -> bool:
    """Say whether all are text of whole characters without NUL, in one look at all of them."""
    try:
        together = "".join(texts).encode()  # type: ignore[arg-type]
    except (TypeError, UnicodeEncodeError):
        return False
    return b"\0" not in together


def check_finite(vectors: FloatArray, labels: Sequence[object], dimensions: Sequence[str]) -> None:
    """Refuse NaN and infinity, naming the first."""
    finite = np.isfinite(vectors)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise InvalidInputError(
            f"Class {labels[row]!r} has the value {vectors[row, column]} in dimension "
            f"{dimensions[column]!r} ({(~finite).sum()} such values in all). Fill them in or drop "
            "the class."
        )


def ordered_row(name: object, row: Any, dimensions: Sequence[str]) -> list[Any]:
    """Return the values of ``{dimension: value}`` in the order of `dimensions`."""
    if not isinstance(row, Mapping):
        raise InvalidTypeError(
            f"Class {name!r} is a {type(row).__name__} where others are {{dimension: value}}; "
            "give all classes in the same form."
        )
    differing = set(row) ^ set(dimensions)
    if differing:
        raise InvalidInputError(
            f"Class {name!r} must have the same dimensions as the others; missing or extra: "
            f"{listed(sorted(differing, key=str))}."
        )
    return [row[dimension] for dimension in dimensions]


def checked_encoder(encoder: Any) -> Mapping[str, Any] | None:
    """Return the identity of a text encoder, which must have a name and a checksum."""
    if encoder is None:
        return None
    known = isinstance(encoder, Mapping) and all(
        isinstance(encoder.get(key), str) for key in ("model", "sha256")
    )
    if not known:
        raise InvalidTypeError(
            f"encoder must be what EncoderIdentity.as_dict() gives, or None; got {encoder!r:.80}."
        )
    return MappingProxyType(dict(encoder))


def checked_texts(texts: Any, labels: Sequence[object]) -> dict[Any, tuple[str, ...]]:
    """Return the texts of classes, each of which must be in the table."""
    if not isinstance(texts, Mapping):
        raise InvalidTypeError(f"texts must be {{class: texts}}; got {type(texts).__name__}.")
    strange = set(texts) - set(labels)
    if strange:
        raise InvalidInputError(f"texts names {strange.pop()!r}, which is none of the classes.")
    found = {
        name: (given,) if isinstance(given, str) else tuple(given) for name, given in texts.items()
    }
    for given in found.values():
        check_text(given, "text of a class")
    return found


def checked_phrases(
    phrases: Any, labels: Sequence[object], n_dimensions: int
) -> dict[Any, Phrases]:
    """Return the phrases of classes and their vectors, read-only."""
    if not isinstance(phrases, Mapping):
        raise InvalidTypeError(f"phrases must be {{class: Phrases}}; got {type(phrases).__name__}.")
    strange = set(phrases) - set(labels)
    if strange:
        raise InvalidInputError(f"phrases names {strange.pop()!r}, which is none of the classes.")
    found = {}
    for name, (words, vectors) in phrases.items():
        check_text(words, "phrase of a class")
        rows = np.array(vectors, dtype=np.float32)
        if rows.shape != (len(words), n_dimensions) or not np.isfinite(rows).all():
            raise InvalidInputError(
                f"Class {name!r} has {len(words)} phrases, which need as many finite vectors of "
                f"length {n_dimensions}; got an array of shape {rows.shape}."
            )
        rows.flags.writeable = False
        found[name] = Phrases(tuple(words), rows)
    return found


def check_new_rows(rows: Mapping[Any, Any], n_dimensions: int) -> None:
    """Refuse new vectors whose length differs from that of the table."""
    for name, row in rows.items():
        if not isinstance(row, Mapping) and np.shape(row) != (n_dimensions,):
            raise InvalidInputError(
                f"Class {name!r} has a vector of shape {np.shape(row)}; the table needs "
                f"{(n_dimensions,)}."
            )


def matching_columns(ours: tuple[str, ...], theirs: tuple[str, ...]) -> list[int]:
    """Return where in another table our dimensions are, by name; refuse one that lacks or adds."""
    place = {name: column for column, name in enumerate(theirs)}
    lacking = next((name for name in ours if name not in place), None)
    if lacking is not None:
        hint = did_you_mean(lacking, theirs, "; the closest of theirs is {!r}")
        raise InvalidInputError(f"The new classes lack the dimension {lacking!r}{hint}.")
    added = next((name for name in theirs if name not in ours), None)
    if added is not None:
        raise InvalidInputError(
            f"The new classes have the dimension {added!r}, which the table does not have. Leave "
            "it out."
        )
    return [place[name] for name in ours]


def check_same_classes(ours: Iterable[object], theirs: Iterable[object]) -> None:
    """Refuse two tables that are not about the same classes."""
    here, there = dict.fromkeys(ours), dict.fromkeys(theirs)
    lacking = {
        "second": [name for name in here if name not in there],
        "first": [name for name in there if name not in here],
    }
    parts = [f"the {which} lacks {listed(names)}" for which, names in lacking.items() if names]
    if parts:
        raise InvalidInputError(
            f"Both tables must have the same classes: {'; '.join(parts)}. Use subset or append."
        )


def _kind(label: type) -> str:
    """Name the kind of a type of labels; numpy's integers and texts count as Python's."""
    if issubclass(label, bool | np.bool_):
        return "bool"
    if issubclass(label, str):
        return "str"
    return "int" if issubclass(label, int | np.integer) else label.__name__


def _check_distinct(values: Sequence[object], what: str, remedy: str) -> None:
    """Refuse values that occur twice."""
    if len(set(values)) != len(values):
        twice = [value for value, count in Counter(values).items() if count > 1]
        raise InvalidInputError(f"Duplicate {what}: {listed(twice)}. {remedy}")


def _check_numeric(values: NDArray[Any], labels: Sequence[object]) -> None:
    """Refuse a cell that is not a real number, naming it."""
    for (row, column), cell in np.ndenumerate(values):
        if isinstance(cell, str | complex) or not _is_number(cell):
            raise InvalidTypeError(
                f"Class {labels[row]!r} has {cell!r} in column {column}, which is not a number."
            )


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _ragged(vectors: Any, labels: Sequence[object]) -> str:
    """Say which row is longer or shorter than the first."""
    shapes = [np.shape(row) for row in vectors]
    for label, shape in zip(labels, shapes, strict=False):
        if shape != shapes[0]:
            return (
                f"All vectors must have the same length; class {labels[0]!r} has shape "
                f"{shapes[0]} and class {label!r} has {shape}."
            )
    return "All vectors must have the same length."
