"""Writers killed at random moments leave what can be read, and end with the same bits.

Some forty kills run here, about 400 by ``make fuzz``; ``ZSLEARN_KILL_CASES`` is the number of cases
of each job; each tries four kills, and about half of them find the job still running.
"""

import importlib.util
import json
import os

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed")

CASES = int(os.environ.get("ZSLEARN_KILL_CASES", "4"))


@pytest.mark.parametrize(
    "name", ["save", "fit", "store", "results", "features", "texts", "reproduce"]
)
def test_a_killed_writer_does_no_harm(name, warm):
    if name == "features" and importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed")
    cases = CASES if name != "reproduce" else -(-CASES // 4)  # a program and its workers: seconds
    done = warm.run("tests.kill.attack", name, 0, cases, timeout=120 + 20 * CASES)
    assert done.returncode == 0, done.stderr[-2000:]
    *failed, count = [json.loads(line) for line in done.stdout.splitlines()]
    assert failed == [], done.stderr[-2000:]
    assert count["kills"] > 0
