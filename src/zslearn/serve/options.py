"""The parameters of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zslearn.serve.errors import refuse
from zslearn.serve.json_text import read_json


@dataclass(frozen=True)
class Options:
    """The parameters of a request.

    Attributes
    ----------
    candidates : "all", "seen", "unseen" or list of str
        Classes allowed as answers.
    top_k : int or None
        How many classes per sample; None for one, and for all scores.
    bias : float
        What is subtracted from the scores of seen classes.
    reject : bool
        Whether samples that probably belong to no candidate are called so.
    """

    candidates: str | Sequence[str] = "all"
    top_k: int | None = None
    bias: float = 0.0
    reject: bool = False

    @classmethod
    def of(cls, parameters: Any) -> Options:
        """Read the parameters of a request; unknown ones belong to others and are ignored."""
        if not parameters:
            return DEFAULT
        reject = parameters.get("reject", False)
        if not isinstance(reject, bool):
            raise refuse(f"reject must be true or false; got {reject!r:.40}.")
        return cls(
            _candidates(parameters.get("candidates", "all")),
            _whole(parameters.get("top_k")),
            _number(parameters.get("bias", 0.0)),
            reject,
        )


DEFAULT = Options()


def _candidates(value: Any) -> str | list[str]:
    if isinstance(value, str) and value in ("all", "seen", "unseen"):
        return value
    # Some clients send plain values only; they write the list as text.
    named = read_json(value.encode()) if isinstance(value, str) and value[:1] == "[" else value
    if not isinstance(named, list) or not all(isinstance(n, str | int) for n in named):
        raise refuse(
            "candidates must be 'all', 'seen', 'unseen' or a list of class names; got "
            f"{value!r:.80}."
        )
    return [str(name) for name in named]


def _whole(value: Any) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise refuse(f"top_k must be a whole number of at least 1; got {value!r:.40}.")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float) or abs(value) > 1e30:
        raise refuse(f"bias must be a number; got {value!r:.40}.")
    return float(value)
