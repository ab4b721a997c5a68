"""Classes in one's own words, and another map, on the page."""

import re

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import expect

from tests.serve.studio.page.people import class_item, open_tab
from zslearn.encoders import TextEncoder
from zslearn.signatures import Signatures

TEXTS = {
    "horse": "a large animal with hooves and a mane",
    "dolphin": "a gray animal that swims in the sea",
    "bat": "a small animal that flies at night",
    "tiger": "a large cat with orange and black stripes",
    "eagle": "a bird of prey with large wings",
}
ZEBRA = "like a horse, with black and white stripes"
N, WIDTH = 12, 40


@pytest.fixture
def own_words(tmp_path, start_studio):
    """Samples whose classes were described in sentences, but for one."""
    pytest.importorskip("tokenizers", reason="the extra text is not installed")
    table = Signatures.from_texts({**TEXTS, "zebra": ZEBRA}, TextEncoder("minilm"))
    rng = np.random.default_rng(0)
    y = np.repeat(table.names, N)
    mixed = table.rows(y) @ rng.standard_normal((table.n_dimensions, WIDTH))
    folder = tmp_path / "words"
    folder.mkdir()
    np.save(folder / "features.npy", (mixed + 0.1 * rng.standard_normal(mixed.shape)))
    np.save(folder / "labels.npy", y.astype(str))
    table.to_csv(folder / "signatures.csv")
    (folder / "unseen.txt").write_text("zebra\n")
    return start_studio(data=str(folder))


def test_a_class_is_described_and_described_again_in_words(own_words, visit):
    visitor = visit(own_words)
    page, session = visitor.page, own_words.session
    page.get_by_role("button", name="+ New class").click()
    page.get_by_label("Name", exact=True).fill("striped horse")
    page.get_by_label("Or in words").fill(ZEBRA)
    page.get_by_role("button", name="Add and watch").click()
    expect(page.locator(".title-input")).to_have_value("striped horse")
    # The whole sentence was read, though it begins like a phrase; the name counts beside it.
    rows = {one.name: one.row for one in session.kept.described.values()}
    by_hand = Signatures.from_texts({"striped horse": ZEBRA}, TextEncoder("minilm"))
    np.testing.assert_allclose(rows["striped horse"], by_hand["striped horse"], atol=1e-6)
    visitor.screenshot("describe-words")
    class_item(page, "zebra").click()
    expect(page.locator(".title-input")).to_have_value("zebra")
    before = session.view.revision
    page.get_by_label("Describe it in other words").fill("a machine that prints newspapers")
    page.get_by_role("button", name="Use these words").click()
    expect(page.locator("#undo")).to_have_attribute("title", "Undo: change zebra")
    assert session.view.revision > before
    assert page.get_by_role("slider").count() == 0
    # A card speaks of the phrases of a description, and of no dimension without a name.
    open_tab(page, "Pictures")
    page.get_by_role("button", name="Close the details").click()
    page.get_by_label("Show", exact=True).select_option("all")
    striped = session.kept.class_called("striped horse").id
    answered = np.flatnonzero(session.view.answers.answer == striped)[0]
    page.locator(f"#view-pictures .tile[data-row='{answered}']").click()
    expect(page.locator(".bars .name").first).to_have_text(re.compile("“.*”"))
    expect(page.locator(".detail.card")).not_to_contain_text(re.compile("minilm|What if"))
    page.get_by_role("button", name="Close the details").click()
    bats = session.collection.labels == "bat"
    plain = np.flatnonzero(bats & (session.view.answers.answer == session.view.answers.truth))[0]
    page.locator(f"#view-pictures .tile[data-row='{plain}']").click()
    expect(page.locator(".detail.card")).to_contain_text("have no names of their own")
    expect(page.locator(".detail.card")).not_to_contain_text(re.compile("minilm|What if"))


def test_a_map_of_neighbors(start_studio, visit):
    pytest.importorskip("umap", reason="umap-learn is not installed")
    studio = start_studio()
    visitor = visit(studio)
    page = visitor.page
    with page.expect_response(re.compile("map.kind=umap"), timeout=200_000) as reply:
        page.get_by_label("Positions").select_option("umap")
    assert reply.value.ok
    xy = studio.studio.map(studio.session, "umap")
    assert xy.shape == (studio.session.collection.n, 2)
    assert np.isfinite(xy).all()
    page.wait_for_timeout(300)
    visitor.screenshot("see-umap")
