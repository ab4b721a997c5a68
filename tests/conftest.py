from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.warm import Warm

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

REQUIRED = os.environ.get("ZSLEARN_BROWSER_REQUIRED")


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


def run_browser():
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
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
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
