"""The user guide: its examples run, its links lead somewhere, its tables are current."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
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


@pytest.mark.parametrize(
    "script",
    [
        "scripts/results_docs.py",
        "scripts/scale_table.py",
        "scripts/prototype_table.py",
        "scripts/words_table.py",
        "scripts/pictures_table.py",
        "scripts/auto_table.py",
        "scripts/generators_table.py",
        "scripts/deep_table.py",
        "scripts/deep_pictures_table.py",
    ],
)
def test_tables_made_from_results_are_current(script):
    command = [sys.executable, str(ROOT / script), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
