"""Describe: a class with no training picture appears and is recognized while a slider moves."""

import msgspec
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import (
    class_item,
    describe,
    legend,
    move,
    percent,
    slider,
    wait_until,
)
from zslearn.serve.studio.edits import Kept


def figures(visitor, name):
    """What the server says of a class."""
    session = visitor.studio.session
    one = session.view.state.class_called(name)
    return next(each for each in session.view.answers.by_class() if each["id"] == one.id)


def test_a_newcomer_describes_a_class_and_sees_its_accuracy(page, visitor):
    name = describe(page)
    found = figures(visitor, name)
    assert found["accuracy"] > 0.5  # a class the model never trained on
    expect(page.locator(".score b")).to_have_text(f"{100 * found['accuracy']:.0f} %")
    expect(page.locator("#intro")).to_be_hidden()
    assert percent(class_item(page, name).locator(".accuracy").inner_text()) > 50
    expect(page.locator(".strip .tile")).to_have_count(12)
    assert legend(page)[f"{name}, recognized"] == found["right"]
    visitor.screenshot("describe-phrase")


def test_like_another_class_then_sliders_answer_while_they_move(page, visitor):
    state = visitor.studio.session.view.state
    waiting = next(one for one in state.classes.values() if not one.described)
    words = waiting.name.split()
    shared = lambda one: len(set(one.name.split()) & set(words))  # noqa: E731
    near = max((one for one in state.classes.values() if one.described), key=shared)
    class_item(page, waiting.name).click()
    page.get_by_label("Or in a phrase").fill("")
    page.get_by_label("Start from").select_option(near.name)
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".title-input")).to_have_value(waiting.name)
    before = figures(visitor, waiting.name)["right"]

    edits = []
    page.on("request", lambda r: edits.append(r.post_data_json) if "/edits" in r.url else None)
    for word in set(near.name.split()) - set(words):
        move(slider(page, word), 0)
    for word in set(words) - set(near.name.split()):
        move(slider(page, word), 1)
    found = lambda: figures(visitor, waiting.name)  # noqa: E731
    page.wait_for_function("() => document.querySelector('#announcements').textContent")
    wait_until(page, lambda: edits[-1]["final"])
    expect(page.locator(".score")).to_contain_text(f"{found()['right']} of its {found()['count']}")
    assert found()["right"] > max(before, found()["count"] / 2)
    # On the way without a button, and kept at the end.
    assert any(edit["final"] is False for edit in edits)
    assert edits[-1]["final"] is True
    expect(page.locator("#announcements")).to_contain_text(f"{waiting.name}: ")
    visitor.screenshot("describe-sliders")


def test_a_phrase_is_told_back_as_it_is_typed(page):
    page.get_by_role("button", name="Describe a new class").click()
    page.get_by_label("Or in a phrase").fill("like small dotted orange star, but blue, flurby")
    expect(page.locator(".feedback .good")).to_contain_text("like small dotted orange star")
    expect(page.locator(".feedback .good")).to_contain_text("blue")
    expect(page.locator(".feedback .bad")).to_contain_text("“flurby” is no attribute")


def test_what_may_be_meant_is_offered_and_written_by_a_click_only(page, visitor):
    name = page.get_by_role("button", name="Describe a new class")
    name.click()
    phrase = page.get_by_label("Or in a phrase")
    phrase.fill("like smal dotted orange star, but ringg")
    offered = page.locator(".odd-word").filter(has_text="ringg").get_by_role("button", name="ring")
    expect(offered).to_be_visible()
    expect(phrase).to_have_value("like smal dotted orange star, but ringg")
    visitor.screenshot("describe-suggestions")
    offered.click()
    expect(phrase).to_have_value("like smal dotted orange star, but ring")
    expect(page.locator(".feedback .good")).to_contain_text("ring")

    expect(page.locator(".odd-word")).to_have_count(1)
    page.locator(".odd-word").filter(has_text="smal").get_by_role("button").first.click()
    expect(page.locator(".odd-word")).to_have_count(0)


def test_warnings_of_a_copy_and_a_mark_at_a_value_never_seen(page, visitor):
    describe(page)
    page.locator(".class-item[data-class]").nth(3).click()
    name = page.locator(".title-input").input_value()
    page.get_by_role("button", name="+ New class").click()
    page.get_by_label("Name", exact=True).fill("twin")
    page.get_by_label("Start from").select_option(name)
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".warnings")).to_contain_text(name)
    # Sliders stay inside of the range; a value from elsewhere is marked.
    control = slider(page, "red")
    assert (control.get_attribute("min"), control.get_attribute("max")) == ("0", "1")
    line = page.locator(".slider").filter(has=page.get_by_role("slider", name="red", exact=True))
    assert line.locator(".end").all_inner_texts() == ["no", "yes"]
    session = visitor.studio.session
    twin = session.kept.class_called("twin")
    row = twin.row.copy()
    row[list(session.collection.signatures.dimensions).index("red")] = 1.15
    edit = {"op": "row", "class": twin.id, "row": row.tolist(), "what": "change twin"}
    session.change(msgspec.convert(edit, Kept), final=True, by="")
    expect(page.locator(".slider.outside")).to_have_count(1)


def test_rename_delete_undo_and_redo(page, visitor):
    name = describe(page)
    state = lambda: visitor.studio.session.view.state  # noqa: E731
    field = page.locator(".title-input")
    field.fill("my own star")
    field.press("Enter")
    expect(class_item(page, "my own star")).to_be_visible()
    page.get_by_role("button", name="Delete class").click()
    expect(class_item(page, "my own star").locator(".accuracy")).not_to_contain_text("%")
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(class_item(page, "my own star").locator(".accuracy")).to_contain_text("%")
    page.keyboard.press("Control+z")
    expect(class_item(page, name).locator(".accuracy")).to_contain_text("%")
    page.keyboard.press("Control+Shift+z")
    expect(class_item(page, "my own star").locator(".accuracy")).to_contain_text("%")
    assert state().class_called("my own star").added
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(class_item(page, name).locator(".accuracy")).to_have_text("Describe")
    expect(page.locator("#intro")).to_be_visible()


def test_undo_moves_the_slider_back(page, visitor):
    name = describe(page)
    before = slider(page, "blue").input_value()
    move(slider(page, "blue"), 0.8)
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.wait_for_function("() => document.querySelector('#announcements').textContent")
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(slider(page, "blue")).to_have_value(before)
    row = visitor.studio.session.view.state.class_called(name).row
    assert row[list(visitor.studio.session.collection.signatures.dimensions).index("blue")] == 0


def test_the_keyboard_alone_describes_a_class(page, visitor):
    button = page.get_by_role("button", name="Describe a new class")
    for _ in range(12):
        page.keyboard.press("Tab")
        if button.evaluate("b => b === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    name = page.get_by_label("Name", exact=True).input_value()
    page.keyboard.press("Enter")
    expect(page.locator(".title-input")).to_have_value(name)
    control = slider(page, "purple")
    control.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#announcements")).to_contain_text(f"{name}: ")
    assert float(control.input_value()) > 0


def test_a_slider_reaches_both_ends_of_the_range_exactly(page, studio):
    name = describe(page)
    place = studio.session.collection.signatures.dimensions.index("purple")
    kept = []
    for value in (1, 0):
        move(slider(page, "purple"), value)
        line = page.locator(".slider").filter(has=page.get_by_role("slider", name="purple"))
        expect(line.locator("output")).to_have_text(f"{100 * value} %")
        expect(page.locator("#announcements")).to_contain_text(name)
        page.wait_for_timeout(300)
        kept.append(studio.session.kept.class_called(name).row[place])
    assert kept == [1, 0]
