"""The tables of the paper: whole, with no cell that is empty without a reason."""

import re

import pytest

from zslearn.reproduce import make_tables, published_values
from zslearn.reproduce.paper import CLUSTERING, FLOWERS, LARGE_PLACES, PLACES, SMALL
from zslearn.reproduce.tables import PAPER

# Rows of the paper's tables, and its columns of values (without ours).
SHAPES = {
    "paper-table-1": (6, 4),
    "paper-table-2": (16, 5),
    "paper-table-2-large": (9, 3),
    "paper-table-3": (3, 4),
    "paper-table-4": (6, 2),
    "paper-table-5": (4, 2),
    "paper-table-6": (8, 2),
    "paper-table-7": (8, 2),
    "paper-table-8": (6, 2),
}
READ = ("background", "drop")
MARK = re.compile(r"–([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


@pytest.fixture
def tables(rows):
    """Tables of rows that say next to nothing: one of each kind."""
    kinds = ("description", "large", "cost", "clustering", "flowers")
    failed = [{"key": kind, "kind": kind, "status": "failed", "error": "no luck"} for kind in kinds]
    more = {"method": "sae", "parameter_sizes": "equal", "parameter_name": "none"}
    made = make_tables([*rows, *({**row, **more} for row in failed)], [PAPER])[PAPER]
    return {table.name: table for table in made}


def test_every_table_has_every_row_of_the_paper(tables):
    assert {name: len(table.rows) for name, table in tables.items()} == {
        name: n for name, (n, _) in SHAPES.items()
    }
    small = {v.method for v in published_values() if v.source.endswith("2017), Table 2")}
    assert set(SMALL) <= small
    assert [line[0] for line in tables["paper-table-1"].rows] == [*PLACES, *LARGE_PLACES]
    assert len(CLUSTERING) == 8


def test_no_cell_is_empty_and_every_missing_value_has_its_reason(tables):
    for table in tables.values():
        notes = dict(note.split(" ", 1) for note in table.notes)
        for line in table.rows:
            assert all(line), (table.name, line)
            for cell in line:
                assert "–" not in MARK.sub("", cell), (table.name, cell)
                assert all(mark in notes for mark in MARK.findall(cell)), (table.name, cell)


def test_published_and_measured_values_stand_side_by_side(tables):
    table = tables["paper-table-2"]
    assert table.cell("SAE (encoder)", "AwA, paper") == "84.7"
    assert table.cell("SAE (encoder)", "AwA, ours") == "40.0"
    assert table.cell("ESZSL", "AwA, ours") == "45.0"
    assert table.cell("SAE (encoder)", "SUN, paper") == "91.0 | 65.2"
    failed = table.cell("DAP", "AwA, ours")
    assert any(note.startswith(f"{failed[1:]} DAP failed: no luck") for note in table.notes)
    assert tables["paper-table-8"].cell("LMNN", "training, paper") == "1 day"
    assert tables["paper-table-8"].cell("SAE", "test loss, paper") == "1.19 ± 0.01"


@pytest.mark.parametrize("name", SHAPES)
def test_every_published_value_of_a_table_is_shown(tables, name):
    number = name.removeprefix("paper-table-").partition("-")[0]
    cells = " ".join(cell for line in tables[name].rows for cell in line).replace(",", "")
    printed = set(re.findall(r"\d+\.\d+|\d+", cells))
    values = [v for v in published_values() if v.source.endswith(f"2017), Table {number}")]
    if number == "2":
        values = [v for v in values if v.dataset.startswith("ImNet") == name.endswith("large")]
    if number == "8":
        values = [v for v in values if v.metric == "clustering loss"]
    assert {v.text for v in values} <= printed


def test_spaces_side_by_side_are_preferred_and_a_small_scale_is_told(rows):
    alone = {**rows[0], "method": "sje", "key": "sje", "per_sample_accuracy": 0.3}
    both = {**alone, "key": "both", "semantics": "attributes + word vectors"}
    large = {"kind": "large", "status": "ok", "parameter_name": "ImNet-2", "n_features": 324}
    large |= {"n_samples": 21800, "hit_at_5": 0.5, "encoder_hit_at_5": 0.4}
    made = [
        {"key": "x", "method": "devise", "parameter_scale": 0.1, **large},
        {"key": "y", "method": "sae", "parameter_scale": 0.1, **large},
        {"key": "z", "method": "sae", "parameter_scale": 1.0, **large, "hit_at_5": 0.6},
    ]

    def table(name, rows):
        return next(t for t in make_tables(rows, [PAPER])[PAPER] if t.name == name)

    cell = table("paper-table-2", [alone]).cell("SJE", "AwA, ours")
    assert re.fullmatch("30.0[⁰¹²³⁴⁵⁶⁷⁸⁹]", cell)
    both["per_sample_accuracy"] = 0.35
    assert table("paper-table-2", [alone, both]).cell("SJE", "AwA, ours") == "35.0"
    small = table("paper-table-2-large", made)
    assert small.cell("SAE (decoder)", "ImNet-2, synthetic") == "60.0"
    assert small.cell("DeViSE", "ImNet-2, synthetic").startswith("50.0")
    told = "21,800 samples of 324 features; SAE there: encoder 40.0, decoder 50.0."
    assert any(note.endswith(told) for note in small.notes)


def test_a_learner_that_some_splits_lack_says_on_how_many_it_was_measured():
    old = [{"learner": "sae", "reading": reading, "setting": 1.0, "loss": 0.8} for reading in READ]
    new = [{"learner": "lmnn", "reading": one, "setting": None, "loss": 0.9} for one in READ]
    rows = [
        {"key": str(seed), "kind": "flowers", "seed": seed, "status": "ok", "parameter_height": 100}
        | {"series": {"test": old + (new if seed == 0 else [])}}
        for seed in (0, 1)
    ]
    tables = {t.name: t for made in make_tables(rows).values() for t in made}
    assert tables["paper-table-8"].cell("LMNN", "how ours is trained").endswith(", 1 of 2 splits")
    assert "splits" not in tables["paper-table-8"].cell("SAE", "how ours is trained")
    assert [line[0] for line in tables["flowers"].rows][1].endswith(", 1 of 2 splits")


def test_a_reason_stands_under_a_table_only_where_a_cell_refers_to_it():
    one = {"setting": 1.0, "loss": 0.8, "seconds": 0.1}
    test = [one | {"learner": name, "reading": reading} for name in FLOWERS for reading in READ]
    row = {"key": "a", "kind": "flowers", "seed": 0, "status": "ok", "parameter_height": 100}
    for entries, reasons in ((test, []), (test[2:], ["¹ not run."])):
        (table,) = make_tables([row | {"series": {"test": entries}}], [PAPER])[PAPER]
        assert list(table.notes[1:]) == reasons
