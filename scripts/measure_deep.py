"""Measure the deep semantic autoencoder beside closed forms; rows go to results/deep.json.

python scripts/measure_deep.py --data DIR [--datasets animals28,CUB,AWA1] [--seeds 3]

Needs the extra deep. A data set that was measured before is measured anew. CPU seconds are those of
one thread. Afterwards: python scripts/deep_table.py.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from pages import ROOT

from zslearn.core.threads import threads
from zslearn.datasets import ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.reproduce import find_data
from zslearn.zero_shot import make_classifier

ROWS = ROOT / "results" / "deep.json"
METHODS = ("sae", "deep-sae", "prototype-regression")
DATASETS = ("animals28", "CUB", "AWA1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    rows = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    sources = {source.dataset: source for source in find_data(given.data)[0]}
    for name in given.datasets.split(","):
        new = measured(name, sources[name].load(), given.seeds)
        rows = [row for row in rows if row["dataset"] != name] + new
        ROWS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def measured(name: str, dataset: ZeroShotDataset, n_seeds: int) -> list[dict[str, Any]]:
    """One row per method and seed; closed forms have one seed."""
    rows = []
    for method in METHODS:
        for seed in range(n_seeds if method == "deep-sae" else 1):
            start = time.process_time()
            with threads(1):
                result = evaluate(
                    dataset,
                    make_classifier(method, random_state=seed),
                    ConventionalProtocol("proposed"),
                )
            rows.append(
                {
                    "dataset": name,
                    "method": method,
                    "seed": seed,
                    "accuracy": result.metrics["per_class_accuracy"],
                    "n_steps": result.chosen.get("n_steps"),
                    "cpu_seconds": round(time.process_time() - start, 1),
                }
            )
            print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    main()
