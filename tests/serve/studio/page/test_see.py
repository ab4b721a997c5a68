"""See: the map, its card and lasso, the grid of thumbnails, the list, the mistakes."""

import csv
import io
import re

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import class_item, legend, open_tab

ROWS = "() => [...document.querySelectorAll('#view-pictures .tile')].map((t) => +t.dataset.row)"


def test_the_first_screen_says_what_to_do(page, visitor):
    expect(page.locator("#intro-text")).to_have_text(
        "These pictures show 12 classes the model never trained on; 3 of them wait for a "
        "description. Describe one in words, and watch its pictures being recognized."
    )
    expect(page.get_by_role("button", name="Describe a new class")).to_be_visible()
    expect(page.locator(".suggestion")).to_contain_text("like ")
    answers = visitor.studio.session.view.answers
    figures = {one["id"]: one for one in answers.by_class()}
    shown = page.locator(".class-item[data-class]").evaluate_all(
        "items => items.map((i) => [+i.dataset.class, i.querySelector('.count').textContent])"
    )
    assert len(shown) == len(figures)
    for number, text in shown:
        assert text == f"{figures[number]['right']} of {figures[number]['count']} right"
    visitor.screenshot("see-first")


def test_the_legend_counts_what_the_map_shows(page, visitor):
    session = visitor.studio.session
    truth = session.truth_ids()
    fresh = [one for one in session.view.state.classes.values() if not one.seen]
    known = np.isin(truth, [one.id for one in fresh if one.described])
    right = known & (session.view.answers.answer == truth)
    waiting = np.isin(truth, [one.id for one in fresh if not one.described])
    assert legend(page) == {
        "right": int(right.sum()),
        "wrong": int((known & ~right).sum()),
        "not described yet": int(waiting.sum()),
    }


@pytest.mark.parametrize("scope", ["new", "test", "all"])
def test_the_panel_of_a_class_counts_as_the_map_and_the_grid(page, visitor, scope):
    session = visitor.studio.session
    page.get_by_label("Show", exact=True).select_option(scope)
    truth, answer = session.truth_ids(), session.view.answers.answer
    fresh = [one.id for one in session.view.state.classes.values() if not one.seen]
    shown = {"all": truth >= 0, "new": np.isin(truth, fresh), "test": session.is_test()}[scope]
    called = {
        number: int((shown & (answer == number) & (truth != number)).sum()) for number in fresh
    }
    number = max(called, key=called.get)
    assert called[number] > 1
    page.locator(f".class-item[data-class='{number}']").click()
    expect(page.locator(".detail.class .result")).to_contain_text("called so")
    counts = re.findall(
        r"(\d+) pictures? of (?:other|another|classes not)", page.locator(".result").inner_text()
    )
    assert sum(map(int, counts)) == called[number]
    on_map = legend(page)
    assert sum(n for text, n in on_map.items() if text.startswith("called")) == called[number]
    open_tab(page, "Pictures")
    expect(page.locator("#view-pictures .toolbar")).to_contain_text(
        f"{sum(on_map.values())} pictures of or answered"
    )


def points_in_sight(page):
    """Where the pictures of new classes are on the map, in pixels, from the server's own map."""
    return page.evaluate(
        """async () => {
            const { unpack } = await import("./page/server.js");
            const { Camera, boundsOf } = await import("./page/scatter.js");
            const load = async (path) => unpack(await (await fetch(path)).arrayBuffer()).arrays;
            const [map, labels] = [await load("api/map?kind=pca"), await load("api/labels")];
            const state = await (await fetch("api/state")).json();
            const seen = new Set(state.classes.filter((c) => c.seen).map((c) => c.id));
            const hidden = labels.truth.map((id) => (seen.has(id) ? 1 : 0));
            const canvas = document.querySelector("canvas.map");
            const camera = new Camera(canvas.clientWidth, canvas.clientHeight);
            camera.fit(boundsOf(map.xy, hidden));
            const box = canvas.getBoundingClientRect();
            return [...hidden.keys()].filter((i) => !hidden[i]).map((i) => {
                const [x, y] = camera.toPixel(map.xy[2 * i], map.xy[2 * i + 1]);
                return [i, x + box.left, y + box.top];
            });
        }"""
    )


def test_a_rest_on_a_point_shows_its_card_and_a_click_its_reasons(page, visitor):
    points = np.array(points_in_sight(page))
    # The loneliest point, so that no other is meant.
    apart = np.linalg.norm(points[:, None, 1:] - points[None, :, 1:], axis=2)
    np.fill_diagonal(apart, np.inf)
    row, x, y = points[apart.min(axis=1).argmax()]
    page.mouse.move(x + 2, y + 2)
    name = visitor.studio.session.collection.names[int(row)]
    expect(page.locator(".hover-card")).to_contain_text(name)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".sample-name")).to_have_text(name)


def alone(points, radius):
    """A point of the map and a direction in which no other is near, even beyond the radius."""
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    for row in range(len(points)):
        others = np.delete(points[:, 1:], row, axis=0)
        for away in np.column_stack([np.cos(angles), np.sin(angles)]):
            spots = points[row, 1:] + np.outer([12, 16], away)
            if np.linalg.norm(spots[:, None] - others, axis=2).min() > radius:
                return points[row, 1:], away
    raise AssertionError("every point has others around it")


def test_a_card_opens_within_14_pixels_after_a_rest_of_an_eighth_of_a_second(page):
    at, away = alone(np.array(points_in_sight(page)), 18)
    card = page.locator(".hover-card")
    page.mouse.move(*(at + 16 * away))
    page.wait_for_timeout(400)
    expect(card).to_be_hidden()
    page.evaluate(
        """() => {
            const card = document.querySelector(".hover-card");
            const moved = () => (window.movedAt = performance.now());
            document.querySelector("canvas.map").addEventListener("pointermove", moved);
            const waited = () => (window.waited = performance.now() - window.movedAt);
            const opened = () => card.hidden || waited();
            new MutationObserver(opened).observe(card, { attributes: true });
        }"""
    )
    page.mouse.move(*(at + 12 * away))
    expect(card).to_be_visible()
    assert 115 < page.evaluate("window.waited") < 600  # 125, and what a busy machine adds
    page.mouse.move(2, 2)
    expect(card).to_be_hidden()


def test_a_lasso_selects_what_it_surrounds_filters_everything_and_exports(page, visitor):
    points = np.array(points_in_sight(page))
    page.get_by_role("button", name="Lasso").click()
    left, right = points[:, 1].min() - 6, np.median(points[:, 1])
    top, bottom = points[:, 2].min() - 6, points[:, 2].max() + 6
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in [(right, top), (right, bottom), (left, bottom), (left, top)]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    inside = points[(points[:, 1] < right - 1), 0].astype(int)
    edge = points[np.abs(points[:, 1] - right) <= 1, 0].astype(int)
    chip = page.locator(".chip b")
    expect(chip).to_be_visible()
    count = int(chip.inner_text().split()[0].replace(",", ""))
    assert len(inside) <= count <= len(inside) + len(edge)
    # The list of classes counts the selection only.
    counts = page.locator(".class-item .count").all_inner_texts()
    shown = sum(int(text.split()[2]) for text in counts if " of " in text)
    assert shown <= count < 400
    visitor.screenshot("see-lasso")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export CSV").click()
    table = list(csv.reader(io.StringIO(download.value.path().read_text("utf-8"))))
    assert len(table) == 1 + count
    names = visitor.studio.session.collection.names
    assert {names[i] for i in inside} <= {cell for line in table[1:] for cell in line}
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".chip")).to_have_count(0)


def test_wheel_drag_and_keys_move_the_map(page):
    canvas = page.locator("canvas.map")
    picture = canvas.evaluate("c => c.toDataURL()")

    def changed(act):
        nonlocal picture
        act()
        page.wait_for_function(
            "before => document.querySelector('canvas.map').toDataURL() !== before", arg=picture
        )
        picture = canvas.evaluate("c => c.toDataURL()")

    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    changed(lambda: page.mouse.wheel(0, -400))
    page.mouse.down()
    changed(lambda: page.mouse.move(x + 90, y + 40, steps=3))
    page.mouse.up()
    canvas.focus()
    changed(lambda: page.keyboard.press("ArrowLeft"))
    changed(lambda: page.keyboard.press("+"))
    changed(lambda: page.keyboard.press("0"))


def test_each_thumbnail_belongs_to_its_row(page, visitor):
    open_tab(page, "Pictures")
    page.get_by_label("Order").select_option("unsure")
    page.wait_for_function(
        "() => { const all = [...document.querySelectorAll('#view-pictures .thumb')];"
        " return all.length > 20 && all.every((c) => c.dataset.drawn === c.dataset.row); }"
    )
    session = visitor.studio.session
    # Means of 12 by 12 patches of some tiles, wherever they stand.
    shown = page.evaluate(
        """() => [...document.querySelectorAll("#view-pictures .tile")]
            .filter((_, k) => k % 5 === 0).slice(0, 16).map((tile) => {
                const context = tile.querySelector("canvas").getContext("2d");
                const pixels = context.getImageData(0, 0, 96, 96).data;
                const means = new Array(8 * 8 * 3).fill(0);
                for (let k = 0; k < 96 * 96; k++) {
                    const patch = 8 * Math.floor(k / 96 / 12) + Math.floor((k % 96) / 12);
                    for (let c = 0; c < 3; c++) means[3 * patch + c] += pixels[4 * k + c] / 144;
                }
                return [+tile.dataset.row, tile.getAttribute("aria-label"), means];
            })"""
    )
    assert len(shown) > 5
    for row, label, means in shown:
        assert label.startswith(session.collection.names[row])
        own = np.asarray(session.collection.picture(row, 96), float)
        patches = own.reshape(8, 12, 8, 12, 3).mean(axis=(1, 3))
        # The picture of the row itself, up to the loss of the JPEG file.
        assert np.abs(np.reshape(means, (8, 8, 3)) - patches).mean() < 4, row
    visitor.screenshot("see-pictures")


def test_the_grid_makes_only_what_is_on_the_screen(page):
    open_tab(page, "Pictures")
    page.get_by_label("Show", exact=True).select_option("all")
    expect(page.locator("#view-pictures .toolbar .muted")).to_have_text("1,680 pictures")
    expect(page.locator('#view-pictures .tile[data-place="0"]')).to_be_visible()  # a frame later
    first = page.evaluate(ROWS)
    assert 20 < len(first) < 250
    page.locator(".grid").evaluate("grid => { grid.scrollTop = grid.scrollHeight; }")
    page.wait_for_function(
        "() => document.querySelector('#view-pictures .tile[data-place=\"1679\"]')"
    )
    last = page.evaluate(ROWS)
    assert len(last) < 250
    assert not set(first) & set(last)


def test_a_cell_of_the_mistakes_shows_its_pictures(page, visitor):
    open_tab(page, "Mistakes")
    worst = page.locator(".mistakes li").first
    truth, answer = worst.get_by_role("button").inner_text().split(" → ")
    count = int(worst.locator(".muted").inner_text().split()[0])
    visitor.screenshot("see-mistakes")
    worst.get_by_role("button").click()
    expect(page.get_by_role("tab", name="Pictures")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#view-pictures .tile")).to_have_count(count)
    for label in page.locator("#view-pictures .tile").evaluate_all(
        "tiles => tiles.map((t) => t.getAttribute('aria-label'))"
    ):
        assert f"answered {answer}" in label
        assert truth in label


def test_a_class_of_the_list_stands_out_on_the_map(page, visitor):
    item = page.locator(".class-item[data-class]").first
    name = item.locator(".name").inner_text()
    right = int(item.locator(".count").inner_text().split()[0])
    class_item(page, name).click()
    expect(item).to_have_attribute("aria-pressed", "true")
    assert legend(page)[f"{name}, recognized"] == right
    expect(page.locator(".title-input")).to_have_value(name)
