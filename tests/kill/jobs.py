"""Jobs that write files: how each runs, what it leaves when killed, what it gives in the end."""

import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from tests.encoders.tiny_onnx import write_onnx
from tests.encoders.tiny_text import letter_encoder
from tests.reproduce.test_runner import without_times
from zslearn.cli import cli
from zslearn.datasets import make_zero_shot
from zslearn.encoders import (
    ImageEncoder,
    Sample,
    Store,
    build_store,
    building,
    find_pictures,
    write_store,
)
from zslearn.exceptions import InvalidInputError
from zslearn.persistence import load, save
from zslearn.reproduce import ResultsFile
from zslearn.scale import Checkpoint, fit_batches
from zslearn.zero_shot import SAEClassifier

DATA = make_zero_shot(n_per_class=30, random_state=0)
MODELS = [SAEClassifier(DATA.signatures, lam=lam).fit(DATA.X, DATA.y) for lam in (0.1, 1.0)]
KEYS = [f"run {i}" for i in range(40)]
METHODS = ["mlca", "lda", "kissme", "rca"]


@dataclass(frozen=True)
class Job:
    """What is killed: `run` writes to a folder, and run again it ends what was begun.

    `look` fails if what a killed job left cannot be read, or is not honest about it; `content` is
    what must be the same in the end, killed or not; `prepare` writes what all runs read.
    """

    run: Callable[[Path], None]
    look: Callable[[Path], None]
    content: Callable[[Path], object]
    prepare: Callable[[Path], None] = lambda place: None


def files(folder):
    """Content of every file by name."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def save_models(folder):
    for _ in range(3):
        for model in MODELS:
            save(model, folder / "m.zsl")


def look_at_model(folder):
    if (folder / "m.zsl").exists():
        assert load(folder / "m.zsl").lam in (0.1, 1.0)


def prepare_rows(place):
    write_store(place / "rows", [(DATA.X, DATA.y)], shard_rows=200)


def fit(folder):
    if (folder / "m.zsl").exists():
        return
    checkpoint = Checkpoint(folder / "pass.npz", every=1)
    model = SAEClassifier(DATA.signatures, lam=1.0)
    fit_batches(model, folder.parent / "rows", block_rows=20, checkpoint=checkpoint)
    save(model, folder / "m.zsl")


def write(folder):
    store = folder / "store"
    if (store / "meta.json").exists() and is_whole(store):
        return
    batches = ((DATA.X[i : i + 40], DATA.y[i : i + 40]) for i in range(0, len(DATA.y), 40))
    write_store(store, batches, shard_rows=50)


def is_whole(store):
    """Whether a store can be opened; it then has all rows, with the names of their classes."""
    try:
        opened = Store(store)
    except InvalidInputError as error:
        if "is not complete" not in str(error):
            raise
        return False
    assert opened.n_rows == len(DATA.y)
    assert np.array_equal(opened.classes[opened.labels()], DATA.y)
    return True


def look_at_store(folder):
    if (folder / "store" / "meta.json").exists():
        is_whole(folder / "store")


def add_rows(folder):
    results = ResultsFile(folder / "results.jsonl")
    with results.held():
        for key in KEYS:
            if results.find(key) is None:
                results.add({"key": key, "text": "x" * 500})


def look_at_results(folder):
    keys = [row["key"] for row in ResultsFile(folder / "results.jsonl").rows()]
    assert keys == KEYS[: len(keys)]


def prepare_pictures(place):
    rng = np.random.default_rng(0)
    for i in range(100):
        file = place / "pictures" / ("cat" if i % 3 else "dog") / f"{i:02d}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save(file)
    write_onnx(place / "net.onnx")


def extract(folder):
    encoder = ImageEncoder(f"onnx:{folder.parent / 'net.onnx'}", n_jobs=1)
    build_store(find_pictures(folder.parent / "pictures"), folder / "store", encoder)


def encode_texts(folder):
    samples = [Sample(str(i), f"where is card {i}", "cat" if i % 3 else "dog") for i in range(100)]
    building.CHUNK["text"] = 8
    build_store(samples, folder / "store", letter_encoder(n_jobs=1))


def look_at_samples(folder):
    if (folder / "store" / "meta.json").exists():
        assert Store(folder / "store").n_rows == len(Store(folder / "store").samples) == 100


def reproduce(folder):
    """Be the program, with its worker processes; `make fuzz` starts it anew, which is slow."""
    experiment = ["clustering-equal", "--quick", "--methods", ",".join(METHODS)]
    given = [*experiment, "--no-plots", "--jobs", "1", "--out", str(folder / "out")]
    os.dup2(2, 1)  # standard output is that of the attack
    if os.environ.get("ZSLEARN_KILL_CASES"):
        os.execv(sys.executable, [sys.executable, "-m", "zslearn", "reproduce", *given])
    fork = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda kind: fork
    cli(["reproduce", *given], standalone_mode=False)


def look_at_rows(folder):
    methods = [row["method"] for row in ResultsFile(folder / "out" / "results.jsonl").rows()]
    assert methods == METHODS[: len(methods)]
    assert all(path.stat().st_size for path in folder.glob("out/tables/*"))


def measured(folder):
    """Every line but its times and its machine, and which files were made of them."""
    lines = (folder / "out" / "results.jsonl").read_text().splitlines()
    rows = without_times([json.loads(line) for line in lines])
    return rows, sorted(path.name for path in folder.rglob("*"))


JOBS = {
    "save": Job(save_models, look_at_model, files),
    "fit": Job(fit, look_at_model, files, prepare_rows),
    "store": Job(write, look_at_store, files),
    "results": Job(add_rows, look_at_results, files),
    "features": Job(extract, look_at_samples, files, prepare_pictures),
    "texts": Job(encode_texts, look_at_samples, files),
    "reproduce": Job(reproduce, look_at_rows, measured),
}
