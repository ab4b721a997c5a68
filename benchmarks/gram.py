"""Rows per second of the streaming pass against the machine's own matrix multiply, in one run.

    python benchmarks/gram.py [--small] [--folder DIR]

The roof is ``x.T @ x`` of one block, again and again, on every core at once with one BLAS thread
each: nothing but arithmetic. The pass reads blocks, normalises rows, adds class sums and Gram
matrices in float64. From disk it reads a store that is larger than a block and lies in DIR; the
time of reading the same files and doing nothing else is measured beside it.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

from zslearn.core.moment_sum import PIECE_ROWS
from zslearn.core.threads import map_in_order, n_threads
from zslearn.scale import open_source, write_store
from zslearn.scale._pass import run_pass
from zslearn.scale._plan import Plan
from zslearn.scale._rows import RowTransform

N_CLASSES = 1000


def roof(d: int, dtype: str, seconds: float) -> float:
    """Rows per second of plain ``x.T @ x``."""
    x = np.random.default_rng(0).standard_normal((PIECE_ROWS, d)).astype(dtype)
    stop = time.perf_counter() + seconds

    def until() -> Iterator[int]:
        while time.perf_counter() < stop:
            yield PIECE_ROWS

    def product(n: int) -> int:
        np.matmul(x.T, x)
        return n

    product(0)
    start = time.perf_counter()
    rows = sum(map_in_order(product, until(), n_threads()))
    return rows / (time.perf_counter() - start)


def blocks(n: int, d: int, dtype: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Batches without end in memory: the same rows with labels in random order."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((PIECE_ROWS, d)).astype(dtype)
    y = rng.integers(0, N_CLASSES, PIECE_ROWS)
    return ((x, y) for _ in range(n))


def measure(d: int, dtype: str, seconds: float, folder: Path | None) -> dict[str, Any]:
    before = roof(d, dtype, seconds)
    n = max(4, int(before * seconds / PIECE_ROWS))
    plan = Plan(RowTransform("l2"))
    t_memory, _ = machine.timed(lambda: run_pass(plan, open_source(blocks(n, d, dtype))), 1)
    limit = (before + roof(d, dtype, seconds)) / 2
    rate = n * PIECE_ROWS / t_memory
    row: dict[str, Any] = {
        "features": d,
        "dtype": dtype,
        "rows": n * PIECE_ROWS,
        "roof_rows_per_second": limit,
        "roof_gflops_of_a_full_product": 2 * limit * d * d / 1e9,
        "pass_rows_per_second": rate,
        "share_of_roof": rate / limit,
    }
    if folder is not None:
        row |= from_disk(plan, n, d, dtype, folder, n * PIECE_ROWS / limit)
    return row


def from_disk(
    plan: Plan, n: int, d: int, dtype: str, folder: Path, arithmetic: float
) -> dict[str, Any]:
    """Run the same pass from a store, and reading alone."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        store = write_store(Path(place) / "store", blocks(n, d, dtype), dtype=dtype)
        source = open_source(store)
        t_read, _ = machine.timed(lambda: sum(len(b.y) for b in source.blocks(PIECE_ROWS)), 1)
        t_pass, _ = machine.timed(lambda: run_pass(plan, open_source(store)), 1)
    larger = max(arithmetic, t_read)
    return {"read_seconds": t_read, "disk_pass_seconds": t_pass, "of_the_larger": t_pass / larger}


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
            row = measure(d, dtype, 0.5 if arguments.small else 5.0, arguments.folder)
            rows.append(row)
            text = "d = {features:5d} {dtype}: roof {roof_rows_per_second:10.0f} rows/s, pass "
            text += "{pass_rows_per_second:10.0f} rows/s, {share_of_roof:.2f} of the roof"
            if "of_the_larger" in row:
                text += "; from disk {of_the_larger:.2f} of the larger of arithmetic and reading"
            print(text.format(**row))
    machine.write("gram", before, rows, small=arguments.small)


if __name__ == "__main__":
    main()
