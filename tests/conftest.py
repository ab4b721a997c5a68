from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.warm import Warm

# Two workers on two cores: more threads would wait for each other, those of OpenMP at full speed.
# Numpy and scikit-learn read it when imported.
for library in ("OPENBLAS", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REQUIRED = os.environ.get("ZSLEARN_BROWSER_REQUIRED")

#: Where a test runs that is skipped here, by the reason it gives.
ELSEWHERE = {
    r"timm|open_clip|lite_pytorch": "where that package and a torchvision that fits are installed",
    r"is there$": "where it is not installed, as in make test",
    r"[Tt]orch|transformers": "make test-deep",
    r"triton|kserve|mlserver|schemathesis": "make test-clients",
    r"chromium|playwright": "where chromium is installed, as .ci/run does",
    r"WordNet": "where wordnet-base is installed, as .ci/run does",
    r"real data|no CUB|LaTeX source|AwA archive": "where the real data sets are",
    r"umap": "make test-deep",
    r"mount": "as root, on a system that may mount a small disk",
}


def pytest_collection_modifyitems(items):
    """Leave out scikit-learn's check of arrays of other libraries, which zslearn does not take."""
    items[:] = [item for item in items if "check_array_api_input" not in item.name]


def pytest_terminal_summary(terminalreporter):
    """Say where the tests run that were skipped."""
    places: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        found = [where for words, where in ELSEWHERE.items() if re.search(words, reason)]
        place = found[0] if found else f"NOWHERE THAT IS KNOWN: {reason}"
        places[place] = places.get(place, 0) + 1
    for place, n in sorted(places.items()):
        terminalreporter.write_line(f"{n} skipped here run by: {place}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real data sets, or a skip that says what is missing."""
    given = os.environ.get("ZSLEARN_DATA")
    folder = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real data not found at {folder}; set ZSLEARN_DATA to its folder")
    return folder


def chromium_path():
    """Debian's chromium, or why it is not used."""
    found = os.environ.get("ZSLEARN_CHROMIUM") or shutil.which("chromium")
    if found is None:
        reason = "chromium is not installed (apt-get install chromium)"
        if REQUIRED:
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def run_browser(*arguments):
    """Yield a browser, and end it.

    While it is there, Playwright's loop runs in this thread, so that tests of other folders cannot
    run theirs; so it serves a file or a folder, and not a whole run.
    """
    if REQUIRED:
        import playwright.sync_api as playwright
    else:
        playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
    path = chromium_path()
    with playwright.sync_playwright() as started:
        # Without a sandbox where a container has none; the pages are our own.
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox", *arguments])
        yield running
        running.close()


@pytest.fixture(scope="module")
def browser():
    """One browser for the tests of a file; each gets a context of its own."""
    yield from run_browser()


@pytest.fixture(scope="session")
def warm():
    """A process that forks, for jobs that need one of their own; it starts once per worker."""
    if not hasattr(os, "fork"):
        pytest.skip("the system cannot fork")
    process = Warm()
    yield process
    process.close()
