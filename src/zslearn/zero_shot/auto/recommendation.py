"""Which member is taken unless another is clearly better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from zslearn.zero_shot.auto.portfolio import Member
from zslearn.zero_shot.registry import RECOMMENDED

# Columns are in different units if the wide ones spread so many times as far as the narrow ones.
_UNITS = 100.0
_ROWS = 5000


def with_recommended(members: Sequence[Member], X: Any) -> list[Member]:
    """Mark the recommended member, if there is one.

    It is prototype regression; on standardized features where columns are in different units, so
    that what is taken does not depend on who measured in meters and who in millimeters.

    Parameters
    ----------
    members : sequence of Member
        What may be taken.
    X : {array, sparse matrix} of shape (n_samples, n_features)
        Features.

    Returns
    -------
    list of Member
    """
    names = {one.name for one in members}
    scaled = f"standardize > {RECOMMENDED}"
    name = scaled if scaled in names and units_differ(X) else RECOMMENDED
    return [replace(one, recommended=one.name == name) for one in members]


def units_differ(X: Any) -> bool:
    """Say whether one in ten columns spreads a hundred times as far as another one in ten.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((50, 8))
    >>> units_differ(X), units_differ(X * [1, 1, 1, 1, 0.01, 0.01, 10, 10])
    (False, True)
    """
    if sparse.issparse(X):
        return False
    with np.errstate(all="ignore"):
        spread = X[:: max(1, len(X) // _ROWS)].std(axis=0, dtype=np.float64)
        spread = spread[spread > 0]
        low, high = np.quantile(spread, [0.1, 0.9]) if len(spread) else (1.0, 1.0)
        return bool(high > _UNITS * low)
