"""The commands that pages show, typed as a reader would: what they print, and what is right.

A story is a folder of files and the commands that are run in it, each in a process of its own.
Pages take the transcript and the figures from the row.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from zslearn._tables import read_table
from zslearn.datasets import load_animals
from zslearn.exceptions import ZslearnError
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, Table, failures, select

MODEL, PLAIN = "model.zsl", "plain.zsl"
# The animal whose first photograph is asked about.
ASKED = "leopard"
# Intents of the story of texts, how many of them nobody has an example of, and texts of each.
N_INTENTS, N_NEW, N_TEXTS = 20, 5, 25


def measure(run: Run) -> dict[str, Any]:
    """Type the commands of a story, then ask how many samples of unseen classes get their name."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        fit, ask, more = STORIES[run.parameters["story"]](folder, Path(run.data.path))
        shown = [[*fit, "--save", MODEL], ["predict", MODEL, *ask]]
        transcript = [f"$ zslearn {_line(words)}\n{_typed(folder, words)}" for words in shown]
        _typed(folder, [*fit, "--no-calibrate", "--save", PLAIN])
        reached = {
            name: json.loads(_typed(folder, ["evaluate", model, *more, "--json"]))
            for name, model in (("calibrated", MODEL), ("plain", PLAIN))
        }
    row: dict[str, Any] = {
        f"{k}_accuracy": v["unseen_accuracy"]["value"] for k, v in reached.items()
    }
    return row | {"series": {"transcript": "".join(transcript)}}


def _line(words: Sequence[str]) -> str:
    """Return words as they are typed in any shell: those with spaces in double quotes."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def _typed(folder: Path, words: Sequence[str]) -> str:
    """Run the program in a folder and return what it printed."""
    program = [sys.executable, "-m", "zslearn", *words]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise ZslearnError(f"zslearn {_line(words)}: {done.stderr.strip()}")
    return done.stdout


Story = tuple[list[str], list[str], list[str]]


def pictures(folder: Path, source: Path) -> Story:
    """Lay out twenty kinds of animals, and eight to be recognized from their attributes."""
    animals = load_animals()
    split = animals.split("standard")
    for place, names in (("photos", split.seen), ("more", split.unseen)):
        for name in names:
            (folder / place / name).mkdir(parents=True)
            for photo in (source / "images" / name).glob("*.jpg"):
                (folder / place / name / photo.name).symlink_to(photo.absolute())
    (folder / "new.jpg").symlink_to(min((folder / "more" / ASKED).iterdir()).readlink())
    animals.signatures.to_csv(folder / "classes.csv")
    fit = ["fit", "photos", "--signatures", "classes.csv"]
    return fit, ["new.jpg", "--top", "3"], ["more"]


def texts(folder: Path, source: Path) -> Story:
    """Write texts of fifteen intents, and a sentence for each of these and of five others."""
    table = read_table(source, text=("text", "label"))
    said, labels = (np.array(table.texts(table.position(c))) for c in ("text", "label"))
    intents = np.random.default_rng(0).permutation(np.unique(labels))[:N_INTENTS].tolist()
    for name, names in (("tickets", intents[:-N_NEW]), ("more", intents[-N_NEW:])):
        kept = [row for c in names for row in np.flatnonzero(labels == c)[:N_TEXTS]]
        body = zip(said[kept].tolist(), labels[kept].tolist(), strict=True)
        _write(folder / f"{name}.csv", [("text", "category"), *body])
    described = read_table(source.with_name(f"{source.stem}_classes.csv"), text=("class",))
    columns = (described.texts(described.position(c)) for c in ("class", "description"))
    lines = [line for line in zip(*columns, strict=True) if line[0] in intents]
    _write(folder / "classes.csv", [("class", "description"), *lines])
    named = ["--text", "text", "--labels", "category"]
    fit = ["fit", "tickets.csv", *named, "--classes", "classes.csv"]
    ask = ["Where can I buy a horse?", "--reject", "none of these"]
    return fit, ask, ["more.csv", *named]


def _write(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


STORIES: dict[str, Callable[[Path, Path], Story]] = {"pictures": pictures, "texts": texts}


def command_tables(rows: Iterable[Row]) -> list[Table]:
    """Return how many samples of unseen classes the models of the stories name, among all."""
    mine = select(rows, kind="commands")
    done = select(mine, status="ok")
    if not done:
        return []
    body = tuple(
        (
            row["parameter_story"],
            *(f"{100 * row[f'{way}_accuracy']:.0f}" for way in ("calibrated", "plain")),
        )
        for row in done
    )
    note = "Per-class accuracy in % of samples of unseen classes, all classes being candidates."
    columns = ("story", "calibrated", "plain")
    return [Table("commands", "As typed", columns, body, (note, *failures(mine)))]


def transcripts(rows: Iterable[Row]) -> dict[str, str]:
    """Return what was typed and printed, by story."""
    done = select(rows, kind="commands", status="ok")
    return {row["parameter_story"]: row["series"]["transcript"] for row in done}


TABLES = {"commands": command_tables}
