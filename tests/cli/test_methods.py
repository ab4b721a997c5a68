import json

from zslearn.zero_shot import METHODS
from zslearn.zero_shot.registry import DEEP


def test_methods_lists_the_registry(run):
    rows = json.loads(run("methods", "--json").stdout)
    assert [row["name"] for row in rows] == [*METHODS, *DEEP, "auto"]
    assert all(row["title"] and row["reference"] and row["kind"] for row in rows)


def test_methods_table_has_one_line_a_method(run):
    lines = run("methods").stdout.splitlines()
    assert len(lines) == len(METHODS | DEEP) + 3
    assert lines[0].split()[:2] == ["name", "method"]
