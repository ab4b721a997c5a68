"""What to tell a person who describes a class: too similar, too greedy, out of range."""

from __future__ import annotations

from typing import Any

import numpy as np

from zslearn.serve.studio.edits import BoardClass
from zslearn.serve.studio.session import Session, View

# Two rows are nearly equal below this distance, in parts of the range of the training classes.
NEAR = 0.05
# A class that takes so many times its share of all answers is a hub.
GREEDY = 4.0
SHOWN = 3


def cautions(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    """Return what is odd about a class as it is described now.

    Parameters
    ----------
    session : Session
        The studio.
    view : View
        The answers with this class.
    one : BoardClass
        The class.

    Returns
    -------
    list of dict
        Each with `kind` ("near", "hub" or "range"), `text`, and perhaps `class`.
    """
    return [*_near(session, view, one), *_hub(view, one), *_range(session, one)]


def nearest(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    """Return the classes whose descriptions are most alike, with their distance."""
    low, high = session.ranges()
    spread = np.where(high > low, high - low, 1.0)
    others = [other for other in view.state.described.values() if other.id != one.id]
    if not others:
        return []
    rows = np.stack([other.row for other in others])
    distances = np.sqrt((((rows - one.row) / spread) ** 2).mean(axis=1))
    order = np.argsort(distances, kind="stable")[:SHOWN]
    return [{"class": others[i].id, "distance": float(distances[i])} for i in order]


def _near(session: Session, view: View, one: BoardClass) -> list[dict[str, Any]]:
    found = nearest(session, view, one)
    if not found or found[0]["distance"] >= NEAR:
        return []
    other = view.state.classes[found[0]["class"]]
    how = "the same description as" if found[0]["distance"] == 0 else "nearly the description of"
    return [{"kind": "near", "text": f"{one.name} has {how} {other.name}.", "class": other.id}]


def _hub(view: View, one: BoardClass) -> list[dict[str, Any]]:
    answers = view.answers
    place = int(np.flatnonzero(answers.ids == one.id)[0])
    taken, n = int(answers.taken[place]), len(answers.answer)
    share = max(n / len(answers.ids), float(answers.rows[place]))
    if taken <= GREEDY * share or taken < 10:
        return []
    text = f"{one.name} takes {taken} of {n} samples ({taken / n:.0%}), far more than its share."
    return [{"kind": "hub", "text": text}]


def _range(session: Session, one: BoardClass) -> list[dict[str, Any]]:
    low, high = session.ranges()
    slack = 1e-9 * np.maximum(np.abs(low), np.abs(high))
    # A sentence lies outside in some of an encoder's numbers as a rule, and nobody can read them.
    readable = session.collection.named
    outside = np.flatnonzero(readable & ((one.row < low - slack) | (one.row > high + slack)))
    if not len(outside):
        return []
    names = [session.collection.signatures.dimensions[i] for i in outside[:SHOWN]]
    more = f" and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
    text = f"outside the range of the training classes: {', '.join(names)}{more}."
    return [{"kind": "range", "text": text}]
