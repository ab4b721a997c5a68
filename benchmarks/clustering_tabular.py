"""Supervised clustering of scikit-learn's bundled tables: does learning help, and which kind.

    python benchmarks/clustering_tabular.py [--splits 10] [--new-classes] [--no-write]

Random halves, stratified: fit on one, cluster the other into as many clusters as it has classes.
Features are standardized on the training half. Prints the clustering loss divided by its largest
value (0 best, 1 unrelated) and the adjusted Rand index (1 best, 0 unrelated), mean over the splits.
With --new-classes the digits are split by class instead: fit on five, cluster the other five.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from zslearn.cluster import LEARNERS, SupervisedKMeans, make_mapping
from zslearn.metrics import clustering_loss

# Sweeps of ITML are loops over pairs; 50 of them keep the run short.
OVERRIDES = {"itml": {"max_iter": 50}}
NEW = "digits, new classes"
RESULTS = Path(__file__).parent / "results"
DATA = {
    "digits": load_digits,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "iris": load_iris,
}


def measure(splits: int) -> list[dict[str, Any]]:
    rows = []
    for data_name, load in DATA.items():
        X, y = load(return_X_y=True)
        for seed in range(splits):
            halves = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
            for name in LEARNERS:
                rows.append(
                    {"data": data_name, "method": name, "seed": seed, **scores(name, halves)}
                )
        print(f"{data_name} done", flush=True)
    return rows


def measure_new_classes(splits: int) -> list[dict[str, Any]]:
    X, y = load_digits(return_X_y=True)
    rows = []
    for seed in range(splits):
        known = np.isin(y, np.random.RandomState(seed).permutation(10)[:5])
        parts = [X[known], X[~known], y[known], y[~known]]
        for name in ("euclidean", "sae", "mlca", "lda", "kissme", "rca"):
            rows.append({"data": NEW, "method": name, "seed": seed, **scores(name, parts)})
    return rows


def scores(name: str, halves: list[np.ndarray]) -> dict[str, float]:
    X_train, X_test, y_train, y_test = halves
    model = SupervisedKMeans(make_mapping(name, **OVERRIDES.get(name, {}))).fit(X_train, y_train)
    labels = model.cluster(X_test)
    return {
        "loss": clustering_loss(y_test, labels, normalize=True),
        "ari": float(adjusted_rand_score(y_test, labels)),
    }


def table(rows: list[dict[str, Any]]) -> str:
    data = list(dict.fromkeys(row["data"] for row in rows))
    lines = ["| mapping | " + " | ".join(data) + " |", "|---|" + "---|" * len(data)]
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = [LEARNERS[name].title]
        for data_name in data:
            mine = [r for r in rows if r["method"] == name and r["data"] == data_name]
            loss, ari = (np.mean([r[key] for r in mine]) for key in ("loss", "ari"))
            error = np.std([r["loss"] for r in mine], ddof=1) / np.sqrt(len(mine))
            cells.append(f"{loss:.3f} ± {error:.3f} / {ari:.2f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--new-classes", action="store_true", help="cluster classes not trained on")
    parser.add_argument("--no-write", action="store_true", help="print only")
    arguments = parser.parse_args()
    new = arguments.new_classes
    rows = (measure_new_classes if new else measure)(arguments.splits)
    print(table(rows))
    if not arguments.no_write:
        write(rows, arguments.splits, "clustering_new_classes" if new else "clustering_tabular")


def write(rows: list[dict[str, Any]], splits: int, name: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(rows, indent=1) + "\n")
    how = "halves of the classes" if name.endswith("classes") else "stratified halves"
    (RESULTS / f"{name}.md").write_text(
        "# Supervised clustering, tables bundled with scikit-learn\n\n"
        f"{splits} random {how}, features standardized on the training half. Clustering loss "
        f"divided by its largest value ± standard error / adjusted Rand index.\n\n{table(rows)}"
        "\n\nMade by benchmarks/clustering_tabular.py.\n"
    )


if __name__ == "__main__":
    main()
