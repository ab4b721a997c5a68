"""Rows per second of the streaming pass against the machine's own matrix multiply, in one run.

    python benchmarks/gram.py [--small] [--folder DIR]

The roof is ``x.T @ x`` of one block, again and again, on every core at once with one BLAS thread
each: nothing but arithmetic. The pass reads blocks, normalizes rows, adds class sums and Gram
matrices in float64. From disk it reads a store that is larger than a block and lies in DIR; the
time of only reading the same files is measured as well. Everything is done three times in turn,
because the speed of a shared machine changes, and the best of each is reported.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

from zslearn.core.learner import MomentPlan
from zslearn.core.moments import PIECE_ROWS
from zslearn.core.rows import RowTransform
from zslearn.core.threads import map_in_order, n_threads
from zslearn.encoders import write_store
from zslearn.scale import open_source
from zslearn.scale.fitting import run_pass

N_CLASSES = 1000
ROUNDS = 3


def products(x: np.ndarray, n: int) -> None:
    """Compute plain ``x.T @ x``, n times."""
    for _ in map_in_order(lambda _: np.matmul(x.T, x), range(n), n_threads()):
        pass


def blocks(x: np.ndarray, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same rows n times, with labels in random order."""
    y = np.random.default_rng(0).integers(0, N_CLASSES, len(x))
    return ((x, y) for _ in range(n))


def measure(d: int, dtype: str, seconds: float, folder: Path | None) -> dict[str, Any]:
    """Alternate between the roof, the pass from memory and the pass from disk."""
    x = np.random.default_rng(0).standard_normal((PIECE_ROWS, d)).astype(dtype)
    two, _ = machine.timed(lambda: products(x, 2), 3)
    n = 2 * max(4, int(seconds / two))
    with contextlib.ExitStack() as stack:
        store = None
        if folder is not None:
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
            store = write_store(Path(place) / "store", blocks(x, n), dtype=dtype)
            os.sync()  # or the system would go on writing while we measure
        rounds = [one_round(x, n, store) for _ in range(ROUNDS)]
    return {"features": d, "dtype": dtype, "rows": n * PIECE_ROWS, **best(rounds), "rounds": rounds}


def one_round(x: np.ndarray, n: int, store: Path | None) -> dict[str, float]:
    """Seconds of the bare products, of the pass from memory, of reading, of the pass from disk."""
    plan = MomentPlan(RowTransform("l2"))
    arithmetic, _ = machine.timed(lambda: products(x, n), 1)
    t_memory, _ = machine.timed(lambda: run_pass(plan, open_source(blocks(x, n))), 1)
    row: dict[str, float] = {"arithmetic": arithmetic, "memory_pass": t_memory}
    if store is not None:
        t_read, _ = machine.timed(lambda: read_all(store), 1)
        t_pass, _ = machine.timed(lambda: run_pass(plan, open_source(store)), 1)
        row |= {"reading": t_read, "disk_pass": t_pass}
    return row


def best(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Ratios of the best times."""
    seconds = {key: min(r[key] for r in rounds) for key in rounds[0]}
    ratios = {"share_of_roof": seconds["arithmetic"] / seconds["memory_pass"]}
    if "reading" in seconds:
        larger = max(seconds["arithmetic"], seconds["reading"])
        ratios["of_the_larger"] = seconds["disk_pass"] / larger
    return ratios


def read_all(store: Path) -> int:
    return sum(len(block.y) for block in open_source(store).blocks(PIECE_ROWS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    parser.add_argument("--folder", type=Path, help="also measure from disk, with files in here")
    arguments = parser.parse_args()
    sizes = [256, 512] if arguments.small else [512, 1024, 2048, 4096]
    before, rows = machine.facts(), []
    print(f"{n_threads()} threads")
    for dtype in ("float32", "float64"):
        for d in sizes:
            row = measure(d, dtype, 0.5 if arguments.small else 2.5, arguments.folder)
            rows.append(row)
            text = "d = {features:5d} {dtype}: {share_of_roof:.2f} of the roof in memory"
            if "of_the_larger" in row:
                text += "; from disk {of_the_larger:.2f} of the larger of arithmetic and reading"
            print(text.format(**row))
    machine.write("gram", before, rows, small=arguments.small)


if __name__ == "__main__":
    main()
