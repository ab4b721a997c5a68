"""Top 5 of many samples among 21,841 classes against the bare matrix product, in one run.

    python benchmarks/topk.py [--small]

Compared: one float32 product per block of samples and nothing else (the roof), `predict_top_k` of
a fitted classifier, faiss-cpu's exact index if it is installed, and a plain argsort (on fewer
samples, scaled up).
"""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any

import machine
import numpy as np

from zslearn.core.moments import Moments
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

K = 5


def model(n_classes: int, d: int) -> tuple[SAEClassifier, np.ndarray]:
    """Return a classifier with many candidates, and its class vectors in feature space."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((n_classes, 100))
    table = Signatures(np.array([f"n{i:08d}" for i in range(n_classes)]), vectors)
    X = rng.standard_normal((2 * d, d))
    y = table.names[np.arange(2 * d) % 50]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    clf = SAEClassifier(table, lam=1.0).learn(Moments.of(X, y))
    classes = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ clf.coef_decode_
    classes /= np.linalg.norm(classes, axis=1, keepdims=True)
    return clf, classes.astype(np.float32)


def bare_product(X: np.ndarray, classes: np.ndarray, rows: int = 2048) -> None:
    out = np.empty((rows, len(classes)), dtype=np.float32)
    for start in range(0, len(X), rows):
        block = X[start : start + rows]
        np.matmul(block, classes.T, out=out[: len(block)])


def argsorted(X: np.ndarray, classes: np.ndarray, rows: int = 512) -> np.ndarray:
    blocks = (X[start : start + rows] @ classes.T for start in range(0, len(X), rows))
    return np.concatenate([np.argsort(-scores, axis=1)[:, :K] for scores in blocks])


def faiss_seconds(X: np.ndarray, classes: np.ndarray) -> float | None:
    try:
        faiss: Any = importlib.import_module("faiss")
    except ModuleNotFoundError:
        return None
    index = faiss.IndexFlatIP(classes.shape[1])
    index.add(classes)
    return machine.timed(lambda: index.search(X, K), 1)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a trial of seconds")
    small = parser.parse_args().small
    n, n_classes, d = (4_000, 21_841, 100) if small else (100_000, 21_841, 1_000)
    before = machine.facts()
    clf, classes = model(n_classes, d)
    X = np.random.default_rng(1).standard_normal((n, d)).astype(np.float32)
    bare_product(X[:4096], classes)
    roof, _ = machine.timed(lambda: bare_product(X, classes), 1)
    start = time.perf_counter()
    recognizer = clf.recognizer()
    prepare = time.perf_counter() - start
    ours, best = machine.timed(lambda: clf.predict_top_k(X, K), 1)
    again, _ = machine.timed(lambda: bare_product(X, classes), 1)
    roof = (roof + again) / 2
    one, _ = machine.timed(lambda: recognizer.rank(X[:1], K), 20)
    few = X[: max(512, n // 50)]
    naive = machine.timed(lambda: argsorted(few, classes), 1)[0] * n / len(few)
    agree = float(np.mean(clf.signatures_.names[argsorted(few, classes)] == best[: len(few)]))
    seconds = {
        "bare product": roof,
        "predict_top_k": ours,
        "faiss IndexFlatIP": faiss_seconds(X, classes),
        "argsort, scaled up": naive,
        "prepare the candidates, once": prepare,
        "one sample, candidates kept": one,
    }
    print(f"{n} samples x {n_classes} classes x {d} dimensions, top {K}")
    for name, value in seconds.items():
        if value is None:
            print(f"  {name:<32} not installed")
        else:
            print(f"  {name:<32} {value:9.4f} s   {value / roof:8.3f} of the bare product")
    print(f"  same classes as argsort: {agree:.4f}")
    row = {"samples": n, "classes": n_classes, "dimensions": d, "seconds": seconds}
    row |= {"ratio": ours / roof, "agreement": agree}
    machine.write("topk", before, row, small=small)


if __name__ == "__main__":
    main()
