"""The scripts of the studio's page in node, against numbers that Python wrote."""

import os
import re
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.serve.studio.page.packing import pack

HERE = Path(__file__).parent


def node():
    """The program node that comes with Playwright, so that nothing else must be installed."""
    found = find_spec("playwright")
    if found is None:
        pytest.skip("playwright, which brings node, is not installed")
    return Path(found.origin).parent / "driver" / "node"


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory):
    """A folder with what the scripts read."""
    folder = tmp_path_factory.mktemp("fixtures")
    arrays = {
        "answer": np.array([3, -1, 2**31 - 1], np.int32),
        "split": np.array([0, 1, 1, 0, 1], np.uint8),
        "none": np.zeros((0, 2), np.float32),
        "xy": np.array([[0.5, -1.25], [2.0**20, 0.0]], np.float32),
    }
    (folder / "packed.bin").write_bytes(pack({"revision": 7, "text": "λ and okapi"}, arrays))
    return folder


@pytest.mark.parametrize("script", sorted((HERE / "scripts").glob("*.mjs")), ids=lambda p: p.stem)
def test_the_scripts_do_what_they_say(script, fixtures):
    done = subprocess.run(
        [node(), "--test", "--test-reporter=tap", script],
        env={**os.environ, "ZSLEARN_FIXTURES": str(fixtures)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout
    assert "# pass 0" not in done.stdout


def imports(name):
    text = (files("zslearn.serve.studio") / "page" / name).read_text("utf-8")
    return set(re.findall(r'from "\./(\w+\.js)"', text))


def test_every_module_is_used_and_only_two_talk_to_the_server():
    names = {file.name for file in (files("zslearn.serve.studio") / "page").iterdir()}
    modules = {name for name in names if name.endswith(".js")}
    reached, waiting = {"main.js"}, ["main.js"]
    while waiting:
        found = imports(waiting.pop()) - reached
        reached |= found
        waiting += found
    assert reached == modules
    talking = {name for name in modules if "server.js" in imports(name)}
    assert talking == {"main.js", "studio.js", "card.js"}  # the card takes a lane only
    views = {"balance.js", "card.js", "classes.js", "map.js", "method.js"}
    assert all(not imports(view) & views for view in views)
