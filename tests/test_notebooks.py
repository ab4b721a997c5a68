"""Notebooks run from their first cell to the last, and show what they say they show."""

import importlib.util
import re
from pathlib import Path

import pytest

from scripts import notebook

FILES = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]\d+)?")


def texts(outputs):
    return [out.get("text") or out["data"].get("text/plain", "") for out in outputs]


def kinds(outputs):
    return [sorted(out.get("data", [out["output_type"]])) for out in outputs]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored_in_it(path):
    stored = notebook.read(path)
    found = list(notebook.run(stored))
    for cell, outputs in zip(notebook.code_cells(stored), found, strict=True):
        assert kinds(outputs) == kinds(cell["outputs"]), cell["source"]
        for text, expected in zip(texts(outputs), texts(cell["outputs"]), strict=True):
            assert NUMBER.sub("", text).split() == NUMBER.sub("", expected).split()
            numbers, wanted = ([*map(float, NUMBER.findall(part))] for part in (text, expected))
            assert numbers == pytest.approx(wanted, rel=0.02, abs=1e-3)


def test_the_first_hour_goes_from_a_frame_to_a_model_an_explanation_and_plots():
    cells = notebook.code_cells(notebook.read(FILES[0]))
    source = "\n".join("".join(cell["source"]) for cell in cells)
    assert all(part in source for part in ("pd.DataFrame", ".fit(", ".explain(", ".plot("))
    pictures = [kind for cell in cells for kind in kinds(cell["outputs"]) if "image/png" in kind]
    assert len(pictures) == 2


def test_a_cell_that_fails_or_shows_something_else_is_found(tmp_path):
    def cell(*lines):
        return {"cell_type": "code", "source": list(lines), "outputs": []}

    made = {"cells": [cell("a = 1\n", "print(a)\n", "a + 1"), cell("a;"), cell("nothing")]}
    runs = notebook.run(made)
    printed, value = next(runs)
    assert (printed["text"], value["data"]) == ("1\n", {"text/plain": "2"})
    assert next(runs) == []
    with pytest.raises(NameError, match="nothing"):
        next(runs)


def test_an_example_that_needs_pytorch_offers_no_button_for_the_browser():
    place = Path(__file__).parents[1] / "docs" / "_ext" / "lite_notebooks.py"
    spec = importlib.util.spec_from_file_location("lite_notebooks", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    button = "  .. container:: lite-badge\n\n    .. image:: a.svg\n      :target: b\n"
    rest = "\n  .. container:: sphx-glr-download\n"
    for line, kept in (("import zslearn.zero_shot.deep\n", ""), ("import zslearn\n", button)):
        assert module.without_button(line + button + rest) == line + kept + rest
