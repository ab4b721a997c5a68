"""Whether pictures and class table speak of the same classes, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.serve.studio.collection import Collection
from zslearn.signatures import Signatures

SHOWN = 3


def check_classes(labels: Sequence[str] | None, table: Signatures, named: str) -> None:
    """Refuse samples that no method could be trained on, and say why.

    Parameters
    ----------
    labels : sequence of str or None
        Classes of the samples; None if they have none.
    table : Signatures
        The class table.
    named : str
        What the table is called.
    """
    if labels is None:
        raise InvalidInputError(
            "the pictures lie in no folders of classes, so nothing can be trained on them. Put "
            "those of each class into a folder with its name, or give a --model."
        )
    known = set(map(str, table.names))
    own = sorted(set(labels))
    both = [name for name in own if name in known]
    if len(both) == 1:
        raise InvalidInputError(
            f"only {both[0]!r} has pictures and a row in {named}; training needs two classes."
        )
    if not both:
        near = closest_name(own[0], known)
        hint = f", where the closest is {near!r}" if near is not None else ""
        raise InvalidInputError(
            f"none of the {len(own)} classes of the pictures, such as {own[0]!r}, has a row in "
            f"{named}{hint}. A class must have the same name in both."
        )


def with_model(collection: Collection, model: Any, *, own_table: bool) -> Collection:
    """Return samples as a model sees them: with its classes, or those of a table given with it.

    Parameters
    ----------
    collection : Collection
        The samples.
    model : ZeroShotClassifier
        A fitted model.
    own_table : bool
        Whether the classes of the collection are those to show, and not the model's.
    """
    n = collection.X.shape[1]
    if not hasattr(model, "recognizer"):
        raise InvalidInputError(
            f"a {type(model).__name__} cannot be used here; give a zero-shot classifier."
        )
    if model.n_features_in_ != n:
        raise InvalidInputError(
            f"the model takes {model.n_features_in_} features and the samples have {n}; they must "
            "come from the same encoder."
        )
    known, table = model.recognizer().signatures, collection.signatures
    same = known.dimensions == table.dimensions
    if own_table and not same:
        raise InvalidInputError(
            f"the model describes classes by {_listed(known.dimensions)}, and the table by "
            f"{_listed(table.dimensions, '')}; give the table with the columns of the model."
        )
    return replace(
        collection,
        signatures=table if own_table else known,
        groups=collection.groups if same else None,
        hidden=collection.hidden if same else None,
        # Nobody knows which of these samples the model was trained on.
        train=np.zeros(collection.n, bool),
        seen=(),
    )


def _listed(names: Sequence[str], what: str = " dimensions") -> str:
    """Say how many names there are, and the first of them."""
    more = ", …" if len(names) > SHOWN else ""
    return f"{len(names)}{what} ({', '.join(names[:SHOWN])}{more})"


def left_out(refused: Mapping[str, str], n: int) -> str:
    """Say which of n files are no pictures; an empty text if all are."""
    if not refused:
        return ""
    some = [f"{name} ({reason})" for name, reason in list(refused.items())[:SHOWN]]
    more = f"; and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
    are = "is" if len(refused) == 1 else "are"
    return (
        f"{len(refused)} of {n} files cannot be read as pictures and {are} left out: "
        f"{'; '.join(some)}{more}."
    )
