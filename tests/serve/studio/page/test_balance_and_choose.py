"""Balance: the curve and its handle. Choose: λ, the method, two methods side by side."""

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import choose_method, open_tab, settle


def tile(page, name):
    box = page.locator("#view-balance .tiles div").filter(has=page.get_by_text(name, exact=True))
    return box.locator("dd")


def sets_bias(request, bias):
    """Whether a request asks for a balance, and for this one."""
    edit = request.post_data_json if request.method == "POST" else {}
    return edit.get("op") == "balance" and edit["bias"] == pytest.approx(bias, rel=1e-4)


def sets_threshold(request, sure):
    """Whether a request asks for this threshold, for good."""
    edit = request.post_data_json if request.method == "POST" else {}
    return edit.get("op") == "reject" and edit["final"] and edit["sure"] == sure


def handle(page, view):
    return page.locator(f"#view-{view}").get_by_role("slider").first


def test_the_handle_trades_trained_for_new_classes_by_keys(page, visitor):
    open_tab(page, "Balance")
    grip = handle(page, "balance")
    expect(page.locator("#view-balance .point")).to_have_count(2)
    expect(page.locator("#view-balance .point.diamond")).to_contain_text("chosen")
    expect(page.locator("#view-balance .point.triangle")).to_contain_text("best possible")
    session = visitor.studio.session
    visitor.screenshot("balance")
    grip.focus()
    page.keyboard.press("End")
    one_end = grip.get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    expect(grip).not_to_have_attribute("aria-valuetext", one_end)
    page.keyboard.press("PageUp")
    expect(page.locator("#announcements")).to_contain_text("new classes")
    page.wait_for_function("() => document.querySelector('#undo').disabled === false")
    chosen = session.fitted(session.view.state.method).bias
    with page.expect_response(lambda answer: sets_bias(answer.request, chosen)):
        page.get_by_role("button", name="Use the chosen balance").click()
    summary = session.view.answers.summary
    expect(tile(page, "Trained classes")).to_have_text(f"{100 * summary['seen']:.1f} %")
    expect(tile(page, "New classes")).to_have_text(f"{100 * summary['unseen']:.1f} %")
    expect(tile(page, "Both together")).to_have_text(f"{100 * summary['h']:.1f} %")


def test_the_handle_is_dragged_along_the_curve(page, visitor):
    open_tab(page, "Balance")
    grip = handle(page, "balance")
    expect(page.locator("#view-balance .point")).to_have_count(2)
    box = grip.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 200, steps=6)
    page.mouse.up()
    expect(page.locator("#announcements")).to_contain_text("new classes")
    session = visitor.studio.session
    expect(page.locator("#view-balance dd").nth(1)).to_have_text(
        f"{100 * session.view.answers.summary['unseen']:.1f} %"
    )
    # Down and to the right: trained classes win.
    assert session.view.answers.summary["seen"] > session.view.answers.summary["unseen"]


def test_a_threshold_leaves_pictures_without_an_answer(page, visitor):
    open_tab(page, "Balance")
    said = page.locator(".rejection output.wide")
    expect(said).to_contain_text("off")
    page.get_by_label("Leave a picture without an answer").check()
    control = page.get_by_label("How sure it must be")
    expect(control).to_be_enabled()
    # Checking the box announces "without an answer" as well, so the answer itself is waited for.
    with page.expect_response(lambda answer: sets_threshold(answer.request, 0.5)):
        control.evaluate(
            "e => { e.value = 0.5;"
            " e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); }"
        )
    expect(page.locator("#announcements")).to_contain_text("without an answer")
    rejected = visitor.studio.session.view.answers.summary["n_rejected"]
    assert rejected > 0
    expect(said).to_contain_text(f"{rejected:,} test pictures without an answer; of the others")
    sure = visitor.studio.session.sureness()
    test = ~visitor.studio.session.collection.train
    assert rejected == (sure[test] < 0.5).sum()
    visitor.screenshot("balance-none")
    open_tab(page, "Map")
    expect(page.locator("#view-map .legend")).to_contain_text("none of these")


def test_lambda_is_moved_on_its_curve(page, visitor):
    choose_method(page, visitor.studio.session, "SAE (decoder)")
    open_tab(page, "Method")
    grip = handle(page, "choose")
    expect(page.locator("#view-choose .line")).to_have_count(2)
    expect(page.locator("#view-choose .point")).to_have_count(2)
    before = visitor.studio.session.view.answers.answer.copy()
    grip.focus()
    page.keyboard.press("Home")
    expect(page.locator("#announcements")).to_contain_text("λ ")
    assert not np.array_equal(before, visitor.studio.session.view.answers.answer)
    visitor.screenshot("choose-lambda")


def test_two_methods_stand_side_by_side_and_their_disagreement_opens(page, visitor):
    open_tab(page, "Method")
    page.get_by_label("ESZSL").check()
    expect(page.locator("#about")).to_contain_text("ESZSL")
    expect(page.locator(".lam")).to_contain_text("no λ")
    page.get_by_label("Compare with").select_option("SAE (decoder)")
    expect(page.locator(".versus")).to_be_visible()
    session = visitor.studio.session
    settle(page, session, ".side-by-side")
    cells = page.locator(".versus tbody tr").first.locator("td").all_inner_texts()
    summaries = [session.view.answers.summary, session.view.two.summary]
    assert cells == [f"{100 * one['unseen']:.1f} %" for one in summaries]
    counts = {
        item.locator("button").inner_text(): int(item.locator(".muted").inner_text().split()[0])
        for item in page.locator(".agreement li").all()
    }
    visitor.screenshot("choose-two")
    truth = session.truth_ids()
    fresh = [one.id for one in session.view.state.classes.values() if not one.seen]
    rows = np.isin(truth, fresh)
    first = session.view.answers.answer == truth
    second = session.view.two.answer == truth
    assert counts["Both are right"] == int((rows & first & second).sum())
    only = int((rows & first & ~second).sum())
    assert counts["Only ESZSL is right"] == only
    page.get_by_role("button", name="Only ESZSL is right").click()
    expect(page.locator(".chip b")).to_have_text(f"{only} selected")


def test_what_is_learned_in_the_background_is_no_effect_of_an_edit(page, visitor):
    """A balance that is learned later moves the figures, but nobody has edited anything."""
    session = visitor.studio.session
    choose_method(page, session, "SAE (encoder)")
    learned = session.view.answers.summary["unseen"]
    expect(page.locator("#classes .tiles dd").first).to_have_text(f"{100 * learned:.0f} %")
    expect(page.locator("#classes .tiles .change")).to_have_count(0)
