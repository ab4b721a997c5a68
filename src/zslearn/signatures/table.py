"""Signatures: the immutable table of classes and their semantic vectors.

Below the class are the two things it computes: the blocks of semantic spaces that lie side by side,
and the scale of dimensions over the seen classes. What a table must be is in `checks`, its forms
outside (files, frames) in `files`, and rows for classes nobody has measured in `new_classes`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._files import naming
from zslearn._parameters import check_flags
from zslearn.exceptions import (
    ImmutableError,
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
)
from zslearn.signatures import checks, files
from zslearn.signatures.new_classes import NewClasses, unit_length
from zslearn.signatures.phrases import Phrases

Label = str | int
FloatArray = NDArray[np.float64]

NORMALIZATIONS = ("l2", "l2-block", "zscore-seen", "minmax-seen")


class Signatures(NewClasses):
    """The semantic vector of every class: names × vectors, never changed once made.

    Methods that change something return a new table. Copying returns the table itself, so
    ``sklearn.base.clone`` of an estimator that holds one costs nothing.

    Parameters
    ----------
    names : sequence of str or of int, length n_classes
        Class labels, each once; all text or all integers.
    vectors : array-like of shape (n_classes, n_dimensions)
        One finite vector per class. A float64 copy is kept.
    dimensions : sequence of str, length n_dimensions, default=None
        Names of the dimensions, each once; ``"d0", "d1", ...`` when not given.
    blocks : mapping of str to slice, default=None
        The semantic spaces that lie side by side, in order and covering every dimension; one
        block called ``"semantics"`` when not given.
    encoder : mapping, default=None
        What made the vectors from texts, as ``EncoderIdentity.as_dict()`` gives it; new classes
        can then be given by a text.
    texts : mapping of label to sequence of str, default=None
        The texts of classes; some may have none.
    phrases : mapping of label to Phrases, default=None
        What can be left out of the texts of a class, and the vectors without it, as `from_texts`
        makes them.

    Attributes
    ----------
    names : ndarray of shape (n_classes,)
        Class labels, read-only.
    vectors : ndarray of shape (n_classes, n_dimensions)
        Semantic vectors, float64, read-only.
    dimensions : tuple of str
        Names of the dimensions.
    blocks : mapping of str to slice
        Columns of each semantic space, read-only.
    encoder : mapping or None
        Identity of the text encoder that made the vectors; None if another thing did.
    texts : mapping of label to tuple of str
        The texts the vectors were made from, read-only.
    phrases : mapping of label to Phrases
        Parts of these texts, and what a class would be without them, read-only.

    Examples
    --------
    >>> from zslearn.signatures import Signatures
    >>> vectors = [[1, 1, 0], [0, 1, 1]]
    >>> animals = Signatures(["zebra", "otter"], vectors, ["stripes", "tail", "swims"])
    >>> animals
    Signatures(2 classes × 3 dimensions: zebra, otter)
    >>> animals["otter"]
    array([0., 1., 1.])
    >>> animals.index_of(["otter", "otter", "zebra"])
    array([1, 1, 0])
    >>> animals.append({"okapi": {"stripes": 0.5, "tail": 1, "swims": 0}})
    Signatures(3 classes × 3 dimensions: zebra, otter, ...)
    """

    __slots__ = (
        "_in_order",
        "_row_of",
        "blocks",
        "dimensions",
        "encoder",
        "names",
        "phrases",
        "texts",
        "vectors",
    )

    names: NDArray[Any]
    vectors: FloatArray
    dimensions: tuple[str, ...]
    blocks: Mapping[str, slice]
    encoder: Mapping[str, Any] | None
    texts: Mapping[Label, tuple[str, ...]]
    phrases: Mapping[Label, Phrases]
    _row_of: dict[Label, int]
    _in_order: tuple[NDArray[Any], NDArray[np.intp]]

    def __init__(
        self,
        names: Iterable[Any],
        vectors: ArrayLike,
        dimensions: Sequence[str] | None = None,
        *,
        blocks: Mapping[str, slice] | None = None,
        encoder: Mapping[str, Any] | None = None,
        texts: Mapping[Any, Sequence[str]] | None = None,
        phrases: Mapping[Any, Phrases] | None = None,
    ) -> None:
        checked = checks.checked_names(names)
        labels = checked.tolist()
        matrix = checks.checked_vectors(vectors, labels)
        columns = checks.checked_dimensions(dimensions, matrix.shape[1])
        checks.check_finite(matrix, labels, columns)
        parts = {
            "names": checked,
            "vectors": matrix,
            "dimensions": columns,
            "blocks": MappingProxyType(_checked_blocks(blocks, len(columns))),
            "encoder": checks.checked_encoder(encoder),
            "texts": MappingProxyType(checks.checked_texts(texts or {}, labels)),
            "phrases": MappingProxyType(
                checks.checked_phrases(phrases or {}, labels, matrix.shape[1])
            ),
            "_row_of": {label: row for row, label in enumerate(labels)},
        }
        for array in (checked, matrix):
            array.flags.writeable = False
        for attribute, value in parts.items():
            object.__setattr__(self, attribute, value)

    @classmethod
    def from_dict(
        cls, table: Mapping[Any, Any], dimensions: Sequence[str] | None = None
    ) -> Signatures:
        """Make a table from ``{name: vector}`` or ``{name: {dimension: value}}``.

        Parameters
        ----------
        table : mapping
            One item per class. Rows that are mappings must all have the same dimensions; their
            order is that of `dimensions`, or of the first row.
        dimensions : sequence of str, default=None
            Names of the dimensions.

        Examples
        --------
        >>> Signatures.from_dict({"zebra": {"stripes": 1, "swims": 0}}).dimensions
        ('stripes', 'swims')
        """
        rows = list(table.values())
        if any(isinstance(row, Mapping) for row in rows):
            dimensions = tuple(rows[0]) if dimensions is None else tuple(dimensions)
            rows = [checks.ordered_row(name, row, dimensions) for name, row in table.items()]
        return cls(table.keys(), rows, dimensions)

    @classmethod
    def from_frame(cls, frame: Any) -> Signatures:
        """Make a table from a pandas DataFrame: index = classes, columns = dimensions."""
        return cls(*files.read_frame(frame))

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], *, int_names: bool = False) -> Signatures:
        """Read a table of classes: a header line, then one line per class with its name first.

        Columns of yes and no, true and false, or x and nothing become 1 and 0. Without a header the
        dimensions are called d0, d1 and so on.

        Parameters
        ----------
        path : path-like
            File to read, as CSV or in another form that `load_features` reads. The header names the
            dimensions; its first cell is ignored. Blanks around names are dropped, and two classes
            that differ in capitals only are refused.
        int_names : bool, default=False
            Read the names as integers; a CSV file cannot distinguish the class ``7`` from
            ``"7"``, and keeps no blocks. `from_npz` does both, ten times as fast.
        """
        check_flags(int_names=int_names)
        with naming(path):
            names, vectors, dimensions, _ = files.read_classes(path, int_names=int_names)
            return cls(names, vectors, dimensions)

    @classmethod
    def from_npz(cls, path: str | os.PathLike[str]) -> Signatures:
        """Read an ``.npz`` file with the arrays ``names`` and ``vectors``; nothing is unpickled.

        ``dimensions``, ``block_names``, ``block_stops`` and ``wording``, which `to_npz` writes, may
        be missing.
        """
        with naming(path):
            names, vectors, dimensions, parts = files.read_npz(path)
            return cls(names, vectors, dimensions, **parts)

    @classmethod
    def one_hot(cls, labels: Iterable[Any]) -> Signatures:
        """Give every label its own dimension: the identity matrix, named by the labels.

        Examples
        --------
        >>> Signatures.one_hot(["cat", "dog"])["dog"]
        array([0., 1.])
        """
        names = checks.checked_names(labels)
        return cls(names, np.eye(len(names)), [str(name) for name in names])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write names, dimensions and vectors as CSV; the numbers come back exactly."""
        files.write_csv(path, self.names.tolist(), self.vectors, self.dimensions)

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write everything, blocks too, as an uncompressed ``.npz`` file that needs no pickle."""
        wording = files.wording_of(self.encoder, self.texts, self.phrases)
        files.write_npz(path, self.names, self.vectors, self.dimensions, self.blocks, **wording)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: index = classes, columns = dimensions."""
        return files.make_frame(self.names, self.vectors, self.dimensions)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of classes and of dimensions."""
        return len(self.names), len(self.dimensions)

    @property
    def n_dimensions(self) -> int:
        """Length of a vector."""
        return len(self.dimensions)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._row_of)

    def __contains__(self, name: object) -> bool:
        return name in self._row_of and not isinstance(name, bool | np.bool)

    def __getitem__(self, name: Label) -> FloatArray:
        """Return the vector of one class, of shape (n_dimensions,)."""
        if not isinstance(name, str | int | np.integer):
            raise InvalidTypeError(
                f"signatures[...] takes one class name; got {type(name).__name__}. "
                "Use rows(labels) for an array or subset(names) for a smaller table."
            )
        if name not in self:
            raise UnknownClassError([name], list(self))
        return self.vectors[self._row_of[name]]

    def index_of(self, labels: ArrayLike) -> NDArray[np.intp]:
        """Return the row of every label.

        Parameters
        ----------
        labels : array-like of shape (n_labels,)
            Class names, in any order and any number.

        Returns
        -------
        ndarray of shape (n_labels,)
            Positions in `names`.
        """
        wanted = checks.wanted_labels(labels)
        # One hash lookup per label: as fast as searchsorted, and free of dtype traps.
        look_up = self._row_of.get
        rows = np.fromiter((look_up(label, -1) for label in wanted), np.intp, len(wanted))
        missing = np.flatnonzero(rows < 0)
        if missing.size:
            raise UnknownClassError(list(dict.fromkeys(wanted[i] for i in missing)), list(self))
        return rows

    def in_order(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the class names sorted, and the row of each; kept, since a table never changes.

        Returns
        -------
        names : ndarray of shape (n_classes,)
            `names` itself if they are sorted; read-only.
        rows : ndarray of shape (n_classes,)
            Positions in `names`, read-only.

        Examples
        --------
        >>> Signatures.one_hot(["dog", "cat"]).in_order()
        (array(['cat', 'dog'], dtype='<U3'), array([1, 0]))
        """
        if not hasattr(self, "_in_order"):
            rows = np.argsort(self.names, kind="stable")
            in_order = np.array_equal(rows, np.arange(len(rows)))
            names = self.names if in_order else self.names[rows]
            for array in (names, rows):
                array.flags.writeable = False
            object.__setattr__(self, "_in_order", (names, rows))
        return self._in_order

    def rows(self, labels: ArrayLike) -> FloatArray:
        """Return the vector of every label, of shape (n_labels, n_dimensions)."""
        return self.vectors[self.index_of(labels)]

    def subset(self, names: ArrayLike) -> Signatures:
        """Return only these classes, in the order given."""
        rows = self.index_of(names)
        return self._replace(names=self.names[rows], vectors=self.vectors[rows])

    def drop(self, names: ArrayLike) -> Signatures:
        """Return every class but these, in the same order."""
        keep = np.delete(np.arange(len(self)), self.index_of(names))
        return self._replace(names=self.names[keep], vectors=self.vectors[keep])

    def renamed(self, mapping: Mapping[Any, Any]) -> Signatures:
        """Return the table with the classes in `mapping`, ``{old: new}``, under their new names.

        Examples
        --------
        >>> Signatures.one_hot(["polar+bear", "seal"]).renamed({"polar+bear": "polar bear"})
        Signatures(2 classes × 2 dimensions: polar bear, seal)
        """
        self.index_of(list(mapping))
        texts = {mapping.get(name, name): given for name, given in self.texts.items()}
        phrases = {mapping.get(name, name): told for name, told in self.phrases.items()}
        names = [mapping.get(name, name) for name in self]
        return self._replace(names=names, texts=texts, phrases=phrases)

    def append(self, other: Signatures | Mapping[Any, Any]) -> Signatures:
        """Return the table with new classes added at the end.

        Parameters
        ----------
        other : Signatures, DataFrame or mapping
            New classes with the same dimensions in any order, or what `from_dict` takes.
        """
        other = files.read_if_frame(other, Signatures.from_frame)
        if not isinstance(other, Signatures):
            checks.check_new_rows(other, self.n_dimensions)
            other = Signatures.from_dict(other, self.dimensions)
        columns = checks.matching_columns(self.dimensions, other.dimensions)
        known = [name for name in other if name in self]
        if known:
            raise InvalidInputError(
                f"These classes already have a signature: {checks.listed(known)}. "
                "Drop them first or give the new classes other names."
            )
        return self._replace(
            names=[*self, *other],
            vectors=np.concatenate([self.vectors, other.vectors[:, columns]]),
            texts={**self.texts, **other.texts},
            phrases={
                **self.phrases,
                **{
                    name: told._replace(vectors=told.vectors[:, columns])
                    for name, told in other.phrases.items()
                },
            },
        )

    def join(
        self, other: Signatures, names: tuple[str, str] = ("attributes", "word vectors")
    ) -> Signatures:
        """Put a second semantic space of the same classes next to this one.

        Parameters
        ----------
        other : Signatures or DataFrame
            The same classes, in any order.
        names : pair of str
            Block names of this table and of `other`. A table that already has several blocks
            keeps their names. Dimensions that both tables have get their block's name in front.

        Examples
        --------
        >>> attributes = Signatures(["cat", "dog"], [[1], [0]], ["purrs"])
        >>> words = Signatures(["dog", "cat"], [[0.1, 0.2], [0.3, 0.4]])
        >>> both = attributes.join(words)
        >>> both["cat"], both.blocks["word vectors"]
        (array([1. , 0.3, 0.4]), slice(1, 3, None))
        """
        other = files.read_if_frame(other, Signatures.from_frame)
        checks.check_same_classes(self, other)
        mine = list(self.blocks) if len(self.blocks) > 1 else [names[0]]
        theirs = list(other.blocks) if len(other.blocks) > 1 else [names[1]]
        both = set(mine) & set(theirs)
        if both:
            raise InvalidInputError(
                f"Both tables would have a block {checks.listed(both)}. Pass names=, two "
                "different names."
            )
        # The columns of the other table move right by the width of this one.
        width = self.n_dimensions
        moved = [
            slice(columns.start + width, columns.stop + width) for columns in other.blocks.values()
        ]
        blocks = dict(zip([*mine, *theirs], [*self.blocks.values(), *moved], strict=True))
        every = self.dimensions + other.dimensions
        shared = set(self.dimensions) & set(other.dimensions)
        dimensions = [
            f"{name}: {dimension}" if dimension in shared else dimension
            for name, columns in blocks.items()
            for dimension in every[columns]
        ]
        vectors = np.hstack([self.vectors, other.rows(self.names)])
        return Signatures(self.names, vectors, dimensions, blocks=blocks)

    def normalized(self, how: str, seen: ArrayLike | None = None) -> Signatures:
        """Return the table with its vectors on a common scale.

        Parameters
        ----------
        how : {"l2", "l2-block", "zscore-seen", "minmax-seen"}
            Unit length of every vector, or of every vector in each block; zero mean and unit
            deviation, or the range 0 to 1, of every dimension over the classes in `seen`. A
            dimension that is constant over them is only centered.
        seen : array-like of labels, default=None
            The classes with training samples, each counted once however often it is named. The
            two "-seen" ways need it, so that nothing is learned from unseen classes; the others
            do not look at it.

        Examples
        --------
        >>> Signatures(["cat", "dog"], [[3, 4], [0, 2]]).normalized("l2").vectors
        array([[0.6, 0.8],
               [0. , 1. ]])
        """
        rows = np.unique(self.index_of([] if seen is None else seen))
        if how not in NORMALIZATIONS:
            known = ", ".join(NORMALIZATIONS)
            raise InvalidInputError(f"how={how!r} is not a normalization; choose {known}.")
        if how.endswith("-seen") and len(rows) == 0:
            raise InvalidInputError(
                f"how={how!r} measures the seen classes but got none. Pass seen=, the labels of "
                "the classes with training samples."
            )
        if how.endswith("-seen"):
            measure = _zscore if how == "zscore-seen" else _minmax
            center, spread = measure(self.vectors[rows])
            with np.errstate(over="ignore"):  # the new table names a class that overflows
                # A text that is encoded later would not be on this scale.
                scaled = (self.vectors - center) / spread
                return self._replace(vectors=scaled, encoder=None, phrases={})
        blocks = self.blocks if how == "l2-block" else {}
        # Phrases are those of vectors of unit length, which texts have already.
        phrases = self.phrases if len(blocks) < 2 else {}
        return self._replace(vectors=unit_length(self.vectors, self.names, blocks), phrases=phrases)

    def _replace(self, **changes: Any) -> Signatures:
        """Return the table with some of its parts replaced."""
        parts = {
            "names": self.names,
            "vectors": self.vectors,
            "encoder": self.encoder,
            "texts": self.texts,
            "phrases": self.phrases,
        } | changes
        kept = set(checks.label_list(parts["names"]))
        for part in ("texts", "phrases"):
            parts[part] = {name: given for name, given in parts[part].items() if name in kept}
        return Signatures(**parts, dimensions=self.dimensions, blocks=self.blocks)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ImmutableError(
            f"Signatures never change, so {name!r} cannot be set. Make a new table with subset, "
            "drop, append, join, renamed or normalized."
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise ImmutableError(f"Signatures never change, so {name!r} cannot be deleted.")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        encoder = None if self.encoder is None else dict(self.encoder)
        parts = (self.names, self.vectors, self.dimensions, dict(self.blocks))
        return _rebuild, (*parts, encoder, dict(self.texts), dict(self.phrases))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Signatures):
            return NotImplemented
        return (
            list(self) == list(other)
            and self.dimensions == other.dimensions
            and list(self.blocks.items()) == list(other.blocks.items())
            and np.array_equal(self.vectors, other.vectors)
        )

    def __hash__(self) -> int:
        return hash((tuple(self), self.dimensions, tuple(self.vectors[0].tolist())))

    def _repr_html_(self) -> str:
        return files.make_html(repr(self), self.names, self.vectors, self.dimensions)

    def __repr__(self) -> str:
        classes, dimensions = self.shape
        first = ", ".join(f"{name!s:.40}" for name in self.names[:2])
        more = ", ..." if classes > 2 else ""
        return (
            f"Signatures({classes} class{'es' * (classes > 1)} × "
            f"{dimensions} dimension{'s' * (dimensions > 1)}: {first}{more})"
        )


def _rebuild(
    names: NDArray[Any],
    vectors: FloatArray,
    dimensions: tuple[str, ...],
    blocks: dict[str, slice],
    encoder: dict[str, Any] | None = None,
    texts: dict[Any, tuple[str, ...]] | None = None,
    phrases: dict[Any, Phrases] | None = None,
) -> Signatures:
    """Rebuild a table in another process."""
    more: dict[str, Any] = {"encoder": encoder, "texts": texts, "phrases": phrases}
    return Signatures(names, vectors, dimensions, blocks=blocks, **more)


def _checked_blocks(blocks: Mapping[str, slice] | None, n_dimensions: int) -> dict[str, slice]:
    """Return blocks that cover the dimensions from left to right."""
    if blocks is None:
        return {"semantics": slice(0, n_dimensions)}
    checks.check_text(list(blocks), "block name")
    checked, position = {}, 0
    for name, block in blocks.items():
        start, stop, step = block.indices(n_dimensions)
        if step != 1 or start != position or stop <= start or (block.stop or 0) > n_dimensions:
            break
        checked[name], position = slice(start, stop), stop
    if position != n_dimensions or len(checked) != len(blocks):
        raise InvalidInputError(
            f"blocks must cover the {n_dimensions} dimensions from left to right without gaps; "
            f"got {dict(blocks)}."
        )
    return checked


def _zscore(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of each dimension; a constant has deviation 1."""
    low, spread = _minmax(seen)
    # In units of the range, squares of tiny values do not vanish.
    inside = (seen - low) / spread
    constant = _is_constant(seen)
    center = np.where(constant, low, low + spread * inside.mean(axis=0))
    return center, np.where(constant, 1.0, spread * inside.std(axis=0))


def _minmax(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return minimum and range of each dimension; a constant has range 1."""
    low = seen.min(axis=0)
    return low, np.where(_is_constant(seen), 1.0, seen.max(axis=0) - low)


def _is_constant(seen: FloatArray) -> NDArray[np.bool_]:
    """Mark the dimensions whose values differ by no more than rounding."""
    spread: FloatArray = seen.max(axis=0) - seen.min(axis=0)
    rounding: FloatArray = 10 * np.finfo(np.float64).eps * np.abs(seen).max(axis=0)
    return spread <= rounding
