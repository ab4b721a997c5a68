"""The snippets of the page on data sets run, except lines that say they need files."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_snippets_run(capsys):
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(snippets) >= 4
    for snippet in snippets:
        lines = [line for line in snippet.splitlines() if "# skip" not in line]
        exec(compile("\n".join(lines), str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert "ClassSplit(2 seen, 1 unseen) ('a.jpg', 'b.jpg', 'c.jpg')" in printed
    assert "360 rows of unseen classes" in printed
    assert "memmap" in printed
