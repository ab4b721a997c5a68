import re

import pytest

from zslearn.reproduce import Run, make_tables
from zslearn.reproduce.plots import make_plots
from zslearn.reproduce.report import render_report, write_files
from zslearn.reproduce.runner import _row, execute


@pytest.fixture(scope="module")
def measured():
    """Rows of a picture of clusters and of a small diagnosis, really run."""
    from zslearn.reproduce import find_data

    animals = find_data()[0][0]
    runs = [Run("cluster-picture", "lda", parameters={"sizes": "equal"})]
    runs.append(Run("diagnosis", "sae", animals, "proposed", "attributes"))
    runs.append(Run("zero-shot", "rrzsl", animals, "proposed", "attributes", "generalized"))
    rows = [_row(run, execute(run), 1, 1) for run in runs]
    assert [row["status"] for row in rows] == ["ok"] * 3, [row.get("error") for row in rows]
    return rows


def page_of(rows):
    return render_report(rows, make_tables(rows), list(make_plots(rows)))


def test_the_report_has_every_table_plot_and_failure(measured, rows):
    every = [*rows, *measured]
    page = page_of(every)
    tables = [table for some in make_tables(every).values() for table in some]
    assert all(table.markdown() in page for table in tables)
    plots = re.findall(r"\]\(plots/([\w-]+)\.png\)", page)
    assert sorted(plots) == sorted(plot.name for plot in make_plots(every))
    assert "- zero-shot AWA1 standard attributes conventional dap: no luck" in page


def test_pictures_carry_the_hash_of_what_they_show(measured, tmp_path):
    plots = list(make_plots(measured))
    write_files({}, plots, measured, tmp_path)
    written = {path.stem: path.read_bytes() for path in (tmp_path / "plots").iterdir()}
    assert written.keys() >= {"paper-figure-3", "figure-lam-animals28-proposed"}
    for plot in plots:
        assert written[plot.name].startswith(b"\x89PNG")
        assert plot.source.encode() in written[plot.name]


def test_a_picture_is_the_same_for_another_clock_and_not_for_another_number(measured):
    (before,) = [plot for plot in make_plots(measured) if plot.name == "paper-figure-3"]
    slower = [row | {"seconds": 9.0, "finished": "later"} for row in measured]
    (same,) = [plot for plot in make_plots(slower) if plot.name == "paper-figure-3"]
    other = [row | {"clustering_loss": 1.0} for row in measured]
    (moved,) = [plot for plot in make_plots(other) if plot.name == "paper-figure-3"]
    assert before.source == same.source != moved.source


def test_date_versions_and_terms_come_before_the_first_table(rows, measured):
    made = {"version_zslearn": "9.8.7", "finished": "2031-02-03T04:05:06+00:00"}
    later = {**made, "finished": "2031-02-05T00:00:00+00:00"}
    dated = [{**row, **(later if i else made)} for i, row in enumerate([*rows, *measured])]
    top, _, rest = page_of(dated).partition("\n| ")
    assert rest
    assert "2031-02-03 to 2031-02-05" in top
    assert "zslearn 9.8.7" in top
    assert "- **AUSUC**:" in top
    assert top.index("## The tables of the paper") > top.index("## Terms")
