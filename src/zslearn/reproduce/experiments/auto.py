"""`AutoZeroShotClassifier` beside every member of its portfolio, and what it expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from zslearn._pipelines import features_of, last_step, set_signatures
from zslearn.datasets import FAMILIES, ClassSplit, ZeroShotDataset, make_family
from zslearn.exceptions import InvalidInputError
from zslearn.metrics import per_class_accuracy
from zslearn.reproduce.problems import MADE, REAL
from zslearn.reproduce.problems import TABLES as UNFAMILIAR
from zslearn.reproduce.sources import DataSource
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables import Row, Table, failures, grouped, select, short
from zslearn.zero_shot import AutoZeroShotClassifier
from zslearn.zero_shot.auto import FAILURES, spread_of_scores
from zslearn.zero_shot.expectation import choose_member, standard_errors
from zslearn.zero_shot.portfolio import members_of, sized
from zslearn.zero_shot.registry import RECOMMENDED

# Texts of every class that are kept, and classes of a problem with few.
TEXTS_KEPT, FEW_CLASSES, FEW_UNSEEN = 30, 15, 4


def measure(run: Run) -> dict[str, Any]:
    """Return what was chosen, reached and expected, and what every member reaches alone."""
    dataset = _problem(run)
    split = next(iter(dataset.splits.values()))
    seen, unseen = dataset.train_rows(split), dataset.rows(split.unseen)
    X, y, X_new, y_new = dataset.X[seen], dataset.y[seen], dataset.X[unseen], dataset.y[unseen]
    start = process_time()
    clf = AutoZeroShotClassifier(dataset.signatures).fit(X, y)
    row: dict[str, Any] = {
        "title": dataset.name,
        "fit_cpu_seconds": process_time() - start,
        "taken": clf.member_,
    }
    expectations = {}
    for among in ("unseen", "all"):
        expected = clf.expected_accuracy(len(split.unseen), among=among)
        row[f"reached_{among}"] = clf.score(X_new, y_new, among)
        row[f"rejected_{among}"] = float(clf.recognizer(among).rejected(X_new).mean())
        expectations[among] = [expected.low, expected.accuracy, expected.high]
    held_out = clf.held_out_accuracies_
    alone, scores, seconds = _alone(clf, dataset, (X, y, X_new, y_new), split)
    near = [name for name, good in _within_an_error(held_out).items() if good and name in scores]
    row["averaged"] = _reached(sum(scores[name] for name in near), split.unseen, y_new)
    row["recommended_cpu_seconds"] = seconds
    row["series"] = {
        "shape": [*X.shape, len(split.seen), len(split.unseen)],
        "expected": expectations,
        "held_out": {name: column.round(4).tolist() for name, column in held_out.items()},
        "alone": alone,
    }
    return row


def _problem(run: Run) -> ZeroShotDataset:
    """Return generated data, or real data with its unseen classes drawn anew."""
    if run.source is None:
        name, tables = run.parameters["problem"], UNFAMILIAR | MADE
        if name in FAMILIES:
            return make_family(name, random_state=run.seed)
        if name not in tables:
            raise InvalidInputError(f"there is no problem {name!r}.")
        return tables[name](run.seed)
    if run.source.group == "keel":
        return REAL[run.source.dataset](run.seed)
    return _redealt(some_texts(run.source), run.seed, few=run.parameters.get("group") == "few")


@cache
def some_texts(source: DataSource) -> ZeroShotDataset:
    """Return a data set; of texts some of each class, with their sentences as signatures."""
    data = source.load()
    if source.group != "texts":
        return data
    order = np.random.default_rng(0).permutation(len(data.y))
    kept = [order[data.y[order] == name][:TEXTS_KEPT] for name in np.unique(data.y)]
    rows = np.sort(np.concatenate(kept))
    table = data.semantics.get("names and descriptions", data.signatures)
    names = sorted(table)
    n_unseen = len(names) // 4
    split = ClassSplit(names[n_unseen:], names[:n_unseen])
    return ZeroShotDataset(
        data.name, data.X[rows], data.y[rows], {"texts": table}, {"proposed": split}
    )


def _redealt(data: ZeroShotDataset, seed: int, *, few: bool) -> ZeroShotDataset:
    """Return a data set whose unseen classes are drawn anew; with `few`, 11 of 15 are seen."""
    n_unseen = FEW_UNSEEN if few else len(data.split("proposed").unseen)
    classes = np.random.default_rng(seed).permutation(np.unique(data.y))
    order = classes[: FEW_CLASSES if few else None]
    split = ClassSplit(sorted(order[n_unseen:]), sorted(order[:n_unseen]))
    rows = np.flatnonzero(np.isin(data.y, order))
    table = {"semantics": data.signatures.subset(order)}
    name = f"{data.name}, {FEW_CLASSES} classes" if few else data.name
    return ZeroShotDataset(name, data.X[rows], data.y[rows], table, {"proposed": split})


def _alone(
    clf: AutoZeroShotClassifier,
    data: ZeroShotDataset,
    rows: tuple[NDArray[Any], ...],
    split: ClassSplit,
) -> tuple[dict[str, float | None], dict[str, NDArray[Any]], float]:
    """Fit every member alone; return accuracies, scores, and the CPU time of the recommended."""
    X, y, X_new, y_new = rows
    alone: dict[str, float | None] = {}
    scores: dict[str, NDArray[Any]] = {}
    seconds = 0.0
    for name, member in members_of("default", X, len(split.seen), 0).items():
        start = process_time()
        try:
            fitted = sized(member, len(y))
            set_signatures(fitted, data.signatures)
            again = name != clf.member_ or name == RECOMMENDED
            fitted = fitted.fit(X, y) if again else clf.pipeline_
        except FAILURES:
            alone[name] = None
            continue
        if name == RECOMMENDED:
            seconds = process_time() - start
        classifier, features = last_step(fitted), features_of(fitted, X_new)
        found = classifier.decision_function(features, split.unseen)
        scores[name] = (found - found.mean(axis=1, keepdims=True)) / spread_of_scores(fitted, X)
        alone[name] = _reached(scores[name], split.unseen, y_new)
    return alone, scores, seconds


def _reached(scores: Any, candidates: Any, y: NDArray[Any]) -> float:
    """Return the accuracy per class of the best columns."""
    return per_class_accuracy(y, np.asarray(candidates)[np.asarray(scores).argmax(axis=1)])


def _within_an_error(held_out: dict[str, NDArray[Any]]) -> dict[str, bool]:
    """Say which members are within one standard error of the leader."""
    table = np.stack(list(held_out.values()), axis=1)
    lost = table[:, [leader(table)]] - table
    near = lost.mean(axis=0) <= standard_errors(lost)
    return dict(zip(held_out, near.tolist(), strict=True))


# Rules that choose a member by the accuracies of all on held-out classes, (classes, members).


def recommended(table: NDArray[Any]) -> int:
    """Return the first member, whatever the others reach."""
    return 0


def leader(table: NDArray[Any]) -> int:
    """Return the member of the highest mean."""
    return int(table.mean(axis=0).argmax())


def guard(table: NDArray[Any]) -> int:
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


def one_error(table: NDArray[Any]) -> int:
    """Return the first member within one standard error of the leader."""
    lost = table[:, [leader(table)]] - table
    return int(np.flatnonzero(lost.mean(axis=0) <= standard_errors(lost))[0])


def shrunk(table: NDArray[Any]) -> int:
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


def resampled(table: NDArray[Any]) -> int:
    """Return the leader if the leader of drawn classes beats the first member on the others."""
    rng, n = np.random.default_rng(0), len(table)
    gains = []
    for _ in range(400):
        drawn = rng.integers(0, n, n)
        left = np.setdiff1d(np.arange(n), drawn)
        if len(left):
            gains.append((table[left, leader(table[drawn])] - table[left, 0]).mean())
    return leader(table) if gains and np.mean(gains) > 0 else 0


RULES: dict[str, Callable[[NDArray[Any]], int]] = {
    "prototype regression": recommended,
    "the guard of before": guard,
    "plain leader": leader,
    "first within half an error of the leader": choose_member,
    "first within one error": one_error,
    "empirical Bayes": shrunk,
    "bootstrap": resampled,
}
AVERAGE, BEST = "mean of all within one error", "best member, which nobody knows"
COLUMNS = (
    "data",
    "problems",
    "taken",
    "reached",
    "prototype regression",
    "plain leader",
    "best member",
    "expected",
    "intervals that hold",
    "warned",
    "rejected",
    "CPU s",
    "CPU s of prototype regression",
)


def auto_tables(rows: Iterable[Row]) -> list[Table]:
    """Return one line per data set and one over all problems; then all classes as candidates."""
    mine = select(rows, kind="auto", parameter_part="final")
    done = select(mine, status="ok")
    if not done:
        return []
    body = [_line(title, group) for (title,), group in grouped(done, "title").items()]
    body.append(_line("all", done, taken=False))
    notes = (
        "Per-class accuracy on the unseen classes, means over problems. Plain leader: the member "
        "with the highest accuracy on held-out classes; best member: the one that is best on the "
        "unseen classes, which nobody knows before. Warned: fits that were told not to be better "
        "than guessing.",
        *failures(mine),
    )
    among = (
        str(len(done)),
        f"{sum(_holds(row, 'all') for row in done)} of {len(done)}",
        f"{100 * _mean(row['reached_all'] for row in done):.1f}",
        f"{100 * _mean(row['rejected_all'] for row in done):.1f}",
    )
    columns = ("problems", "intervals that hold", "recognized %", "rejected %")
    return [
        Table("auto", "The automatic choice", COLUMNS, tuple(body), notes),
        Table("auto-all", "All classes as candidates", columns, (among,)),
    ]


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _holds(row: Row, among: str = "unseen") -> bool:
    """Say whether the accuracy reached is in the interval that was expected."""
    low, _, high = row["series"]["expected"][among]
    return bool(low - 1e-9 <= row[f"reached_{among}"] <= high + 1e-9)


def _warned(row: Row) -> bool:
    """Say whether the fit warned that nothing can be learned from the signatures."""
    return any("the signatures say nothing" in told for told in row.get("warnings", ()))


def _reached_by(row: Row) -> dict[str, float]:
    """Return what the member that each rule takes reaches on the unseen classes."""
    alone, held_out = row["series"]["alone"], row["series"]["held_out"]
    names = [name for name in held_out if alone.get(name) is not None]
    table = np.array([held_out[name] for name in names]).T
    found = {title: alone[names[rule(table)]] for title, rule in RULES.items()}
    return found | {AVERAGE: row["averaged"], BEST: max(alone[name] for name in names)}


def _line(name: str, rows: Sequence[Row], taken: bool = True) -> tuple[str, ...]:
    """Return one line of the table, with means over problems."""
    counts = Counter(row["taken"] for row in rows).most_common()
    found = [_reached_by(row) for row in rows]
    return (
        name,
        str(len(rows)),
        "; ".join(f"`{one}` × {n}" for one, n in counts) if taken else "",
        short(_mean(row["reached_unseen"] for row in rows)),
        *(
            short(_mean(one[title] for one in found))
            for title in ("prototype regression", "plain leader", BEST)
        ),
        short(_mean(row["series"]["expected"]["unseen"][1] for row in rows)),
        f"{sum(map(_holds, rows))} of {len(rows)}",
        str(sum(map(_warned, rows))),
        short(_mean(row["rejected_unseen"] for row in rows)),
        f"{_mean(row['fit_cpu_seconds'] for row in rows):.1f}",
        f"{_mean(row['recommended_cpu_seconds'] for row in rows):.1f}",
    )


GROUPS = {
    "tables": "tables",
    "few": "15 classes",
    "families": "families",
    "animals": "animals",
}


def choice_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the mean accuracy of every rule by kind of data, on draws of their own."""
    done = select(rows, kind="auto", parameter_part="choice", status="ok")
    if not done:
        return []
    found = [(row["parameter_group"], _reached_by(row)) for row in done]
    body = []
    for title in [*RULES, AVERAGE, BEST]:
        cells = []
        for group in (*GROUPS, None):
            values = [one[title] for name, one in found if group in (name, None)]
            cells.append(short(_mean(values)) if values else "–")
        lost = [
            one[title] - one["prototype regression"] for name, one in found if name == "animals"
        ]
        body.append((title, *cells, f"{100 * min(lost):+.1f}" if lost else "–"))
    counts = [str(sum(name == group for name, _ in found)) for group in GROUPS]
    body.append(("problems", *counts, str(len(found)), ""))
    notes = (
        "A rule sees the accuracy of every member on every held-out class and names one member; "
        "shown is what that reaches on the unseen classes. Last column: the largest loss to "
        "prototype regression on a split of the animals, in points.",
    )
    columns = ("rule", *GROUPS.values(), "all problems", "worst on the animals")
    return [Table("auto-choices", "Rules of choice", columns, tuple(body), notes)]


TABLES = {"auto": auto_tables, "auto-choice": choice_tables}
