"""A studio of shapes in a thread of this process, and pages of a real browser that visit it."""

import os
import shutil
import threading
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

import uvicorn

from tests.conftest import run_browser
from zslearn.serve.running import ServerConfig, listen
from zslearn.serve.studio import Source, StudioSettings, make_app, prepare
from zslearn.serve.studio.opening import finish

# Screenshots of every activity, to be looked at: ZSLEARN_SCREENSHOTS=DIR keeps them there.
SCREENSHOTS = os.environ.get("ZSLEARN_SCREENSHOTS")
WINDOW = {"viewport": {"width": 1360, "height": 850}}


class RunningStudio:
    """A studio that listens on a port of its own."""

    def __init__(self, project, data="shapes", port=0, open_now=True, **source):
        self.source = Source(data, project=project, **source)
        self.studio = prepare(self.source)
        if open_now:
            self.open()
        settings = StudioSettings({}, port=port)
        self.socket = listen(settings)
        self.port = self.socket.getsockname()[1]
        config = ServerConfig(make_app(settings, self.studio), settings)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],))
        self.thread.start()

    def open(self):
        """Load the data; until then the page shows that it waits."""
        finish(self.studio, self.source)
        self.session.wait()

    @property
    def session(self):
        return self.studio.session

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def entrance(self):
        return f"{self.origin}/studio/enter?token={self.studio.entrance.token}"

    def stop(self):
        self.server.force_exit = self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()
        if self.session is not None:
            self.session.close()
        self.socket.close()


@pytest.fixture
def start_studio(tmp_path, fitted_shapes):
    """Start studios on the project of the test; they end with it."""
    running = []

    def start(**source):
        project = tmp_path / "shapes.project"
        models = project.with_name("shapes.project.models")
        if source.get("data", "shapes") == "shapes" and not models.exists():
            shutil.copytree(fitted_shapes, models)
        running.append(RunningStudio(project, **source))
        return running[-1]

    yield start
    for studio in running:
        if studio.thread.is_alive():
            studio.stop()


@pytest.fixture
def studio(start_studio):
    return start_studio()


@pytest.fixture(scope="package")
def browser():
    """One browser for all tests of the page; it finds nobody but this machine."""
    yield from run_browser("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")


@pytest.fixture(scope="package")
def window(browser):
    """The window of those who ask for no other: a tab there costs half of one in a new context.

    Every studio has a port and so an origin of its own. What tests share beyond it are cookies,
    which go when a visitor leaves.
    """
    context = browser.new_context(**WINDOW)
    context.new_page()  # what tabs share stays while there is one
    yield context
    context.close()


class Visitor:
    """A person at a page: what went wrong on it, and what was asked of others, is kept."""

    def __init__(self, context, studio, ready=True):
        self.studio, self.problems, self.elsewhere, self.tabs = studio, [], [], []
        self.context = context
        self.context.set_default_timeout(20_000)
        self.context.on("request", self._note)
        self.page = self.open(studio.entrance, ready=ready)

    def _note(self, request):
        if not request.url.startswith((self.studio.origin + "/", "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, address=None, ready=True):
        """Open a tab and wait until it can be used, unless it is to be seen before."""
        page = self.context.new_page()
        self.tabs.append(page)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._listen)
        page.goto(address or f"{self.studio.origin}/studio/")
        if ready:
            page.wait_for_selector("html[data-ready=true]")
            page.wait_for_selector("canvas.map[data-painted]")
        return page

    def leave(self):
        """Close every tab, and forget the entrance."""
        for page in self.tabs:
            page.close()
        self.context.remove_listener("request", self._note)
        self.context.clear_cookies()

    def _listen(self, message):
        if message.type == "error":
            self.problems.append(message.text)

    def screenshot(self, name, page=None):
        if SCREENSHOTS:
            (page or self.page).screenshot(path=Path(SCREENSHOTS, f"{name}.png"))


@pytest.fixture
def visit(browser, window, start_studio):
    """Visit a studio; at the end nothing may have gone wrong on the page, nor elsewhere.

    Who comes second, or wants another window, gets a context of their own.
    """
    visitors, contexts = [], []

    def come(studio, ready=True, **wanted):
        context = window
        if visitors or wanted:
            context = browser.new_context(**WINDOW | wanted)
            contexts.append(context)
        visitors.append(Visitor(context, studio, ready))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.leave()
    for context in contexts:
        context.close()
    for visitor in visitors:
        assert visitor.problems == []
        assert visitor.elsewhere == []


@pytest.fixture
def visitor(visit, studio):
    return visit(studio)


@pytest.fixture
def page(visitor):
    return visitor.page
