from dataclasses import replace

import pytest

from zslearn.reproduce import ResultsFile, Table, make_tables
from zslearn.reproduce.report import write_files
from zslearn.reproduce.tables import over_seeds

TEXT = """\
Unseen classes, accuracy in %: AWA1, histograms, standard split

method         per class  per sample    hit@5   fit s  peak MB
-------------  ---------  ----------  -------  ------  -------
SAE (encoder)      51.2*       40.0     90.0*     1.3      512
ESZSL              25.0        45.0*    90.0*   0.012      512
DAP              failed      failed   failed   failed   failed
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
    table, _ = make_tables(ResultsFile(results.path).rows(), ["zsl"])["zsl"]
    assert table.text() == TEXT.rstrip()


def test_forms_of_a_table():
    assert small().latex() == LATEX
    assert small().csv() == "a_b,%\nx & y,1.0\nz,0.5 ± 0.1\n"
    assert small().markdown() == (
        "### A #1\n\n| a_b | % |\n|---|---:|\n| x & y | **1.0** |\n| z | 0.5 ± 0.1 |\n\n- so"
    )
    assert small().markdown(bare=True) == (
        "| a_b | % |\n|---|---:|\n| x & y | **1.0** |\n| z | 0.5 ± 0.1 |"
    )
    assert small().cell("z", "%") == "0.5 ± 0.1"


def test_cells_that_a_spreadsheet_would_run_are_guarded():
    table = replace(small(), rows=[["=cmd()", "-1.9 … -1.1"], ["-2+3", "-0.5 ± 0.1*"]])
    assert table.csv() == "a_b,%\n'=cmd(),-1.9 … -1.1\n'-2+3,-0.5 ± 0.1*\n"


def test_seeds_are_averaged_and_the_last_row_of_a_configuration_counts(rows):
    old = rows[0] | {"per_class_accuracy": 0.9, "key": "old"}
    other_seed = rows[0] | {"seed": 1, "per_class_accuracy": 0.35, "key": "seed"}
    table = make_tables([old, rows[0], other_seed], ["zsl"])["zsl"][0]
    assert table.rows[0][:2] == ("ESZSL", "30.0 ± 7.1")


def test_the_place_of_sae_is_its_rank_among_methods(rows):
    (place,) = [one for one in make_tables(rows, ["zsl"])["zsl"] if one.name == "place"]
    assert place.rows[0][:4] == (
        "AWA1, standard",
        "SAE (encoder) 51.2",
        "1 of 2",
        "SAE (encoder) 51.2",
    )
    rows[0]["per_class_accuracy"] = 0.6
    (place,) = [one for one in make_tables(rows, ["zsl"])["zsl"] if one.name == "place"]
    assert place.rows[0][2:4] == ("2 of 2", "ESZSL 60.0")


def test_files_of_tables(tmp_path, rows):
    write_files(make_tables(rows), [], rows, tmp_path)
    names = {path.name for path in (tmp_path / "tables").iterdir()}
    assert names >= {"zsl-awa1-standard.csv", "zsl-awa1-standard.tex", "paper-table-2.csv"}
    assert not (tmp_path / "plots").exists()


def test_a_comparison_of_directions_needs_two_of_them(rows):
    assert "ablation" not in make_tables(rows)
    ridge = rows[0] | {"method": "ridge-fs", "key": "d"}
    (table,) = make_tables([*rows, ridge])["ablation"]
    assert [row[:2] for row in table.rows] == [("Ridge F→S", "25.0"), ("SAE (encoder)", "51.2")]


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
