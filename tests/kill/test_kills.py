"""Writers killed at random moments leave what can be read, and end with the same bits.

Some forty kills run here, about 400 by ``make fuzz``; ``ZSLEARN_KILL_CASES`` is the number of cases
of each job; each tries four kills, and about half of them find the job still running.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed")

CASES = int(os.environ.get("ZSLEARN_KILL_CASES", "4"))
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize(
    "name", ["save", "fit", "store", "results", "features", "texts", "reproduce"]
)
def test_a_killed_writer_does_no_harm(name):
    if name == "features" and importlib.util.find_spec("onnxruntime") is None:
        pytest.skip("onnxruntime is not installed")
    cases = CASES if name != "reproduce" else -(-CASES // 4)  # a program and its workers: seconds
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.kill.attack", name, "0", str(cases)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120 + 20 * CASES,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *failed, count = [json.loads(line) for line in done.stdout.splitlines()]
    assert failed == [], done.stderr[-2000:]
    assert count["kills"] > 0
