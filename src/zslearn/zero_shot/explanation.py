"""Why a sample got its score for a class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import digits
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import axes_for, require
from zslearn.signatures.frames import make_html_table

if TYPE_CHECKING:
    from zslearn.signatures import Signatures

# What encoders of texts and words call their dimensions: "minilm12", "d_3", "17".
_NUMBERED = re.compile(r"(minilm|[dwv_]*)\d+")
# Dimensions in the table that a notebook shows.
_SHOWN = 10


@dataclass(frozen=True, repr=False)
class Explanation:
    """A score as a sum: what each dimension adds, and what belongs to none of them.

    Attributes
    ----------
    dimensions : tuple of str
        What the score is split by: the semantic dimensions, or the seen classes for methods that
        build a class from them.
    contributions : ndarray of shape (n_dimensions,)
        What each dimension adds to the score.
    offset : float
        What belongs to no dimension.
    score : float
        ``offset + contributions.sum()``, the value of `decision_function`.
    deviations : ndarray of shape (n_dimensions,) or None
        How far the class lies from what the offset stands for, where that is a signature: a
        dimension with a positive contribution and a negative deviation speaks by its absence.
    note : str
        What the class is known by, where there is something to say.

    Examples
    --------
    >>> import numpy as np
    >>> why = Explanation.of(["stripes", "swims"], np.array([0.5, -0.75]), 1.0)
    >>> why.score, why.top(1)
    (0.75, [('swims', -0.75)])
    >>> why
    Explanation(score 0.75: swims -0.75, stripes +0.5, offset +1)
    """

    dimensions: tuple[str, ...]
    contributions: NDArray
    offset: float
    score: float
    deviations: NDArray | None = None
    note: str = ""

    @classmethod
    def of(
        cls,
        dimensions: Sequence[str],
        contributions: NDArray,
        offset: float = 0.0,
        deviations: NDArray | None = None,
    ) -> Explanation:
        """Add contributions and offset up to the score."""
        total = float(offset) + float(contributions.sum())
        return cls(tuple(dimensions), contributions, float(offset), total, deviations)

    def __repr__(self) -> str:
        shown = [f"{name} {value:+.3g}" for name, value in self.top(3)]
        rest = len(self.dimensions) - len(shown)
        shown += [f"{rest} more"] * (rest > 0) + [f"offset {self.offset:+.3g}"] * bool(self.offset)
        note = f"; {self.note}" if self.note else ""
        return f"Explanation(score {self.score:.4g}: {', '.join(shown)}{note})"

    def _repr_html_(self) -> str:
        rows = [*self.top(_SHOWN), ("offset", self.offset)]
        return make_html_table(repr(self), ["", "adds"], [(n, f"{v:+.4g}") for n, v in rows])

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the column "contribution": index = dimensions."""
        pandas = require("pandas", extra="table", purpose="A data frame")
        index = pandas.Index(self.dimensions, name="dimension")
        return pandas.DataFrame({"contribution": self.contributions}, index=index)

    def plot(self, n: int = 10, *, ax: Any = None) -> Any:
        """Draw the n dimensions of largest absolute contribution as bars, the largest on top.

        Parameters
        ----------
        n : int, default=10
            How many.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        size = (6, 1 + 0.3 * n)
        ax = axes_for(ax, "Plotting an explanation", figsize=size, layout="constrained")
        names, values = zip(*self.top(n)[::-1], strict=True)
        colors = ["C0" if value >= 0 else "C3" for value in values]
        ax.barh([str(name) for name in names], values, color=colors)
        ax.axvline(0, color="gray", linewidth=0.8)
        ax.set(xlabel=f"adds to the score of {self.score:.3g}")
        return ax

    def top(self, n: int = 5) -> list[tuple[str, float]]:
        """Return the n dimensions of largest absolute contribution."""
        # Stable, so that equal contributions come in the order of the dimensions.
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:n]
        return [(self.dimensions[i], float(self.contributions[i])) for i in order]


class Reason(NamedTuple):
    """One thing that spoke for an answer.

    Attributes
    ----------
    trait : str
        A dimension of the signatures, or a seen class for methods that build classes from them.
    direction : {"has", "lacks", "like"}
        Whether the class has the trait, speaks by its absence, or resembles the seen class.
    adds : float
        What it adds to the score.
    """

    trait: str
    direction: str
    adds: float


def name_reasons(
    why: Explanation, signatures: Signatures, name: Any, n: int = 5
) -> list[Reason] | None:
    """Return what spoke most for a class, in words that a person can read.

    Parameters
    ----------
    why : Explanation
        Of the class, by a recognizer.
    signatures : Signatures
        The class table of the recognizer.
    name : object
        The class.
    n : int, default=5
        At most so many reasons.

    Returns
    -------
    list of Reason or None
        The largest first; None if the dimensions are numbered only, as those of an encoder are.

    Examples
    --------
    >>> import numpy as np
    >>> from zslearn.signatures import Signatures
    >>> table = Signatures(["zebra"], [[1.0, -2.0]], ["stripes", "swims"])
    >>> why = Explanation.of(table.dimensions, np.array([0.5, 0.75]))
    >>> [f"{one.direction} {one.trait}" for one in name_reasons(why, table, "zebra")]
    ['lacks swims', 'has stripes']
    """
    semantic = tuple(why.dimensions) == signatures.dimensions
    numbered = numbered_dimensions(why.dimensions) if semantic else set()
    if len(numbered) == len(why.dimensions):
        return None
    # A score without deviations is a sum s·z: it begins from the class of zeros.
    away = why.deviations
    if away is None and semantic:
        away = signatures[name]
    order = np.argsort(-why.contributions, kind="stable").tolist()
    found = [i for i in order if why.dimensions[i] not in numbered and why.contributions[i] > 0]
    return [
        Reason(
            why.dimensions[i],
            "like" if away is None else "lacks" if away[i] < 0 else "has",
            float(why.contributions[i]),
        )
        for i in found[:n]
    ]


def numbered_dimensions(dimensions: Sequence[str]) -> set[str]:
    """Return names that only count, minilm0, minilm1 and so on: nobody can read an embedding.

    Examples
    --------
    >>> sorted(numbered_dimensions(["stripes", "d0", "d1", "group4"]))
    ['d0', 'd1']
    """
    known = set(dimensions)
    alone = {name for name in known if _NUMBERED.fullmatch(name)}
    # A stem that is followed by 0, 1, 2, ... without a gap counts, whatever it is called.
    stems = Counter(name.rstrip(digits) for name in known if name[-1:].isdigit())
    runs = [{f"{stem}{i}" for i in range(n)} for stem, n in stems.items() if n > 1]
    return alone.union(*(run for run in runs if run <= known))
