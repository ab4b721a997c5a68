"""Keep: reload, restart, two tabs in step, files to take along."""

import csv
import json
import subprocess
import sys

import msgspec
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import class_item, describe, move, slider
from zslearn.serve.studio.edits import Kept


def download(page, link):
    """Take a file of the dialog along; return its path."""
    page.get_by_role("button", name="Save & share").click()
    with page.expect_download() as found:
        page.get_by_role("link", name=link).click()
    page.get_by_role("button", name="Close", exact=True).click()
    return found.value.path(), found.value.suggested_filename


def test_a_reload_and_a_restart_lose_nothing(start_studio, visit):
    studio = start_studio()
    visitor = visit(studio)
    page = visitor.page
    name = describe(page)
    move(slider(page, "blue"), 0.4)
    expect(page.locator("#announcements")).to_contain_text(name)
    shown = page.locator(".score").inner_text()
    page.reload()
    class_item(page, name).click()
    expect(page.locator(".score")).to_have_text(shown)

    studio.stop()
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    visitor.problems.clear()  # connections that were refused meanwhile
    visitor.studio = start_studio(port=studio.port)
    # The open tab comes back by itself, with the same class.
    expect(page.locator("#connection")).to_have_text("")
    visitor.problems.clear()
    expect(page.locator(".score")).to_have_text(shown)
    move(slider(page, "blue"), 0)
    expect(page.locator("#announcements")).to_contain_text(name)
    row = visitor.studio.session.view.state.class_called(name).row
    place = visitor.studio.session.collection.signatures.dimensions.index("blue")
    assert row[place] == pytest.approx(0, abs=0.02)


def test_two_tabs_stay_in_step(page, visitor):
    other = visitor.open()
    name = describe(page)
    expect(class_item(other, name).locator(".accuracy")).to_contain_text("%")
    class_item(other, name).click()
    field = other.locator(".title-input")
    field.fill("seen from both")
    field.press("Enter")
    expect(class_item(page, "seen from both")).to_be_visible()
    expect(page.locator(".title-input")).to_have_value("seen from both")


def test_the_table_and_the_python_lines_are_taken_along(page, visitor, tmp_path):
    name = describe(page)
    path, suggested = download(page, "The table of classes")
    assert suggested == "classes.csv"
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    state = visitor.studio.session.view.state
    assert {line[0] for line in lines[1:]} == {
        one.name for one in state.classes.values() if one.described
    }
    assert name in {line[0] for line in lines}
    program, suggested = download(page, "The Python lines")
    assert suggested == "model.py"
    compile(program.read_text("utf-8"), "model.py", "exec")
    model, suggested = download(page, "The model")
    assert suggested == "model.zsl"
    model.rename(tmp_path / "model.zsl")
    code = (
        "import sys, json; from zslearn import load; m = load(sys.argv[1]);"
        "print(json.dumps(sorted(map(str, m.recognizer().names))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model.zsl")], capture_output=True, text=True
    )
    assert name in json.loads(done.stdout), done.stderr


def test_why_a_file_cannot_be_made_is_said_beside_it(page, visitor):
    session = visitor.studio.session
    number = next(one.id for one in session.kept.described.values() if one.seen)
    edit = {"op": "delete", "class": number, "what": "delete"}
    session.change(msgspec.convert(edit, Kept), final=True, by="")
    page.get_by_role("button", name="Save & share").click()
    link = page.get_by_role("link", name="The model")
    link.click()
    reason = page.get_by_role("listitem").filter(has=link).get_by_role("alert")
    expect(reason).to_contain_text("the model file keeps the classes it was trained on; undo the")
    visitor.screenshot("keep-refused")
    with page.expect_download() as found:
        page.get_by_role("link", name="The Python lines").click()
    assert found.value.suggested_filename == "model.py"
    assert visitor.problems == [text for text in visitor.problems if "409" in text]
    visitor.problems.clear()  # the browser itself logs the refusal


def test_the_page_for_a_colleague_opens_without_the_studio(page, visitor, browser, tmp_path):
    name = describe(page)
    path, suggested = download(page, "A page for a colleague")
    assert suggested == "report.html"
    file = tmp_path / suggested
    file.write_bytes(path.read_bytes())
    visitor.studio.stop()
    context = browser.new_context(viewport={"width": 360, "height": 780})
    colleague, asked = context.new_page(), []
    colleague.on("request", lambda request: asked.append(request.url))
    colleague.goto(file.as_uri())
    assert asked == [file.as_uri()]
    expect(colleague.locator("header")).to_contain_text(name)
    expect(colleague.locator("header")).to_contain_text("efficientnet-lite0")
    assert colleague.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()
    page.close()
    visitor.problems.clear()  # the page of the studio was no longer answered
