"""The table of the Flowers-17 experiment, made from its rows alone."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

TITLES = {
    "sae z": "SAE, features z-scored",
    "sae raw": "SAE, raw features",
    "mlca raw": "MLCA, as released (no centering)",
    "mlca centered": "MLCA, centered",
    "lda": "LDA",
    "kissme": "KISSME, all pairs",
    "l2": "L2, raw features",
    "l2 z": "L2, features z-scored",
}
PAPER = {"sae z": "1.19 ± .01 (93 s)", "mlca raw": "1.29 ± .01 (39 s)", "kissme": "1.59 (11 min)"}
NOT_RUN = "Lajugie et al. 1.38 (5 days), ITML 1.50 (2 h), LMNN 1.79 (1 day)"
DIFFERS = """\
What differs from the published experiment, and why values cannot be compared across:

- 846 photographs with masks, squashed to 256 × 256 and then scaled to 100 × 100, stand for the
  paper's 848 of height 100; the paper's splits are not published, ours have seeds 0 to 4.
- The paper says neither how the undefined band of the masks is read, nor which SIFT, nor whether
  features are scaled or centered, nor λ. The first alone moves losses by 0.2 to 0.5.
- No setting tried gives the paper's values: every learner the paper also ran has a lower (better)
  loss here. Compare learners with each other within a column, not with the paper's column.
- KISSME hangs on its ridge. It got a grid because the default of 1e-6 failed in one split (0.815 ±
  0.051 and 0.484 ± 0.154); within the grid the validation photographs decide."""


def markdown(result: dict[str, Any]) -> str:
    """Return the results as a Markdown page."""
    clock, fit = result["seconds"], result["fit_cpu_seconds"]
    lines = [
        "# Flowers-17 segmentation by supervised clustering",
        "",
        "Clustering loss of 2-means per photograph (0 to 2, lower is better), mean over 616 test "
        "photographs, then mean ± standard deviation over five splits of 200 / 30 / 616. λ of SAE "
        "and the ridge of KISSME are chosen on the 30 validation photographs.",
        "",
        "| learner | undefined = background | undefined left out | λ or ridge | paper (time) |",
        "|---|---|---|---|---|",
        *(_line(result["rows"], learner) for learner in TITLES),
        "",
        f"The paper also has {NOT_RUN}; these are not run here.",
        "",
        f"One fit of SAE on {fit['rows'] / 1e6:.1f} million pixels × 135 features, CPU seconds on "
        f"one thread: reading {fit['read']:.1f}, moments {fit['moments']:.1f}, solving "
        f"{fit['solve']:.3f}. Whole experiment (8 learners, 5 splits, both readings) with "
        f"{result['machine']['jobs']} processes on a busy machine (load average "
        f"{result['machine']['load_average']}): {sum(clock.values()):.0f} s of wall time "
        "(features, near 0 if they were in the store, "
        f"{clock['features']:.0f}, moments {clock['moments']:.0f}, solving {clock['solve']:.1f}, "
        f"clustering {clock['evaluate']:.0f}), {result['cpu_seconds']:.0f} CPU seconds.",
        "",
        DIFFERS,
        "",
    ]
    return "\n".join(lines)


def _line(rows: list[dict[str, Any]], learner: str) -> str:
    by_reading = defaultdict(list)
    for row in rows:
        if row["learner"] == learner:
            by_reading[row["reading"]].append(row["loss"])
    lams = sorted(
        {row["setting"] for row in rows if row["learner"] == learner and row["setting"] is not None}
    )
    shown = "" if not lams else f"{lams[0]:g}" + (f" to {lams[-1]:g}" if len(lams) > 1 else "")
    cells = [_mean(by_reading[reading]) for reading in ("background", "drop")]
    return f"| {TITLES[learner]} | {cells[0]} | {cells[1]} | {shown} | {PAPER.get(learner, '')} |"


def _mean(losses: list[float]) -> str:
    return f"{np.mean(losses):.3f} ± {np.std(losses, ddof=1):.3f}" if losses else "not run"
