"""Data that is not as it should be, and a window that changes: nothing stays wrong on the page."""

import msgspec
import pytest

from tests.serve.studio.page.people import class_item, describe, open_tab, settle
from zslearn.serve.studio.edits import Kept

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
expect = playwright.expect

NAMES = [
    "<script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "\"quotes' & ampersands",
    "\N{UNICORN FACE} unicorn",
    "L" * 200,
    "\u05d0\u05d1\u05d2 \u05d3\u05d4",
    "__proto__",
    "=cmd()",
]


def test_the_curve_comes_back_with_the_new_classes(studio, visit):
    session = studio.session
    new = [one.id for one in session.kept.described.values() if not one.seen]
    for number in new:
        edit = {"op": "delete", "class": number, "what": "delete"}
        session.change(msgspec.convert(edit, Kept), final=True, by="")
    visitor = visit(studio)
    page = visitor.page
    open_tab(page, "Balance")
    expect(page.locator("#view-balance .empty")).to_contain_text("A curve needs samples of seen")
    expect(page.locator("#view-balance .curve")).to_be_hidden()
    visitor.screenshot("balance-empty")
    for _ in new:
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.locator("#view-balance .empty")).to_be_hidden()
    expect(page.locator("#view-balance .curve .line")).to_be_visible()
    # The browser itself logs that a curve was refused.
    assert all("409" in text for text in visitor.problems)
    visitor.problems.clear()


def test_any_name_is_a_name(studio, visitor):
    page = visitor.page
    for name in NAMES:
        page.get_by_role("button", name="+ New class").click()
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_role("button", name="Add and watch").click()
        expect(page.locator(".title-input")).to_have_value(name)
        expect(page.locator(".class-item[aria-pressed=true] .name span").first).to_have_text(name)
        for tab in ("Pictures", "Mistakes", "Balance", "Method", "Map"):
            open_tab(page, tab)
        settle(page, studio.session, "canvas.map")
        assert "broken" not in page.title()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    for name in NAMES:
        expect(class_item(page, name)).to_have_count(1)
    assert "broken" not in page.title()


def test_a_class_chosen_takes_the_place_of_the_phrase(studio, visitor):
    page = visitor.page
    page.get_by_role("button", name="Describe a new class").click()
    expect(page.locator(".feedback .good")).to_be_visible()
    like = next(iter(studio.session.kept.described.values()))
    page.get_by_label("Start from").select_option(like.name)
    expect(page.get_by_label("Or in a phrase")).to_have_value("")
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".warnings")).to_contain_text(f"the same description as {like.name}")


def shown_whole(page):
    """Whether all points of the map lie on the canvas, by the colors at its edge."""
    return page.evaluate(
        """() => {
            const canvas = document.querySelector("canvas.map");
            const { width, height } = canvas;
            const context = canvas.getContext("2d");
            const edges = [
                [0, 0, width, 4], [0, height - 4, width, 4],
                [0, 0, 4, height], [width - 4, 0, 4, height],
            ];
            const back = context.getImageData(0, 0, 1, 1).data.join();
            return edges.every((edge) => {
                const { data } = context.getImageData(...edge);
                for (let k = 0; k < data.length; k += 4) {
                    if (data.slice(k, k + 4).join() !== back) return false;
                }
                return true;
            });
        }"""
    )


def test_the_map_shows_all_in_a_smaller_window(studio, visit):
    visitor = visit(studio, viewport={"width": 1500, "height": 1000})
    page = visitor.page
    page.get_by_role("checkbox", name="Pictures").uncheck()
    page.wait_for_timeout(200)
    assert shown_whole(page)
    page.set_viewport_size({"width": 900, "height": 560})
    page.wait_for_timeout(400)
    visitor.screenshot("see-smaller")
    assert shown_whole(page)
    describe(page)
    page.wait_for_timeout(400)
    assert shown_whole(page)


def test_a_notice_is_shown_once_and_can_be_closed(start_studio, visit):
    studio = start_studio()
    object.__setattr__(studio.session.collection, "notice", "2 of 9 files <b>cannot</b> be read.")
    page = visit(studio).page
    notice = page.locator("#notice")
    expect(notice).to_contain_text("2 of 9 files <b>cannot</b> be read.")
    notice.get_by_role("button", name="Close the message").click()
    expect(notice).to_be_hidden()
    describe(page)
    expect(notice).to_be_hidden()
