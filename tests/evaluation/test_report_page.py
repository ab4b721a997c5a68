"""The page about a model: what it says, and that nothing in it is more than text."""

import os
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.evaluation import Shown, answer_held_out, report_page
from zslearn.exceptions import MissingFileError
from zslearn.zero_shot import CalibratedStacking, SAEClassifier

EVIL = "<script>alert(1)</script>\"'&\u202egpj.exe\x1b[31m</style>`$(rm)"
SCREENSHOTS = os.environ.get("ZSLEARN_SCREENSHOTS")


class Elements(HTMLParser):
    """The elements of a page, the text in them and whether they are closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.text, self.attributes = [], [], "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text += text


@pytest.fixture(scope="module")
def made():
    data = make_zero_shot(9, 3, n_per_class=8, noise=3.0, random_state=0)
    split = data.split("standard")
    rows = data.rows(split.seen)
    names = {split.seen[0]: EVIL, split.unseen[0]: "<b>" + "w" * 300, split.seen[1]: "polar bear"}
    table = data.signatures.renamed(names)
    y = np.array([names.get(name, name) for name in data.y[rows].tolist()])
    model = CalibratedStacking(SAEClassifier(table)).fit(data.X[rows], y)
    return model, answer_held_out(model, data.X[rows], y)


@pytest.fixture(scope="module")
def hostile(made):
    model, held_out = made
    shown = Shown(names=[EVIL] * 99, texts=[EVIL * 40] * 99)
    return report_page(
        model, held_out, title=EVIL, file="it's \"<x>.zsl", warnings=[EVIL], shown=shown
    )


def test_it_says_what_to_expect_and_how_the_model_is_used(made):
    model, held_out = made
    page = Elements(report_page(model, held_out, title="animals.zsl", file="my animals.zsl"))
    assert page.open == []
    text = " ".join(page.text.split()).replace("\u00a0", " ")
    expected = model.expected_accuracy(3, among="all")
    assert f"{100 * expected.accuracy:.0f} %" in text
    assert f"({100 * expected.low:.0f} % to {100 * expected.high:.0f} %)" in text
    assert "among all 12 classes" in text
    assert "zslearn predict 'my animals.zsl' new.csv --top 3" in text
    assert "load('my animals.zsl')" in text
    assert "zslearn serve 'my animals.zsl' curl localhost:8080/predict" in text
    (bear,) = (one for one in held_out.side(unseen=True).classes if one.name == "polar bear")
    joined = page.text.replace("\u00a0", " ")  # cells stand one after the other
    assert f"polar bear{100 * bear.accuracy.value:.0f} %8{bear.mistaken_for}" in joined
    assert "Typical mistakes" not in text  # nothing to show of bare features


def test_the_matrix_has_the_shares_of_every_class(made):
    held_out = made[1].side(unseen=True)
    page = report_page(*made)
    rows = re.findall(r"<tr><th title=[^>]*>.*?</tr>", page)
    assert len(rows) == 9
    for one, row in zip(held_out.classes, rows, strict=True):
        own = re.search(r'class="own" style="--share:([0-9.]+)"', row)
        assert float(own[1]) == pytest.approx(one.accuracy.value, abs=6e-4)
        shares = [float(share) for share in re.findall(r"--share:([0-9.]+)", row)]
        assert sum(shares) == pytest.approx(1, abs=0.01)


def test_names_and_texts_are_data_wherever_they_stand(hostile):
    page = Elements(hostile)
    assert page.open == []
    assert not {"script", "b", "iframe", "object", "link", "form", "a"} & (set(page.tags) - {"b"})
    assert not any(name.startswith("on") for name, _ in page.attributes)
    assert "<script" not in hostile
    assert EVIL.split("\u202e")[0] in page.text
    for letter in ("\u202e", "\x1b"):
        assert letter not in hostile
    assert "zslearn predict 'it'\"'\"'s \"<x>.zsl' new.csv" in page.text
    assert "default-src 'none'" in hostile
    assert max(map(len, re.findall(r"w+", page.text))) <= 80


def test_pictures_are_small_and_those_that_are_gone_are_left_out(made):
    model, held_out = made
    first = int(held_out.side(unseen=True).rows[held_out.side(unseen=True).mistakes(1)][0])

    def picture(row):
        if row == first:
            raise MissingFileError("gone")
        return np.full((900, 1200, 3), row % 255, np.uint8)

    page = report_page(
        model, held_out, shown=Shown(names=[f"{i}.jpg" for i in range(99)], picture=picture)
    )
    sources = [value for name, value in Elements(page).attributes if name == "src"]
    mistakes = page.count("<figure>")
    assert len(sources) == mistakes - 1 > 0
    assert all(source.startswith("data:image/jpeg;base64,") for source in sources)
    assert f"{first}.jpg" in page
    assert len(page) < 120_000


def test_a_model_of_three_classes_says_that_nothing_is_known():
    data = make_zero_shot(3, 2, random_state=0)
    rows = data.rows(data.split("standard").seen)
    model = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    text = Elements(report_page(model, None)).text
    assert "Nothing is known about it: that takes at least four classes" in text


def test_many_classes_are_listed_by_their_mistakes():
    data = make_zero_shot(60, 5, n_per_class=3, noise=6.0, random_state=0)
    rows = data.rows(data.split("standard").seen)
    model = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    page = report_page(model, answer_held_out(model, data.X[rows], data.y[rows]))
    assert "The most frequent mistakes" in page
    assert "matrix" not in page.partition("</style>")[2]
    assert page.count("<tr>") < 140


def test_a_browser_shows_it_at_any_width(browser, hostile, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(hostile, encoding="utf-8")
    for width, scheme in ((1100, "light"), (1100, "dark"), (360, "light")):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page, problems = context.new_page(), []
        page.on("console", lambda message, found=problems: found.append(message.text))
        page.on("dialog", lambda dialog, found=problems: found.append(dialog.message))
        page.on("request", lambda request, found=problems: found.append(request.url))
        page.goto(file.as_uri())
        assert problems == [file.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        back = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert (back == "rgb(18, 20, 24)") == (scheme == "dark")
        if SCREENSHOTS:
            page.screenshot(path=f"{SCREENSHOTS}/report-{scheme}-{width}.png", full_page=True)
        context.close()
