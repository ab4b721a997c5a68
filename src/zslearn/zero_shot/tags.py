"""What every zero-shot method tells about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ZeroShotTags:
    """Honest facts about a method, shown in tables and used to refuse what it cannot do.

    Attributes
    ----------
    transductive : bool
        Whether a prediction depends on the other samples of the batch.
    closed_form : bool
        Whether the fit is a closed-form solution rather than an iteration.
    deterministic : bool
        Whether two fits on the same data are equal without fixing a random state.
    several_spaces : bool
        Whether the method treats the blocks of joined signatures as spaces of their own.
    separable : bool
        Whether each candidate is scored apart from the others, so that candidates can be prepared
        in blocks and one of them can be replaced alone.
    non_negative : bool
        Whether features and signatures must not be negative.
    raw_signatures : bool
        Whether the method is made for attributes as they were collected, not of unit length.
    min_batch : int
        Smallest batch the method predicts; above one only for transductive methods.
    reference : str
        Who proposed it and where.
    """

    transductive: bool = False
    closed_form: bool = True
    deterministic: bool = True
    several_spaces: bool = False
    separable: bool = True
    non_negative: bool = False
    raw_signatures: bool = False
    min_batch: int = 1
    reference: str = ""

    @property
    def kind(self) -> str:
        """The tags in words."""
        return ", ".join(
            [
                "transductive" if self.transductive else "inductive",
                "closed form" if self.closed_form else "iterative",
                "deterministic" if self.deterministic else "random",
            ]
        )
