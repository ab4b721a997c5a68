"""The container every loader returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.column_tables import is_frame, sample_names
from zslearn.datasets.summary import summarize
from zslearn.datasets.validation import check_dataset
from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.signatures import Signatures


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
        files = sample_names(self.X) if self.image_files is None else self.image_files
        # asanyarray keeps a memory map as it is.
        for name, value in {
            "X": np.asanyarray(self.X),
            "y": np.asarray(self.y),
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
        near = closest_name(name, self.splits)
        hint = f" Did you mean {near!r}?" if near is not None else ""
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
            near = closest_name(semantics, self.semantics)
            hint = f" Did you mean {near!r}?" if near is not None else ""
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
