"""Which class to describe first, in the words that the page understands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zslearn.serve.studio.session import Session

# Words of a suggestion at most, and what each must bring, in squared parts of the range.
MOST, LEAST = 4, 0.05


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
    """Return the class and the few words that come nearest to a signature."""
    low, high = session.ranges()
    spread = np.where(high > low, high - low, 1.0)
    known = list(session.view.state.described.values())
    wanted = (row - low) / spread
    rows = (np.stack([one.row for one in known]) - low) / spread
    # A word sets a value to the upper or the lower end; what lies between is left to the sliders.
    words = np.where(wanted >= 0.5, 1.0, 0.0)
    gains = (rows - wanted) ** 2 - (words - wanted) ** 2
    order = np.argsort(-gains, axis=1, kind="stable")[:, :MOST]
    best = np.take_along_axis(gains, order, axis=1).clip(0).sum(axis=1)
    place = int((((rows - wanted) ** 2).sum(axis=1) - best).argmin())
    said = [int(i) for i in order[place] if gains[place, i] > LEAST]
    names = session.collection.signatures.dimensions
    # Where attributes exclude each other, "ring" says "not star" already.
    exclude = session.collection.groups is not None
    texts = [names[i] for i in said if words[i]]
    if not exclude:
        texts = [names[i] if words[i] else f"not {names[i]}" for i in said]
    text = f"like {known[place].name}"
    return f"{text}, but {', '.join(texts)}" if texts else text
