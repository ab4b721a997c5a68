"""Zero-shot problems made of tables that had no part in how `auto` came about."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.signatures import Signatures

# Strokes of the digits: loops above, below and closed, bars upright, above and below, a slanted
# line, open to the left, open to the right, symmetric; and the segments of a display.
STROKES = {
    0: ("1110000001", "abcdef"),
    1: ("0001000000", "bc"),
    2: ("0000011110", "abdeg"),
    3: ("0000000100", "abcdg"),
    4: ("0001001000", "bcfg"),
    5: ("0000100110", "acdfg"),
    6: ("0110000010", "acdefg"),
    7: ("0000101100", "abc"),
    8: ("1110001001", "abcdefg"),
    9: ("1010000100", "abcdfg"),
}
# Columns of the cancer table that classes are made of: radius, texture, concavity, dimension.
BINNED = [0, 1, 6, 9]


def _dataset(
    name: str, X: NDArray, index: NDArray, vectors: NDArray, n_unseen: int, rng: Generator
) -> ZeroShotDataset:
    """Name the classes and hold out some of them."""
    names = np.array([f"class {i:02d}" for i in range(len(vectors))])
    order = rng.permutation(names)
    return ZeroShotDataset(
        name=name,
        X=X,
        y=names[index],
        semantics={"attributes": Signatures(names, vectors)},
        splits={"proposed": ClassSplit(sorted(order[n_unseen:]), sorted(order[:n_unseen]))},
    )


def digits(seed: int) -> ZeroShotDataset:
    """Pixels of ten digits, described by their strokes; three are unseen."""
    X, y = load_digits(return_X_y=True)
    vectors = [
        [*map(int, strokes), *(one in segments for one in "abcdefg")]
        for strokes, segments in STROKES.values()
    ]
    return _dataset("digits", X, y, np.array(vectors, float), 3, default_rng(seed))


def breast_cancer(seed: int) -> ZeroShotDataset:
    """Cells by thirds of four columns, to be told from the other columns; eight are unseen."""
    X, _ = load_breast_cancer(return_X_y=True)
    thirds = [np.digitize(X[:, i], np.quantile(X[:, i], [1 / 3, 2 / 3])) for i in BINNED]
    codes, index = np.unique(np.stack(thirds, axis=1), axis=0, return_inverse=True)
    index = index.ravel()
    common = np.flatnonzero(np.bincount(index) >= 5)
    rows = np.isin(index, common)
    X, index = np.delete(X, BINNED, axis=1)[rows], np.searchsorted(common, index[rows])
    return _dataset("breast cancer", X, index, codes[common].astype(float), 8, default_rng(seed))


def machine_faults(seed: int) -> ZeroShotDataset:
    """Windows of ten sensors in four groups, which drift, shake, swing or stick; one class is well.

    A window is described by means, spreads, spreads of steps, and the like; four of 18 are unseen.
    """
    rng = default_rng(seed)
    groups, faults = np.repeat(np.arange(4), [3, 2, 3, 2]), [np.zeros((4, 4), dtype=int)]
    while len(faults) < 18:
        fault = np.zeros((4, 4), dtype=int)
        for _ in range(rng.integers(1, 4)):
            fault[rng.integers(4), rng.integers(4)] = 1
        if not any((fault == other).all() for other in faults):
            faults.append(fault)
    mixing, units = 0.7 * rng.standard_normal((3, 10)), 10.0 ** rng.uniform(-2, 3, 10)
    index = np.repeat(np.arange(18), 40)
    X = np.array([_window(faults[i][:, groups], mixing, rng) * np.tile(units, 5) for i in index])
    return _dataset("machine faults", X, index, np.array(faults).reshape(18, 16) * 1.0, 4, rng)


def _window(fault: NDArray, mixing: NDArray, rng: Generator) -> NDArray:
    """Return features of sixty steps of ten sensors; rows of `fault` are kinds of faults."""
    time = np.arange(60)[:, None]
    s = 0.15 * rng.standard_normal((60, 3)).cumsum(axis=0) @ mixing
    s += 0.5 * rng.standard_normal(s.shape)
    s += fault[0] * time / 60 * rng.uniform(1, 2.5, 10) * rng.choice([-1, 1], 10)
    s += fault[1] * rng.uniform(0.8, 1.5, 10) * rng.standard_normal(s.shape)
    swing = np.sin(2 * np.pi * time / rng.uniform(4, 9, 10) + rng.uniform(0, 6, 10))
    s += fault[2] * rng.uniform(1, 1.8, 10) * swing
    s[30:] = np.where(fault[3], s[30], s[30:])
    steps, trend = np.diff(s, axis=0).std(axis=0), s[-15:].mean(axis=0) - s[:15].mean(axis=0)
    return np.concatenate([s.mean(axis=0), s.std(axis=0), steps, trend, s[-20:].std(axis=0)])


def long_tails(seed: int) -> ZeroShotDataset:
    """Forty columns in units of their own, whose logarithms follow ten degrees; five of 25."""
    rng = default_rng(seed)
    vectors = rng.random((25, 10))
    W = 1.5 * rng.standard_normal((10, 40)) * (rng.random((10, 40)) < 0.25)
    index = np.repeat(np.arange(25), 25)
    X = np.exp(vectors[index] @ W + 0.6 * rng.standard_t(3, (len(index), 40)))
    return _dataset("long tails", X * 10.0 ** rng.uniform(-3, 3, 40), index, vectors, 5, rng)


def ratios_and_counts(seed: int) -> ZeroShotDataset:
    """Attributes in ratios of two columns, in counts, and in the shape of a column; five of 24."""
    rng = default_rng(seed)
    has = (1 + rng.choice(255, 24, replace=False)[:, None]) >> np.arange(8) & 1
    index = np.repeat(np.arange(24), 40)
    b, n = has[index], len(index)
    size = rng.lognormal(0, 1, (n, 4))
    ratio = np.exp(1.2 * (2 * b[:, :4] - 1) + 0.5 * rng.standard_normal((n, 4)))
    shape = np.where(np.tile(b[:, 6:], 2), rng.beta(0.4, 0.4, (n, 4)), rng.beta(3, 3, (n, 4)))
    counts, noise = rng.poisson(2 + 4 * b[:, 4:6]), rng.integers(0, 5, (n, 2))
    X = np.hstack([size, size * ratio, counts, noise, shape])
    return _dataset("ratios and counts", X, index, has * 1.0, 5, rng)


TABLES: dict[str, Callable[[int], ZeroShotDataset]] = {
    "digits": digits,
    "breast cancer": breast_cancer,
    "machine faults": machine_faults,
    "long tails": long_tails,
    "ratios and counts": ratios_and_counts,
}
