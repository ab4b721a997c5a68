"""Damaged files end in a right answer or in one line, whichever reader takes them.

A few hundred cases per reader run here, thousands by ``make fuzz``; ``ZSLEARN_FUZZ_CASES`` is the
number. Cases that once failed are named below and run first, for good.
"""

import importlib.util
import json
import os

import numpy as np
import pytest

from tests.fuzz.mutation import CHANGES, damaged
from tests.fuzz.targets import TARGETS

CASES = int(os.environ.get("ZSLEARN_FUZZ_CASES", "200"))
#: The seed of each case that once gave a raw exception, a crash or an answer that was wrong.
ONCE_FAILED = {
    "results": [1261],
    "mat73": [346],  # three gigabytes, or a crash
    "zarr": [701],
    "xlsa17": [1186],
    "store": [285, 4983],
    "picture_store": [201, 204, 209, 237, 261, 2806],
    "encoder": [459, 4738, 7679],
    "parquet": [7864],
    "tables": [14931],
}


def run(warm, name, *ranges):
    """Return the cases of one reader that failed, also the one in which the process ended."""
    done = warm.run("tests.fuzz.attack", name, *ranges, timeout=60 + CASES)
    failed = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        failed.append({"ended with": done.returncode, "last words": done.stderr[-2000:]})
    return failed


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_end_in_an_answer_or_one_line(name, warm):
    if name == "excel" and importlib.util.find_spec("openpyxl") is None:
        pytest.skip("openpyxl is not installed")
    once = [number for case in ONCE_FAILED.get(name, []) for number in (case, case + 1)]
    assert run(warm, name, *once, 0, CASES) == []


def test_every_change_changes_and_the_seed_decides():
    content = bytes(range(200))
    for change in CHANGES:
        several = {change(content, np.random.default_rng(seed)) for seed in range(20)}
        assert len(several) > 5
    assert damaged(content, np.random.default_rng(3)) == damaged(content, np.random.default_rng(3))
    assert damaged(b"", np.random.default_rng(0)) != b""


def test_a_reader_that_raises_raw_exceptions_is_caught(tmp_path):
    from tests.fuzz.attack import outcome
    from zslearn.exceptions import InvalidInputError

    def fail(error):
        def read(folder):
            raise error

        return read

    def print_and_fail(folder):
        print("x")  # noqa: T201
        fail(InvalidInputError("one line"))(folder)

    assert "KeyError" in outcome(fail(KeyError("x")), tmp_path)
    assert "stdout: 'x" in outcome(print_and_fail, tmp_path)
    assert "several lines" in outcome(fail(InvalidInputError("a\nb")), tmp_path)
    assert outcome(fail(InvalidInputError("one line")), tmp_path) is None
    assert outcome(lambda folder: 1, tmp_path) is None
