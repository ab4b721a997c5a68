"""The gallery's examples run from the command line and draw their picture."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_sensor_data_needs_a_nonlinear_classifier(tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "sensor.png"
    command = [sys.executable, str(ROOT / "examples" / "plot_sensor_data.py"), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "named right" in line]
    accuracy = {line[:22].strip(): float(line[22:].split()[0]) for line in lines}
    assert target.stat().st_size > 10_000
    assert accuracy["SAE"] < 2 / 6
    assert accuracy["DAP, logistic"] < 2 / 6
    assert accuracy["DAP, naive Bayes"] > 5 / 6
