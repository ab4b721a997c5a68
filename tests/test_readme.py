"""What the README says is executed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def text():
    if not README.exists():
        pytest.skip("the README is not part of this installation")
    return README.read_text(encoding="utf-8")


def test_the_quick_start_runs_and_recognizes_unseen_animals(text, capsys):
    code = re.search(r"```python\n(.*?)```", text, flags=re.S).group(1)
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    names: dict = {}
    exec(compile(code, str(README), "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert set(re.findall(r"'([^']+)'", printed[0])) <= set(names["split"].unseen)
    assert float(printed[1]) > 2 / len(names["split"].unseen)
    promised = re.fullmatch(r"0\.\d+ \((\S+) to (\S+)\) among 6 unseen and 22 seen .*", printed[2])
    assert float(promised[1]) <= float(printed[1]) <= float(promised[2])
    assert len(re.findall(r"(?:has|lacks) \w+ [+-]\d", printed[3])) == 3


def test_every_page_the_readme_links_to_exists(text):
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (README.parent / target).exists(), target
