"""What every mapping states about itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MappingTags:
    """Honest facts about a mapping, shown in tables.

    Attributes
    ----------
    transductive : bool
        Whether the code of a sample depends on the other samples of the batch.
    closed_form : bool
        Whether the fit is a closed-form solution rather than an iteration.
    incremental : bool
        Whether there is a `partial_fit` that gives what one fit on all rows gives.
    reference : str
        Who published it and where.
    """

    transductive: bool = False
    closed_form: bool = True
    incremental: bool = True
    reference: str = ""
