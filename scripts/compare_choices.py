"""Compare rules that choose a member of the portfolio, on draws that took no part in making them.

    python scripts/measure_auto.py --data ../shared/data --part choice
    python scripts/compare_choices.py [ROWS]

A rule sees the accuracies of all members on the held-out seen classes and names one of them; the
rows have what each reaches on the unseen classes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pages
from numpy.typing import NDArray
from scipy import stats

from zslearn.zero_shot.expectation import choose_member, standard_errors

ROWS = pages.ROOT / "results" / "auto_choice.jsonl"
Rows = list[dict[str, Any]]


def recommended(table: NDArray) -> int:
    """Return the first member, whatever the others reach."""
    return 0


def leader(table: NDArray) -> int:
    """Return the member of the highest mean."""
    return int(table.mean(axis=0).argmax())


def guard(table: NDArray) -> int:
    """Return the first member unless others are clearly better, and of those the leader.

    Clearly: by a point and by Student's t at 5 % with Bonferroni's correction, or by two standard
    errors where the first reaches no more than half of what can be had. The rule of before.
    """
    gain = table - table[:, [0]]
    mean, error = gain.mean(axis=0), standard_errors(gain)
    strict = stats.t.ppf(1 - 0.05 / max(table.shape[1] - 1, 1), len(table) - 1)
    needed = np.where(mean >= table[:, 0].mean(), 2.0, max(2.0, float(strict)))
    better = np.flatnonzero(mean > np.maximum(needed * error, 0.01))
    return int(better[mean[better].argmax()]) if len(better) else 0


def one_error(table: NDArray) -> int:
    """Return the first member within one standard error of the leader."""
    lost = table[:, [leader(table)]] - table
    return int(np.flatnonzero(lost.mean(axis=0) <= standard_errors(lost))[0])


def shrunk(table: NDArray) -> int:
    """Return the best posterior mean of the gain over the first member (empirical Bayes).

    Gains have the prior N(0, τ²), with τ² = the mean of gain² − error² over members, and are
    counted less one posterior standard deviation.
    """
    gain = table - table[:, [0]]
    mean, variance = gain.mean(axis=0), standard_errors(gain) ** 2 + 1e-6
    prior = max(float(np.mean(mean[1:] ** 2 - variance[1:])), 0.0)
    kept = prior / (prior + variance)
    sure = kept * mean - np.sqrt(kept * variance)
    sure[0] = 0.0
    return int(sure.argmax())


def resampled(table: NDArray) -> int:
    """Return the leader if the leader of drawn classes beats the first member on the others."""
    rng, n = np.random.default_rng(0), len(table)
    gains = []
    for _ in range(400):
        drawn = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), drawn)
        if len(left):
            gains.append((table[left, leader(table[drawn])] - table[left, 0]).mean())
    return leader(table) if gains and np.mean(gains) > 0 else 0


RULES: dict[str, Callable[[NDArray], int]] = {
    "prototype regression": recommended,
    "the guard of before": guard,
    "plain leader": leader,
    "first within half an error of the leader": choose_member,
    "first within one error": one_error,
    "empirical Bayes": shrunk,
    "bootstrap": resampled,
}
AVERAGE, BEST = "mean of all within one error", "best member, which nobody knows"
HEAD = "| rule | tables | 15 classes | families | animals | all problems | worst on the animals |"


def reached(row: dict[str, Any]) -> dict[str, float]:
    """Return what the member that each rule takes reaches on the unseen classes."""
    names = [name for name in row["held_out"] if row["alone"].get(name) is not None]
    table = np.array([row["held_out"][name] for name in names]).T
    found = {title: row["alone"][names[rule(table)]] for title, rule in RULES.items()}
    return found | {AVERAGE: row["averaged"], BEST: max(row["alone"][name] for name in names)}


def group(row: dict[str, Any]) -> str:
    """Return the column that a problem counts in."""
    return {"plant": "tables", "real": "tables"}.get(row["kind"], row["kind"])


def choices(rows: Rows) -> str:
    """Return a table with the mean accuracy of every rule by kind of data."""
    found = [(group(row), reached(row)) for row in rows]
    lines = [HEAD, "|---|---|---|---|---|---|---|"]
    for title in [*RULES, AVERAGE, BEST]:
        cells = [title]
        for kind in ("tables", "few", "families", "animals", None):
            values = [one[title] for name, one in found if kind in (name, None)]
            cells.append(pages.short(float(np.mean(values))) if values else "")
        worst = [
            one[title] - one["prototype regression"] for name, one in found if name == "animals"
        ]
        cells.append(f"{100 * min(worst):+.1f}" if worst else "")
        lines.append(f"| {' | '.join(cells)} |")
    counts = [sum(name == kind for name, _ in found) for kind in ("tables", "few", "families")]
    lines.append("| problems | " + " | ".join(map(str, [*counts, len(worst), len(found)])) + " | |")
    return "\n".join(lines) + "\n"


def rows_of(path: Path) -> Rows:
    """Return the lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=Path, default=ROWS)
    print(choices(rows_of(parser.parse_args().rows)))
