"""Which class to describe first, in the words that the page understands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.studio.session import Session

# Differences that a suggestion names at most, in parts of the range of the training classes.
MOST, DIFFERS = 3, 0.25
HAS, HAS_NOT = 0.7, 0.15


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
    # Words say "has it" or "has it not"; what lies between is left to the sliders.
    share = (row - low) / spread
    has, has_not = share >= HAS, share <= HAS_NOT
    clear = np.flatnonzero((np.abs(steps[best]) > DIFFERS) & (has | has_not))
    order = clear[np.argsort(-np.abs(steps[best, clear]), kind="stable")]
    names = session.collection.signatures.dimensions
    said = [names[i] for i in order if has[i]]
    if session.collection.groups is None:  # otherwise "ring" says "not star" already
        said = [names[i] if has[i] else f"not {names[i]}" for i in order]
    text = f"like {known[best].name}"
    return f"{text}, but {', '.join(said[:MOST])}" if said else text
