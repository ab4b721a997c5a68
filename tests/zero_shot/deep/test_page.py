"""The examples of docs/deep.md that need PyTorch."""

import doctest
import re
from dataclasses import replace
from pathlib import Path

import pytest

import zslearn

pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(
    r"<!-- not run: (?:fitting )?needs PyTorch -->\n```python\n(.*?)^```$", flags=re.S | re.M
)


def blocks_of(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("not run:") > 0
    return blocks


def test_the_examples_of_deep_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sessions = "\n".join(block for block in blocks_of("deep.md") if ">>>" in block)
    test = doctest.DocTestParser().get_doctest(sessions, {}, "deep", "", 0)
    wrong: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not runner.run(test, out=wrong.append).failed, "".join(wrong)


def test_the_example_of_generators_runs_on_a_sixth_of_the_animals(monkeypatch):
    animals = zslearn.load_animals()
    fewer = replace(animals, X=animals.X[::6], y=animals.y[::6], image_files=None)
    monkeypatch.setattr("zslearn.load_animals", lambda: fewer)
    (block,) = (block for block in blocks_of("deep.md") if ">>>" not in block)
    names: dict = {}
    exec(block, names)
    answers = names["recognizer"].predict(fewer.X[fewer.y == "dolphin"])
    assert set(answers) <= set(fewer.split("proposed").unseen)
