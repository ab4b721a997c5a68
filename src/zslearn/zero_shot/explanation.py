"""Why a sample got its score for a class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import digits
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn._optional import axes_for, require
from zslearn.signatures.files import make_html_table

# What encoders of texts and words call their dimensions: "minilm12", "d_3", "17".
_NUMBERED = re.compile(r"(minilm|[dwv_]*)\d+")
# Dimensions in the table that a notebook shows.
_SHOWN = 10


class Reason(NamedTuple):
    """One thing that speaks for a class, or against it.

    Attributes
    ----------
    trait : str
        A dimension of the signatures; a phrase of the texts of the class; or a seen class, for
        methods that build classes from these.
    direction : {"has", "lacks", "says", "like"}
        Whether the class has the trait, lacks it, is described by the phrase, or resembles the seen
        class.
    adds : float
        What it adds to the score, negative if it speaks against the class. Of a phrase, by how much
        the score is higher than it would be without the phrase.

    Examples
    --------
    >>> print(Reason("stripes", "has", 2.5))
    has stripes +2.5
    >>> print(Reason("striped coat", "says", 2.5))
    "striped coat" (without it -2.5)
    """

    trait: str
    direction: str
    adds: float

    @property
    def what(self) -> str:
        """The trait with its direction: has stripes, lacks stripes, "striped coat", like horse."""
        return f'"{self.trait}"' if self.direction == "says" else f"{self.direction} {self.trait}"

    def __str__(self) -> str:
        if self.direction == "says":
            return f"{self.what} (without it {-self.adds:+.3g})"
        return f"{self.what} {self.adds:+.3g}"


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
    removals : tuple of Reason
        What each phrase of its texts adds, for a class that is described by texts: by how much the
        score is higher than without it. They do not sum to the score.

    Examples
    --------
    >>> import numpy as np
    >>> traits, away = ["stripes", "swims"], np.array([1.0, -2.0])
    >>> why = Explanation.of(traits, np.array([-0.5, 0.75]), 1.0, deviations=away)
    >>> why.score, why.top(1)
    (1.25, [('swims', 0.75)])
    >>> why
    Explanation(score 1.25: lacks swims +0.75, has stripes -0.5, offset +1)
    """

    dimensions: tuple[str, ...]
    contributions: NDArray
    offset: float
    score: float
    deviations: NDArray | None = None
    note: str = ""
    removals: tuple[Reason, ...] = ()

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

    def reasons(self, n: int = 5) -> list[Reason]:
        """Return what counts most for the score and against it, in words that a person can read.

        Parameters
        ----------
        n : int, default=5
            At most so many.

        Returns
        -------
        list of Reason
            The largest first: phrases, for a class that is described by texts, or else dimensions
            that have a name. None of a class by an encoder whose dimensions are numbered only.
        """
        found = list(self.removals) or self._named()
        # Stable, so that equal ones come in the order of the dimensions.
        return sorted((one for one in found if one.adds), key=lambda one: -abs(one.adds))[:n]

    def _named(self) -> list[Reason]:
        """Return what every dimension adds that has a name."""
        numbered = numbered_dimensions(self.dimensions)
        ways = ["like"] * len(self.dimensions)
        if self.deviations is not None:
            ways = ["lacks" if away < 0 else "has" for away in self.deviations.tolist()]
        parts = zip(self.dimensions, ways, self.contributions.tolist(), strict=True)
        return [Reason(*part) for part in parts if part[0] not in numbered]

    def __repr__(self) -> str:
        told = self.reasons(3)
        shown = [str(one) for one in told]
        if not self.removals:
            rest = len(self.dimensions) - len(shown)
            shown += [f"{rest} {'more' if told else 'numbered dimensions'}"] * (rest > 0)
            shown += [f"offset {self.offset:+.3g}"] * bool(self.offset)
        note = f"; {self.note}" if self.note else ""
        return f"Explanation(score {self.score:.4g}: {', '.join(shown)}{note})"

    def _repr_html_(self) -> str:
        told = [(one.what, f"{one.adds:+.4g}") for one in self.reasons(_SHOWN)]
        rest = [] if self.removals else [("offset", f"{self.offset:+.4g}")]
        return make_html_table(repr(self), ["", "adds"], told + rest)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the column "contribution": index = dimensions."""
        pandas = require("pandas", extra="table", purpose="A data frame")
        index = pandas.Index(self.dimensions, name="dimension")
        return pandas.DataFrame({"contribution": self.contributions}, index=index)

    def plot(self, n: int = 10, *, ax: Any = None) -> Any:
        """Draw the n reasons that count most as bars, the largest on top.

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
        told = self.reasons(n)[::-1]
        colors = ["C0" if one.adds >= 0 else "C3" for one in told]
        ax.barh([one.what for one in told], [one.adds for one in told], color=colors)
        ax.axvline(0, color="gray", linewidth=0.8)
        ax.set(xlabel=f"adds to the score of {self.score:.3g}")
        return ax

    def top(self, n: int = 5) -> list[tuple[str, float]]:
        """Return the n dimensions of largest absolute contribution."""
        # Stable, so that equal contributions come in the order of the dimensions.
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:n]
        return [(self.dimensions[i], float(self.contributions[i])) for i in order]


def reasons_in_words(reasons: Sequence[Reason]) -> str:
    """Return what speaks for a class, and what against it, as one line.

    Examples
    --------
    >>> found = [Reason("stripes", "has", 2.5), Reason("horns", "lacks", 1.0)]
    >>> reasons_in_words([*found, Reason("tail", "has", -0.5)])
    'because: has stripes +2.5, lacks horns +1; against it: has tail -0.5'
    """
    speaking = [", ".join(str(one) for one in reasons if one.adds * sign > 0) for sign in (1, -1)]
    titles = ("because", "against it")
    return "; ".join(
        f"{title}: {said}" for title, said in zip(titles, speaking, strict=True) if said
    )


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
