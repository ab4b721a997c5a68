"""The interface a cluster has to provide, and the fit that works with any of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

from zslearn.core.learner import Gathered
from zslearn.features import remember_encoder
from zslearn.scale.pieces import Outline, gather_piece
from zslearn.scale.planning import plan_for

# Partial results that are added up by one task.
_FAN_IN = 4


class Engine(ABC):
    """Something that runs functions elsewhere: threads, processes, a cluster."""

    @abstractmethod
    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task that calls a function; arguments may be tasks, and lists of them."""

    @abstractmethod
    def result(self, task: Any) -> Any:
        """Wait for a task and return what its function returned, or raise what it raised."""


def fit_pieces(
    estimator: Any,
    data: tuple[Outline, Sequence[Any]],
    engine: Engine,
    *,
    classes: Any = None,
    validation_rows: int | None = None,
) -> Any:
    """Fit an estimator to pieces that an engine sums up; the equation is solved here.

    A task keeps no state, so one that is lost with its worker is simply repeated. Partial results
    are added in the order of the data, a few at a time, so that no machine ever holds many of
    them.

    Parameters
    ----------
    estimator : MomentLearner
        It is fitted in place.
    data : tuple of Outline and sequence of Piece
        What is known about the data, and its pieces or tasks that return them.
    engine : Engine
        Where to compute.
    classes, validation_rows
        As in `fit_batches`.

    Returns
    -------
    estimator
    """
    outline, pieces = data
    plan = plan_for(estimator, outline, classes, validation_rows)
    parts = [engine.call(gather_piece, piece, plan) for piece in pieces]
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [engine.call(add_parts, group) for group in groups]
    estimator.learn(engine.result(parts[0]))
    remember_encoder(estimator, outline.encoder)
    return estimator


def add_parts(parts: list[Gathered]) -> Gathered:
    """Add partial results in their order."""
    return reduce(add, parts)
