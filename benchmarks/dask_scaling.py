"""Fit on a Dask cluster of 1 and 2 worker processes against plain streaming, in one run.

    python benchmarks/dask_scaling.py --folder DIR [--small]

A million rows of 1,024 float32 features are written to DIR in four stores and removed afterwards.
Ends with an estimate of 14 million rows on 16 workers from the rates measured here.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from typing import Any

import machine
import numpy as np
from distributed import Client, LocalCluster
from stream import D, batches, signatures

from zslearn.core.threads import threads
from zslearn.encoders import write_store
from zslearn.scale import fit_batches, fit_dask
from zslearn.zero_shot import SAEClassifier

N_FILES = 4


def on_cluster(stores: list[Path], n_workers: int) -> tuple[dict[str, float], np.ndarray]:
    start = time.perf_counter()
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(n_workers)
        started = time.perf_counter() - start
        # Workers import the library when the first task reaches them.
        for _ in range(n_workers):
            client.run(__import__, "zslearn.scale")
        ready = time.perf_counter() - start
        seconds, model = machine.timed(
            lambda: fit_dask(SAEClassifier(signatures(), lam=1.0), stores, cluster=client), 1
        )
    times = {"start": started, "start_and_imports": ready, "fit": seconds}
    return times, model.coef_


def estimate(seconds_per_row: float, solve: float) -> dict[str, float]:
    """Seconds for 14 million rows on 16 such workers, with the partial sums sent in a tree."""
    n, workers, classes, bandwidth = 14e6, 16, 21_841, 1e9
    payload = 8 * (D * D + classes * D)
    levels = int(np.ceil(np.log(workers) / np.log(4)))
    # Every level sends four partial results to one worker, one after the other.
    transfer = levels * 4 * payload / bandwidth
    work = n * seconds_per_row / workers
    return {"work": work, "transfer_at_1_GB_per_second": transfer, "solve": solve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where to put the files")
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    arguments = parser.parse_args()
    n = 40_000 if arguments.small else 1_000_000
    before = machine.facts()
    stores = [arguments.folder / f"dask-{i}" for i in range(N_FILES)]
    try:
        for store in stores:
            write_store(store, batches(n // N_FILES))
        plain: dict[int, float] = {}
        for n_threads in (1, 2):
            model = SAEClassifier(signatures(), lam=1.0)
            with threads(n_threads):
                plain[n_threads], model = machine.timed(lambda m=model: fit_batches(m, stores), 1)
        row: dict[str, Any] = {"rows": n, "plain_seconds": plain, "dask": {}}
        for n_workers in (1, 2):
            times, coef = on_cluster(stores, n_workers)
            difference = float(np.abs(coef - model.coef_).max() / np.abs(coef).max())
            row["dask"][n_workers] = times | {"difference": difference}
            print(
                f"{n_workers} worker(s): start {times['start']:.2f} s, fit {times['fit']:.2f} s, "
                f"plain streaming with as many threads {plain[n_workers]:.2f} s, ratio "
                f"{times['fit'] / plain[n_workers]:.2f}; relative difference {difference:.1e}"
            )
        one, two = row["dask"][1]["fit"], row["dask"][2]["fit"]
        row["speed_up"] = one / two
        row["estimate"] = estimate(one / n, 1.0)
        print(f"speed-up from 1 to 2 workers: {one / two:.2f}")
        parts = ", ".join(f"{key} {value:.0f} s" for key, value in row["estimate"].items())
        print(f"14 million x {D} on 16 workers, estimated: {parts}")
    finally:
        for store in stores:
            shutil.rmtree(store, ignore_errors=True)
    machine.write("dask_scaling", before, row, small=arguments.small)


if __name__ == "__main__":
    main()
