"""The check of the built site finds dead links, dead anchors and what is loaded from outside."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "check_site.py"
GOOD = '<h1 id="top">A</h1><a href="b.html#deep">b</a><a href="https://example.org">out</a>'


def check(folder, index, style=""):
    (folder / "index.html").write_text(index)
    (folder / "b.html").write_text('<p id="deep"></p><img src="data:image/png;base64,AA==">')
    (folder / "s.css").write_text(style)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_a_good_site_passes_with_its_numbers(tmp_path):
    code, told = check(tmp_path, GOOD, "p { background: url(x.png) }")
    assert (code, told.startswith("2 pages, 2 links")) == (0, True)


@pytest.mark.parametrize(
    ("index", "style", "words"),
    [
        ('<a href="c.html">c</a>', "", "c.html: no such file"),
        ('<a href="b.html#shallow">b</a>', "", "no such anchor"),
        ('<a href="../secret.html">b</a>', "", "leaves the site"),
        ('<script src="https://cdn.example/x.js"></script>', "", "loads https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png">', "", "loads //cdn.example/x.png"),
        ('<link rel="stylesheet" href="https://x.example/f.css">', "", "loads https://x.example"),
        (GOOD, '@import "https://fonts.example/f.css";', "s.css: loads https://fonts.example"),
        (GOOD, "p { src: url(https://fonts.example/f) }", "s.css: loads https://fonts.example"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, index, style, words):
    code, told = check(tmp_path, index, style)
    assert code == 1
    assert words in told
