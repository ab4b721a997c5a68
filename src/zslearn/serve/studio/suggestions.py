"""Which class to describe first, in the words that the page understands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.studio.session import Session

# Differences that a suggestion names at most.
MOST = 5


def suggestion(session: Session) -> dict[str, str] | None:
    """Return a class that waits for its description, and a phrase for it; None if none waits.

    The phrase names the described class that is nearest and what differs most.
    """
    hidden = session.collection.hidden
    if hidden is None:
        return None
    state = session.view.state
    for name in map(str, hidden.names):
        if state.waiting(name) is not None and state.described:
            return {"name": name, "text": _phrase(session, hidden[name])}
    return None


def _phrase(session: Session, row: NDArray[np.float64]) -> str:
    low, high = session.ranges()
    spread = np.where(high > low, high - low, 1.0)
    known = list(session.view.state.described.values())
    steps = (row - np.stack([one.row for one in known])) / spread
    best = int((steps**2).sum(axis=1).argmin())
    order = np.argsort(-np.abs(steps[best]), kind="stable")[:MOST]
    said = [_words(session, int(i), row[i]) for i in order if abs(steps[best, i]) > 0.05]
    said = _without_excluded(session, said)
    text = f"like {known[best].name}"
    return f"{text}, but {', '.join(said)}" if said else text


def _words(session: Session, index: int, value: float) -> str:
    """Return a value in words, or as a number where there are none."""
    low, high = session.ranges()
    name = session.collection.signatures.dimensions[index]
    if value == high[index]:
        return name
    return f"not {name}" if value == low[index] else f"{name} {value:.0f}"


def _without_excluded(session: Session, said: list[str]) -> list[str]:
    """Leave out what goes without saying: "ring" says "not star" where one excludes the other."""
    if session.collection.groups is None:
        return said
    return [words for words in said if not words.startswith("not ")]
