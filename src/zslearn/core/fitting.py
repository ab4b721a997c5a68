"""Manners of a method that changes its object: completely or not at all, with few BLAS threads.

Every `fit` and `partial_fit` is a `fit_method`. A method that learns from sums, whose cost is not
that of its rows, is `all_or_nothing` and sets its own limit (`zslearn.core.threads`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np

from zslearn.core.magnitudes import check_learned
from zslearn.core.threads import limit_blas_for
from zslearn.exceptions import InvalidInputError

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")
Fit = TypeVar("Fit", bound=Callable[..., Any])


def fit_method(fit: Fit) -> Fit:
    """Make a method ``fit(X, ...)`` all or nothing, in as many BLAS threads as it deserves.

    A decomposition that does not converge and learned numbers that are not finite, or too large
    for a model file, end in one line.

    Examples
    --------
    >>> import numpy as np
    >>> class Learner:
    ...     @fit_method
    ...     def fit(self, X):
    ...         self.total_ = float(np.trace(X @ X.T))
    ...         return self
    >>> Learner().fit(np.eye(3)).total_
    3.0
    """

    @wraps(fit)
    def limited(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        # The least a fit takes is a Gram matrix of X; lists, which have no shape, are small.
        shape: tuple[int, ...] = getattr(X, "shape", ())
        cost = math.prod(map(float, shape)) * min(shape) if len(shape) == 2 else 0.0
        with limit_blas_for(cost):
            try:
                fitted = fit(self, X, *args, **kwargs)
            except np.linalg.LinAlgError as error:
                raise InvalidInputError(
                    f"{type(self).__name__} cannot be fitted to these numbers ({error}). Rescale "
                    "the features and the signatures, for example to unit length."
                ) from error
        check_learned(self)
        return fitted

    return cast(Fit, all_or_nothing(limited))


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
            # One assignment, so that whoever predicts meanwhile never sees a mixture.
            self.__dict__ = before
            raise

    return changed
