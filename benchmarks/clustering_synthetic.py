"""Supervised clustering of the synthetic data, every mapping, beside the paper's two tables.

    python benchmarks/clustering_synthetic.py [--draws 10] [--only sae,mlca] [--no-write]

Ten draws (seeds 1000 to 1009) with 3,000 balanced test points each, features raw and standardized.
Writes one row a fit to results/clustering_synthetic.json and the table to a Markdown file beside.
Times are CPU seconds of the fit, λ by cross-validation included where it is used.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from zslearn.cluster import LEARNERS, SAEMapping, SupervisedKMeans, make_mapping
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss

RESULTS = Path(__file__).parent / "results"
SIZES = ("equal", "1:2:4")
FIXED = {
    "sae, λ = 0.5": SAEMapping(0.5),
    "sae-balanced, λ = 0.5": SAEMapping(0.5, class_weight="balanced"),
}
# Loss and training seconds of the paper's tables, for equal sizes and for 1:2:4.
PAPER = {
    "sae": ((0.01, 0.020), (0.01, 0.026)),
    "euclidean": ((3.0, None), (3.0, None)),
    "xing": ((0.7, 4378), (3.0, 21552)),
    "lajugie": ((0.11, 336), (0.09, 2462)),
    "kissme": ((0.07, 0.5), (2.02, 2)),
    "itml": ((0.08, 370), (3.0, 1260)),
    "lmnn": ((3.0, 4), (3.0, 11)),
    "mlca": ((0.07, 0.004), (0.09, 0.005)),
}


def measure(names: list[str], draws: int) -> list[dict[str, Any]]:
    rows = []
    for sizes in SIZES:
        for seed in range(1000, 1000 + draws):
            data = make_subclusters(sizes, random_state=seed)
            floor = clustering_loss(data.y_test, data.bayes_partition(data.X_test))
            rows.append({"method": "bayes", "scaling": "-", "sizes": sizes, "seed": seed})
            rows[-1] |= {"loss": floor, "fit_seconds": None, "lam": None}
            for name in names:
                for scaling in ("raw", "standardized"):
                    rows.append(measure_one(name, scaling, sizes, seed, data))
            print(f"{sizes}: draw {seed} done", flush=True)
    return rows


def measure_one(name: str, scaling: str, sizes: str, seed: int, data: Any) -> dict[str, Any]:
    mapping = FIXED.get(name) or make_mapping(name)
    model = SupervisedKMeans(mapping, standardize=scaling == "standardized")
    start = time.process_time()
    model.fit(data.X_train, data.y_train)
    seconds = time.process_time() - start
    return {
        "method": name,
        "scaling": scaling,
        "sizes": sizes,
        "seed": seed,
        "loss": clustering_loss(data.y_test, model.cluster(data.X_test)),
        "fit_seconds": seconds,
        "lam": getattr(model.mapping_, "lam_", None),
    }


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| mapping | features | loss, equal sizes | loss, 1:2:4 | fit CPU s | paper: loss | s |",
        "|---|---|---|---|---|---|---|",
    ]
    keys = dict.fromkeys((row["method"], row["scaling"]) for row in rows)
    for method, scaling in keys:
        mine = [r for r in rows if (r["method"], r["scaling"]) == (method, scaling)]
        cells = [title(method), scaling]
        cells += [spread([r["loss"] for r in mine if r["sizes"] == sizes]) for sizes in SIZES]
        cells.append(" / ".join(seconds(mine, sizes) for sizes in SIZES))
        paper = PAPER.get(method)
        cells.append(" / ".join(f"{loss:g}" for loss, _ in paper) if paper else "")
        cells.append(" / ".join("-" if s is None else f"{s:g}" for _, s in paper) if paper else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def title(method: str) -> str:
    if method == "bayes":
        return "Bayes partition (floor)"
    name, _, rest = method.partition(",")
    shown = LEARNERS[name].title
    tuned = ", λ by CV" if LEARNERS[name].parameters.get("lam") == "cv" and not rest else ""
    return shown + (f",{rest}" if rest else tuned)


def spread(losses: list[float]) -> str:
    return f"{np.mean(losses):.3f} ± {np.std(losses):.3f}"


def seconds(rows: list[dict[str, Any]], sizes: str) -> str:
    times = [r["fit_seconds"] for r in rows if r["sizes"] == sizes and r["fit_seconds"] is not None]
    return f"{statistics.median(times):.3f}" if times else "-"


def machine() -> dict[str, Any]:
    return {
        "cpu": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "threads": os.environ.get("OMP_NUM_THREADS", "default"),
    }


def write(rows: list[dict[str, Any]], draws: int) -> None:
    RESULTS.mkdir(exist_ok=True)
    facts = machine()
    text = json.dumps({"machine": facts, "rows": rows}, indent=1)
    (RESULTS / "clustering_synthetic.json").write_text(text + "\n")
    said = ", ".join(f"{key} {value}" for key, value in facts.items())
    (RESULTS / "clustering_synthetic.md").write_text(
        f"# Supervised clustering, synthetic data\n\nMean ± standard deviation of the clustering "
        f"loss over {draws} draws (seeds from 1000), 3,000 balanced test points, k-means with 20 "
        "starts. Fit time: median CPU seconds, equal sizes / 1:2:4. The paper's figures are its "
        "own, for the same two settings, measured on another machine.\n\n"
        f"{table(rows)}\n\nMade by benchmarks/clustering_synthetic.py ({said}).\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", help="names of mappings, separated by commas")
    parser.add_argument("--no-write", action="store_true", help="print only")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else [*LEARNERS, *FIXED]
    rows = measure(names, arguments.draws)
    print(table(rows))
    if not arguments.no_write:
        write(rows, arguments.draws)


if __name__ == "__main__":
    main()
