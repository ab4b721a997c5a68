"""Before the studio is open: how far it is, why it cannot be opened, and a restart meanwhile."""

import pytest

from tests.serve.studio.page.people import class_item, describe, wait_until

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
expect = playwright.expect


def report(studio, done, total, text="Encoding pictures", **more):
    studio.studio.progress = {"text": text, "done": done, "total": total, **more}


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_shows_how_far_it_is_and_then_the_board(start_studio, visit, width):
    studio = start_studio(open_now=False)
    report(studio, 500, 20_000)
    visitor = visit(studio, ready=False, viewport={"width": width, "height": 740})
    page = visitor.page
    waiting = page.locator("#preparing")
    expect(waiting.get_by_role("heading", name="Encoding pictures")).to_be_visible()
    expect(waiting).to_contain_text("500 of 20,000")
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "500")
    expect(page).to_have_title("2 % – zslearn studio")
    # Nothing that would do nothing can be pressed.
    assert page.locator("#board").evaluate("e => e.inert")
    for name in ("Undo", "Redo", "Save & share"):
        expect(page.get_by_role("button", name=name)).to_be_disabled()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visitor.screenshot(f"preparing-{width}")
    report(studio, 10_000, 20_000)
    expect(waiting).to_contain_text("10,000 of 20,000")
    page.wait_for_timeout(5200)
    report(studio, 12_000, 20_000)
    expect(waiting).to_contain_text("left")
    studio.open()
    expect(waiting).to_be_hidden()
    expect(page.locator("canvas.map")).to_be_visible()
    assert not page.locator("#board").evaluate("e => e.inert")
    expect(page).to_have_title("shapes – zslearn studio")
    expect(page.get_by_role("button", name="Describe a new class")).to_be_visible()


def test_the_page_says_why_it_cannot_be_opened(start_studio, visit):
    studio = start_studio(open_now=False)
    report(studio, 0, 1, "no class has a <b>folder</b>.", failed=True)
    visitor = visit(studio, ready=False)
    alert = visitor.page.get_by_role("alert").filter(has_text="This cannot be opened")
    expect(alert).to_contain_text("No class has a <b>folder</b>.")
    expect(visitor.page.get_by_role("progressbar")).to_have_count(0)
    visitor.screenshot("cannot-be-opened")


def test_the_page_goes_on_when_the_program_is_started_again_meanwhile(start_studio, visit):
    studio = start_studio(open_now=False)
    report(studio, 500, 20_000)
    visitor = visit(studio, ready=False)
    page = visitor.page
    expect(page.locator("#preparing")).to_contain_text("500 of 20,000")
    studio.stop()
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    again = start_studio(port=studio.port, open_now=False)
    report(again, 700, 20_000)
    expect(page.locator("#preparing")).to_contain_text("700 of 20,000")
    expect(page.locator("#connection")).to_have_text("")
    again.open()
    expect(page.locator("#preparing")).to_be_hidden()
    # The page begins as it does without a restart: with the classes that are new.
    expect(page.get_by_label("Show", exact=True)).to_have_value("new")
    wait_until(page, lambda: page.locator("html[data-ready=true]").count() == 1)
    assert all("ERR_CONNECTION_REFUSED" in text for text in visitor.problems), visitor.problems
    visitor.problems.clear()


def test_the_class_looked_at_is_still_chosen_after_a_restart(start_studio, visit):
    studio = start_studio()
    visitor = visit(studio)
    page = visitor.page
    name = describe(page)
    studio.stop()
    expect(page.locator("#connection")).to_have_text("Reconnecting …")
    again = start_studio(port=studio.port, open_now=False)
    report(again, 700, 20_000)
    expect(page.locator("#preparing")).to_contain_text("700 of 20,000")
    again.open()
    expect(page.locator("#preparing")).to_be_hidden()
    expect(class_item(page, name)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".title-input")).to_have_value(name)
    visitor.problems.clear()  # connections that were refused meanwhile
