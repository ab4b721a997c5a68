"""Pictures to a store, end to end, against the bare session fed with decoded tensors.

    python benchmarks/pictures.py --pictures DIR [--small]

The store is written by `build_store`: reading, decoding, cutting, encoding and writing, a
batch per thread. The bare session gets batches that are in memory as it wants them, with the same
threads. Memory is the most the process ever held (Linux only).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import machine
import numpy as np

from zslearn.core.threads import cores, map_in_order
from zslearn.encoders import ImageEncoder, build_store, find_pictures
from zslearn.encoders.pictures import read_rgb
from zslearn.encoders.registry import open_model
from zslearn.reproduce.runner import peak_memory_mb


def bare_rate(model: str, files: list[Path], batch_size: int, n_jobs: int, n: int) -> float:
    """Pictures per second of the session alone; a few prepared batches are used again and again."""
    opened = open_model("image", model).model
    prepared = [opened.preprocessing(read_rgb(file)) for file in files[: 4 * batch_size]]
    batches = [
        np.concatenate(prepared[i : i + batch_size]) for i in range(0, len(prepared), batch_size)
    ]
    rounds = max(1, n // batch_size)
    start = time.perf_counter()
    work = (batches[i % len(batches)] for i in range(rounds))
    done = sum(len(vectors) for vectors in map_in_order(opened.network, work, n_jobs))
    return done / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", required=True, type=Path)
    parser.add_argument("--model", default="efficientnet-lite2")
    parser.add_argument("--small", action="store_true", help="64 pictures only")
    options = parser.parse_args()
    before = machine.facts()
    pictures = find_pictures(options.pictures)
    pictures = pictures[:: max(1, len(pictures) // 64)][:64] if options.small else pictures
    encoder = ImageEncoder(options.model, n_jobs=cores()).fit()
    with tempfile.TemporaryDirectory() as folder:
        busy, start = sum(os.times()[:2]), time.perf_counter()
        store = build_store(pictures, Path(folder) / "store", encoder)
        seconds = time.perf_counter() - start
        busy = sum(os.times()[:2]) - busy
    memory = peak_memory_mb()
    files = [picture.content for picture in pictures if picture.name not in store.refused]
    bare = bare_rate(options.model, files, encoder.batch_size, cores(), len(files))
    row = {
        "model": options.model,
        "pictures": len(store.samples),
        "per_second": round(len(store.samples) / seconds, 2),
        "bare_per_second": round(bare, 2),
        "ratio": round(len(store.samples) / seconds / bare, 3),
        "cores_busy": round(busy / seconds, 2),
        "peak_mb": memory,
    }
    print(row)
    machine.write("pictures", before, [row], small=options.small)


if __name__ == "__main__":
    main()
