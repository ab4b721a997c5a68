"""Getting started runs from top to bottom as it is printed, in an empty folder.

``python -m tests.test_getting_started`` writes into the page what its commands print now.
"""

import contextlib
import re
import shlex
import tempfile
from pathlib import Path

import pytest

from tests.streams import SeparateRunner
from tests.test_docs import run_block
from zslearn.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "getting_started.md"
BLOCK = re.compile(r"^```(?P<kind>python|console)\n(?P<text>.*?)^```$", flags=re.S | re.M)
#: Commands that are no part of a test: they install, or go on until they are stopped.
LEFT = ("pip install", "zslearn serve", "zslearn studio")


def ran(text):
    """Return the page with what its commands print; its Python is run and compared on the way."""
    names: dict = {}

    def run(block):
        nonlocal names
        if block["kind"] == "python":
            line = text.count("\n", 0, block.start("text"))
            names = run_block(block["text"], names, PAGE.name, line)
            return block.group()
        typed = [line for line in block["text"].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{printed(line)}" for line in typed) + "```"

    return BLOCK.sub(run, text)


def printed(line):
    """Return what a line of a terminal prints."""
    command = line.removeprefix("$ ").partition(" #")[0]
    if command.startswith(LEFT):
        return ""
    program, *arguments = shlex.split(command)
    assert program == "zslearn", command
    done = SeparateRunner().invoke(cli, arguments)
    assert done.exit_code == 0, f"{command}\n{done.stderr}"
    return done.stdout


def test_every_command_does_and_prints_what_the_page_says(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("\n$ zslearn ") - text.count("\n$ zslearn serve") >= 4
    assert ran(text) == text, "run: python -m tests.test_getting_started"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        PAGE.write_text(ran(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
