"""Segmentation of flowers: the paper's Table 8."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from zslearn.reproduce.published import find_published
from zslearn.reproduce.tables.selection import Row, failures, select
from zslearn.reproduce.tables.table import Table, best_cells

TITLES = {
    "sae": "SAE, features z-scored",
    "sae, raw": "SAE, raw features",
    "mlca": "MLCA, as released (no centering)",
    "mlca, centered": "MLCA, centered",
    "lda": "LDA",
    "kissme": "KISSME, all pairs",
    "euclidean": "L2, raw features",
    "euclidean, z-scored": "L2, features z-scored",
}
COLUMNS = ("learner", "undefined = background", "undefined left out", "λ or ridge")
DIFFERS = (
    "The paper's splits are not published, and it says neither how the undefined band of the masks "
    "is read, nor which SIFT, nor whether features are scaled or centered, nor λ. The first alone "
    "changes losses by 0.2 to 0.5, so its losses ({}) cannot be compared with these."
)


def flowers_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the loss of each learner; the paper's values are in a note, not next to ours."""
    chosen = select(rows, kind="flowers")
    done = [row for row in chosen if row["status"] == "ok"]
    if not done:
        return []
    measured = [entry for row in done for entry in row["series"]["test"]]
    body = [_line(measured, learner) for learner in TITLES]
    paper = find_published("flowers17", "", "clustering loss")
    notes = [
        f"{len(done)} random splits into 200 / 30 / rest photographs of height "
        f"{done[0]['parameter_height']}; loss of 2-means per photograph (0 to 2), mean over the "
        "test photographs, then mean ± standard deviation over the splits. λ of SAE and the ridge "
        "of KISSME are chosen on the 30.",
        DIFFERS.format(", ".join(f"{value.title} {value.text}" for value in paper)),
        *(f"failed: {text}" for text in failures(chosen)),
    ]
    title = "Flowers-17: clustering loss of pixels, lower is better"
    best = best_cells(body, (1, 2), lowest=True)
    return [Table("flowers", title, COLUMNS, tuple(body), tuple(notes), best)]


def _line(measured: Sequence[dict[str, Any]], learner: str) -> tuple[str, ...]:
    mine = select(measured, learner=learner)
    losses = (
        [entry["loss"] for entry in select(mine, reading=reading)]
        for reading in ("background", "drop")
    )
    settings = sorted({entry["setting"] for entry in mine if entry["setting"] is not None})
    ends = dict.fromkeys(f"{value:g}" for value in (*settings[:1], *settings[-1:]))
    return (TITLES[learner], *map(_spread, losses), " to ".join(ends))


def _spread(losses: Sequence[float]) -> str:
    deviation = f" ± {np.std(losses, ddof=1):.3f}" if len(losses) > 1 else ""
    return f"{np.mean(losses):.3f}{deviation}"
