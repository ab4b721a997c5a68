"""What a method says that cannot weight its samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from zslearn.exceptions import InvalidTypeError

Fit = TypeVar("Fit", bound=Callable[..., Any])


def refuses_weights(fit: Fit) -> Fit:
    """Decorate a ``fit(X, y)`` so that it refuses weights in one line that says who takes them.

    The signature stays without ``sample_weight``, which is how scikit-learn knows.

    Examples
    --------
    >>> class Learner:
    ...     @refuses_weights
    ...     def fit(self, X, y):
    ...         return self
    >>> Learner().fit([[1.0]], ["cat"], sample_weight=[1.0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidTypeError: Learner takes no sample_weight. Leave it out, or use ...
    """

    @wraps(fit)
    def refusing(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.pop("sample_weight", None) is not None:
            raise InvalidTypeError(
                f"{type(self).__name__} takes no sample_weight. Leave it out, or use a method that "
                "learns from moments: PrototypeRegression, SAEClassifier, ESZSLClassifier, "
                "RRZSLClassifier, RidgeClassifierFS."
            )
        return fit(self, *args, **kwargs)

    return cast(Fit, refusing)
