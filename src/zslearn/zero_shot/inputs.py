"""What users give in several forms, in the one form the classifiers work with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from zslearn._parameters import Constraint, check_value
from zslearn.core.rows import unmasked, validate_rows
from zslearn.encoders.text_encoder import describe_classes
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
)
from zslearn.signatures import Signatures


def is_table(table: Any) -> bool:
    """Say whether a value is a class table in one of the forms a user may give."""
    # By what it has and not by its class: pandas need not be installed.
    frame = hasattr(table, "index") and hasattr(table, "columns")
    return frame or isinstance(table, (Signatures, Mapping))


SIGNATURES = Constraint(
    "a Signatures table, a dict of class to vector or a DataFrame with one row per class", is_table
)


def as_signatures(table: Any) -> Signatures:
    """Return the class table a user gave as `Signatures`, a dict or a data frame."""
    check_value("signatures", table, SIGNATURES)
    if isinstance(table, Signatures):
        return table
    return (
        Signatures.from_dict(table) if isinstance(table, Mapping) else Signatures.from_frame(table)
    )


def as_rows(new: Any, table: Signatures) -> Any:
    """Return new classes with vectors; those given by texts are encoded as those of the table."""
    if not isinstance(new, Mapping):
        return new
    described = [name for name, given in new.items() if _is_text(given)]
    if not described:
        return new
    if len(described) < len(new):
        other = next(name for name in new if name not in described)
        raise InvalidInputError(
            f"class {described[0]!r} is given by a text and class {other!r} is not; add those with "
            "texts and those with vectors one after the other."
        )
    return describe_classes(new, table)


def _is_text(given: Any) -> bool:
    several = isinstance(given, list | tuple) and bool(given)
    return isinstance(given, str) or (several and all(isinstance(text, str) for text in given))


def is_cv(value: Any) -> bool:
    """Say whether a parameter is left to cross-validation."""
    return isinstance(value, str) and value == "cv"


def plain_features(X: Any) -> Any:
    """Return features without a mask, and half precision as single.

    scikit-learn would take what is masked for numbers, and make half precision double.
    """
    X = unmasked(X, "X")
    half = isinstance(X, np.ndarray) and X.dtype == np.float16
    return X.astype(np.float32) if half else X


def check_features(X: Any, estimator: Any, finite: bool | str = True) -> Any:
    """Return samples to predict as an array or a sparse matrix, checked by scikit-learn.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Samples.
    estimator : estimator
        Which has `n_features_in_`, and `feature_names_in_` if it was fitted on a data frame.
    finite : bool or "allow-nan", default=True
        Whether NaN is refused.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_samples, n_features)
    """
    return validate_rows(
        estimator,
        plain_features(X),
        reset=False,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=finite,
    )


def one_row(x: Any) -> Any:
    """Return one sample as a matrix of one row, or refuse several; pandas keeps its names."""
    if isinstance(x, str | Path):  # a text or a picture, for a classifier with an encoder
        return [x]
    # A Series, one row of a frame: its index has the names of the features.
    if hasattr(x, "index") and hasattr(x, "to_frame"):
        return x.to_frame().T
    if hasattr(x, "columns") and len(x) == 1:
        return x
    row = x.toarray() if sparse.issparse(x) else np.asarray(unmasked(x, "the sample"))
    if row.ndim == 2 and len(row) == 1:
        return row
    if row.ndim != 1:
        raise InvalidInputError(
            f"one sample is explained at a time; got an array of shape {row.shape}. Pass one row, "
            "such as X[0]."
        )
    return row.reshape(1, -1)


Fit = TypeVar("Fit", bound=Callable[..., Any])


def refuses_sample_weight(fit: Fit) -> Fit:
    """Decorate a ``fit(X, y)`` so that it refuses weights in one line that says who takes them.

    The signature stays without ``sample_weight``, which is how scikit-learn knows.

    Examples
    --------
    >>> class Learner:
    ...     @refuses_sample_weight
    ...     def fit(self, X, y):
    ...         return self
    >>> Learner().fit([[1.0]], ["cat"], sample_weight=[1.0])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    zslearn.exceptions.InvalidTypeError: Learner takes no sample_weight. Leave it out, or use ...
    """

    @wraps(fit)
    def refusing(self: Any, *args: Any, **kwargs: Any) -> Any:
        # None is what pipelines and searches pass on where no weights were given.
        if kwargs.pop("sample_weight", None) is not None:
            raise InvalidTypeError(
                f"{type(self).__name__} takes no sample_weight. Leave it out, or use a method that "
                "learns from moments: PrototypeRegression, SAEClassifier, ESZSLClassifier, "
                "RRZSLClassifier, RidgeClassifierFS."
            )
        return fit(self, *args, **kwargs)

    return cast(Fit, refusing)


def announced_classes(
    classes: ArrayLike | None, before: NDArray | None, table: Signatures
) -> NDArray | None:
    """Return the classes announced for all batches, checked.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
        What this call of `partial_fit` was given.
    before : ndarray of shape (n_classes,) or None
        What the first one was given.
    table : Signatures
        Every announced class must have a signature.

    Returns
    -------
    ndarray of shape (n_classes,) or None
        Sorted; None if nothing was announced.

    Examples
    --------
    >>> announced_classes(["dog", "cat"], None, Signatures.one_hot(["cat", "dog"])).tolist()
    ['cat', 'dog']
    """
    if classes is None:
        return before
    names = np.unique(np.asarray(classes))
    if before is not None and not np.array_equal(names, before):
        raise InvalidInputError(
            "classes must be the same in every call of partial_fit; before they were "
            f"{', '.join(map(str, before[:5]))}{', ...' if len(before) > 5 else ''}. "
            "Leave it out after the first call."
        )
    missing = [name for name in names.tolist() if name not in table]
    if missing:
        raise UnknownClassError(missing, list(table), "Add a row or leave it out of classes.")
    return names


def check_announced(labels: NDArray, announced: NDArray | None) -> None:
    """Refuse labels of a batch that are not among the announced classes, if there are any."""
    others = labels[:0] if announced is None else np.setdiff1d(labels, announced)
    if announced is not None and len(others):
        raise InvalidInputError(
            f"y holds {others[0]!s}, which is not one of the {len(announced)} classes announced to "
            "partial_fit. Announce it in the first call, or leave out classes=."
        )
