"""Understand: the card of a picture, its ranked classes, bars that sum, and what if."""

import re

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import choose_method, open_tab, percent


def open_mistake(page):
    """Open the card of a picture that got a wrong answer; return its row."""
    open_tab(page, "Pictures")
    page.get_by_label("Order").select_option("wrong")
    tile = page.locator("#view-pictures .tile.is-wrong").first
    row = int(tile.get_attribute("data-row"))
    tile.click()
    expect(page.locator(".bars")).to_be_visible()
    return row


def test_the_card_names_both_classes_and_its_bars_sum_to_the_difference(page, visitor):
    row = open_mistake(page)
    session = visitor.studio.session
    state = session.view.state
    truth = state.classes[int(session.truth_ids()[row])]
    given = state.classes[int(session.view.answers.answer[row])]
    expect(page.locator(".verdict")).to_contain_text(f"✗ {given.name} – it is {truth.name}")
    ranked = page.locator(".ranking li button").all_inner_texts()
    assert ranked[0] == given.name
    assert 5 <= len(ranked) <= 6
    card = session.probabilities(session.board().biased(session.bias())[row])
    shown = page.locator(".ranking .number").all_inner_texts()
    best = f"{100 * card.max():.0f} %" if card.max() < 0.995 else "> 99 %"
    assert shown[0] == best
    assert all(text.endswith(" %") for text in shown)
    expect(page.locator(".detail.card h3 .hint").first).to_contain_text(f"{given.name} ")
    expect(page.locator(".ranking li.own")).to_contain_text(truth.name)

    shown = page.locator(".bars li").evaluate_all("bars => bars.map((b) => +b.dataset.difference)")
    board = session.board()
    own = board.biased(session.bias())[row]
    places = board.ids.tolist()
    difference = own[places.index(given.id)] - own[places.index(truth.id)]
    assert sum(shown) == pytest.approx(difference, rel=1e-4)
    # In plain words their shares; the scores are behind the question mark.
    weighed = sum(abs(part) for part in shown)
    favor = sum(part for part in shown if part > 0) / weighed
    assert page.locator(".sum").inner_text().startswith(f"Together {100 * favor:.0f} % speak for")
    parts = page.locator(".bars .number").all_inner_texts()
    for text, part in zip(parts, shown, strict=True):
        assert text == "< 1 %" or percent(text) == pytest.approx(
            100 * abs(part) / weighed, abs=0.51
        )
    scores = page.locator(".sum .hint p").text_content()
    assert re.search(rf"together {re.escape(f'{difference:+.1f}'.replace('-', '−'))}\d*\.", scores)
    # Every bar says which of the two classes has the trait.
    texts = page.locator(".bars .who").all_inner_texts()
    assert texts
    assert all("ha" in text or "lack" in text for text in texts)
    visitor.screenshot("understand-card")


def test_the_answer_is_compared_with_any_class(page, visitor):
    row = open_mistake(page)
    state = visitor.studio.session.view.state
    other = next(one for one in state.classes.values() if one.seen)
    page.get_by_label("compared with").select_option(other.name)
    expect(page.locator(".sides")).to_contain_text(f"for {other.name}")
    board = visitor.studio.session.board()
    own = board.biased(visitor.studio.session.bias())[row]
    given = int(visitor.studio.session.view.answers.answer[row])
    places = board.ids.tolist()
    difference = own[places.index(given)] - own[places.index(other.id)]
    shown = page.locator(".bars li").evaluate_all("bars => bars.map((b) => +b.dataset.difference)")
    assert sum(shown) == pytest.approx(difference, rel=1e-4)


def test_a_corrected_attribute_changes_the_answer_of_this_picture_only(page, visitor):
    choose_method(page, visitor.studio.session, "SAE (decoder)")
    row = open_mistake(page)
    before = page.locator(".verdict b").inner_text()
    answers = visitor.studio.session.view.answers.answer.copy()
    for control in page.locator(".intervene input[type=range]").all():
        # What spoke most for the given answer is taken to its other end.
        low, high, now = control.evaluate("e => [+e.min, +e.max, +e.value]")
        end = low if now > (low + high) / 2 else high
        control.evaluate(
            "(e, value) => { e.value = value; e.dispatchEvent(new Event('input')); }", end
        )
    expect(page.locator(".verdict b")).not_to_have_text(before)
    expect(page.locator(".verdict")).to_contain_text("as corrected")
    expect(page.locator(".reasons")).to_have_class("reasons before")
    visitor.screenshot("understand-what-if")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".verdict b")).to_have_text(before)
    expect(page.locator(".reasons")).to_have_class("reasons")
    assert (visitor.studio.session.view.answers.answer == answers).all()
    assert row < len(answers)
