"""The user guide: its examples run, its links lead somewhere, its tables are current."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from zslearn.reproduce import Table

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
# A comment before a block that needs files that are not here, for example
# <!-- not run: needs the AwA archive -->
BLOCK = re.compile(
    r"(?P<not_run><!-- not run: .+? -->\n)?^```python\n(?P<code>.*?)^```$", flags=re.S | re.M
)


def run_blocks(text, name):
    """Run the python blocks of a page one after the other, as one program."""
    names: dict = {}
    for block in BLOCK.finditer(text):
        if block["not_run"] is None:
            names = run_block(block["code"], names, name, text.count("\n", 0, block.start("code")))
    return names


def run_block(code, names, name, line):
    """Run an interactive session, or a plain program, and return the names it leaves."""
    test = doctest.DocTestParser().get_doctest(code, names, name, name, line)
    if not test.examples:
        exec(compile("\n" * line + code, name, "exec"), names)
        return names
    wrong: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not runner.run(test, out=wrong.append, clear_globs=False).failed, "".join(wrong)
    return test.globs


# tests/test_getting_started.py runs that page, with what it types into a terminal.
RUN = [page for page in PAGES if page.stem != "getting_started"]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert ">>>" not in BLOCK.sub("", text), "an example outside of a python block is not run"
    run_blocks(text, str(page))


def test_wrong_blocks_are_found_and_marked_ones_are_left_out():
    assert run_blocks("```python\na = 1\n```\n\n```python\n>>> a\n1\n\n```\n", "page")["a"] == 1
    with pytest.raises(NameError, match="nothing"):
        run_blocks("```python\nnothing\n```\n", "page")
    with pytest.raises(AssertionError, match="Expected"):
        run_blocks("```python\n>>> 1\n2\n\n```\n", "page")
    assert run_blocks("<!-- not run: needs a file -->\n```python\nnothing\n```\n", "page") == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.fixture(scope="module")
def filler():
    """The script that fills pages, as a module."""
    spec = importlib.util.spec_from_file_location("fill", ROOT / "scripts" / "fill_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made(filler):
    """Tables, plots and outputs of the rows of the repository."""
    return filler.shown(filler.RESULTS)


def test_tables_values_and_pictures_of_pages_are_those_of_the_rows(filler, made):
    assert filler.stale(*made) == []


def test_a_figure_changed_by_hand_is_noticed(filler, made, tmp_path, monkeypatch):
    changed = tmp_path / "README.md"
    monkeypatch.setattr(filler, "pages", lambda: [changed])
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    changed.write_text(text, encoding="utf-8")
    assert filler.stale(*made) == []
    table = re.search(r"<!-- table: readme -->.*?\| (\.\d{3}) \|", text, flags=re.S)
    place = table.start(1)
    changed.write_text(text[:place] + ".999" + text[place + 4 :], encoding="utf-8")
    assert filler.stale(*made) == ["README.md"]
    assert filler.stale(*made, write=True) == ["README.md"]
    assert changed.read_text(encoding="utf-8") == text
    told = re.search(r"expect  on unseen classes (\d+) %", text)
    changed.write_text(text[: told.start(1)] + "99" + text[told.end(1) :], encoding="utf-8")
    assert filler.stale(*made) == ["README.md"]


def test_values_in_sentences_are_filled_without_their_deviation(filler):
    table = Table("t", "T", ("method", "acc."), (("SAE", "61.4 ± 0.3"),), ("so",))
    page = "has <!-- value: t | SAE | acc. -->7<!-- end --> %\n<!-- table: t, with notes -->\n"
    page += "old\n<!-- end of table -->\n<!-- output: s -->\n<!-- end of output -->\n"
    filled = filler.filled(page, {"t": table}, {"s": "$ zslearn\nread\n"}, "page")
    assert "<!-- output: s -->\n```console\n$ zslearn\nread\n```\n<!-- end of" in filled
    assert "has <!-- value: t | SAE | acc. -->61.4<!-- end --> %" in filled
    assert "| SAE | 61.4 ± 0.3 |\n\n- so\n<!-- end of table -->" in filled
    for wrong, says in (
        ("<!-- table: u -->\n<!-- end of table -->", "shows 'u', which the rows do not make"),
        ("<!-- table: t -->\n", "1 marks without an end"),
        ("a <!-- value: t | sae | acc. --><!-- end -->", "t has no row 'sae'"),
        ("<!-- value: t | SAE | acc. --><!-- end -->", "would not be Markdown"),
        ("<!-- output: u -->\n<!-- end of output -->", "the commands of 'u' print, which no row"),
    ):
        with pytest.raises(SystemExit, match=says):
            filler.filled(wrong, {"t": table}, {}, "page")
