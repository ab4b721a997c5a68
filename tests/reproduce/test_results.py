import json
from pathlib import Path

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError
from zslearn.reproduce import ResultsFile


@pytest.fixture
def results(tmp_path) -> ResultsFile:
    return ResultsFile(tmp_path / "results.jsonl")


def test_rows_come_back_and_the_last_of_a_key_counts(results):
    results.add({"key": "a", "status": "failed", "error": "x"})
    results.add({"key": "b", "status": "ok", "value": np.float64(0.5), "list": np.arange(2)})
    results.add({"key": "a", "status": "ok", "nan": float("nan")})
    again = ResultsFile(results.path)
    assert again.rows() == results.rows()
    assert again.rows() == [
        {"key": "b", "status": "ok", "value": 0.5, "list": [0, 1]},
        {"key": "a", "status": "ok", "nan": None},
    ]


def test_every_prefix_of_the_file_is_readable(results):
    """Whatever byte a power failure stops at, whole rows stay and the rest is dropped."""
    for key in "abc":
        results.add({"key": key, "status": "ok", "text": "ä" * 5})
    content = results.path.read_bytes()
    for length in range(0, len(content) + 1, 7):
        results.path.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        again = ResultsFile(results.path)
        assert [row["key"] for row in again.rows()] == list("abc")[:whole]
        again.add({"key": "d", "status": "ok"})
        lines = results.path.read_text().splitlines()
        assert [json.loads(line)["key"] for line in lines] == [*"abc"[:whole], "d"]


def test_damage_inside_is_refused_with_its_line(results):
    results.path.write_text('{"key": "a"}\nrubbish\n')
    with pytest.raises(InvalidInputError, match="line 2 is not a result"):
        ResultsFile(Path(results.path))
