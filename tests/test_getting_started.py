"""Getting started runs from top to bottom as it is printed, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from tests.streams import SeparateRunner
from tests.test_docs import run_block
from zslearn.cli import cli

PAGE = Path(__file__).parents[1] / "docs" / "getting_started.md"
BLOCK = re.compile(r"^```(?P<kind>python|console)\n(?P<text>.*?)^```$", flags=re.S | re.M)
#: Commands that are no part of a test: they install, or go on until they are stopped.
LEFT = ("pip install", "zslearn serve", "zslearn studio")


def commands(text):
    """Yield the commands of a session in a terminal, each with what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, printed = part.partition("\n")
        yield command.partition(" #")[0].strip(), printed


def test_every_command_does_and_prints_what_the_page_says(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    names: dict = {}
    ran = 0
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start("text"))
        if block["kind"] == "python":
            names = run_block(block["text"], names, PAGE.name, line)
            continue
        for command, printed in commands(block["text"]):
            if command.startswith(LEFT):
                assert printed.strip() == ""
                continue
            program, *arguments = shlex.split(command)
            assert program == "zslearn"
            done = SeparateRunner().invoke(cli, arguments)
            assert done.exit_code == 0, f"{command}\n{done.stderr}"
            assert done.stdout == printed, command
            ran += 1
    assert ran >= 4
