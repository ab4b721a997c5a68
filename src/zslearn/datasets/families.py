"""Families of synthetic data, each with a known kind of method that fits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from zslearn._parameters import RandomSource, check_value
from zslearn.datasets.class_split import ClassSplit
from zslearn.datasets.dataset import ZeroShotDataset
from zslearn.exceptions import InvalidInputError, closest_name
from zslearn.signatures import Signatures

# Features of each attribute, where an attribute has features of its own.
_CHANNELS = 3
# From yes/no attributes of the samples, of shape (n_samples, n_dimensions), to features.
Draw = Callable[[NDArray[np.float64], RandomState], NDArray[np.float64]]


@dataclass(frozen=True)
class Family:
    """How the data of a family is made.

    Attributes
    ----------
    best : {"linear", "bayes", "product", "none"}
        The kind of method that fits: linear in the features, a naive Bayes classifier per
        attribute, one that sees products of features, or none at all.
    draw : callable
        Makes features of attributes.
    n_seen, n_unseen, n_per_class, n_dimensions : int
        Sizes.
    n_factors : int or None
        What the attributes depend on, so that they come in groups; None lets each stand alone.
    """

    best: str
    draw: Draw
    n_seen: int = 20
    n_unseen: int = 5
    n_per_class: int = 30
    n_dimensions: int = 8
    n_factors: int | None = None


def _mixed(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Make every feature a linear function of all attributes, plus noise."""
    W = rng.standard_normal((has.shape[1], _CHANNELS * has.shape[1]))
    return np.asarray((2 * has - 1) @ W + rng.standard_normal((len(has), W.shape[1])))


def _spread(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Let a feature swing wide if the class has its attribute, around the same mean."""
    swing = np.repeat(1.0 + 3.0 * has, _CHANNELS, axis=1)
    return swing * rng.standard_normal(swing.shape)


def _sensors(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Let sensors swing wider by an attribute; the means of classes say nothing of it."""
    swing = np.repeat(1.0 + has, _CHANNELS, axis=1)
    _, index = np.unique(has, axis=0, return_inverse=True)
    offsets = 0.5 * rng.standard_normal((index.max() + 1, swing.shape[1]))
    load = 0.5 * rng.standard_normal((len(has), 1)) @ rng.standard_normal((1, swing.shape[1]))
    units = 10.0 ** rng.uniform(-2, 3, swing.shape[1])
    X = offsets[index.ravel()] + load + swing * rng.standard_normal(swing.shape)
    return np.asarray(units * X)


def _product(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Hide an attribute in the sign of the product of two features that say nothing alone."""
    first = rng.choice([-1.0, 1.0], has.shape)
    second = first * (2 * has - 1)
    X = np.concatenate([first, second], axis=1)
    return np.asarray(X + 0.3 * rng.standard_normal(X.shape))


def _heavy(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Shift by the attribute, with noise of two degrees of freedom."""
    shift = np.repeat(2.0 * has - 1.0, _CHANNELS, axis=1)
    return shift + rng.standard_t(2, shift.shape)


def _irrelevant(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Leave half of the attributes without a feature."""
    return _mixed(has[:, : has.shape[1] // 2], rng)


def _noise(has: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
    """Draw features of classes that have nothing to do with their attributes."""
    _, index = np.unique(has, axis=0, return_inverse=True)
    centers = rng.standard_normal((index.max() + 1, _CHANNELS * has.shape[1]))
    return np.asarray(
        centers[index.ravel()] + 0.5 * rng.standard_normal((len(has), centers.shape[1]))
    )


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "linear": Family("linear", _mixed),
        "spread": Family("bayes", _spread),
        "product": Family("product", _product, n_dimensions=6, n_per_class=60),
        "heavy tails": Family("linear", _heavy),
        "correlated attributes": Family("linear", _mixed, n_dimensions=16, n_factors=6),
        "irrelevant attributes": Family("linear", _irrelevant, n_dimensions=12),
        "few samples": Family("linear", _mixed, n_per_class=3),
        "few classes": Family("bayes", _spread, n_seen=9, n_unseen=3, n_per_class=60),
        "sensors": Family(
            "bayes", _sensors, n_seen=12, n_unseen=3, n_per_class=60, n_dimensions=16
        ),
        "many classes": Family("linear", _mixed, n_seen=100, n_unseen=20, n_per_class=8),
        "uninformative": Family("none", _noise),
    }
)


def make_family(
    name: str = "linear", *, random_state: int | RandomState | None = None
) -> ZeroShotDataset:
    """Make data of which it is known what kind of method fits it.

    Parameters
    ----------
    name : str, default="linear"
        A key of `FAMILIES`. "linear": features are linear in the attributes. "spread": attributes
        change the variance of features, never a mean. "product": an attribute is the sign of a
        product. "heavy tails": a shift with outliers. "correlated attributes": most are nearly
        copies of others. "irrelevant attributes": half of them have no feature. "few samples", "few
        classes", "many classes": sizes. "sensors": few classes, and 48 channels in units of their
        own that swing wider by an attribute, while their means have nothing to do with it.
        "uninformative": signatures that have nothing to do with the features.
    random_state : int, RandomState instance or None, default=None
        Seed; give an integer for the same data in every call.

    Returns
    -------
    ZeroShotDataset
        With yes/no attributes, the split "standard", and in `extra` the kind of method that fits,
        "best_kind": "linear", "bayes", "product" or "none".

    Raises
    ------
    InvalidInputError
        If there is no such family.

    Examples
    --------
    >>> from zslearn.datasets import make_family
    >>> data = make_family("few classes", random_state=0)
    >>> data.X.shape, data.extra["best_kind"]
    ((720, 24), 'bayes')
    """
    if name not in FAMILIES:
        near = closest_name(name, FAMILIES)
        hint = f" Did you mean {near!r}?" if near is not None else ""
        raise InvalidInputError(
            f"there is no family {name!r}.{hint} Known families: {', '.join(FAMILIES)}."
        )
    check_value("random_state", random_state, RandomSource())
    family, rng = FAMILIES[name], check_random_state(random_state)
    n_classes = family.n_seen + family.n_unseen
    has = _attributes(family, n_classes, rng)
    seen = [f"seen{i}" for i in range(family.n_seen)]
    unseen = [f"unseen{i}" for i in range(family.n_unseen)]
    X = family.draw(np.repeat(has, family.n_per_class, axis=0), rng)
    return ZeroShotDataset(
        name=name,
        X=X,
        y=np.repeat(seen + unseen, family.n_per_class),
        semantics={"attributes": Signatures(np.array(seen + unseen), has)},
        splits={"standard": ClassSplit(seen, unseen)},
        features=f"{X.shape[1]} features of the family {name!r}",
        source="generated by make_family",
        extra={"best_kind": family.best},
    )


def _attributes(family: Family, n_classes: int, rng: RandomState) -> NDArray[np.float64]:
    """Yes/no attributes of the classes, or factors and copies of them that err one time in ten."""
    if family.n_factors is None:
        return _codes(n_classes, family.n_dimensions, rng)
    factors = _codes(n_classes, family.n_factors, rng)
    copies = factors[:, np.arange(family.n_dimensions - family.n_factors) % family.n_factors]
    errors = rng.random_sample(copies.shape) < 0.1
    return np.hstack([factors, np.where(errors, 1.0 - copies, copies)])


def _codes(n_classes: int, n_dimensions: int, rng: RandomState) -> NDArray[np.float64]:
    """Different rows of zeros and ones, none of zeros alone."""
    numbers = 1 + rng.choice(2**n_dimensions - 1, n_classes, replace=False)
    return ((numbers[:, None] >> np.arange(n_dimensions)) & 1).astype(np.float64)
