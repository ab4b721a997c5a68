"""What default settings give with few classes, and whether what a fit tells comes true.

``newcomer`` draws fifteen animals, as somebody would start: 20 photographs of each of eleven, four
that are only described, and three in no table. ``promises`` draws classes of other data and of
generated problems. Both learn by `CalibratedStacking` as ``zslearn fit`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zslearn.datasets import load_animals, make_family
from zslearn.metrics import harmonic_mean, per_class_accuracy, seen_unseen_curve
from zslearn.reproduce.experiments.auto import some_texts
from zslearn.reproduce.experiments.words import described_animals
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import (
    Row,
    Table,
    by_method,
    failures,
    grouped,
    method_title,
    select,
    short,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, make_classifier

N_SEEN, N_UNSEEN, N_STRANGERS = 11, 4, 3
# Photographs of a class, those of a seen class that are kept for the test, traits of a small table.
N_PHOTOS, N_KEPT, N_TRAITS = 25, 5, 15
# Samples that `promises` takes of a seen class for training, and of one for the test.
N_TRAIN, N_TEST_SEEN, N_TEST_UNSEEN = 20, 40, 100
BOTH = (("all", "all"), ("alone", "unseen"))


def measure(run: Run) -> dict[str, Any]:
    """Return what a calibrated fit reaches, and what it told."""
    return _first_model(run) if run.kind == "newcomer" else _kept_promises(run)


class Draw(NamedTuple):
    """Classes of a first model and its rows."""

    seen: NDArray[Any]
    unseen: NDArray[Any]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    strangers: NDArray[np.intp]


def drawn(y: NDArray[Any], seed: int) -> Draw:
    """Draw classes and photographs."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.unique(y))
    photos = {c: rng.permutation(np.flatnonzero(y == c))[:N_PHOTOS] for c in order.tolist()}
    unseen, seen, strangers = np.split(order, np.cumsum([N_UNSEEN, N_SEEN, N_STRANGERS]))[:3]
    n_learned = N_PHOTOS - N_KEPT
    train = [photos[c][:n_learned] for c in seen.tolist()]
    test = [photos[c][n_learned:] for c in seen.tolist()] + [photos[c] for c in unseen.tolist()]
    strange = [photos[c] for c in strangers.tolist()]
    return Draw(seen, unseen, *map(np.concatenate, (train, test, strange)))


def described(kind: str, classes: Sequence[str]) -> Signatures:
    """Return a table of some classes as a newcomer writes it.

    Traits are those of the 85 attributes that divide the classes most evenly, "yes" above the mean
    of the whole table, as the authors of AwA did it.
    """
    if kind == "sentences":
        return described_animals().subset(classes)
    table = load_animals().signatures
    if kind == "85 attributes":
        return table.subset(classes)
    answers = (table.subset(classes).vectors > table.vectors.mean()).astype(float)
    even = np.argsort(np.abs(answers.mean(axis=0) - 0.5), kind="stable")[:N_TRAITS]
    return Signatures(classes, answers[:, even])


def _first_model(run: Run) -> dict[str, Any]:
    """Fit with and without calibration, and return what either reaches."""
    data = run.data.load()
    draw = drawn(data.y, run.seed)
    names = [*draw.seen.tolist(), *draw.unseen.tolist()]
    table = described(run.parameters["table"], names)
    X, y = data.X[draw.train], data.y[draw.train]
    X_new, y_new = data.X[draw.test], data.y[draw.test]
    guests = np.isin(y_new, draw.unseen)
    row: dict[str, Any] = {}
    clf: Any = None
    for way, clf in (
        ("plain", make_classifier(run.method, table)),
        ("calibrated", CalibratedStacking(make_classifier(run.method, table))),
    ):
        start = process_time()
        clf.fit(X, y)
        row[f"{way}_fit_cpu_seconds"] = process_time() - start
        found = clf.predict(X_new, names)
        unseen, seen = (per_class_accuracy(y_new[s], found[s]) for s in (guests, ~guests))
        row[f"{way}_harmonic_mean"] = harmonic_mean(seen, unseen)
    scores = clf.decision_function(X_new, names)
    curve = seen_unseen_curve(y_new, scores, candidates=np.array(names), seen=draw.seen)
    row["best_harmonic_mean"] = curve.oracle.harmonic_mean
    for key, among in BOTH:
        rejected = clf.recognizer(among).rejected(data.X[draw.strangers])
        row[f"strangers_rejected_{key}"] = float(rejected.mean())
        row[f"expected_auroc_{key}"] = clf.expected_rejection_[among].auroc
    return row | _told_and_done(clf, X_new[guests], y_new[guests], X_new[~guests])


def _kept_promises(run: Run) -> dict[str, Any]:
    """Draw classes of a problem, fit, and compare what the fit told with what new classes do."""
    options = run.parameters
    if run.source is None:
        data = make_family(options["problem"], random_state=run.seed)
    else:
        data = some_texts(run.source)
    rng = np.random.default_rng(run.seed)
    order = rng.permutation(np.unique(data.y))
    unseen, seen = np.split(order, np.cumsum([options["n_unseen"], options["n_seen"]]))[:2]
    rows = rng.permutation(len(data.y))
    y = data.y[rows]

    def some(classes: NDArray[Any], start: int, stop: int) -> NDArray[np.intp]:
        return np.concatenate([rows[y == c][start:stop] for c in classes.tolist()])

    train, test = some(seen, 0, N_TRAIN), some(unseen, 0, N_TEST_UNSEEN)
    more = some(seen, N_TRAIN, N_TRAIN + N_TEST_SEEN)
    table = data.signatures.subset([*seen.tolist(), *unseen.tolist()])
    clf = CalibratedStacking(make_classifier(run.method, table))
    clf.fit(data.X[train], data.y[train])
    return _told_and_done(clf, data.X[test], data.y[test], data.X[more])


def _told_and_done(
    clf: CalibratedStacking, X: NDArray[Any], y: NDArray[Any], X_seen: NDArray[Any]
) -> dict[str, float | None]:
    """Return what was expected of unseen classes and reached, and what was rejected."""
    told = clf.expected_accuracy_
    assert told is not None  # there are unseen classes in the table
    row: dict[str, float | None] = {
        "reached_unseen": clf.score(X, y, "unseen"),
        "expected_low": told.low,
        "expected_unseen": told.accuracy,
        "expected_high": told.high,
    }
    for key, among in BOTH:
        row[f"unseen_rejected_{key}"] = float(clf.recognizer(among).rejected(X).mean())
    rejected = clf.recognizer("all").rejected(X_seen) if len(X_seen) else None
    row["seen_rejected_all"] = None if rejected is None else float(rejected.mean())
    return row


def held(row: Row) -> bool:
    """Say whether what was reached lies in the interval that was told."""
    low, high = row["expected_low"], row["expected_high"]
    return bool(low - 1e-9 <= row["reached_unseen"] <= high + 1e-9)


NAMED = "table, method"
REACHED = (
    "H, plain",
    "H, calibrated",
    "single draws",
    "H, best bias",
    "lost to it, points",
    "CPU of the fit, × plain",
)
EXPECTED = ("told − reached", "intervals that held")
REJECTED = (
    "unseen rejected",
    "alone, single draws",
    "seen rejected",
    "strangers rejected",
    "AUROC",
)
WRITTEN = ("15 traits", "85 attributes", "sentences")
NOTES = (
    "Means over draws, and the lowest to the highest draw. Best bias: the one that the test "
    "samples like best.",
    "Means over draws, and the lowest to the highest draw. Rejected in %: with all fifteen classes "
    "as candidates / with the four unseen ones alone. AUROC of strangers and unseen classes among "
    "all, as fits told it. Told − reached: of the accuracy among unseen classes.",
)


def newcomer_tables(rows: Iterable[Row]) -> list[Table]:
    """Return what is reached, and what is told and rejected, by table and method."""
    mine = select(rows, kind="newcomer")
    done = select(mine, status="ok")
    if not done:
        return []
    groups = {
        f"{table}, {method_title(method)}": group
        for table in WRITTEN
        for method, group in by_method(select(done, parameter_table=table)).items()
    }
    groups |= {method_title(method): group for method, group in by_method(done).items()}
    reached = tuple((title, *_reached(group)) for title, group in groups.items())
    told = tuple((title, *_rejected(group)) for title, group in groups.items())
    notes = [(note, *failures(mine)) for note in NOTES]
    columns = (NAMED, *REJECTED, *EXPECTED)
    return [
        Table("newcomer", "A first model", (NAMED, *REACHED), reached, notes[0]),
        Table("newcomer-told", "What a first model tells", columns, told, notes[1]),
    ]


def _reached(rows: Sequence[Row]) -> tuple[str, ...]:
    plain, calibrated, best = (
        _mean(rows, f"{way}_harmonic_mean") for way in ("plain", "calibrated", "best")
    )
    cost = _mean(rows, "calibrated_fit_cpu_seconds") / _mean(rows, "plain_fit_cpu_seconds")
    return (
        short(plain),
        short(calibrated),
        _range(rows, "calibrated_harmonic_mean", short),
        short(best),
        f"{100 * (best - calibrated):.1f}",
        f"{cost:.1f}",
    )


def _rejected(rows: Sequence[Row]) -> tuple[str, ...]:
    return (
        _shares(rows, "unseen"),
        _range(rows, "unseen_rejected_alone", lambda share: f"{100 * share:.0f}"),
        _share(rows, "seen_rejected_all"),
        _shares(rows, "strangers"),
        _range(rows, "expected_auroc_all", lambda area: f"{area:.2f}".removeprefix("0")),
        *_expectations(rows),
    )


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _shares(rows: Sequence[Row], who: str) -> str:
    return " / ".join(_share(rows, f"{who}_rejected_{key}") for key, _ in BOTH)


def _share(rows: Sequence[Row], key: str) -> str:
    """Return a mean in percent, of the rows that have one."""
    values = [row[key] for row in rows if row[key] is not None]
    return f"{100 * np.mean(values):.0f}" if values else "–"


def _expectations(rows: Sequence[Row]) -> tuple[str, str]:
    gap = _mean(rows, "expected_unseen") - _mean(rows, "reached_unseen")
    return f"{gap:+.3f}".replace("0.", "."), f"{sum(map(held, rows))} of {len(rows)}"


def _range(rows: Sequence[Row], key: str, form: Callable[[float], str]) -> str:
    values = [row[key] for row in rows]
    return f"{form(min(values))} to {form(max(values))}"


def promise_tables(rows: Iterable[Row]) -> list[Table]:
    """Return what is rejected and whether intervals held, by number of classes and method."""
    mine = select(rows, kind="promises")
    done = select(mine, status="ok")
    if not done:
        return []
    groups = {
        f"{seen} + {unseen}, {method_title(method)}": group
        for (seen, unseen), size in sorted(
            grouped(done, "parameter_n_seen", "parameter_n_unseen").items()
        )
        for method, group in by_method(size).items()
    }
    body = [
        (
            title,
            str(len(group)),
            _shares(group, "unseen"),
            _share(group, "seen_rejected_all"),
            *_expectations(group),
        )
        for title, group in (groups | {"all": done}).items()
    ]
    columns = ("classes, method", "problems", "unseen rejected", "seen rejected", *EXPECTED)
    notes = (
        "Classes: seen + unseen. Rejected in %, means over problems: of samples of unseen classes "
        "with all classes as candidates / with the unseen ones alone, and of samples of seen ones.",
        *failures(mine),
    )
    return [Table("promises", "What a fit promises", columns, tuple(body), notes)]


TABLES = {"newcomer": newcomer_tables, "promises": promise_tables}
