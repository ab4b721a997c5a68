"""Texts on the page: tiles to read, the map below the pointer, a class by a sentence."""

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("tokenizers", reason="the extra text is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import class_item, legend, open_tab
from zslearn.encoders import TextEncoder
from zslearn.signatures import Signatures

WAYS = [
    "{}",
    "Hello, {}",
    "{} Please help.",
    "{} Thanks!",
    "I have a question. {}",
    "{} It is urgent.",
]
TICKETS = {
    "card_arrival": ["Where is my new card?", "My card has not come yet."],
    "refund": ["I want my money back.", "When do I get the refund for the shoes?"],
    "forgotten_pin": ["I forgot my PIN.", "How do I get another PIN?"],
    "exchange_rate": ["Which exchange rate do you use?", "Why was the rate of euros so bad?"],
    "top_up": ["How do I add money to my account?", "My top up by card failed."],
}
LONG = "I have been waiting for my card for weeks. " * 12


@pytest.fixture
def tickets(tmp_path):
    """A table of texts with their categories."""
    lines = ["text,category"]
    for name, texts in TICKETS.items():
        lines += [f'"{way.format(text)}",{name}' for text in texts for way in WAYS]
    lines += [f'"{LONG}",card_arrival', '" ",refund']
    (tmp_path / "tickets.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "tickets.csv"


@pytest.fixture
def opened(tickets, start_studio):
    return start_studio(data=str(tickets), text="text", labels="category")


def test_texts_are_read_where_pictures_are_seen(opened, visit):
    visitor = visit(opened)
    page, collection = visitor.page, opened.session.collection
    assert collection.n == 61
    expect(page.locator("#about")).to_contain_text("61 texts")
    expect(page.locator("#notice")).to_contain_text("1 of 62 texts cannot be encoded")
    page.get_by_role("button", name="Close the message").click()
    expect(page.get_by_role("tab", name="Pictures")).to_have_count(0)
    open_tab(page, "Texts")
    tile = page.locator(".grid .tile").first
    expect(tile.locator(".text-tile")).to_be_visible()
    visitor.screenshot("texts-tiles")
    row = int(tile.get_attribute("data-row"))
    expect(tile).to_contain_text(collection.texts[row][:30])
    # Tiles stand beside each other, and do not lie on each other.
    boxes = [one.bounding_box() for one in page.locator(".grid .tile").all()[:6]]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    tile.click()
    expect(page.locator(".whole-text")).to_have_text(collection.texts[row].strip())
    expect(page.locator(".sample-name")).to_have_text(f"text {collection.names[row]}")
    visitor.screenshot("texts-card")
    for place in ("[role=tabpanel]:not([hidden])", "#classes", "#about"):
        expect(page.locator(place)).not_to_contain_text("picture")


def test_a_long_text_is_whole_on_its_card_alone(opened, visit):
    visitor = visit(opened)
    page = visitor.page
    row = next(
        i for i, text in enumerate(opened.session.collection.texts) if text.strip() == LONG.strip()
    )
    open_tab(page, "Texts")
    page.locator(f".grid .tile[data-row='{row}']").click()
    assert page.locator(".whole-text").inner_text().count("weeks") == 12
    assert "…" in page.locator(f".grid .tile[data-row='{row}']").inner_text()
    visitor.screenshot("texts-long")


def test_the_map_shows_the_text_below_the_pointer(opened, visit):
    visitor = visit(opened)
    page = visitor.page
    box = page.locator("canvas.map").bounding_box()
    card = page.locator(".hover-card")
    for x, y in np.random.default_rng(0).uniform(0.1, 0.9, (400, 2)):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        if "over" in page.locator("canvas.map").get_attribute("class"):
            break
    expect(card).to_be_visible()
    shown = card.locator(".hover-text").inner_text()
    assert any(text.strip().startswith(shown[:30]) for text in opened.session.collection.texts)
    visitor.screenshot("texts-map")


def test_a_class_is_described_by_a_sentence(opened, visit):
    visitor = visit(opened)
    page, session = visitor.page, opened.session
    page.get_by_role("button", name="+ New class").click()
    expect(page.locator("body")).to_contain_text("say in a sentence what they are about")
    page.get_by_label("Name", exact=True).fill("shoes")
    page.get_by_label("Or in words").fill("A question about shoes that were bought")
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".title-input")).to_have_value("shoes")
    rows = {one.name: one.row for one in session.kept.described.values()}
    words = {"shoes": "A question about shoes that were bought"}
    by_hand = Signatures.from_texts(words, TextEncoder())["shoes"]
    np.testing.assert_allclose(rows["shoes"], by_hand, atol=1e-6)
    expect(class_item(page, "shoes")).to_be_visible()
    # The words are there to be changed, and nothing is told of what there is none.
    expect(page.get_by_label("Describe it in other words")).to_have_value(words["shoes"])
    assert list(legend(page)) == ["called shoes"]
    visitor.screenshot("texts-new-class")


PASTE = """(text) => {
    const transfer = new DataTransfer();
    transfer.setData("text/plain", text);
    const options = { clipboardData: transfer, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new ClipboardEvent("paste", options));
}"""


def test_a_text_that_is_pasted_is_named_with_reasons_and_taught(opened, visit):
    visitor = visit(opened)
    page, session = visitor.page, opened.session
    page.evaluate(PASTE, "Please tell me where my new card is.")
    expect(page.locator(".verdict b")).to_have_text("card_arrival")
    expect(page.locator(".ranking li")).to_have_count(5)
    visitor.screenshot("texts-paste")
    page.get_by_label("This text is a").fill("lost letters")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".title-input")).to_have_value("lost letters")
    assert session.kept.class_called("lost letters").alone
    # A written one: by the button, and by keys.
    page.get_by_role("button", name="Name a text …").press("Enter")
    page.get_by_label("Write or paste it").fill("Tell me where my new card is, please.")
    page.get_by_role("button", name="Name it").press("Enter")
    expect(page.locator(".whole-text")).to_have_text("Tell me where my new card is, please.")
    expect(page.locator(".ranking li").first).to_contain_text("%")
