"""The container every loader returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn._tables import is_frame, row_names
from zslearn.core.rows import unmasked
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean
from zslearn.signatures import Signatures


@dataclass(frozen=True, eq=False)
class ClassSplit:
    """Seen and unseen classes, and for the generalized setting which seen rows train and test.

    Parameters
    ----------
    seen : array-like of shape (n_seen,)
        Classes whose samples may be trained on.
    unseen : array-like of shape (n_unseen,)
        Classes held out, none of them seen.
    train : array-like of int of shape (n_train,), optional
        Rows to train on, all of seen classes. None means every row of a seen class.
    test_seen : array-like of int of shape (n_test_seen,), optional
        Rows of seen classes kept for testing, none of them in `train`. None means the data set
        has none, so only the conventional setting can be measured.
    test_unseen : array-like of int of shape (n_test_unseen,), optional
        Rows to test on, all of unseen classes. None means every row of an unseen class.

    Attributes
    ----------
    seen, unseen : ndarray
        The class labels, read-only.
    train, test_seen, test_unseen : ndarray of int or None
        The row indices, read-only.

    Raises
    ------
    InvalidInputError
        If a side is empty, a class is on both sides or twice on one, or the rows are not indices,
        overlap, or `test_seen` comes without `train`.

    Examples
    --------
    >>> from zslearn.datasets import ClassSplit
    >>> ClassSplit(seen=["bat", "cow"], unseen=["fox"])
    ClassSplit(2 seen, 1 unseen)
    """

    seen: NDArray[Any] | Sequence[Any]
    unseen: NDArray[Any] | Sequence[Any]
    train: NDArray[Any] | Sequence[int] | None = None
    test_seen: NDArray[Any] | Sequence[int] | None = None
    test_unseen: NDArray[Any] | Sequence[int] | None = None

    def __post_init__(self) -> None:
        for side in ("seen", "unseen"):
            object.__setattr__(self, side, _class_list(getattr(self, side), side))
        for rows in ("train", "test_seen", "test_unseen"):
            object.__setattr__(self, rows, _row_list(getattr(self, rows), rows))
        _check_disjoint(self.seen, self.unseen, "Class", "seen and unseen")
        if self.test_seen is not None:
            if self.train is None:
                raise InvalidInputError("test_seen rows need train rows as well; got none.")
            _check_disjoint(self.train, self.test_seen, "Row", "train and test_seen")

    def __repr__(self) -> str:
        rows = "" if self.train is None else f", {len(self.train)} train rows"
        if self.test_seen is not None:
            rows += f", {len(self.test_seen)} test_seen rows"
        return f"ClassSplit({len(self.seen)} seen, {len(self.unseen)} unseen{rows})"


def _class_list(classes: ArrayLike, side: str) -> NDArray[Any]:
    """Return a read-only copy of the class labels of one side."""
    labels = np.array(classes)
    if labels.ndim != 1 or not labels.size:
        raise InvalidInputError(
            f"{side} must be a non-empty list of class labels; got shape {labels.shape}."
        )
    _check_no_repeats(labels, side, "class")
    labels.flags.writeable = False
    return labels


def _row_list(rows: ArrayLike | None, name: str) -> NDArray[Any] | None:
    """Return a read-only copy of the row indices, or None."""
    if rows is None:
        return None
    indices = np.array(rows)
    if indices.ndim != 1 or not indices.size or indices.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{name} must be a non-empty list of row indices; got shape {indices.shape} of type "
            f"{indices.dtype}."
        )
    if indices.min() < 0:
        raise InvalidInputError(f"{name} has the negative row index {indices.min()}.")
    _check_no_repeats(indices, name, "row")
    indices.flags.writeable = False
    return indices


def _check_no_repeats(values: NDArray[Any], name: str, thing: str) -> None:
    """Refuse a list that holds a value twice."""
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < len(values):
        raise InvalidInputError(f"{name} lists {thing} {distinct[counts > 1].tolist()[0]!r} twice.")


def _check_disjoint(first: Any, second: Any, thing: str, sides: str) -> None:
    """Refuse two lists that share a value."""
    both = np.intersect1d(first, second)
    if both.size:
        more = f" (and {both.size - 1} more)" if both.size > 1 else ""
        raise InvalidInputError(
            f"{thing} {both.tolist()[0]!r}{more} is in both {sides}, which must not overlap."
        )


_HEADER = ("data set", "instances", "semantic space", "dimension", "seen/unseen")


def summarize(dataset: ZeroShotDataset) -> str:
    """Lay out a data set as the paper's Table 1 does, then name its features and source."""
    table = [_HEADER, *_table_rows(dataset)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    notes = (("features", dataset.features), ("source", dataset.source))
    return "\n".join(lines + [f"{title}: {text}" for title, text in notes if text])


def _table_rows(dataset: ZeroShotDataset) -> list[tuple[str, ...]]:
    """Return one row of cells for each semantic space; shared facts appear in the first."""
    counts = ", ".join(
        f"{len(split.seen)}/{len(split.unseen)} ({name})" for name, split in dataset.splits.items()
    )
    first = (dataset.name, str(len(dataset.y)), counts)
    rows: list[tuple[str, ...]] = []
    for space, signatures in dataset.semantics.items():
        name, instances, splits = first if not rows else ("", "", "")
        rows.append((name, instances, space, str(signatures.vectors.shape[1]), splits))
    return rows


def check_dataset(dataset: ZeroShotDataset) -> None:
    """Refuse a data set whose parts do not fit together."""
    _check_lengths(dataset)
    _check_finite(dataset.X)
    _check_semantics(dataset)
    for name, split in dataset.splits.items():
        _check_split(dataset, name, split)


def _check_lengths(dataset: ZeroShotDataset) -> None:
    """Check the shapes of X, y and image_files."""
    X, y, files = dataset.X, dataset.y, dataset.image_files
    if X.ndim != 2 or y.ndim != 1:
        raise InvalidInputError(
            f"X must be (n_samples, n_features) and y (n_samples,); got {X.shape} and {y.shape}."
        )
    if X.dtype.kind not in "fiub":
        raise InvalidTypeError(f"X must hold numbers; got type {X.dtype}.")
    if X.shape == (0, 0) and not len(y):
        return
    if not len(X) == len(y) > 0:
        raise InvalidInputError(
            f"X has {len(X)} rows and y has {len(y)} labels; both must have the same number, at "
            "least one."
        )
    if files is not None and len(files) != len(y):
        raise InvalidInputError(
            f"image_files has {len(files)} names for {len(y)} rows; give one for each row."
        )


def _check_finite(X: NDArray[Any]) -> None:
    """Refuse NaN and infinity in features that are already in memory."""
    if isinstance(X, np.memmap) or X.dtype.kind != "f":
        return
    bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        raise InvalidInputError(
            f"X has NaN or infinity in {bad.sum()} of {len(X)} rows, first in row "
            f"{np.argmax(bad)}. Remove these rows or compute their features again."
        )


def _check_semantics(dataset: ZeroShotDataset) -> None:
    """Check that there is a semantic space and that each covers all labels."""
    if not dataset.semantics:
        raise InvalidInputError("semantics is empty; give at least one table of signatures.")
    present = np.unique(dataset.y)
    for name, space in dataset.semantics.items():
        if not isinstance(space, Signatures):
            raise InvalidTypeError(
                f"semantics[{name!r}] must be a Signatures table; got {type(space).__name__}."
            )
        space.index_of(present)
    for name, space in dataset.raw.items():
        scaled = dataset.semantics.get(name)
        if scaled is None or not np.array_equal(space.names, scaled.names):
            raise InvalidInputError(
                f"raw[{name!r}] must have the classes of semantics[{name!r}], in the same order."
            )


def _check_split(dataset: ZeroShotDataset, name: str, split: ClassSplit) -> None:
    """Check that the classes of a split have signatures and that its rows are of seen classes."""
    if not isinstance(split, ClassSplit):
        raise InvalidTypeError(
            f"splits[{name!r}] must be a ClassSplit; got {type(split).__name__}."
        )
    for space in dataset.semantics.values():
        space.index_of(np.asarray(split.seen))
        space.index_of(np.asarray(split.unseen))
    for part, side in (("train", "seen"), ("test_seen", "seen"), ("test_unseen", "unseen")):
        if getattr(split, part) is not None:
            _check_rows(dataset, name, part, side)


def _check_rows(dataset: ZeroShotDataset, name: str, part: str, side: str) -> None:
    """Check that the rows of one part exist and belong to the classes of its side."""
    split, y = dataset.splits[name], dataset.y
    rows = np.asarray(getattr(split, part))
    if rows.max() >= len(y):
        raise InvalidInputError(
            f"{part} of split {name!r} has row {rows.max()}; there are {len(y)} rows."
        )
    foreign = rows[~np.isin(y[rows], getattr(split, side))]
    if foreign.size:
        raise InvalidInputError(
            f"{part} of split {name!r} has row {foreign[0]} of class "
            f"{y[foreign].tolist()[0]!r}, which is not a{'n' * (side == 'unseen')} {side} class."
        )


@dataclass(frozen=True, eq=False)
class ZeroShotDataset:
    """Features, labels, class signatures and splits that belong together.

    Parameters
    ----------
    name : str
        Short name of the data set.
    X : array-like of shape (n_samples, n_features)
        Features. A memory map stays one, and is not searched for NaN. An array of shape (0, 0)
        stands for features that were not loaded: semantics and classes of splits only.
    y : array-like of shape (n_samples,)
        Class of each row.
    semantics : mapping of str to Signatures, DataFrame or dict
        Semantic spaces, for example "attributes" and "word vectors"; the first is the default.
        Each must have a signature for every class in `y` and in `splits`.
    splits : mapping of str to ClassSplit
        Named splits into seen and unseen classes.
    image_files : sequence of str, optional
        File each row was computed from; by default the index of `X`, if it is a data frame.
    features : str
        Which features `X` holds.
    source : str
        Where the data comes from.
    citation : str
        What to cite.
    withheld : mapping of str to str
        Splits that exist but are withheld, each with the reason; asking for one raises it.
    raw : mapping of str to Signatures
        Values as they were collected, for spaces that `semantics` holds scaled to unit length.
        `evaluate` gives them to methods that are made for them (tag `raw_signatures`).
    extra : mapping of str to object
        What else the loader knows, under names listed in its docstring; for example the true map of
        :func:`make_zero_shot`.

    Raises
    ------
    InvalidInputError
        If lengths differ, a class has no signature, a split names rows that do not exist or are
        not of seen classes, or features in memory are not finite.

    Examples
    --------
    >>> from zslearn.datasets import load_animals
    >>> animals = load_animals()
    >>> animals.X.shape, animals.signatures.vectors.shape
    ((1680, 1280), (28, 85))
    >>> split = animals.split("proposed")
    >>> split.unseen.tolist()
    ['bat', 'dolphin', 'horse', 'rat', 'seal', 'sheep']
    >>> animals.X[animals.rows(split.unseen)].shape
    (360, 1280)
    """

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    semantics: Mapping[str, Signatures]
    splits: Mapping[str, ClassSplit] = field(default_factory=dict)
    image_files: Sequence[str] | None = None
    features: str = ""
    source: str = ""
    citation: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Signatures] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        files = row_names(self.X) if self.image_files is None else self.image_files
        # asanyarray keeps a memory map as it is.
        for name, value in {
            "X": np.asanyarray(unmasked(self.X, "X")),
            "y": np.asarray(unmasked(self.y, "y")),
            "semantics": {name: _table(value) for name, value in self.semantics.items()},
            "splits": dict(self.splits),
            "image_files": None if files is None else tuple(files),
            "withheld": dict(self.withheld),
            "raw": dict(self.raw),
            "extra": dict(self.extra),
        }.items():
            object.__setattr__(self, name, value)
        check_dataset(self)

    def __repr__(self) -> str:
        return (
            f"ZeroShotDataset({self.name!r}: {len(self.y)} samples, {self.X.shape[1]} features, "
            f"{len(self.classes)} classes; semantics {', '.join(self.semantics)}; "
            f"splits {', '.join(self.splits) or 'none'})"
        )

    @property
    def signatures(self) -> Signatures:
        """The first semantic space."""
        return next(iter(self.semantics.values()))

    @property
    def classes(self) -> NDArray[Any]:
        """The classes of the first semantic space, in its order; some may have no rows."""
        return self.signatures.names

    def split(self, name: str) -> ClassSplit:
        """Return the split called `name`.

        Parameters
        ----------
        name : str
            A key of `splits`.

        Returns
        -------
        ClassSplit
            The seen and unseen classes.

        Raises
        ------
        InvalidInputError
            If there is no such split, or it is withheld.
        """
        if name in self.splits:
            return self.splits[name]
        if name in self.withheld:
            raise InvalidInputError(self.withheld[name])
        hint = did_you_mean(name, self.splits)
        raise InvalidInputError(
            f"Data set {self.name!r} has no split {name!r}; it has "
            f"{', '.join(map(repr, self.splits)) or 'none'}.{hint}"
        )

    def rows(self, classes: ArrayLike) -> NDArray[Any]:
        """Return the indices of the rows whose class is among `classes`, in ascending order.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Class labels, each with a signature.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            Row indices; none for a class without samples.

        Raises
        ------
        UnknownClassError
            If a class has no signature.
        """
        wanted = np.atleast_1d(np.asarray(classes))
        self.signatures.index_of(wanted)
        return np.flatnonzero(np.isin(self.y, wanted))

    def train_rows(self, split: str | ClassSplit) -> NDArray[Any]:
        """Return the rows to train on.

        Parameters
        ----------
        split : str or ClassSplit
            A split or its name.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            The split's `train`, or every row of a seen class where it has none.
        """
        split = self.split(split) if isinstance(split, str) else split
        return self.rows(split.seen) if split.train is None else np.asarray(split.train)

    def test_rows(self, split: str | ClassSplit) -> NDArray[Any]:
        """Return the rows of unseen classes to test on.

        Parameters
        ----------
        split : str or ClassSplit
            A split or its name.

        Returns
        -------
        ndarray of int of shape (n_rows,)
            The split's `test_unseen`, or every row of an unseen class where it has none.
        """
        split = self.split(split) if isinstance(split, str) else split
        return (
            self.rows(split.unseen) if split.test_unseen is None else np.asarray(split.test_unseen)
        )

    def prefer(self, semantics: str) -> ZeroShotDataset:
        """Return the data set with another semantic space first, as its default.

        Parameters
        ----------
        semantics : str
            A key of `semantics`.

        Returns
        -------
        ZeroShotDataset
            A new data set that shares features and labels with this one.

        Raises
        ------
        InvalidInputError
            If there is no such semantic space.

        Examples
        --------
        >>> from zslearn.datasets import load_animals
        >>> load_animals().prefer("binary attributes").signatures["tiger"].max()
        np.float64(1.0)
        """
        if semantics not in self.semantics:
            hint = did_you_mean(semantics, self.semantics)
            raise InvalidInputError(
                f"Data set {self.name!r} has no semantic space {semantics!r}; it has "
                f"{', '.join(map(repr, self.semantics))}.{hint}"
            )
        first = {semantics: self.semantics[semantics]}
        return replace(self, semantics=first | dict(self.semantics))

    def subset(self, classes: ArrayLike) -> ZeroShotDataset:
        """Return the data set reduced to some classes.

        Rows keep their order and splits their names; a split left without a seen class, an unseen
        class, a row to train on or a row to test on is dropped. The rows of a memory map are read
        into memory.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            The classes to keep; signatures come in this order.

        Returns
        -------
        ZeroShotDataset
            A new data set; this one is unchanged.

        Raises
        ------
        UnknownClassError
            If a class has no signature.
        """
        wanted = np.atleast_1d(np.asarray(classes))
        rows = self.rows(wanted)
        kept = {name: _restrict(split, wanted, rows) for name, split in self.splits.items()}
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            semantics={name: space.subset(wanted) for name, space in self.semantics.items()},
            raw={name: space.subset(wanted) for name, space in self.raw.items()},
            splits={name: split for name, split in kept.items() if split is not None},
            image_files=self.image_files and [self.image_files[row] for row in rows],
        )

    def summary(self) -> str:
        """Describe the data set in a small table, one line for each semantic space.

        Returns
        -------
        str
            Name, number of instances, semantic spaces with their dimension and the number of
            seen/unseen classes of each split, then the features and the source.

        Examples
        --------
        >>> from zslearn.datasets import make_zero_shot
        >>> print(make_zero_shot(n_seen=4, n_unseen=2, n_per_class=3, random_state=0).summary())
        data set   instances  semantic space  dimension  seen/unseen
        synthetic  18         attributes      16         4/2 (standard)
        features: 64 linear functions of the signature plus Gaussian noise
        source: generated by make_zero_shot
        """
        return summarize(self)


def _table(source: Any) -> Any:
    """Return a class table that was given as a data frame or a dict as `Signatures`."""
    if is_frame(source):
        return Signatures.from_frame(source)
    return Signatures.from_dict(source) if isinstance(source, Mapping) else source


def _restrict(split: ClassSplit, classes: NDArray[Any], rows: NDArray[Any]) -> ClassSplit | None:
    """Reduce a split to some classes and renumber its rows to positions in `rows`."""
    seen, unseen = (np.asarray(side)[np.isin(side, classes)] for side in (split.seen, split.unseen))
    parts = (split.train, split.test_seen, split.test_unseen)
    train, test_seen, test_unseen = (_renumber(part, rows) for part in parts)
    # Rows that are all gone must not turn into None, which would mean every row of the classes.
    gone = (train is None and split.train is not None) or (
        test_unseen is None and split.test_unseen is not None
    )
    if not seen.size or not unseen.size or gone:
        return None
    return ClassSplit(seen, unseen, train, test_seen, test_unseen)


def _renumber(indices: Any, rows: NDArray[Any]) -> NDArray[Any] | None:
    """Return the position in `rows` of each index that is in it; None where nothing is left."""
    if indices is None:
        return None
    kept = indices[np.isin(indices, rows)]
    return np.searchsorted(rows, kept) if kept.size else None


AWA = """\
C. H. Lampert, H. Nickisch, S. Harmeling. Learning to detect unseen object classes by \
between-class attribute transfer. CVPR 2009."""
XLSA17 = """\
Y. Xian, C. H. Lampert, B. Schiele, Z. Akata. Zero-shot learning: a comprehensive evaluation of \
the good, the bad and the ugly. IEEE TPAMI 41(9), 2019."""
SAE = """\
E. Kodirov, T. Xiang, S. Gong. Semantic autoencoder for zero-shot learning. CVPR 2017."""
IMAGENET = """\
O. Russakovsky et al. ImageNet large scale visual recognition challenge. IJCV 115(3), 2015.
Y. Fu, L. Sigal. Semi-supervised vocabulary-informed learning. CVPR 2016 (the 1000/360 split)."""

_OF_FOLDER = {
    "AWA": AWA,
    "CUB": "C. Wah, S. Branson, P. Welinder, P. Perona, S. Belongie. The Caltech-UCSD "
    "Birds-200-2011 dataset. Technical report CNS-TR-2011-001, Caltech, 2011.",
    "SUN": "G. Patterson, J. Hays. SUN attribute database: discovering, annotating, and "
    "recognizing scene attributes. CVPR 2012.",
    "APY": "A. Farhadi, I. Endres, D. Hoiem, D. Forsyth. Describing objects by their attributes. "
    "CVPR 2009.",
    "FLO": "M.-E. Nilsback, A. Zisserman. Automated flower classification over a large number of "
    "classes. ICVGIP 2008.",
}


def xlsa17_citation(folder: str) -> str:
    """Return the benchmark's paper, with the data set's own if the folder name identifies it."""
    own = [text for start, text in _OF_FOLDER.items() if folder.upper().startswith(start)]
    return "\n".join([*own, XLSA17])
