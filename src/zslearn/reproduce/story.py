"""SAE's rank in sentences whose numbers all come from the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from zslearn.reproduce.tables.selection import (
    MAIN_SPACES,
    Row,
    grouped,
    latest,
    method_title,
    over_seeds,
    percent,
    select,
)

_OWN = ("sae", "sae-encode", "sae-both")
_STEPS = {"projection": "supervised pre-projection", "zscore": "z-score over the test batch"}


def tell(rows: Iterable[Row]) -> list[str]:
    """Return where SAE wins, where it does not, and what the demos' steps contribute.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file.

    Returns
    -------
    list of str
        Sentences.
    """
    chosen = select(latest(rows), kind="zero-shot", status="ok", semantics=MAIN_SPACES)
    conventional = over_seeds(select(chosen, protocol="conventional"))
    places = grouped(conventional, "dataset", "features", "split")
    told = [sentence for group in places.values() for sentence in _place(group)]
    told += _directions(list(places.values()))
    told += [sentence for step in _STEPS for sentence in _step(list(places.values()), step)]
    return told


def _place(group: Sequence[Row]) -> list[str]:
    """Rank SAE among methods that see one test sample at a time."""
    fair = [row for row in group if not row["uses_test_batch"] and _is_plain(row)]
    ranked = sorted(fair, key=lambda row: -row["per_class_accuracy"])
    own = [row for row in ranked if row["method"] in _OWN]
    if not own or len(ranked) == len(own):
        return []
    best, first = own[0], ranked[0]
    rank = 1 + sum(row["per_class_accuracy"] > best["per_class_accuracy"] for row in ranked)
    name, value = method_title(best["method"]), percent(best["per_class_accuracy"])
    where = f"{first['dataset']}, {first['split']} split"
    if rank == 1:
        return [f"{where}: {name} is the best of {len(ranked)} methods with {value} %."]
    return [
        f"{where}: {name} is number {rank} of {len(ranked)} with {value} %; the best is "
        f"{method_title(first['method'])} with {percent(first['per_class_accuracy'])} %."
    ]


def _directions(groups: Sequence[Sequence[Row]]) -> list[str]:
    """Compare the directions of SAE with the regressions they extend."""
    told = []
    for pair, words in (
        (("sae-encode", "ridge-fs"), "The encoder against ridge regression F→S"),
        (("sae", "rrzsl"), "The decoder against ridge regression S→F"),
        (("sae", "sae-encode"), "The decoder against the encoder"),
    ):
        gains = _gains(groups, *pair)
        if gains:
            told.append(f"{words}: {_signed(gains)}.")
    return told


def _step(groups: Sequence[Sequence[Row]], step: str) -> list[str]:
    """Say what one step of the demos adds to each direction by itself."""
    told = []
    for base, words in (("sae-encode", "encoder"), ("sae", "decoder")):
        gains = _gains(groups, f"{base}+{step}", base)
        if gains:
            told.append(f"The authors' {_STEPS[step]}, added to the {words}: {_signed(gains)}.")
    return told


def _gains(groups: Sequence[Sequence[Row]], method: str, other: str) -> dict[str, float]:
    """Differences in percentage points between two methods, by split."""
    found = {}
    for group in groups:
        pair = [select(group, method=name)[:1] for name in (method, other)]
        if all(pair):
            one, two = (part[0]["per_class_accuracy"] for part in pair)
            found[f"{group[0]['dataset']} {group[0]['split']}"] = 100 * (one - two)
    return found


def _signed(gains: dict[str, float]) -> str:
    each = ", ".join(f"{gain:+.1f} on {where}" for where, gain in gains.items())
    if len(gains) == 1:
        return f"{each} (points)"
    return f"{each}; mean {np.mean(list(gains.values())):+.1f} points"


def _is_plain(row: Row) -> bool:
    return "+" not in row["method"] and not row["method"].startswith("legacy")
