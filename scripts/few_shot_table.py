"""Write the tables on few samples and on texts from results of ``zslearn reproduce``.

    python scripts/few_shot_table.py [--check]

The results are those of the experiments shots, texts, texts-described, adapt and novelty.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pages

from zslearn.reproduce import ResultsFile
from zslearn.reproduce.experiments.few_shot import SCENARIOS, SHOTS
from zslearn.reproduce.experiments.few_shot_tables import DESCRIBED
from zslearn.reproduce.specification import RANDOM
from zslearn.reproduce.tables import latest, select

Rows = list[dict[str, Any]]
DATA = {"CUB": "CUB", "AWA1": "AWA1", "animals28": "animals"}
TEXTS = {"banking77": "banking77", "hwu64": "hwu64", "clinc150": "clinc150"}
TITLES = {"banking77": "Banking77", "hwu64": "HWU64", "clinc150": "CLINC150"}
PICTURE = pages.ROOT / "docs" / "images" / "few_samples.png"
WAYS = {"alone": "samples alone", "both": "both", "half_described": "others, half taught"}
LEARNED = {
    "cosine": "cosine between text and name",
    "without_prior": "prototype regression without guesses",
    "with_prior": "**prototype regression**",
    "cosine_harmonic": "H: cosine, bias best on the test",
    "without_harmonic": "H: without guesses",
    "with_harmonic": "**H**",
}


def measured(kind: str) -> Rows:
    rows = select(latest(ResultsFile(pages.RESULTS).rows()), kind=kind, status="ok")
    return [row for row in rows if str(row["split"]).startswith(RANDOM)]


def mean(rows: Rows, key: str) -> float:
    values = [row[key] for row in rows]
    if not values:
        sys.exit(f"nothing is measured for {key}")
    return float(np.mean(values))


def lines(head: list[str], body: list[list[str]]) -> str:
    told = ["| " + " | ".join(row) + " |" for row in (head, *body)]
    return "\n".join([told[0], "|" + "---|" * len(head), *told[1:]]) + "\n"


def shots() -> str:
    rows, body = measured("shots"), []
    for name, title in (DATA | TEXTS).items():
        mine = select(rows, dataset=name)
        kappa = f"{mean(mine, 'kappa'):.2g}"
        for key, words in WAYS.items():
            zero = "" if key == "alone" else pages.short(mean(mine, "zero"))
            cells = [pages.short(mean(mine, f"{key}_{n}")) for n in SHOTS]
            body.append([f"{title} (κ {kappa})" if key == "alone" else "", words, zero, *cells])
    return lines(["samples per class", "", "0", *map(str, SHOTS)], body)


def on_described_splits(rows: Rows, *, wanted: bool) -> Rows:
    """Return the rows of texts on splits on which descriptions were measured too, or the others."""
    both = {(row["dataset"], row["split"]) for row in select(rows, semantics=DESCRIBED)}
    return [row for row in rows if ((row["dataset"], row["split"]) in both) is wanted]


def described() -> str:
    rows = on_described_splits(measured("texts"), wanted=True)
    spaces = {"names": "names", DESCRIBED: "with a sentence"}
    columns = {
        f"{title}, {words}": select(rows, dataset=name, semantics=space)
        for name, title in TITLES.items()
        for space, words in spaces.items()
    }
    body = [
        [words, *(pages.short(mean(mine, key)) for mine in columns.values())]
        for key, words in LEARNED.items()
    ]
    return lines(["", *columns], body)


def texts() -> str:
    rows = on_described_splits(measured("texts"), wanted=False)
    columns = {
        title: select(rows, dataset=name, semantics="names") for name, title in TEXTS.items()
    }
    body = [
        [words, *(pages.short(mean(mine, key)) for mine in columns.values())]
        for key, words in LEARNED.items()
    ]
    scope = columns["clinc150"]
    for key, words in (("auroc", "out of scope, AUROC"), ("caught", "caught at 7 % rejected")):
        found = {"clinc150": pages.short(mean(scope, f"with_scope_{key}"))}
        body.append([words, *(found.get(title, "") for title in columns)])
    return lines(["", *columns], body)


def adapt() -> str:
    rows, body = measured("adapt"), []
    for name, title in (DATA | TEXTS).items():
        mine = select(rows, dataset=name)
        for key, words in (("inductive", ""), ("adapted", "adapted"), ("pst", "PST")):
            cells = []
            for scenario in SCENARIOS:
                own, before = (mean(mine, f"{k} {scenario}") for k in (key, "inductive"))
                cells.append(pages.short(own) if not words else f"{100 * (own - before):+.1f}")
            body.append([title if not words else "", words or "before", *cells])
    return lines(["gain in points", "", *SCENARIOS], body)


def novelty() -> str:
    rows, body = measured("novelty"), []
    for name, title in (DATA | TEXTS).items():
        mine = select(rows, dataset=name)
        ways = [f"{key} {s}" for s in ("unseen", "all") for key in ("probability", "confidence")]
        body.append([title, *(pages.short(mean(mine, way)) for way in ways)])
    head = ["", "best probability, unseen", "learned confidence, unseen", "all: probability"]
    return lines([*head, "all: confidence"], body)


def draw(path: Path) -> None:
    """Draw accuracy against samples per class."""
    import matplotlib.pyplot as plt

    rows = measured("shots")
    shown = [name for name in ("CUB", "animals28", "banking77") if select(rows, dataset=name)]
    figure, axes = plt.subplots(1, len(shown), figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, name in zip(np.atleast_1d(axes), shown, strict=True):
        mine = select(rows, dataset=name)
        places = np.arange(1, len(SHOTS) + 1)
        ax.axhline(mean(mine, "zero"), color="gray", linestyle=":", label="description alone")
        for key, words, color in (("alone", "samples alone", "C1"), ("both", "both", "C0")):
            start = [mean(mine, "zero")] if key == "both" else []
            values = start + [mean(mine, f"{key}_{n}") for n in SHOTS]
            ax.plot([0, *places][-len(values) :], values, "o-", color=color, label=words)
        ax.set(title=(DATA | TEXTS)[name], xlabel="samples per class", xticks=[0, *places])
        ax.set_xticklabels(["0", *map(str, SHOTS)])
        ax.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set(ylabel="accuracy on unseen classes")
    np.atleast_1d(axes)[0].legend(loc="lower right")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    page = pages.ROOT / "docs" / "few_samples.md"
    tables = {"shots": shots(), "texts": texts(), "adapt": adapt(), "novelty": novelty()}
    if "--check" not in sys.argv:
        draw(PICTURE)
    own = pages.ROOT / "docs" / "your_own_texts.md"
    filled = {page: pages.filled(page, tables), own: pages.filled(own, {"described": described()})}
    pages.main(__doc__.splitlines()[0], filled)
