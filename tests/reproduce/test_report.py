import html
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from zslearn.reproduce import Run, load_experiments, make_tables
from zslearn.reproduce.output import write_plots
from zslearn.reproduce.plots import make_plots
from zslearn.reproduce.report import render_report
from zslearn.reproduce.runner import _row, execute

VOID = {"meta", "img"}


class Balanced(HTMLParser):
    """Fails on elements that are not closed in order; collects addresses."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses = [], []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


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


def test_page_is_whole_and_needs_nothing_from_outside(measured, rows):
    page = page_of([*rows, *measured])
    reader = Balanced()
    reader.feed(page)
    assert reader.open == []
    assert all(a.startswith(("data:image/png;base64,", "#")) for a in reader.addresses)
    assert "<script" not in page
    assert "http" not in page
    assert "no luck" in page
    assert page.count("<img") == 6


def test_plots_are_pictures(measured, tmp_path):
    write_plots(make_plots(measured), tmp_path)
    written = list(tmp_path.iterdir())
    assert {path.stem.split("-")[1] for path in written} >= {"clusters", "lam", "map", "confusion"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


def test_page_in_a_browser(measured, rows, tmp_path):
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    (tmp_path / "report.html").write_text(page_of([*rows, *measured]))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/u"]
    shown = subprocess.run(
        [browser, *options, "--dump-dom", (tmp_path / "report.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
        env=os.environ | {"HOME": str(tmp_path)},
    ).stdout
    assert "<h1>Semantic autoencoder" in shown
    assert len(re.findall(r"<img ", shown)) == 6
    assert "84.7" in shown


def test_date_versions_contents_and_terms_come_before_the_first_table(rows, measured):
    made = {"version_zslearn": "9.8.7", "finished": "2031-02-03T04:05:06+00:00"}
    later = {**made, "finished": "2031-02-05T00:00:00+00:00"}
    dated = [{**row, **(later if i else made)} for i, row in enumerate([*rows, *measured])]
    page = page_of(dated)
    top, _, rest = page.partition("<table")
    assert rest
    assert "2031-02-03 to 2031-02-05" in top
    assert "zslearn 9.8.7" in top
    assert "<dt>AUSUC</dt>" in top
    links = re.findall(r'<li><a href="#([\w-]+)">([^<]+)</a>', top)
    titles = {name: experiment.title for name, experiment in load_experiments().items()}
    assert links == [(name, html.escape(titles[name])) for name, _ in links]
    assert {name for name, _ in links} == set(re.findall(r'<section id="([\w-]+)"', page)) - {
        "terms",
        "place",
        "machine",
    }
