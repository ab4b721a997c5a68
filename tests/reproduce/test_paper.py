"""The tables of the paper: whole, with no cell that is empty without a reason."""

import re

import pytest

from zslearn.reproduce import make_tables, published_values
from zslearn.reproduce.paper import CLUSTERING, LARGE_PLACES, PLACES, SMALL
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
