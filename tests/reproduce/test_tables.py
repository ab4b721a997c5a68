from dataclasses import replace
from pathlib import Path

import pytest

from zslearn.reproduce import ResultsFile, Table, make_tables
from zslearn.reproduce.output import write_tables
from zslearn.reproduce.story import tell
from zslearn.reproduce.tables.selection import over_seeds

TEXT = """\
Unseen classes, accuracy in %: AWA1, histograms, standard split

method         per class  per sample    hit@5   fit s  peak MB  paper
-------------  ---------  ----------  -------  ------  -------  -----
SAE (encoder)      51.2*       40.0     90.0*     1.3      512   84.7
ESZSL              25.0        45.0*    90.0*   0.012      512   75.3
DAP              failed      failed   failed   failed   failed   60.1
  24295 training and 6180 test samples, 10 candidates, chance 10.0 %; semantic space: attributes.
  failed: dap: no luck
"""
LATEX = r"""\begin{table}
\centering
\begin{tabular}{lr}
\toprule
a\_b & \% \\
\midrule
x \& y & \textbf{1.0} \\
z & 0.5 $\pm$ 0.1 \\
\bottomrule
\end{tabular}
\caption{A \#1. so}
\label{tab:t}
\end{table}"""


def small() -> Table:
    rows = (("x & y", "1.0"), ("z", "0.5 ± 0.1"))
    return Table("t", "A #1", ("a_b", "%"), rows, ("so",), frozenset({(0, 1)}))


def test_table_from_a_tiny_results_file(tmp_path, rows):
    results = ResultsFile(tmp_path / "r.jsonl")
    for row in rows:
        results.add(row)
    (table,) = make_tables(ResultsFile(results.path).rows(), ["zsl"])["zsl"]
    lines = table.text().splitlines()
    assert lines[:9] == TEXT.splitlines()[:9], "\n".join(lines)
    assert "  failed: dap: no luck" in lines
    assert any("other features (" in line and "ours: histograms" in line for line in lines)
    assert not any("Published only" in line for line in lines)


def test_forms_of_a_table():
    assert small().latex() == LATEX
    assert small().csv() == "a_b,%\nx & y,1.0\nz,0.5 ± 0.1\n"
    assert small().markdown() == (
        "### A #1\n\n| a_b | % |\n|---|---:|\n| x & y | **1.0** |\n| z | 0.5 ± 0.1 |\n\n- so"
    )
    assert "<td>x &amp; y</td>" in small().html()
    assert "<strong>1.0</strong>" in small().html()


def test_cells_that_a_spreadsheet_would_run_are_guarded():
    table = replace(small(), rows=[["=cmd()", "-1.9 … -1.1"], ["-2+3", "-0.5 ± 0.1*"]])
    assert table.csv() == "a_b,%\n'=cmd(),-1.9 … -1.1\n'-2+3,-0.5 ± 0.1*\n"


def test_seeds_are_averaged_and_the_last_row_of_a_configuration_counts(rows):
    old = rows[0] | {"per_class_accuracy": 0.9, "key": "old"}
    other_seed = rows[0] | {"seed": 1, "per_class_accuracy": 0.35, "key": "seed"}
    (table,) = make_tables([old, rows[0], other_seed], ["zsl"])["zsl"]
    assert table.rows[0][:2] == ("ESZSL", "30.0 ± 7.1")


def test_published_values_only_where_the_split_is_the_same(rows):
    proposed = [row | {"split": "proposed"} for row in rows]
    (table,) = make_tables(proposed, ["zsl"])["zsl"]
    assert "paper" not in table.columns


def test_story_tells_numbers_of_the_rows(rows):
    assert tell(rows) == [
        "AWA1, standard split: SAE (encoder) is the best of 2 methods with 51.2 %."
    ]
    rows[0]["per_class_accuracy"] = 0.6
    rows[0]["key"] = "x"
    assert tell(rows) == [
        "AWA1, standard split: SAE (encoder) is number 2 of 2 with 51.2 %; the best is ESZSL with "
        "60.0 %."
    ]


def test_files_of_tables(tmp_path, rows):
    write_tables(make_tables(rows), tmp_path / "tables")
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names >= {"tables.md", "zsl-awa1-standard.csv", "zsl-awa1-standard.tex"}


def test_a_comparison_of_directions_needs_two_of_them(rows):
    assert "ablation" not in make_tables(rows)
    ridge = rows[0] | {"method": "ridge-fs", "key": "d"}
    (table,) = make_tables([*rows, ridge])["ablation"]
    assert [row[:2] for row in table.rows] == [("Ridge F→S", "25.0"), ("SAE (encoder)", "51.2")]


def test_the_tables_of_the_repository_are_those_of_its_results(tmp_path):
    folder = Path(__file__).parents[2] / "results"
    write_tables(make_tables(ResultsFile(folder / "results.jsonl").rows()), tmp_path)
    made = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_text("utf-8") for path in (folder / "tables").iterdir()}


def test_runs_that_differ_in_their_seed_become_one_row_of_means():
    place = {"kind": "zero-shot", "dataset": "d", "features": "", "split": "s", "semantics": ""}
    rows = [
        place | {"method": name, "protocol": "p", "seed": seed, "status": status, "share": share}
        for name, seed, status, share in (
            ("ale", 0, "ok", 0.5),
            ("ale", 1, "ok", 0.7),
            ("ale", 2, "failed", 0.0),
            ("sae", 0, "ok", 0.4),
        )
    ]
    ale, sae = over_seeds(rows)
    assert (ale["method"], ale["share"]) == ("ale", pytest.approx(0.6))
    assert sae["share"] == 0.4
