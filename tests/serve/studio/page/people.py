"""What a person does on the page, in steps that several tests share."""

import re

from playwright.sync_api import expect


def open_tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()
    expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute(
        "aria-selected", "true"
    )


def choose_method(page, session, name):
    """Answer by another method, and come back to the map."""
    open_tab(page, "Method")
    page.get_by_label(name, exact=True).check()
    expect(page.locator("#about")).to_contain_text(name)
    open_tab(page, "Map")
    settle(page, session, "canvas.map")


def settle(page, session, shown):
    """Wait until what is learned in the background is learned, and shown."""
    session.wait()
    page.wait_for_function(
        "([shown, revision]) => document.querySelector(shown)?.dataset.painted === revision",
        arg=[shown, str(session.view.revision)],
    )


def describe(page, phrase=None):
    """Describe what the page suggests, or with another phrase; return the name of the class."""
    page.get_by_role("button", name="Describe a new class").click()
    name = page.get_by_label("Name", exact=True).input_value()
    if phrase is not None:
        page.get_by_label("Or in a phrase").fill(phrase)
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".title-input")).to_have_value(name)
    return name


def slider(page, name):
    return page.locator(".detail.class").get_by_role("slider", name=name, exact=True)


def move(control, value):
    """Move a slider as a hand does: input events on the way, one change at the end."""
    control.evaluate(
        """(element, value) => {
            for (const part of [0.3, 0.7, 1]) {
                element.value = String(Number(element.value) + part * (value - element.value));
                element.dispatchEvent(new Event("input", { bubbles: true }));
            }
            element.dispatchEvent(new Event("change", { bubbles: true }));
        }""",
        value,
    )


def percent(text):
    """The first percentage in a text."""
    return int(re.search(r"(\d+) %", text)[1])


def class_item(page, name):
    return page.locator(".class-item").filter(has=page.get_by_text(name, exact=True))


def legend(page):
    """Counts below the map, by what they are."""
    items = page.locator("#view-map .legend li").all_inner_texts()
    found = [re.match(r"(.*?)\s+([\d,]+)$", item.strip(), flags=re.S) for item in items]
    return {match[1].strip(): int(match[2].replace(",", "")) for match in found}


def wait_until(page, holds, seconds=20):
    """Let the page go on until something outside of it holds."""
    for _ in range(20 * seconds):
        if holds():
            return
        page.wait_for_timeout(50)
    raise AssertionError("it did not happen")
