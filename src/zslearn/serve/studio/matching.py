"""Whether pictures and class table speak of the same classes, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from zslearn.exceptions import InvalidInputError, closest_name
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
