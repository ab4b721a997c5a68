"""The six activities by fingers on a phone, and by keys alone."""

from itertools import pairwise

import pytest

from tests.serve.studio.page.people import (
    choose_method,
    describe,
    legend,
    open_tab,
    slider,
    wait_until,
)

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright")
expect = playwright.expect


class Fingers:
    """Fingers on the glass, as the browser hears of them."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)

    def _send(self, kind, points):
        touches = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def draw(self, *paths):
        """Move one finger along each path, all at once."""
        self._send("touchStart", [path[0] for path in paths])
        for points in list(zip(*paths, strict=True))[1:]:
            self._send("touchMove", points)
        self._send("touchEnd", [])


def line(start, end, steps=8):
    parts = [k / steps for k in range(steps + 1)]
    return [tuple(a + part * (b - a) for a, b in zip(start, end, strict=True)) for part in parts]


def middle(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture
def phone(visit, studio):
    return visit(
        studio,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        device_scale_factor=2,
    ).page


def test_a_finger_moves_the_map_and_two_zoom_it(phone):
    canvas, fingers = phone.locator("canvas.map"), Fingers(phone)
    x, y = middle(canvas)

    def changed(act):
        before = canvas.evaluate("c => c.toDataURL()")
        act()
        phone.wait_for_function(
            "before => document.querySelector('canvas.map').toDataURL() !== before", arg=before
        )

    changed(lambda: fingers.draw(line((x, y), (x + 80, y + 30))))
    changed(
        lambda: fingers.draw(
            line((x - 20, y), (x - 110, y)),
            line((x + 20, y), (x + 110, y)),
        )
    )
    # Moving and zooming choose nothing.
    assert "with-details" not in (phone.locator("body").get_attribute("class") or "")
    changed(lambda: phone.get_by_role("button", name="Show all").tap())
    phone.get_by_role("button", name="Lasso").tap()
    box = canvas.bounding_box()
    left, top = box["x"] + 4, box["y"] + 4
    right, bottom = left + box["width"] - 8, top + box["height"] - 8
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    path = [point for a, b in pairwise(corners) for point in line(a, b, 4)]
    fingers.draw(path)
    expect(phone.locator(".chip b")).to_have_text(f"{sum(legend(phone).values())} selected")


def test_a_class_is_described_and_tuned_by_touch(phone, studio):
    phone.get_by_role("button", name="Describe a new class").tap()
    phone.get_by_role("button", name="Add and watch").tap()
    expect(phone.locator(".score b")).to_contain_text("%")
    control = slider(phone, "purple")
    control.scroll_into_view_if_needed()
    before = float(control.input_value())
    box = control.bounding_box()
    y = box["y"] + box["height"] / 2
    start = box["x"] + 0.12 * box["width"]
    Fingers(phone).draw(line((start, y), (box["x"] + 0.8 * box["width"], y)))
    expect(phone.locator("#announcements")).to_contain_text("%")
    assert float(control.input_value()) > before + 0.3
    place = studio.session.collection.signatures.dimensions.index("purple")
    added = next(one for one in studio.session.kept.classes.values() if one.added)
    assert added.row[place] > before + 0.3


def test_a_picture_is_understood_and_the_balance_moved_by_touch(phone, studio):
    open_tab(phone, "Pictures")
    phone.locator("#view-pictures .tile").first.tap()
    expect(phone.locator(".ranking")).to_be_visible()
    phone.get_by_role("button", name="Close the details").tap()
    open_tab(phone, "Balance")
    handle = phone.locator("#view-balance .handle")
    handle.scroll_into_view_if_needed()
    x, y = middle(handle)
    before = studio.session.bias()
    Fingers(phone).draw(line((x, y), (x + 40, y + 130)))
    expect(phone.locator("#announcements")).to_contain_text("new classes")
    assert studio.session.bias() < before


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_keys_alone_see_understand_choose_and_keep(page, studio):
    session = studio.session
    choose_method(page, session, "SAE (decoder)")  # it encodes, so that values can be corrected
    before = session.kept.method
    # Understand: into the grid, along it, and a card with its sliders.
    page.get_by_role("tab", name="Map").focus()
    press(page, "ArrowRight", "Tab")
    for _ in range(8):
        if page.evaluate("document.activeElement.closest('.grid') !== null"):
            break
        press(page, "Tab")
    press(page, "ArrowRight", "ArrowDown", "Enter")
    expect(page.locator(".ranking")).to_be_visible()
    wanted = page.locator(".intervene input[type=range]").first
    wanted.focus()
    ranks = page.locator(".ranking").inner_text()
    press(page, *["End"])
    expect(page.locator(".ranking")).not_to_have_text(ranks)
    # Choose: another method by an arrow key.
    page.get_by_role("tab", name="Pictures").focus()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight")
    chosen = page.locator(".methods input:checked")
    chosen.focus()
    press(page, "ArrowDown")
    wait_until(page, lambda: session.kept.method != before)
    press(page, "Control+z")
    wait_until(page, lambda: session.kept.method == before)
    # Keep: the dialog takes the focus and gives it back.
    page.locator("#keep").focus()
    press(page, "Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#keep")).to_be_focused()


def test_undo_brings_a_deleted_class_back_by_keys(page):
    name = describe(page)
    page.get_by_role("button", name="Delete class").focus()
    press(page, "Enter")
    expect(page.locator("#announcements")).to_contain_text(f"{name} deleted")
    press(page, "Control+z")
    expect(page.locator(".class-item .name span").filter(has_text=name).first).to_be_visible()
    press(page, "Control+Shift+z")
    expect(page.locator(".class-item.waiting").filter(has_text=name)).to_be_visible()
