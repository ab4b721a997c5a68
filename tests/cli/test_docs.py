import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "build_cli_docs.py"


@pytest.fixture(scope="module")
def builder():
    spec = importlib.util.spec_from_file_location("build_cli_docs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_help_pages_in_the_docs_are_current(builder):
    written = builder.TARGET.read_text("utf-8")
    assert written == builder.document(), "run python scripts/build_cli_docs.py"


def test_every_command_has_its_page(builder):
    titles = [title for title, _ in builder.pages()]
    assert titles[0] == "zslearn"
    assert {"zslearn demo", "zslearn data info", "zslearn evaluate"} <= set(titles)
