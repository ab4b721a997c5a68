"""What a newcomer gets: fifteen animals, a table written by hand, and the program as in README.

    python scripts/newcomer.py [--seeds 0,1,...]
    python scripts/newcomer.py --photos DIR [--seeds 0,1,...]
    python scripts/newcomer.py --coverage [--seeds 0,1,...]

Every draw takes 15 of the bundled animals with 25 photographs each, as the vectors that ship
inside, by the package's own image encoder. Four are unseen, three other animals are strangers that
no table has, and 5 photographs of each seen class are kept for the test. Tables: 15 yes/no traits,
those of the 85 attributes that divide the fifteen classes most evenly, where "yes" is above the
mean of the whole table, as the authors of AwA did it; the 85 attributes; and a sentence per class.
It runs ``zslearn fit --features X.npy --labels y.txt --signatures classes.csv`` (``--classes`` for
the sentences) with ``--no-calibrate`` and ``--calibrate``, and ``zslearn predict`` with and without
``--reject``.

``--photos`` takes the photographs themselves, of a folder with a folder per animal, and the program
that is installed: ``zslearn fit photos --signatures classes.csv --save model.zsl`` and ``zslearn
predict model.zsl FOLDER``, as a newcomer types them.

``--coverage`` draws 11 seen and 4 unseen, and 30 seen and 10 unseen classes, of several data sets
(animals, and what is in $ZSLEARN_DATA) and of generated problems, 100 and 40 where there are so
many, and counts how often `expected_accuracy_` held and what was rejected.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import click
import numpy as np
from click.testing import CliRunner
from numpy.typing import NDArray

from zslearn.cli.main import cli
from zslearn.datasets import FAMILIES, load_animals, load_xlsa17, make_family
from zslearn.encoders import TextEncoder
from zslearn.metrics import harmonic_mean, per_class_accuracy, seen_unseen_curve
from zslearn.persistence import load
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, make_classifier

DESCRIPTIONS = Path(__file__).parents[1] / "src/zslearn/reproduce/data/animal_descriptions.csv"
METHODS = ("prototype-regression", "sae")
TABLES = ("15 traits", "85 attributes", "sentences")
N_CLASSES, N_UNSEEN, N_STRANGERS, N_PHOTOS, N_KEPT, N_TRAITS = 15, 4, 3, 25, 5, 15
REJECTED = "none of these"
SEEDS = "200,201,202,203,204,205,206,207,208,209,210,211"


class Draw(NamedTuple):
    """Classes and rows of one draw."""

    seen: NDArray[Any]
    unseen: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    strangers: NDArray[np.intp]


@cache
def animals() -> Any:
    return load_animals()


def drawn(seed: int) -> Draw:
    """Draw classes and photographs."""
    y, rng = animals().y, np.random.default_rng(seed)
    order = rng.permutation(np.unique(y))
    photos = {c: rng.permutation(np.flatnonzero(y == c))[:N_PHOTOS] for c in order.tolist()}
    unseen, seen = order[:N_UNSEEN], order[N_UNSEEN:N_CLASSES]
    kept = N_PHOTOS - N_KEPT
    train = [photos[c][:kept] for c in seen.tolist()]
    test = [photos[c][kept:] for c in seen.tolist()] + [photos[c] for c in unseen.tolist()]
    strange = [photos[c] for c in order[N_CLASSES : N_CLASSES + N_STRANGERS].tolist()]
    return Draw(seen, unseen, *map(np.concatenate, (train, test, strange)))


def write_table(name: str, draw: Draw, path: Path) -> list[str]:
    """Write a table of the classes of a draw, and return the option that reads it."""
    classes = [*draw.seen.tolist(), *draw.unseen.tolist()]
    if name == "sentences":
        with DESCRIPTIONS.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row[0] in ("class", *classes)]
    else:
        table = animals().signatures
        vectors, dimensions = table.subset(classes).vectors, np.array(table.dimensions)
        if name == "15 traits":
            vectors = (vectors > table.vectors.mean()).astype(int)
            even = np.argsort(np.abs(vectors.mean(axis=0) - 0.5), kind="stable")[:N_TRAITS]
            vectors, dimensions = vectors[:, even], dimensions[even]
        body = [[c, *row] for c, row in zip(classes, vectors.tolist(), strict=True)]
        rows = [["class", *dimensions.tolist()], *body]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return ["--classes" if name == "sentences" else "--signatures", str(path)]


class Vectors(NamedTuple):
    """The samples of a draw as files of vectors, and the program in this process."""

    folder: Path

    def write(self, draw: Draw) -> None:
        """Write the samples."""
        for name in ("train", "test", "strangers"):
            np.save(self.samples(name), animals().X[getattr(draw, name)])
        labels = animals().y[draw.train].tolist()
        (self.folder / "y.txt").write_text("\n".join(labels) + "\n", "utf-8")

    @property
    def data(self) -> tuple[str, ...]:
        """What ``zslearn fit`` learns from."""
        return "--features", str(self.samples("train")), "--labels", str(self.folder / "y.txt")

    def samples(self, name: str) -> Path:
        """Return where samples are: "train", "test" or "strangers"."""
        return self.folder / f"{name}.npy"

    def run(self, *words: str) -> tuple[Any, float]:
        """Run the program, and return what it printed as JSON and the CPU seconds it took."""
        start = process_time()
        result = CliRunner().invoke(cli, [*words, "--json"], catch_exceptions=False)
        if result.exit_code:
            raise click.ClickException(result.output)
        return json.loads(result.stdout), process_time() - start


class Photographs(NamedTuple):
    """The samples of a draw as folders of photographs, and the installed program."""

    folder: Path
    source: Path

    def write(self, draw: Draw) -> None:
        """Write the samples, and the vectors that the first fit would write beside the model."""
        for name in ("train", "test", "strangers"):
            for place, row in enumerate(getattr(draw, name).tolist()):
                photo = f"{animals().y[row]}/{Path(animals().image_files[row]).name}"
                target = self.samples(name) / (photo if name == "train" else f"{place:04}.jpg")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(self.source.absolute() / photo)
        self.run("features", *self.data, "--out", str(self.folder / "model.store"))

    @property
    def data(self) -> tuple[str, ...]:
        """What ``zslearn fit`` learns from."""
        return (str(self.samples("train")),)

    def samples(self, name: str) -> Path:
        """Return where samples are: "train", "test" or "strangers"."""
        return self.folder / name

    def run(self, *words: str) -> tuple[Any, float]:
        """Run the program, and return what it printed as JSON and the CPU seconds it took."""
        start = getrusage(RUSAGE_CHILDREN).ru_utime
        result = subprocess.run(["zslearn", *words, "--json"], capture_output=True, text=True)
        if result.returncode:
            raise click.ClickException(result.stderr)
        return json.loads(result.stdout), getrusage(RUSAGE_CHILDREN).ru_utime - start


def measure(
    files: Vectors | Photographs, draw: Draw, table: list[str], method: str
) -> dict[str, float]:
    """Fit with and without calibration, and return what either reaches."""
    X, y = animals().X, animals().y[draw.test]
    guests = np.isin(y, draw.unseen)
    row: dict[str, float] = {}

    def answers(name: str, *words: str) -> NDArray[Any]:
        found, _ = files.run("predict", str(model), str(files.samples(name)), *words)
        return np.array([one["class"] for one in found])

    for word in ("--no-calibrate", "--calibrate"):
        model, after = files.folder / "model.zsl", word == "--calibrate"
        words = (*files.data, *table, "--method", method, word, "--save", str(model))
        facts, seconds = files.run("fit", *words)
        found = answers("test")
        unseen, seen = (per_class_accuracy(y[s], found[s]) for s in (guests, ~guests))
        key = "after" if after else "before"
        row |= {f"{key}_unseen": unseen, f"{key}_seen": seen, f"{key}_seconds": seconds}
        row[f"{key}_H"] = harmonic_mean(seen, unseen)
    classifier = load(model)
    names = np.array([*draw.seen.tolist(), *draw.unseen.tolist()])
    scores = classifier.decision_function(X[draw.test], candidates=names.tolist())
    curve = seen_unseen_curve(y, scores, candidates=names, seen=draw.seen)
    row["best_H"] = curve.oracle.harmonic_mean
    for among, words in (("all", ()), ("unseen", ("--unseen-only",))):
        kept = answers("test", *words, "--reject", REJECTED) == REJECTED
        strange = answers("strangers", *words, "--reject", REJECTED) == REJECTED
        row[f"unseen_rejected_{among}"] = float(kept[guests].mean())
        row[f"strangers_rejected_{among}"] = float(strange.mean())
        row[f"expected_strangers_{among}"] = classifier.expected_rejection_[among].strangers
        row[f"expected_auroc_{among}"] = classifier.expected_rejection_[among].auroc
        if among == "all":
            row["seen_rejected_all"] = float(kept[~guests].mean())
    alone = per_class_accuracy(y[guests], answers("test", "--unseen-only")[guests])
    expected = facts["expected_accuracy"]
    row |= {"reached": alone, "expected": expected["accuracy"]}
    row["optimism"] = expected["accuracy"] - alone
    row["held"] = float(expected["low"] - 1e-9 <= alone <= expected["high"] + 1e-9)
    row["cost"] = row.pop("after_seconds") / row.pop("before_seconds")
    return row


def newcomer(seeds: list[int], photos: Path | None) -> None:
    """Print means and ranges over draws."""
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in seeds:
        draw = drawn(seed)
        with TemporaryDirectory() as place:
            folder = Path(place)
            files = Vectors(folder) if photos is None else Photographs(folder, photos)
            files.write(draw)
            for name in TABLES:
                table = write_table(name, draw, folder / "classes.csv")
                for method in METHODS:
                    rows.setdefault((name, method), []).append(measure(files, draw, table, method))
    click.echo(f"seeds {', '.join(map(str, seeds))}; mean [lowest to highest]; rejected: shares")
    for (name, method), mine in rows.items():
        click.echo(f"\n{name}, {method}")
        for key in mine[0]:
            values = [row[key] for row in mine]
            click.echo(
                f"  {key:26} {np.mean(values):6.3f} [{min(values):.3f} to {max(values):.3f}]"
            )


class Problem(NamedTuple):
    """Samples with a class table, of which classes are drawn."""

    X: NDArray[Any]
    y: NDArray[Any]
    table: Signatures


@cache
def intents(path: Path) -> Problem:
    """Return thirty texts of every intent, and its sentence as signature."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with path.with_name(f"{path.stem}_classes.csv").open(newline="", encoding="utf-8") as file:
        sentences = {row["class"]: row["description"] for row in csv.DictReader(file)}
    y = np.array([row["label"] for row in rows])
    order = np.random.default_rng(0).permutation(len(y))
    kept = np.concatenate([order[y[order] == name][:30] for name in np.unique(y)])
    encoder = TextEncoder().fit()
    table = Signatures(list(sentences), encoder.transform(list(sentences.values())))
    return Problem(encoder.transform([rows[i]["text"] for i in kept.tolist()]), y[kept], table)


def problems(seed: int) -> Iterator[tuple[str, Problem]]:
    """Yield every data set there is, and every generated family."""
    data = animals()
    yield "animals", Problem(data.X, data.y, data.signatures)
    root = Path(os.environ.get("ZSLEARN_DATA", "data"))
    for name, features in (("CUB", "effnet_lite0"), ("AWA1", "hist5_pca500")):
        if (root / "xlsa17" / name).exists():
            data = load_xlsa17(root / "xlsa17" / name, features=features)
            yield name, Problem(data.X, data.y, data.signatures)
    for name in ("banking77", "hwu64"):
        if (root / "intents" / f"{name}.csv").exists():
            yield name, intents(root / "intents" / f"{name}.csv")
    for name in FAMILIES:
        data = make_family(name, random_state=seed)
        yield f"made, {name}", Problem(data.X, data.y, data.signatures)


SIZES = ((11, 4), (30, 10), (100, 40))


def coverage(seeds: list[int]) -> None:
    """Print how often the interval held and what was rejected, by number of classes and method."""
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in seeds:
        for name, problem in problems(seed):
            for n_seen, n_unseen in SIZES:
                rng = np.random.default_rng(seed)
                order = rng.permutation(np.unique(problem.y))
                if len(order) < n_seen + n_unseen:
                    continue
                unseen, seen = order[:n_unseen], order[n_unseen : n_unseen + n_seen]
                rows = rng.permutation(len(problem.y))
                y = problem.y[rows]
                train = np.concatenate([rows[y == c][:20] for c in seen.tolist()])
                test = np.concatenate([rows[y == c][:100] for c in unseen.tolist()])
                more = np.concatenate([rows[y == c][20:60] for c in seen.tolist()])
                table = problem.table.subset([*seen.tolist(), *unseen.tolist()])
                for method in METHODS:
                    clf = CalibratedStacking(make_classifier(method, table))
                    clf.fit(problem.X[train], problem.y[train])
                    row = expectation(clf, problem, test)
                    row |= rejections(clf, problem.X[test], problem.X[more])
                    kind = name.partition(",")[0]
                    for key in ((f"{n_seen} + {n_unseen}", method), (kind, method), ("all", "all")):
                        found.setdefault(key, []).append(row)
    click.echo(f"seeds {', '.join(map(str, seeds))}; intervals that held, means of the others")
    for (group, method), mine in sorted(found.items()):
        means = {key: np.nanmean([row[key] for row in mine]) for key in mine[0]}
        held = sum(row["held"] for row in mine)
        click.echo(
            f"  {group:10} {method:22} {held:4.0f} of {len(mine):4} ({means.pop('held'):.0%})"
        )
        for key, mean in means.items():
            worst = np.nanmax([row[key] for row in mine])
            click.echo(f"    {key:26} {mean:+.3f}, at most {worst:+.3f}")


def expectation(
    clf: CalibratedStacking, problem: Problem, test: NDArray[np.intp]
) -> dict[str, float]:
    """Return whether the interval held, and by how much the guess was too high."""
    reached, told = clf.score(problem.X[test], problem.y[test], "unseen"), clf.expected_accuracy_
    assert told is not None
    held = told.low - 1e-9 <= reached <= told.high + 1e-9
    return {"held": float(held), "optimism": told.accuracy - reached}


def rejections(
    clf: CalibratedStacking, unseen: NDArray[Any], seen: NDArray[Any]
) -> dict[str, float]:
    """Return the shares of samples of candidates that are rejected."""
    every = clf.recognizer()
    return {
        "unseen_rejected_all": float(every.rejected(unseen).mean()),
        "unseen_rejected_unseen": float(clf.recognizer("unseen").rejected(unseen).mean()),
        "seen_rejected_all": float(every.rejected(seen).mean()) if len(seen) else np.nan,
    }


@click.command(help=__doc__)
@click.option("--seeds", default=SEEDS, help="Of the draws, separated by commas.")
@click.option(
    "--photos",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder with a folder of photographs per animal.",
)
@click.option("--coverage", "covers", is_flag=True, help="Count intervals instead.")
def command(seeds: str, photos: Path | None, covers: bool) -> None:
    warnings.simplefilter("ignore")
    numbers = [int(seed) for seed in seeds.split(",")]
    if covers:
        coverage(numbers)
    else:
        newcomer(numbers, photos)


if __name__ == "__main__":
    command()
