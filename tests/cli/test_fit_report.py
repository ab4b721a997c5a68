"""The page that `zslearn fit --report` writes, and what a browser makes of it."""

import os
import re
from html import escape

import pandas as pd
import pytest

# Screenshots to be looked at: ZSLEARN_SCREENSHOTS=DIR keeps them there.
SCREENSHOTS = os.environ.get("ZSLEARN_SCREENSHOTS")
EVIL = {
    "tag": "<img src=x onerror=alert(1)>",
    "quotes": '"""\' onmouseover=\'alert(2)',
    "long": "w" * 180,
}


@pytest.fixture
def hostile(photos):
    """Classes, files and the table with names that a page must not obey."""
    kinds = sorted(path for path in (photos / "seen").iterdir())
    names = {path.name: evil for path, evil in zip(kinds, EVIL.values(), strict=False)}
    for path in kinds[: len(EVIL)]:
        renamed = path.rename(path.with_name(names[path.name]))
        for i, file in enumerate(sorted(renamed.iterdir())):
            file.rename(file.with_name(f"{EVIL['tag']}{EVIL['quotes']}{i}.png"))
    table = pd.read_csv(photos / "classes.csv", index_col=0)
    table.rename(index=names).to_csv(photos / "classes.csv")
    return photos


@pytest.fixture
def fit(run, photos):
    def invoke(*options):
        encoder = f"onnx:{photos / 'net.onnx'}"
        arguments = ["--signatures", photos / "classes.csv", "--encoder", encoder]
        arguments += ["--method", "sae", "-P", "lam=1", "--save", photos / "model.zsl"]
        return run("fit", photos / "seen", *arguments, *options)

    return invoke


def test_the_page_shows_pictures_of_mistakes(fit, photos):
    result = fit("--report", photos / "report.html")
    assert result.exit_code == 0, result.output
    assert f"saved   {photos / 'model.zsl'} and {photos / 'report.html'}" in result.stdout
    page = (photos / "report.html").read_text("utf-8")
    assert "<title>seen: model</title>" in page
    figures = re.findall(r"<figure>.*?</figure>", page)
    assert figures
    for figure in figures:
        assert "data:image/jpeg;base64," in figure
        words = re.sub("<.*?>", "|", figure)
        truth = re.search(r"\|([^|]+)\|+ taken for", words).group(1)
        # The picture is of the class it is said to be.
        assert f"|{truth}/" in words


def test_texts_and_features_have_a_page_too(run, own, own_arguments):
    report = own / "report.html"
    arguments = ["--method", "sae", "--save", own / "m.zsl", "--report", report]
    assert run("fit", *own_arguments, *arguments).exit_code == 0
    assert "How held-out classes are confused" in report.read_text("utf-8")
    assert run("fit", *own_arguments, *arguments, "--no-calibrate").exit_code == 0
    page = report.read_text("utf-8")
    assert "not calibrated (--no-calibrate)" in page
    rows = pd.read_csv(own / "y.csv")["label"].isin(["seen0", "seen1"])
    for name in ("X.csv", "y.csv"):
        pd.read_csv(own / name)[rows].to_csv(own / name, index=False)
    assert run("fit", *own_arguments, *arguments, "-P", "lam=1").exit_code == 0
    assert "Nothing is known about it" in report.read_text("utf-8")


def test_names_stay_data_in_a_browser_at_any_width(fit, hostile, browser):
    result = fit("--report", hostile / "report.html")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) <= 8
    file = hostile / "report.html"
    assert escape(EVIL["tag"]) in file.read_text("utf-8")
    for width, scheme in ((1100, "light"), (1100, "dark"), (360, "light")):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page, problems = context.new_page(), []
        page.on("console", lambda message, found=problems: found.append(message.text))
        page.on("dialog", lambda dialog, found=problems: found.append(dialog.message))
        page.goto(file.as_uri())
        assert problems == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("[...document.images].every(one => one.naturalWidth > 0)")
        assert page.evaluate("document.images.length") > 0
        if width > 1000:  # a long name does not push the figures out of sight
            wide = "[...document.querySelectorAll('.wide')]"
            assert page.evaluate(f"{wide}.every(one => one.scrollWidth <= one.clientWidth)")
        if SCREENSHOTS:
            page.screenshot(path=f"{SCREENSHOTS}/fit-{scheme}-{width}.png", full_page=True)
        context.close()
