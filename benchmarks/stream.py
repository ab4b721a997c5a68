"""A pass from disk against one from memory: time, memory, and cost per sample, in one run.

    python benchmarks/stream.py --folder DIR [--small] [--plot FILE]

Data of 1,024 float32 features in 1,000 classes are written to DIR (4.1 GB per million rows) and
removed afterwards. Memory is the largest growth of the resident set of a separate process during
the pass and the solve (Linux only).
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

from zslearn.encoders import write_store
from zslearn.reproduce.runner import peak_memory_mb, reset_peak_memory
from zslearn.scale import StoreSource, fit_batches, open_source
from zslearn.scale.fitting import plan_for, run_pass
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

D, N_CLASSES, K = 1024, 1000, 300


def signatures() -> Signatures:
    vectors = np.random.default_rng(7).standard_normal((N_CLASSES, K))
    return Signatures(np.arange(N_CLASSES), vectors)


def batches(n: int, size: int = 20_000) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows around class means that depend on the signatures; noise repeats, means do not."""
    rng = np.random.default_rng(0)
    means = (signatures().vectors @ rng.standard_normal((K, D)) / 20).astype(np.float32)
    noise = rng.standard_normal((size + 997, D)).astype(np.float32)
    for start in range(0, n, size):
        rows = min(size, n - start)
        y = rng.integers(0, N_CLASSES, rows)
        shift = int(rng.integers(0, 997))
        yield means[y] + noise[shift : shift + rows], y


def in_this_process(store: str, way: str, lam: str) -> dict[str, float]:
    """Fit once; the seconds of the fit and how much the process grew by it."""
    model = SAEClassifier(signatures(), lam=lam if lam == "cv" else float(lam))
    source: Any = StoreSource(store)
    fit_batches(SAEClassifier(signatures(), lam=1.0), source.read(0, 4096), source.labels()[:4096])
    data: tuple[Any, ...] = (store,)
    if way == "memory":
        data = (source.read(0, source.n_rows), source.labels())
    reset_peak_memory()
    before = peak_memory_mb() or np.nan
    opened = open_source(*data)
    plan = plan_for(model, opened)
    t_pass, folded = machine.timed(lambda: run_pass(plan, opened), 1)
    t_solve, _ = machine.timed(lambda: model.learn(folded), 1)
    grown = ((peak_memory_mb() or np.nan) - before) * 2**20 / 1e9
    return {"seconds": t_pass + t_solve, "pass": t_pass, "solve": t_solve, "grown_gb": grown}


def in_a_process_of_its_own(store: Path, way: str, lam: str = "1.0") -> dict[str, float]:
    command = [sys.executable, __file__, "--child", str(store), way, lam]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output)
    return result


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Plot microseconds per sample over the number of samples."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    costs = [r["us_per_row"] for r in rows]
    axes.semilogx([r["rows"] for r in rows], costs, "o-", color="black")
    axes.set(xlabel="samples", ylabel="µs per sample", ylim=(0, 1.15 * max(costs)))
    axes.set_title("Fit from disk, 1,024 features", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where to put the files")
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    parser.add_argument("--plot", type=Path, help="draw the cost per sample into this file")
    arguments = parser.parse_args()
    sizes = [10_000, 40_000] if arguments.small else [100_000, 300_000, 1_000_000, 2_000_000]
    main_size = sizes[-1] if arguments.small else 1_000_000
    before, rows = machine.facts(), []
    document: dict[str, Any] = {"features": D, "classes": N_CLASSES, "dimensions": K}
    for n in sizes:
        store = arguments.folder / f"stream-{n}"
        write_store(store, batches(n))
        try:
            disk = in_a_process_of_its_own(store, "disk")
            rows.append({"rows": n, **disk, "us_per_row": disk["pass"] / n * 1e6})
            print(
                f"{n:>9} rows from disk: {disk['pass']:7.2f} s, {rows[-1]['us_per_row']:5.2f} µs "
                f"per row, then {disk['solve']:.2f} s to solve; grown by {disk['grown_gb']:.2f} GB"
            )
            if n == main_size:
                memory = in_a_process_of_its_own(store, "memory")
                chosen = in_a_process_of_its_own(store, "disk", "cv")
                document |= {"memory": memory, "disk_with_lam_cv": chosen}
                document["disk_to_memory"] = disk["pass"] / memory["pass"]
                print(f"{n:>9} rows from memory: {memory['pass']:7.2f} s")
                print(f"{'':9} disk to memory: {document['disk_to_memory']:.2f}")
                print(
                    f"{n:>9} rows from disk, λ chosen in the same pass: {chosen['pass']:.2f} s, "
                    f"then {chosen['solve']:.2f} s to choose and solve; grown by "
                    f"{chosen['grown_gb']:.2f} GB"
                )
        finally:
            shutil.rmtree(store)
    document["from_disk"] = rows
    if arguments.plot:
        draw(rows, arguments.plot)
    machine.write("stream", before, document, small=arguments.small)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(in_this_process(*sys.argv[2:5])))
    else:
        main()
