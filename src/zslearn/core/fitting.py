"""A method that changes its object completely, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")


def all_or_nothing(
    method: Callable[Concatenate[Owner, Given], Answer],
) -> Callable[Concatenate[Owner, Given], Answer]:
    """Make a method put back the attributes of its object when it fails or is interrupted.

    Examples
    --------
    >>> class Sum:
    ...     total = 0
    ...     @all_or_nothing
    ...     def add(self, value):
    ...         self.total += 1
    ...         self.total += value
    >>> one = Sum()
    >>> one.add("a")
    Traceback (most recent call last):
    TypeError: unsupported operand type(s) for +=: 'int' and 'str'
    >>> one.total
    0
    """

    @wraps(method)
    def changed(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        before: dict[str, Any] = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__ = before  # at once, for whoever predicts meanwhile
            raise

    return changed
