"""The examples of docs/deep.md that need PyTorch."""

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

PAGE = Path(__file__).parents[3] / "docs" / "deep.md"
BLOCK = re.compile(r"<!-- not run: needs PyTorch -->\n```python\n(.*?)^```$", flags=re.S | re.M)


def test_the_examples_of_the_page_run():
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "deep.md", str(PAGE), 0)
    wrong: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not runner.run(test, out=wrong.append).failed, "".join(wrong)
