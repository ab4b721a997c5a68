"""Manners: contrast, names of controls, focus, phones, dark, and nobody else is asked."""

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import choose_method, describe, open_tab

TABS = ("Map", "Pictures", "Mistakes", "Balance", "Method")

# Every text with its color and the color behind it; where a picture is behind, it is left out.
CONTRAST = """() => {
    const parse = (text) => {
        const found = text.match(/[\\d.]+/g).map(Number);
        return found.length < 4 ? [...found, 1] : found;
    };
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const color = parse(getComputedStyle(e).backgroundColor);
            if (color[3] === 1) return color;
        }
        return [255, 255, 255, 1];
    };
    const wrong = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || !element.checkVisibility()) continue;
        if (element.closest(".unseen, .skip, noscript, option, :disabled")) continue;
        const style = getComputedStyle(element);
        const front = parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
        const [a, b] = [light(front), light(behind(element))].sort((p, q) => q - p);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) wrong.push([text.slice(0, 40), ratio.toFixed(2)]);
    }
    return wrong;
}"""

# Controls without a name that a screen reader can say.
NAMELESS = """() => [...document.querySelectorAll(
        "button, a[href], input, select, textarea, [role=slider], [tabindex='0']")]
    .filter((e) => e.checkVisibility())
    .filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby")
        || e.labels?.length || e.textContent.trim()))
    .map((e) => e.outerHTML.slice(0, 120))"""

SMALL = """() => [...document.querySelectorAll("button, select, [role=tab]")]
    .filter((e) => e.checkVisibility() && !e.closest(".matrix"))
    .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 100)])
    .filter(([box]) => box.height < 24 || box.width < 24).map(([, text]) => text)"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_and_every_control_has_a_name(visit, studio, theme):
    page = visit(studio, color_scheme=theme).page
    choose_method(page, studio.session, "SAE (decoder)")
    for tab in TABS:
        open_tab(page, tab)
        if tab in ("Balance", "Method"):
            expect(page.locator("[role=tabpanel]:visible .curve .line").first).to_be_visible()
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(SMALL) == []
    describe(page)
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    open_tab(page, "Pictures")
    page.locator("#view-pictures .tile").first.click()
    expect(page.locator(".ranking")).to_be_visible()
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    page.get_by_role("button", name="Save & share").click()
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []


@pytest.mark.parametrize("width", [360, 390, 800])
def test_nothing_is_wider_than_the_screen(visit, studio, width):
    visitor = visit(studio, viewport={"width": width, "height": 760}, has_touch=width < 500)
    page = visitor.page
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for tab in TABS:
        open_tab(page, tab)
        assert page.evaluate(wide) == 0, tab
    visitor.screenshot(f"manners-{width}")
    open_tab(page, "Map")
    describe(page)
    assert page.evaluate(wide) == 0
    # The map stays in sight beside or above the sliders, so that one sees what they do.
    box = page.locator("canvas.map").bounding_box()
    details = page.locator("#details").bounding_box()
    assert box["height"] > 90
    assert box["y"] >= 0
    assert details["y"] > box["y"] + 60 or details["x"] + details["width"] <= box["x"] + 1
    visitor.screenshot(f"manners-{width}-describe")


def test_the_focus_walks_in_reading_order_and_is_seen(page):
    places = []
    for _ in range(14):
        page.keyboard.press("Tab")
        places.append(
            page.evaluate(
                """() => {
                    const e = document.activeElement;
                    const style = getComputedStyle(e);
                    return [e.id || e.className || e.tagName,
                        style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
                }"""
            )
        )
    assert all(outlined for _, outlined in places), places
    names = [name for name, _ in places]
    assert names[:2] == ["skip", "keep"]  # nothing can be undone yet
    assert names.index("describe") < names.index("search")


def test_the_tabs_are_walked_by_arrow_keys(page):
    page.get_by_role("tab", name="Map").focus()
    for name in ("Pictures", "Mistakes", "Balance", "Method", "Map"):
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name=name)).to_be_focused()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")


def test_without_the_cookie_the_door_stays_closed(browser, studio):
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(f"{studio.origin}/studio/")
    assert answer.status == 401
    assert context.request.get(f"{studio.origin}/studio/api/state").status == 401
    context.close()


def test_nobody_else_is_asked_and_the_page_may_run_no_foreign_code(page, visitor):
    """The fixture stops and reports every request to another host; all views are opened here."""
    for tab in TABS:
        open_tab(page, tab)
    describe(page)
    policy = page.request.get(f"{visitor.studio.origin}/studio/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert visitor.elsewhere == []
