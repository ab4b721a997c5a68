"""Write what README.md and pages of docs/ show of the results of ``zslearn reproduce``.

    python scripts/results_docs.py [--check]

The results are made by ``zslearn reproduce --data DIR --out results``.
"""

from __future__ import annotations

from typing import Any

import pages
from pages import RESULTS, ROOT, short

from zslearn.reproduce import ResultsFile, make_tables
from zslearn.reproduce.story import tell
from zslearn.reproduce.tables.selection import MAIN_SPACES, latest, over_seeds, select
from zslearn.zero_shot import METHODS

PAGE = ROOT / "docs" / "methods.md"
DATA = {"CUB": "CUB", "AwA": "AWA1", "animals": "animals28"}

README = ROOT / "README.md"
SHORT = ["sae-encode", "sae", "rrzsl", "eszsl", "sync-struct", "exem", "prototype-regression"]
# Pictures of each unseen class that are added after the fit.
FEW = (1, 4)
STORY = ROOT / "docs" / "reproduce.md"
PERFORMANCE = ROOT / "docs" / "performance.md"

HEAD = """# Methods

Every system of the paper's zero-shot tables is an estimator with the same interface, and so are a
few others that users ask for. `zslearn methods` lists them; `make_classifier(name, signatures)`
makes one. `auto` chooses one for you: [Which method for my data?](which_method.md) Methods that
need PyTorch are not in the table below; see [Deep methods](deep.md) and
[Generators](generators.md).

```python
>>> from zslearn.datasets import make_zero_shot
>>> from zslearn.zero_shot import make_classifier
>>> data = make_zero_shot(random_state=0)
>>> split = data.split("standard")
>>> seen, unseen = data.rows(split.seen), data.rows(split.unseen)
>>> clf = make_classifier("eszsl", data.signatures).fit(data.X[seen], data.y[seen])
>>> clf.score(data.X[unseen], data.y[unseen], candidates="unseen") > 0.9
True

```

## Measured side by side

Per-class accuracy on unseen classes of the proposed split, attributes as signatures, all methods on
the same features: CUB with EfficientNet-Lite0 features (150 seen, 50 unseen classes, chance .020),
AwA with its own histograms of 2009 (40/10, chance .100), the bundled animals (22/6, chance .167).
Parameters marked "cv" in a method's docstring are chosen by holding out seen classes: `cv_results_`
holds every point that was tried, with scikit-learn's keys, `best_params_` what was taken, and
`frozen()` returns an unfitted copy with those numbers. Fit times include that choice: one core of a
shared two-core machine, so read them as orders of magnitude.

These are not the features of the published figures: compare methods with each other here, not with
the papers.

"""

NOTES = """
## Read with care

- Rows marked † use the whole test batch (transductive); do not rank them among the others.
- Defaults that no search covers were set by hand. For ConSE, IAP, direct similarity and AMP the
  penalty of the seen-class classifier, for ESZSL the coding of labels, and for the small networks
  and JLSE the starting point and step length were settled having seen figures like these, so their
  rows are slightly optimistic. So is the CUB row of prototype regression, see
  [its page](prototype_regression.md).
- SSE with INT and with ReLU is one model up to the sign of its weights, because its codes sum to
  one; it is below its relatives here, as it is in published comparisons.
- Methods that draw random numbers are means over three seeds. Their standard deviation is up to 3
  points on CUB and AwA and up to 9 on the animals; the [tables](../results/tables/tables.md) show
  it.
- What differs from the papers: DS-SJE takes text embeddings as given, because its captions are not
  here; Ba et al. take any signatures, which may be TF-IDF vectors (`Signatures.from_texts` with
  scikit-learn's vectorizer); SS-Voc runs without an open vocabulary unless one is given. Each
  docstring says what differs.
- What parts of the papers bring that are not the default here:
  - SynC's learned phantom classes (`learn_phantoms=True`): nothing. One-versus-other .613 without
    and .613 with them on CUB, .288 both ways on AwA; struct .604 and .603 on CUB, .339 and .338 on
    AwA; on the animals over 10 random splits the difference is between -0.2 and +0.1 points.
  - Mensink's hierarchy (`NCMClassifier(related="ancestors")` with the kinds of WordNet as
    signatures): no more than the same signatures by similarity, .382 and .439 over 10 random splits
    of the animals (-11.9 … +0.6 points), .283 and .284 on AwA (-1.3 … +1.2). Attributes by
    similarity, the default, have .553 and .362. CUB's 200 birds share 117 nouns of WordNet, so it
    was not measured there.
  - JLSE's learned dictionaries: little. CUB .452 with the seen classes as dictionaries, .454 with
    learned ones; AwA .316 and animals .481 both ways.
- Formulas of RRZSL's test rule, AMP, Rohrbach et al., Mensink et al., PST, SS-Voc, MLZSC, MTMDL and
  SJE's weighting of spaces follow secondary sources, not the papers themselves.

## Adding one

One file with a class, its name in two lists, and the public checks of
`zslearn.estimator_checks`: see "Add a method" in [CONTRIBUTING](../CONTRIBUTING.md).
"""


Results = dict[str, dict[str, Any]]


def measured(protocol: str = "conventional") -> dict[str, Results]:
    """Rows of the proposed split by data set and method, means over seeds."""
    rows = select(
        latest(ResultsFile(RESULTS).rows()),
        kind="zero-shot",
        status="ok",
        protocol=protocol,
        split="proposed",
        semantics=MAIN_SPACES,
    )
    rows = over_seeds(rows)
    return {
        title: {row["method"]: row for row in rows if row["dataset"] == name}
        for title, name in DATA.items()
    }


def table() -> str:
    """Return the methods with their accuracies, best on CUB first."""
    results = measured()
    cub = results["CUB"]
    order = sorted(METHODS, key=lambda name: -_accuracy(cub, name))
    lines = [
        "| method | name | kind | " + " | ".join(DATA) + " | CUB fit, s | reference |",
        "|---|---|---|" + "---|" * (len(DATA) + 2),
    ]
    for name in order:
        tags = METHODS[name].tags
        cells = [_cell(results[data], name) for data in DATA]
        seconds = f"{cub[name]['fit_seconds']:.0f}" if name in cub else ""
        mark = " †" if tags.transductive else ""
        lines.append(
            f"| {METHODS[name].title}{mark} | `{name}` | {tags.kind} | {' | '.join(cells)} | "
            f"{seconds} | {tags.reference} |"
        )
    return "\n".join(lines) + "\n"


def short_table() -> str:
    """Return the README's table: a few methods on all data."""
    results, both = measured(), measured("generalized")
    head = [*DATA, *(f"{name}, H" for name in DATA), *(f"{n} picture{'s' * (n > 1)}" for n in FEW)]
    rows = [f"| | {' | '.join(head)} |", "|---|" + "---|" * len(head)]
    chance = [short(results[data]["sae"]["chance"]) for data in DATA]
    rows.append("| chance | " + " | ".join([*chance, *["" for _ in (*DATA, *FEW)]]) + " |")
    for name in SHORT:
        cells = [_cell(results[data], name) for data in DATA]
        cells += [_cell(both[data], name, "calibrated_harmonic_mean") for data in DATA]
        cells += few_pictures() if name == "prototype-regression" else ["" for _ in FEW]
        rows.append(f"| {METHODS[name].title} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def few_pictures() -> list[str]:
    """Return accuracies with some pictures of each unseen class, on all data, by their number."""
    rows = select(latest(ResultsFile(RESULTS).rows()), kind="shots", status="ok", split="proposed")
    found = {row["dataset"]: row for row in rows}
    return [" / ".join(short(found[data][f"both_{n}"]) for data in DATA.values()) for n in FEW]


def place() -> str:
    """Return the place of SAE in sentences."""
    return "".join(f"- {sentence}\n" for sentence in tell(ResultsFile(RESULTS).rows()))


def cost() -> str:
    """Return the table of costs without its heading."""
    (made,) = make_tables(ResultsFile(RESULTS).rows(), ["cost"])["cost"]
    return made.markdown().partition("\n\n")[2] + "\n"


def _accuracy(rows: Results, name: str) -> float:
    return float(rows[name]["per_class_accuracy"]) if name in rows else -1.0


def _cell(rows: Results, name: str, measure: str = "per_class_accuracy") -> str:
    return short(rows[name][measure]) if name in rows else "–"


if __name__ == "__main__":
    pages.main(
        __doc__.splitlines()[0],
        {
            PAGE: HEAD + table() + NOTES,
            README: pages.filled(README, {"results": short_table()}),
            STORY: pages.filled(STORY, {"place": place()}),
            PERFORMANCE: pages.filled(PERFORMANCE, {"cost": cost()}),
        },
    )
