"""One method on one split, conventional or generalized: the paper's Tables 2, 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from zslearn.datasets import ZeroShotDataset
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, Result, evaluate
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce.plots import COLORS, LINES, Plot, new_figure, tidy
from zslearn.reproduce.published import SURVEY, Published, find_published
from zslearn.reproduce.specification import JOINED, Run
from zslearn.reproduce.tables import (
    MAIN_SPACES,
    Row,
    Table,
    best_cells,
    by_method,
    cell,
    cell_value,
    failures,
    file_name,
    grouped,
    megabytes,
    method_title,
    over_seeds,
    percent,
    seconds,
    select,
    short,
    where,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import METHODS, SAEClassifier, ZeroShotTags, make_classifier
from zslearn.zero_shot.legacy import LegacyCUB
from zslearn.zero_shot.registry import DEEP, find_method

STEPS = ("projection", "zscore")
_DIRECTIONS = {"sae": "decode", "sae-encode": "encode"}


class SupervisedProjection(TransformerMixin, BaseEstimator):
    """Replace features by ridge scores of the seen classes: X (XᵀX + r I)⁻¹ Xᵀ Y.

    Parameters
    ----------
    ridge : float, default=50.0
        The demo's value, for raw features.
    """

    def __init__(self, ridge: float = 50.0) -> None:
        self.ridge = ridge

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        """Learn the projection from samples and their classes."""
        classes, labels = np.unique(y, return_inverse=True)
        X = np.asarray(X, np.float64)
        sums = np.zeros((X.shape[1], len(classes)))
        np.add.at(sums.T, labels, X)
        self.projection_ = np.linalg.solve(X.T @ X + self.ridge * np.eye(X.shape[1]), sums)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the score of every seen class."""
        return np.asarray(X, np.float64) @ self.projection_


class BatchStandardizedSAE(SAEClassifier):
    """SAE whose scores are standardized class by class over the test batch."""

    zero_shot_tags: ClassVar[ZeroShotTags] = ZeroShotTags(
        transductive=True, min_batch=30, reference=SAEClassifier.zero_shot_tags.reference
    )

    def compare(self, queries: Any, classes: Any) -> NDArray[Any]:
        """Return scores of mean 0 and deviation 1 over the batch, class by class."""
        scores = super().compare(queries, classes)
        deviation = scores.std(axis=0, ddof=1)
        centered = scores - scores.mean(axis=0)
        return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0)


def with_steps(name: str, seed: int = 0) -> Any:
    """Return a method's name as it is, or an estimator with the steps its name carries.

    A method that draws random numbers becomes an estimator with the seed.
    """
    base, *steps = name.split("+")
    if name == "legacy_cub-decode":
        return LegacyCUB(direction="decode")
    if not steps:
        if find_method(base).tags.deterministic:  # refuses unknown names before data is read
            return base
        return make_classifier(base, random_state=seed)
    if base not in _DIRECTIONS or not set(steps) <= set(STEPS):
        raise InvalidInputError(
            f"{name!r}: steps are {' and '.join(STEPS)}, only for {' and '.join(_DIRECTIONS)}."
        )
    kind = BatchStandardizedSAE if "zscore" in steps else SAEClassifier
    classifier = kind(direction=_DIRECTIONS[base])
    return (
        make_pipeline(SupervisedProjection(), classifier) if "projection" in steps else classifier
    )


CURVE_POINTS = 200


def measure(run: Run) -> dict[str, Any]:
    """Fit on seen classes, measure on unseen ones or on both."""
    protocol: ConventionalProtocol | GeneralizedProtocol
    if run.protocol == "generalized":
        protocol = GeneralizedProtocol(run.split, random_state=run.seed)
    else:
        protocol = ConventionalProtocol(run.split)
    data = run.data.load()
    method = with_steps(run.method, run.seed)
    result = evaluate(data, method, protocol, semantics=_semantics(data, run.semantics))
    row = result.as_dict() | {"feature_title": result.features}
    return row | ({"series": {"curve": _thinned(result)}} if result.curve is not None else {})


def _semantics(data: ZeroShotDataset, name: str) -> str | Signatures:
    """Return a semantic space, or two side by side, with both parts of length 1."""
    first, plus, second = name.partition(JOINED)
    if not plus:
        return name
    parts = (data.semantics[one] for one in (first, second))
    return next(parts).join(next(parts), names=(first, second)).normalized("l2-block")


def _thinned(result: Result) -> dict[str, list[float]]:
    """Return points of the seen-unseen curve, evenly along its length."""
    curve = result.curve
    if curve is None:
        return {}
    steps = np.abs(np.diff(curve.seen)) + np.abs(np.diff(curve.unseen))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, length[-1], CURVE_POINTS)
    rows = np.unique(np.searchsorted(length, wanted).clip(0, len(length) - 1))
    return {
        "seen": np.round(curve.seen[rows], 5).tolist(),
        "unseen": np.round(curve.unseen[rows], 5).tolist(),
    }


PLACE = ("dataset", "features", "split")
SIDES = (
    "u and s: accuracy on unseen and on seen classes when both are candidates; H: their harmonic "
    "mean; H cal.: H with a bias against seen classes, chosen on seen classes only; AUSUC: area "
    "under the curve of all biases."
)


def zsl_tables(rows: Iterable[Row]) -> list[Table]:
    """Return a table of every method for each data set and split, and those of several sets."""
    chosen = _main(rows, protocol="conventional")
    tables = []
    for group in grouped(filter(_is_plain, chosen), *PLACE).values():
        first = _facts(group)
        columns = ["method", "per class", "per sample", "hit@5", "fit s", "peak MB"]
        body = [
            [
                method_title(name) + _mark(mine),
                cell(mine, "per_class_accuracy", percent),
                cell(mine, "per_sample_accuracy", percent),
                cell(mine, "hit_at_5", percent),
                cell(mine, "fit_seconds", seconds),
                cell(mine, "peak_memory_mb", megabytes),
            ]
            for name, mine in by_method(group).items()
        ]
        tables.append(
            _table(
                file_name("zsl", first["dataset"], first["split"]),
                f"Unseen classes, accuracy in %: {where(first)}",
                columns,
                body,
                [_sizes(first), *_notes(group)],
                (1, 2, 3),
            )
        )
    return [*tables, *_overviews(rows), *_place(chosen)]


# What pages show of the proposed splits: title and data set.
DATA = {"CUB": "CUB", "AwA": "AWA1", "animals": "animals28"}
FEW_METHODS = (
    "sae-encode",
    "sae",
    "rrzsl",
    "eszsl",
    "sync-struct",
    "exem",
    "prototype-regression",
)
# Samples of each unseen class that are added after the fit.
FEW = (1, 4)


def _overviews(rows: Iterable[Row]) -> list[Table]:
    """Return every method on the proposed splits, and a few of them with all settings."""
    rows = list(rows)
    alone, among = (
        {
            title: {row["method"]: row for row in over_seeds(select(chosen, dataset=name))}
            for title, name in DATA.items()
        }
        for chosen in (
            _main(rows, protocol=protocol, split="proposed", status="ok")
            for protocol in ("conventional", "generalized")
        )
    )
    if not all(alone.values()):
        return []
    cub = alone["CUB"]
    order = sorted(METHODS, key=lambda name: -cub.get(name, {}).get("per_class_accuracy", -1.0))
    every = tuple(
        (
            METHODS[name].title + (" †" if METHODS[name].tags.transductive else ""),
            f"`{name}`",
            METHODS[name].tags.kind,
            *(short(alone[title].get(name, {}).get("per_class_accuracy")) for title in DATA),
            f"{cub[name]['cpu_seconds']:.0f}" if "cpu_seconds" in cub.get(name, {}) else "–",
            METHODS[name].tags.reference,
        )
        for name in order
    )
    shots = {
        row["dataset"]: row for row in select(rows, kind="shots", status="ok", split="proposed")
    }
    few = [
        " / ".join(short(shots.get(name, {}).get(f"both_{n}")) for name in DATA.values())
        for n in FEW
    ]
    chance = [short(found.get("sae", {}).get("chance")) for found in alone.values()]
    body = [("chance", *chance, *["–"] * (len(DATA) + len(FEW)))]
    for name in FEW_METHODS:
        cells = [short(alone[title].get(name, {}).get("per_class_accuracy")) for title in DATA]
        cells += [
            short(among[title].get(name, {}).get("calibrated_harmonic_mean")) for title in DATA
        ]
        cells += few if name == "prototype-regression" else ["–"] * len(FEW)
        body.append((METHODS[name].title, *cells))
    head = [*DATA, *(f"{title}, H" for title in DATA)]
    head += [f"{n} picture{'s' * (n > 1)}" for n in FEW]
    long_head = ("method", "name", "kind", *DATA, "CUB, CPU s", "reference")
    title = "Per-class accuracy on unseen classes of the proposed splits"
    return [
        Table("methods", f"{title}, every method", long_head, every),
        Table("readme", f"{title}, some methods", ("", *head), tuple(body)),
    ]


OWN = ("sae", "sae-encode", "sae-both")
PAIRS = {
    "encoder − ridge F→S": ("sae-encode", "ridge-fs"),
    "decoder − ridge S→F": ("sae", "rrzsl"),
    "decoder − encoder": ("sae", "sae-encode"),
    "projection, encoder": ("sae-encode+projection", "sae-encode"),
    "projection, decoder": ("sae+projection", "sae"),
    "z-score, encoder": ("sae-encode+zscore", "sae-encode"),
    "z-score, decoder": ("sae+zscore", "sae"),
}


def _place(rows: Sequence[Row]) -> list[Table]:
    """Return the rank of SAE, and what its parts and the demos' steps add, by split."""
    body = []
    gains: dict[str, list[float]] = {name: [] for name in PAIRS}
    for group in grouped(over_seeds(select(rows, status="ok")), *PLACE).values():
        reached = {row["method"]: row["per_class_accuracy"] for row in group}
        fair = [row for row in group if not row["uses_test_batch"] and _is_plain(row)]
        ranked = sorted(fair, key=lambda row: -row["per_class_accuracy"])
        own = [row["method"] for row in ranked if row["method"] in OWN]
        if not own or len(ranked) == len(own):
            continue
        cells = []
        for name, (one, other) in PAIRS.items():
            if one in reached and other in reached:
                gains[name].append(100 * (reached[one] - reached[other]))
                cells.append(f"{gains[name][-1]:+.1f}")
            else:
                cells.append("–")
        body.append(
            (
                f"{group[0]['dataset']}, {group[0]['split']}",
                f"{method_title(own[0])} {percent(reached[own[0]])}",
                f"{1 + sum(row['per_class_accuracy'] > reached[own[0]] for row in ranked)} of "
                f"{len(ranked)}",
                f"{method_title(ranked[0]['method'])} {percent(ranked[0]['per_class_accuracy'])}",
                *cells,
            )
        )
    if not body:
        return []
    means = (f"{np.mean(each):+.1f}" if each else "–" for each in gains.values())
    body.append(("mean", "", "", "", *means))
    notes = (
        "Among methods that see one test sample at a time. Per-class accuracy in % on unseen "
        "classes; differences in points. Projection and z-score: what the authors' demos do beyond "
        "the paper.",
    )
    columns = ("split", "best of SAE", "place", "best", *PAIRS)
    return [Table("place", "The place of SAE", columns, tuple(body), notes)]


def space_tables(rows: Iterable[Row]) -> list[Table]:
    """Return accuracies by semantic space for data sets that have several."""
    chosen = [
        row
        for row in select(rows, kind="zero-shot", protocol="conventional")
        if _is_plain(row) and row["method"] not in DEEP
    ]
    tables = []
    for group in grouped(chosen, *PLACE).values():
        spaces = list(dict.fromkeys(row["semantics"] for row in group))
        if len(spaces) < 2:
            continue
        first = _facts(group)
        others = {row["method"] for row in group if row["semantics"] not in MAIN_SPACES}
        mine = by_method(row for row in group if row["method"] in others)
        body = [
            [method_title(name)]
            + [cell(select(part, semantics=s), "per_class_accuracy", percent) for s in spaces]
            for name, part in mine.items()
        ]
        tables.append(
            _table(
                file_name("spaces", first["dataset"], first["split"]),
                f"Per-class accuracy in % by semantic space: {where(first)}",
                ["method", *spaces],
                body,
                [_sizes(first, space=False)],
                tuple(range(1, len(spaces) + 1)),
            )
        )
    return tables


def gzsl_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the generalized setting of the standard splits: the area under the curve."""
    tables = []
    chosen = _main(rows, protocol="generalized", split="standard")
    for group in grouped(filter(_is_plain, chosen), *PLACE).values():
        first = _facts(group)
        body = [
            [
                method_title(name) + _mark(mine),
                cell(mine, "ausuc", "{:.3f}".format),
                *_both_sides(mine),
            ]
            for name, mine in by_method(group).items()
        ]
        notes = [_sizes(first), "20 % of the samples of each seen class are held out.", SIDES]
        tables.append(
            _table(
                file_name("gzsl", first["dataset"]),
                f"Generalized setting: {where(first)}",
                ["method", "AUSUC", "u", "s", "H", "H cal."],
                body,
                [*notes, *_notes(group)],
                (1, 4, 5),
            )
        )
    return tables


def xian_tables(rows: Iterable[Row]) -> list[Table]:
    """Return T1, u, s and H of the proposed split, every method, next to the survey's."""
    plain = list(filter(_is_plain, _main(rows, split="proposed")))
    tables = []
    for group in grouped(plain, *PLACE).values():
        both = select(group, protocol="generalized")
        if not both:
            continue
        first = _facts(both)
        alone = by_method(select(group, protocol="conventional"))
        survey = {
            metric: _by_method(find_published(first["dataset"], "proposed", metric, source=SURVEY))
            for metric in ("T1", "u", "s", "H")
        }
        body = [
            [
                method_title(name) + _mark(mine),
                cell(alone.get(name, []), "per_class_accuracy", percent),
                *_both_sides(mine),
                cell(mine, "ausuc", "{:.3f}".format),
                " / ".join(values[name].text for values in survey.values() if name in values),
            ]
            for name, mine in by_method(both).items()
        ]
        notes = [_sizes(first), SIDES, *_notes(both)]
        theirs = list(survey["T1"].values())
        if theirs:
            notes.append(
                f"Survey: T1 / u / s / H of {theirs[0].source}; {_features(first, theirs)} It does "
                "not say which direction of SAE it used."
            )
        columns = ["method", "T1", "u", "s", "H", "H cal.", "AUSUC", "survey"]
        tables.append(
            _table(
                file_name("xian", first["dataset"]),
                f"Proposed split, per-class accuracy in %: {where(first)}",
                columns,
                body,
                notes,
                (1, 4, 5, 6),
            )
        )
    return tables


def _biases(rows: Iterable[Row]) -> list[Table]:
    """Return SAE among all classes, without a bias, with the one chosen, and with the best."""
    chosen = _main(rows, protocol="generalized", split="proposed", status="ok")
    body = []
    for (dataset, method), mine in grouped(
        [row for row in chosen if row["method"] in ("sae", "sae-encode")], "dataset", "method"
    ).items():
        row, title = mine[-1], f"{dataset}, {method_title(method)}"
        for words, key, more in (
            ("no bias", "", short(row["ausuc"])),
            (f"calibrated (γ = {short(row['gamma'])})", "calibrated_", ""),
        ):
            sides = (short(row[f"{key}{name}_accuracy"]) for name in ("seen", "unseen"))
            body.append((f"{title}, {words}", *sides, short(row[f"{key}harmonic_mean"]), more))
        words = f"oracle (γ = {short(row['oracle_gamma'])})"
        body.append((f"{title}, {words}", "", "", short(row["oracle_harmonic_mean"]), ""))
    if not body:
        return []
    columns = ("data, direction, bias", "A_S", "A_U", "H", "AUSUC")
    title = "SAE among seen and unseen classes, proposed splits"
    return [Table("biases", title, columns, tuple(body))]


def _table(
    name: str,
    title: str,
    columns: Sequence[str],
    body: Sequence[Sequence[str]],
    notes: Sequence[str],
    ranked: Sequence[int],
) -> Table:
    """Build a table without its empty columns, best first by the first of those ranked."""
    body = sorted(body, key=lambda row: _rank(row[ranked[0]]), reverse=True)
    best = best_cells(body, ranked)
    kept = [j for j in range(len(columns)) if j == 0 or any(row[j] for row in body)]
    return Table(
        name,
        title,
        tuple(columns[j] for j in kept),
        tuple(tuple(row[j] for j in kept) for row in body),
        tuple(note for note in notes if note),
        frozenset((i, kept.index(j)) for i, j in best if j in kept),
    )


def _rank(cell: str) -> float:
    """Return what a row is sorted by; failed runs come last."""
    value = cell_value(cell)
    return -1.0 if value is None else value


def _main(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """Return the methods by themselves in the first semantic space of each data set."""
    chosen = select(rows, kind="zero-shot", semantics=MAIN_SPACES, **wanted)
    return [row for row in chosen if row["method"] not in DEEP]


def _is_plain(row: Row) -> bool:
    """Say whether a row is a method by itself, not a step of the ablation."""
    return "+" not in row["method"] and not row["method"].startswith("legacy")


def _facts(group: Sequence[Row]) -> Row:
    """Return a row that holds the sizes: one that did not fail if there is any."""
    return next((row for row in group if row["status"] == "ok"), group[0])


def _sizes(row: Row, *, space: bool = True) -> str:
    if row["status"] != "ok":
        return ""
    named = f"; semantic space: {row['semantics']}" if space else ""
    return (
        f"{row['n_train']} training and {row['n_test']} test samples, {row['n_candidates']} "
        f"candidates, chance {percent(row['chance'])} %{named}."
    )


def _both_sides(rows: Sequence[Row]) -> list[str]:
    keys = ("unseen_accuracy", "seen_accuracy", "harmonic_mean", "calibrated_harmonic_mean")
    return [cell(rows, key, percent) for key in keys]


def _mark(rows: Sequence[Row]) -> str:
    return " †" if any(row.get("uses_test_batch") for row in rows) else ""


def _notes(group: Sequence[Row]) -> list[str]:
    batch = any(row.get("uses_test_batch") for row in group)
    told = ["† uses the whole test batch at once (transductive)."] if batch else []
    return [*told, *failures(group)]


def _by_method(values: Iterable[Published]) -> dict[str, Published]:
    return {value.method: value for value in values if value.method}


def _features(row: Row, theirs: Sequence[Published]) -> str:
    named = ", ".join(dict.fromkeys(v.features for v in theirs))
    if row["dataset"].endswith("_demo"):
        return f"features: the authors' own ({named})."
    return f"other features ({named}; ours: {row.get('feature_title') or row['features']})."


ABLATION = {
    "ablation-terms": ("ridge-fs", "rrzsl", "sae-encode", "sae"),
    "ablation-steps": (
        "sae-encode",
        "sae-encode+projection",
        "sae-encode+zscore",
        "sae-encode+projection+zscore",
        "legacy_cub",
        "sae",
        "sae+projection",
        "sae+zscore",
        "sae+projection+zscore",
        "legacy_cub-decode",
        "legacy_awa",
        "legacy_imnet2",
    ),
}
ABLATION_TITLES = {
    "ablation-terms": "Direction of the regression, and both (SAE)",
    "ablation-steps": "The authors' two undocumented steps",
}
STEP_NOTES = (
    "Supervised pre-projection: features replaced by ridge scores of the seen classes (ridge 50), "
    "as in the authors' CUB demo; λ is chosen by class-wise cross-validation after it.",
    "Test-batch z-score: scores standardized class by class over all test samples, which assumes "
    "that classes are about equally frequent in the test; it makes a method transductive.",
)


def ablation_tables(rows: Iterable[Row]) -> list[Table]:
    """Return the directions of regression and SAE, then the two steps of the demos."""
    chosen = _main(rows, protocol="conventional")
    groups = list(grouped(chosen, "dataset", "features", "split").values())
    return [table for name in ABLATION for table in _ablation(groups, name)]


def _ablation(groups: list[list[Row]], name: str) -> list[Table]:
    methods, steps = ABLATION[name], name == "ablation-steps"
    wanted = [group for group in groups if select(group, method=methods)]
    if steps:
        wanted = [g for g in wanted if any("+" in row["method"] for row in g)]
    columns = [f"{group[0]['dataset']} {group[0]['split']}" for group in wanted]
    body = [
        (
            method_title(method),
            *(cell(select(g, method=method), "per_class_accuracy", percent) for g in wanted),
        )
        for method in methods
    ]
    body = [line for line in body if any(line[1:])]
    if len(body) < 2:
        return []
    title = f"{ABLATION_TITLES[name]}: accuracy on unseen classes in %, mean over classes"
    notes = STEP_NOTES if steps else ()
    best = best_cells(body, range(1, len(columns) + 1))
    return [Table(name, title, ("method", *columns), tuple(body), notes, best)]


SHOWN = 7


def plots(rows: list[Row]) -> Iterator[Plot]:
    """Yield one picture for each data set and split, with SAE and the best others."""
    chosen = _main(rows, protocol="generalized", status="ok")
    for group in grouped(chosen, "dataset", "features", "split").values():
        first = group[0]
        yield Plot(
            file_name("curves", first["dataset"], first["split"]),
            "gzsl" if first["split"] == "standard" else "xian",
            "Seen and unseen accuracy for every bias; dots: the bias chosen on seen classes. "
            f"{where(first)}.",
            partial(_curves, _shown(group)),
            _shown(group),
        )


def _curves(rows: Sequence[Row]) -> Any:
    figure = new_figure(6.8, 4.8)
    axes = figure.subplots()
    for i, row in enumerate(rows):
        curve = row["series"]["curve"]
        label = f"{method_title(row['method'])}, {row['ausuc']:.3f}"
        color, line = COLORS[i % len(COLORS)], LINES[i % len(LINES)]
        axes.plot(curve["unseen"], curve["seen"], line, color=color, label=label)
        if "calibrated_seen_accuracy" in row:
            point = row["calibrated_unseen_accuracy"], row["calibrated_seen_accuracy"]
            axes.plot(*point, "o", color=color, markeredgecolor="black", markersize=6)
    axes.set(
        xlabel="accuracy on unseen classes",
        ylabel="accuracy on seen classes",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    axes.legend(title="method, area", fontsize=8, title_fontsize=8)
    tidy(axes)
    return figure


def _shown(group: list[Row]) -> list[Row]:
    """Return both directions of SAE and the best others, best first."""
    ranked = sorted(group, key=lambda row: -row["ausuc"])
    own = [row for row in ranked if row["method"] in ("sae", "sae-encode")]
    others = [row for row in ranked if row not in own][: SHOWN - len(own)]
    return sorted(own + others, key=lambda row: -row["ausuc"])


TABLES = {
    "ablation": ablation_tables,
    "zsl": zsl_tables,
    "spaces": space_tables,
    "gzsl": gzsl_tables,
    "xian": lambda rows: [*xian_tables(rows), *_biases(rows)],
}
