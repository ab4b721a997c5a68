"""Signatures of new classes: from texts, from a similar class, from several classes."""

from __future__ import annotations

import re
import string
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zslearn._parameters import check_flags
from zslearn.exceptions import InvalidInputError, InvalidTypeError, did_you_mean
from zslearn.signatures.checks import label_list, listed
from zslearn.signatures.phrases import MOST_CLASSES, Phrases, versions_without

if TYPE_CHECKING:
    from zslearn.signatures.table import Signatures

FloatArray = NDArray[np.float64]


class NewClasses:
    """The part of `Signatures` that makes rows for classes that nobody has measured."""

    __slots__ = ()

    if TYPE_CHECKING:  # what `Signatures` provides
        dimensions: tuple[str, ...]

        def __getitem__(self, name: Any) -> FloatArray: ...
        def _replace(self, **changes: Any) -> Signatures: ...

    @classmethod
    def from_texts(
        cls,
        texts: Mapping[Any, str | Sequence[str]],
        encoder: Any,
        *,
        templates: str | Sequence[str] = "{}",
        names: bool = True,
        phrases: bool | None = None,
    ) -> Signatures:
        """Make a table from descriptions or names with a text encoder.

        Every text is encoded and scaled to unit length, so that no text counts more than another,
        and the vectors of a class are averaged. The name of the class, ``+`` and ``_`` as spaces,
        counts as much as all its texts together: on two sets of requests the mean of name and
        sentence was right three points more often than the sentence alone. The result is scaled
        to unit length again.

        Parameters
        ----------
        texts : mapping of class to str or sequence of str
            One or several texts per class.
        encoder : object with ``transform``
            Turns a list of n texts into an array of shape (n, n_dimensions), for example
            `zslearn.encoders.TextEncoder`. If it has ``get_feature_names_out``, the dimensions
            get these names.
        templates : str or sequence of str, default="{}"
            Sentences with one ``{}`` for the text, such as ``"a photo of a {}"``. With several,
            each text is put into each of them.
        names : bool, default=True
            Whether the name of a class counts beside its texts. Names that are no words, such as
            ``7`` or ``"n02391049"``, never do.
        phrases : bool, optional
            Whether every class is encoded without each of its phrases as well, which classifiers
            then give as reasons; at most 12 per class. By default for up to 500 classes.

        Returns
        -------
        Signatures
            One row per class, in the order of `texts`, each of unit length.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import HashingVectorizer
        >>> from zslearn.signatures import Signatures
        >>> texts = {"zebra": ["a striped horse", "black and white"], "otter": "it swims"}
        >>> encoder = HashingVectorizer(n_features=64)  # counts words; any encoder works
        >>> Signatures.from_texts(texts, encoder)
        Signatures(2 classes × 64 dimensions: zebra, otter)
        """
        check_flags(names=names)
        if not isinstance(texts, Mapping):
            raise InvalidTypeError(
                f"from_texts takes {{class: text or texts}}; got {type(texts).__name__}. For "
                "names only, pass {name: name for name in names}."
            )
        given = {name: _texts_of(name, group) for name, group in texts.items()}
        if not given:
            raise InvalidInputError("The table is empty: from_texts needs at least one class.")
        frames = _checked_templates(templates)
        # Behind the texts of all classes come the names of those whose name says more.
        labels = list(given)
        spoken = [row for row, name in enumerate(labels) if names and _adds(name, given[name])]
        groups = [*given.values(), *([spell_out(labels[row])] for row in spoken)]
        owners = [*labels, *(labels[row] for row in spoken)]
        every = [frame.format(text) for group in groups for text in group for frame in frames]
        sizes = [len(group) * len(frames) for group in groups]
        units = unit_length(_encoded(encoder, every), np.repeat(owners, sizes), {})
        means = [part.mean(axis=0) for part in np.split(units, np.cumsum(sizes)[:-1])]
        found = unit_length(np.stack(means), np.array(owners), {})
        vectors = found[: len(labels)]
        both = vectors[spoken] + found[len(labels) :]
        vectors[spoken] = unit_length(both, np.array(labels)[spoken], {})
        told = {}
        if phrases or (phrases is None and len(given) <= MOST_CLASSES):
            said = {labels[row]: spell_out(labels[row]) for row in spoken}
            every = [text for group in groups for text in group]
            known = dict(zip(every, np.split(units, len(every)), strict=True))
            told = _told_phrases(given, said, known, encoder, frames)
        identity = getattr(encoder, "identity", None)
        made = cls(  # type: ignore[call-arg]
            labels,
            vectors,
            _titles(getattr(encoder, "get_feature_names_out", None)),
            encoder=None if identity is None else identity.as_dict(),
            texts=given,
            phrases=told,
        )
        return made  # type: ignore[return-value]

    def like(
        self,
        known: Any,
        changes: Mapping[str, float] | None = None,
        /,
        *,
        name: Any,
        **values: float,
    ) -> Signatures:
        """Return the row of a new class: that of a known class with some values changed.

        Parameters
        ----------
        known : label
            The class that the new one resembles.
        changes : mapping of str to float, default=None
            New values by dimension, for dimensions whose names are not Python identifiers.
        name : label
            Name of the new class.
        **values : float
            New values by dimension.

        Returns
        -------
        Signatures
            A table of one class, which `append` and a classifier's ``add_classes`` take.

        Examples
        --------
        >>> from zslearn.datasets import load_animals
        >>> animals = load_animals().signatures
        >>> okapi = animals.like("horse", name="okapi", stripes=80, domestic=0)
        >>> okapi
        Signatures(1 class × 85 dimensions: okapi)
        >>> len(animals.append(okapi))
        29
        """
        row = self[known].copy()
        for dimension, value in {**(changes or {}), **values}.items():
            row[self._column(dimension)] = _number(dimension, value)
        return self._replace(names=[name], vectors=row[None], phrases={})

    def mix(self, weights: Mapping[Any, float], *, name: Any) -> Signatures:
        """Return the row of a new class: the weighted mean of known classes.

        Parameters
        ----------
        weights : mapping of label to float
            How much of each class; non-negative, and scaled to sum to 1.
        name : label
            Name of the new class.

        Returns
        -------
        Signatures
            A table of one class, which `append` and a classifier's ``add_classes`` take.

        Examples
        --------
        >>> from zslearn.signatures import Signatures
        >>> table = Signatures(["horse", "zebra"], [[0, 1], [1, 1]], ["stripes", "tail"])
        >>> table.mix({"horse": 3, "zebra": 1}, name="quagga").vectors
        array([[0.25, 1.  ]])
        """
        shares = np.array([_number(label, share) for label, share in weights.items()])
        if not len(shares) or shares.min() < 0 or shares.sum() <= 0:
            raise InvalidInputError(
                "mix needs weights of at least one class, none negative and not all zero; got "
                f"{dict(weights)}."
            )
        row = (shares / shares.sum()) @ np.stack([self[label] for label in weights])
        return self._replace(names=[name], vectors=row[None], phrases={})

    def _column(self, dimension: str) -> int:
        """Return the position of a dimension, or name the closest one."""
        if dimension not in self.dimensions:
            hint = did_you_mean(dimension, self.dimensions, ", the closest is {!r}")
            raise InvalidInputError(
                f"There is no dimension {dimension!r}; the table has {len(self.dimensions)}{hint}."
            )
        return self.dimensions.index(dimension)


def unit_length(
    vectors: FloatArray, names: NDArray[Any], blocks: Mapping[str, slice]
) -> FloatArray:
    """Divide each row, or each block of it if there are blocks, by its length."""
    parts = [
        _unit_rows(vectors[:, columns], names, f" in the block {block!r}")
        for block, columns in blocks.items()
    ]
    return np.hstack(parts) if parts else _unit_rows(vectors, names, "")


def _unit_rows(vectors: FloatArray, names: NDArray[Any], where: str) -> FloatArray:
    """Divide each row by its length; an error names a row of zeros."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        raise InvalidInputError(
            f"Class {names[np.argmin(largest)].item()!r} has only zeros{where}, which no scaling "
            'can bring to unit length. Drop the class, correct its vector or use how="zscore-seen".'
        )
    # Squares of entries of at most 1 neither overflow nor all vanish.
    scaled: FloatArray = vectors / largest
    scaled /= np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled


def spell_out(name: str) -> str:
    """Return a class name as one would say it: "polar bear" for "polar+bear"."""
    return " ".join(re.split(r"[+_\s]+", name)).strip() or name


def _texts_of(name: Any, given: Any) -> list[str]:
    """Return the texts of a class as a list."""
    texts = [given] if isinstance(given, str) else label_list(given)
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise InvalidInputError(
            f"Class {name!r} needs one or several texts, none empty; got {given!r}."
        )
    return [str(text) for text in texts]


def _adds(name: Any, texts: Sequence[str]) -> bool:
    """Say whether a name is made of words, and says something beside the texts."""
    if not isinstance(name, str) or not re.search(r"[^\W\d_]{2}", name):
        return False
    spoken = spell_out(name).casefold()
    return all(spell_out(text).casefold() != spoken for text in texts)


def _told_phrases(
    given: Mapping[Any, Sequence[str]],
    said: Mapping[Any, str],
    known: dict[str, FloatArray],
    encoder: Any,
    frames: Sequence[str],
) -> dict[Any, Phrases]:
    """Encode every class without each of its phrases; `known` has unit vectors by text."""
    versions = {name: versions_without(texts, said.get(name)) for name, texts in given.items()}
    every = [text for group in versions.values() for one in group for text in one.every]
    new = [text for text in dict.fromkeys(every) if text not in known]
    if new:
        with warnings.catch_warnings():  # of their length, which was said of the whole texts
            warnings.simplefilter("ignore")
            encoded = _encoded(encoder, [frame.format(text) for text in new for frame in frames])
        known |= dict(zip(new, np.split(_or_zeros(encoded), len(new)), strict=True))
    told = {}
    for name, group in versions.items():
        found = {}
        for one in group:
            # As for the class itself: the direction of all texts, and of it and the name.
            parts = [one.texts, () if one.name is None else (one.name,)]
            means = [np.vstack([known[text] for text in part]).mean(0) for part in parts if part]
            row = _or_zeros(_or_zeros(np.stack(means)).sum(axis=0, keepdims=True))[0]
            if row.any():
                found[one.phrase] = row
        if found:
            told[name] = Phrases(tuple(found), np.stack([*found.values()]).astype(np.float32))
    return told


def _or_zeros(vectors: FloatArray) -> FloatArray:
    """Bring rows to unit length; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _checked_templates(templates: str | Sequence[str]) -> list[str]:
    frames = [templates] if isinstance(templates, str) else list(templates)
    for frame in frames:
        _check_template(frame)
    if not frames:
        raise InvalidInputError("templates is empty; leave it out or give one such as '{}'.")
    return frames


def _check_template(frame: Any) -> None:
    """Refuse a template that does not have exactly one plain place for the text."""
    try:
        fields = [part[1:] for part in string.Formatter().parse(frame) if part[1] is not None]
    except (ValueError, TypeError):
        fields = []
    if fields != [("", "", None)]:
        raise InvalidInputError(
            f"A template needs exactly one {{}} for the text, as in 'a photo of a {{}}'; "
            f"got {frame!r}."
        )


def _encoded(encoder: Any, texts: list[str]) -> FloatArray:
    """Encode the texts, and check what comes back."""
    if not hasattr(encoder, "transform"):
        raise InvalidTypeError(
            f"The encoder must have the method transform; got {type(encoder).__name__}. Use "
            "zslearn.encoders.TextEncoder()."
        )
    vectors = encoder.transform(texts)
    dense = vectors.toarray() if hasattr(vectors, "toarray") else np.asarray(vectors)
    if dense.ndim != 2 or len(dense) != len(texts):
        raise InvalidInputError(
            f"The encoder gave an array of shape {dense.shape} for {len(texts)} texts; it must "
            "give one vector per text."
        )
    return np.asarray(dense, dtype=np.float64)


def _titles(get_names: Any) -> list[str] | None:
    """Return the encoder's names for the dimensions, if it has any."""
    return None if get_names is None else [str(title) for title in get_names()]


def _number(of: Any, value: Any) -> float:
    """Return a finite number, or name what lacks one."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or isinstance(value, str):
        raise InvalidInputError(f"{listed([of])} needs a finite number; got {value!r}.")
    return number
