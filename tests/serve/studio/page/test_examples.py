"""A photograph dropped on the page, examples, what to label next, and the model of it all."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("onnxruntime", reason="the extra images is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import class_item, describe, legend, move, slider, wait_until
from zslearn.encoders.pictures import encode_picture
from zslearn.serve.studio.collection import draw_shape

RING = "small dotted orange ring"
DROP = """([name, content]) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], name, { type: "image/jpeg" }));
    for (const kind of ["dragenter", "dragover"])
        document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true }));
    const veiled = !document.querySelector(".veil").hidden;
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
    return veiled;
}"""


@pytest.fixture
def photos(tmp_path):
    """Photographs of a class that nobody has seen, as a person has them."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for number in range(3):
        content = encode_picture(draw_shape(RING, 90_000 + number, 220))
        (folder / f"ring {number}.jpg").write_bytes(content)
    return sorted(folder.iterdir())


def drop(page, path):
    import base64

    content = base64.b64encode(path.read_bytes()).decode()
    assert page.evaluate(DROP, [path.name, content])  # a veil says where to let go
    expect(page.locator(".veil")).to_be_hidden()
    expect(page.locator(".sample-name")).to_have_text(path.name)


def test_described_by_phrase_and_slider_taught_by_photographs_exported_and_used(
    page, visitor, photos, tmp_path
):
    """The whole way of a person, and the handover at its end."""
    session = visitor.studio.session
    # By a phrase, and by a slider.
    name = describe(page, "like small dotted orange star, but a ring")
    while name != RING:  # another class waited first
        page.get_by_role("button", name="Delete class").click()
        class_item(page, RING).click()
        page.get_by_label("Or in a phrase").fill("like small dotted orange star, but a ring")
        page.get_by_role("button", name="Add and watch").click()
        expect(page.locator(".title-input")).to_have_value(RING)
        name = RING
    move(slider(page, "circle"), 0.2)
    expect(page.locator("#announcements")).to_contain_text(f"{RING}: ")
    # A photograph is dropped, and named with probabilities and reasons.
    drop(page, photos[0])
    expect(page.locator(".verdict b")).to_have_text(RING)
    expect(page.locator(".ranking .number").first).to_have_text(re.compile(r"\d+ %$"))
    expect(page.locator(".bars .who").first).to_have_text(re.compile("(has|have|lacks|lack) it"))
    visitor.screenshot("examples-drop")
    # Added as an example: the class shows it, and by how much its accuracy moved.
    before = session.view.answers.by_class()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".title-input")).to_have_value(RING)
    expect(page.locator(".examples .example")).to_have_count(1)
    number = session.view.state.class_called(RING).id
    figures = [before, session.view.answers.by_class()]
    accuracies = [next(c["accuracy"] for c in some if c["id"] == number) for some in figures]
    points = int(np.diff([np.floor(100 * accuracy + 0.5) for accuracy in accuracies])[0])
    shown = page.locator(".score .change")
    if points:
        expect(shown).to_have_text(f"{points:+d}".replace("-", "−"))
    else:
        expect(shown).to_have_count(0)
    # The others by the file chooser.
    page.locator("input[type=file]").set_input_files([str(path) for path in photos[1:]])
    expect(page.locator(".sample-name")).to_have_text(photos[2].name)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".examples .example")).to_have_count(2)
    visitor.screenshot("examples-class")
    # The model is taken along, and used by the program on a photograph of the same kind.
    page.get_by_role("button", name="Save & share").click()
    with page.expect_download() as found:
        page.get_by_role("link", name="The model").click()
    found.value.path().rename(tmp_path / "model.zsl")
    command = [sys.executable, "-m", "zslearn", "predict", tmp_path / "model.zsl", photos[1]]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [answer] = json.loads(done.stdout)
    assert answer["class"] == RING
    page.get_by_role("button", name="Close", exact=True).click()
    drop(page, photos[1])
    expect(page.locator(".verdict b")).to_have_text(RING)


def test_an_example_is_forgotten_and_comes_back_by_undo(page, visitor, photos):
    session = visitor.studio.session
    drop(page, photos[0])
    field = page.get_by_label("This picture is a")
    field.fill("my wheel")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".title-input")).to_have_value("my wheel")
    expect(page.locator(".detail.class")).to_contain_text("Known by its example pictures alone")
    page.get_by_role("button", name="Forget the example ring 0.jpg").click()
    wait_until(page, lambda: session.kept.class_called("my wheel") is None)
    page.locator("h1").click()
    page.keyboard.press("Control+z")
    expect(class_item(page, "my wheel")).to_be_visible()
    class_item(page, "my wheel").click()
    expect(page.locator(".examples .example")).to_have_count(1)


def test_several_photographs_are_brought_at_once_and_taught_one_by_one(page, visitor, photos):
    page.locator("input[type=file]").set_input_files([str(path) for path in photos])
    expect(page.locator(".sample-name")).to_have_text(photos[2].name)
    for number, path in enumerate(photos, 1):
        page.get_by_role("button", name=f"Look at {path.name}").click()
        expect(page.locator(".sample-name")).to_have_text(path.name)
        page.get_by_label("This picture is a").fill("wheel")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.locator(".examples:visible .example")).to_have_count(number)
    visitor.screenshot("examples-several")
    # The list, the panel and the map count the same pictures, whichever are shown.
    for scope in ("new", "all"):
        page.get_by_label("Show", exact=True).select_option(scope)
        given = legend(page)["called wheel"]
        expect(class_item(page, "wheel")).to_contain_text(f"given to {given}")
        expect(page.locator(".result")).to_contain_text(f"the answer to {given} pictures")
    [examples] = visitor.studio.session.kept.examples.values()
    assert [one.title for one in examples] == [path.name for path in photos]


def test_what_to_label_next_is_labeled_by_a_click(page, visitor):
    session = visitor.studio.session
    page.get_by_role("button", name="Label these next").click()
    lines = page.locator(".asked li")
    expect(lines).to_have_count(6)
    visitor.screenshot("examples-label")
    first = session.suggest(6)[0]
    name = session.view.state.classes[first["classes"][0]].name
    lines.first.get_by_role("button", name=name, exact=True).click()
    expect(lines.first).to_contain_text(f"✓ {name}")
    assert [e.sample for e in session.kept.examples[first["classes"][0]]] == [
        session.sample_name(first["sample"])
    ]
    # Another class: its card has the form; the list is there again afterwards.
    lines.nth(1).get_by_role("button", name="another …").click()
    expect(page.locator(".detail.card .ranking")).to_be_visible()
    page.get_by_role("button", name="Close the details").click()
    expect(page.locator(".asked")).to_be_visible()


def test_a_method_that_does_not_learn_says_so(page, visitor, photos):
    from tests.serve.studio.page.people import choose_method

    choose_method(page, visitor.studio.session, "SAE (decoder)")
    expect(page.get_by_role("button", name="Label these next")).to_be_hidden()
    drop(page, photos[0])
    expect(page.locator(".teach")).to_contain_text("SAE (decoder) learns nothing from single")


def test_what_is_no_picture_is_said(page, visitor, tmp_path):
    (tmp_path / "notes.jpg").write_text("no picture")
    page.locator("input[type=file]").set_input_files(str(tmp_path / "notes.jpg"))
    expect(page.locator("#message")).to_contain_text("notes.jpg")
    assert visitor.problems == [text for text in visitor.problems if "400" in text]
    visitor.problems.clear()  # the browser itself logs the refusal


def test_keys_alone_bring_a_photograph_and_teach_it(page, visitor, photos):
    button = page.get_by_role("button", name="Name a photo …")
    with page.expect_file_chooser() as chooser:
        button.press("Enter")
    chooser.value.set_files(str(photos[0]))
    expect(page.locator(".sample-name")).to_have_text(photos[0].name)
    field = page.get_by_label("This picture is a")
    field.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("my ring")
    page.keyboard.press("Enter")
    expect(page.locator(".title-input")).to_have_value("my ring")
    hint = page.locator(".examples summary")
    hint.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".examples .hint p")).to_contain_text("An example moves its class")
    assert len(visitor.studio.session.kept.examples) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_card_and_a_taught_class_on_a_phone(visit, studio, photos, scheme):
    visitor = visit(studio, viewport={"width": 360, "height": 780}, color_scheme=scheme)
    page = visitor.page
    page.locator("input[type=file]").set_input_files(str(photos[0]))
    expect(page.locator(".sample-name")).to_have_text(photos[0].name)
    wide = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    visitor.screenshot(f"examples-phone-card-{scheme}")
    page.get_by_label("This picture is a").fill("my ring")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".examples .example")).to_have_count(1)
    assert page.evaluate(wide) == 0
    # What a slider does stays in sight while lower ones are moved.
    last = page.locator(".detail.class .slider input").last
    last.scroll_into_view_if_needed()
    box, sheet = page.locator(".class-head").bounding_box(), page.locator("#details").bounding_box()
    assert sheet["y"] - 1 <= box["y"] < last.bounding_box()["y"]
    visitor.screenshot(f"examples-phone-class-{scheme}")
    assert np.isfinite(box["height"])
