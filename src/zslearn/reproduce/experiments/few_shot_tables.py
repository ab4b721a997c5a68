"""From descriptions to samples: few labels, texts and names, batches without labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from zslearn.reproduce.experiments.few_shot import SCENARIOS, SHOTS
from zslearn.reproduce.plots import BLACK, BLUE, ORANGE, Plot, new_figure, tidy
from zslearn.reproduce.specification import RANDOM
from zslearn.reproduce.tables import Row, Table, cell, failures, grouped, percent, select

_WAYS = {
    "alone": "samples alone",
    "both": "description and samples",
    "half_taught": "half of the classes taught: these",
    "half_described": "half of the classes taught: the others",
}
_TEXTS = {
    "cosine": "cosine with the name",
    "centered_cosine": "cosine, both sides centered",
    "without_prior": "prototype regression, no guesses",
    "with_prior": "prototype regression",
    "cosine_harmonic": "H, cosine with the best bias",
    "without_harmonic": "H, no guesses",
    "with_harmonic": "H",
    "with_scope_auroc": "out of scope, AUROC",
    "with_scope_caught": "out of scope, caught where 7 % are rejected",
    "with_scope_learned_caught": "out of scope, caught by the learned threshold",
    "with_scope_learned_rejected": "in scope, rejected by it",
}
#: The semantic space of `encoded_texts` in which a class has a sentence beside its name.
DESCRIBED = "names and descriptions"
_NOVELTY = {
    f"{key} {setting}": f"{words}, {setting}"
    for setting in ("unseen", "all")
    for key, words in (
        ("probability", "probability"), ("ratio", "ratio"), ("confidence", "confidence"),
        ("rejected", "known rejected"), ("caught", "unknown caught"),
    )
}  # fmt: skip
NOVELTY_NOTE = (
    "AUROC in % of telling samples of candidates from samples of unseen classes that are taken "
    "from the candidates, half of them in turn; unseen classes as candidates, and all. "
    "Probability: of the best answer; ratio: minus `novelty`; confidence: learned on folds from "
    "these and other measures. Known rejected and unknown caught: at the threshold that was "
    "learned with the classifier, for at most 5 % of samples of seen classes and 10 % of an "
    "unseen one."
)
SHOTS_NOTE = (
    "Per-class accuracy in % among unseen classes, mean ± standard deviation over random splits of "
    "the classes; each split is a mean over draws of the samples. Samples alone: the nearest mean "
    "of the samples in the same space. Half taught: only half of the unseen classes have samples, "
    "all are candidates. Gain and lead in points, on the same splits: over the description "
    "alone, and over the better of the description and the samples."
)
TEXTS_NOTE = (
    "Per-class accuracy in % among unseen classes, texts and class names (with their descriptions, "
    "where the space says so) encoded by MiniLM; H of seen and unseen classes with the calibrated "
    "bias (cosine: the bias best on the test). Out of scope: texts of no class against those of "
    'all classes, by the confidence learned for this, `confidence="known"`; the learned '
    "threshold is for at most 5 % of samples of seen classes and 10 % of an unseen one. Mean ± "
    "standard deviation over random splits."
)
ADAPT_NOTE = (
    "Accuracy in % of samples of unseen classes in batches without labels: before, after `adapt`, "
    "and by PST on the same classifier; mean over splits of the classes and batches. Worst: the "
    "batch that lost most by `adapt`, in points; gain: by `adapt` on the same splits. Batches of "
    "fewer than 20 samples are too small for PST, which then answers as before."
)


def shots_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one table: data sets and ways down, numbers of samples across."""
    body, behind = [], set()
    for (dataset, space), group in _groups(rows, "shots"):
        title = f"{dataset}, {space}"
        zero = cell(group, "zero", percent)
        for key, words in _WAYS.items():
            cells = [cell(group, f"{key}_{n}", percent) for n in SHOTS]
            body.append((title, words, "" if key == "alone" else zero, *cells))
        gains = [_lead(group, f"both_{n}", "zero") for n in SHOTS]
        body.append((title, "gain of both over the description", "", *gains))
        worst = [_worst(group, f"both_{n}", "zero", f"alone_{n}") for n in SHOTS]
        leads = [lead for lead, _ in worst]
        body.append((title, "lead over the better of the two, worst split", "", *leads))
        behind |= {f"{title}, on {split}" for lead, split in worst if lead.startswith("-")}
    columns = ("data", "known by", "0", *map(str, SHOTS))
    note = SHOTS_NOTE + f" Below zero: {'; '.join(sorted(behind))}." * bool(behind)
    return _one("shots", "A few samples of unseen classes", columns, body, note, rows)


def texts_tables(rows: Iterable[Row]) -> list[Table]:
    """Return a table of names, and one of the splits on which descriptions were measured too."""
    mine = select(rows, kind="texts")
    both = {row["split"] for row in mine if row["semantics"] == DESCRIBED}
    parts: dict[bool, list[Row]] = {False: [], True: []}
    for row in mine:
        parts[row["split"] in both].append(row)
    tables = []
    for described, part in parts.items():
        name = "texts-described" if described else "texts"
        title = "Texts and the names of their classes" + ", with and without a sentence" * described
        groups = list(_groups(part, "texts"))
        body = [
            (words, *(cell(group, key, percent) for _, group in groups))
            for key, words in _TEXTS.items()
        ]
        compared = [group for _, group in groups]
        leads = [_lead(group, "with_prior", "cosine") for group in compared]
        worst = [_worst(group, "with_prior", "cosine")[0] for group in compared]
        body[4:4] = [
            ("its lead over the cosine in points", *leads),
            ("its lead over the cosine in points, worst split", *worst),
        ]
        body = [line for line in body if any(line[1:])]
        columns = ("", *(f"{dataset}, {space}" for (dataset, space), _ in groups))
        tables += _one(name, title, columns, body, TEXTS_NOTE, part)
    return tables


def adapt_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one table: data sets down, kinds of batches across."""
    body = []
    for (dataset, space), group in _groups(rows, "adapt"):
        for key in ("inductive", "adapted", "pst", "worst"):
            cells = [cell(group, f"{key} {scenario}", percent) for scenario in SCENARIOS]
            body.append((f"{dataset}, {space}", key.replace("pst", "PST"), *cells))
        gains = [_lead(group, f"adapted {s}", f"inductive {s}") for s in SCENARIOS]
        body.append((f"{dataset}, {space}", "gain", *gains))
    columns = ("data", "", *SCENARIOS)
    return _one("adapt", "Batches without labels", columns, body, ADAPT_NOTE, rows)


def novelty_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one table: data sets down, measures and candidates across."""
    body = [
        (f"{dataset}, {space}", *(cell(group, key, percent) for key in _NOVELTY))
        for (dataset, space), group in _groups(rows, "novelty")
    ]
    columns = ("data", *_NOVELTY.values())
    return _one("novelty", "Classes that nobody described", columns, body, NOVELTY_NOTE, rows)


def _leads(group: Sequence[Row], key: str, *others: str) -> dict[str, float]:
    """Return by how many points one figure leads the best of others on each split."""
    return {
        str(row["split"]): 100 * (row[key] - max(row[other] for other in others))
        for row in group
        if row["status"] == "ok"
    }


def _lead(group: Sequence[Row], key: str, other: str) -> str:
    """Return the mean of the leads, with its deviation over splits."""
    leads = list(_leads(group, key, other).values())
    deviation = f" ± {np.std(leads, ddof=1):.1f}" if len(leads) > 1 else ""
    return f"{np.mean(leads):.1f}{deviation}" if leads else ""


def _worst(group: Sequence[Row], key: str, *others: str) -> tuple[str, str]:
    """Return the lead on the worst split, and that split."""
    leads = _leads(group, key, *others)
    split = min(leads, key=leads.__getitem__, default="")
    return f"{round(leads[split], 1) + 0.0:.1f}" if leads else "", split  # no -0.0


def _groups(rows: Iterable[Row], kind: str) -> Iterable[tuple[tuple[str, str], list[Row]]]:
    # The proposed split of shots is for the README; tables are means over random ones.
    mine = [row for row in select(rows, kind=kind) if str(row["split"]).startswith(RANDOM)]
    found = grouped(mine, "dataset", "semantics")
    return [((str(dataset), str(space)), group) for (dataset, space), group in found.items()]


def _one(
    name: str,
    title: str,
    columns: Sequence[str],
    body: Sequence[tuple[str, ...]],
    note: str,
    rows: Iterable[Row],
) -> list[Table]:
    if not body or len(columns) < 2:
        return []
    mine = select(rows, kind=name.partition("-")[0])
    splits = sorted({s for row in mine if (s := str(row["split"])).startswith(RANDOM)})
    notes = (note, f"Splits: {', '.join(splits)}.", *failures(mine))
    return [Table(name, title, tuple(columns), tuple(body), notes)]


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield accuracy against samples per class: description alone, samples alone, both."""
    ok = select(rows, kind="shots", status="ok")
    groups = [(dataset, group) for (dataset, _), group in _groups(ok, "shots") if dataset in _DRAWN]
    if groups:
        yield Plot(
            "few_samples",
            "shots",
            "Accuracy on unseen classes against samples per class: description alone, samples "
            "alone, both; means over random splits of the classes.",
            partial(_draw_shots, groups),
            [row for _, group in groups for row in group],
        )


_DRAWN = ("CUB", "animals28", "banking77")


def _draw_shots(groups: Sequence[tuple[str, list[Row]]]) -> Any:
    figure = new_figure(3.4 * len(groups), 3.4)
    axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    places = np.arange(len(SHOTS) + 1)
    for ax, (dataset, group) in zip(axes, groups, strict=True):
        means = {
            key: np.mean([row[key] for row in group])
            for key in ("zero", *(f"{way}_{n}" for way in ("alone", "both") for n in SHOTS))
        }
        ax.axhline(means["zero"], color=BLACK, linestyle=":", label="description alone")
        alone, both = ([means[f"{way}_{n}"] for n in SHOTS] for way in ("alone", "both"))
        ax.plot(places[1:], alone, "s--", color=ORANGE, label="samples alone")
        ax.plot(places, [means["zero"], *both], "o-", color=BLUE, label="both")
        ax.set(title=dataset, xlabel="samples per class", xticks=places)
        ax.set_xticklabels(["0", *map(str, SHOTS)])
        tidy(ax)
    axes[0].set_ylabel("accuracy on unseen classes")
    axes[0].legend(loc="lower right")
    return figure


TABLES = {
    "shots": shots_tables,
    "texts": texts_tables,
    "adapt": adapt_tables,
    "novelty": novelty_tables,
}
