"""The check of a release names what is wrong with version, changelog and wheel."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "release.py"
CITED = "title: zslearn\nversion: 1.2.3\n"
FILES = ["zslearn/__init__.py", "zslearn/py.typed", "zslearn/cli/__init__.py"]
LICENSE = "zslearn-1.2.3.dist-info/licenses/LICENSE"
METADATA = "Metadata-Version: 2.4\nName: zslearn\nVersion: 1.2.3\nProvides-Extra: plot\n"


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_version_named_everywhere_has_no_problems(release):
    changelog = "# Changelog\n\n## 1.2.3 (2031-01-01)\n"
    assert release.version_problems("1.2.3", "1.2.3", changelog, CITED) == []
    assert release.version_problems("1.2.3", None, changelog, CITED) == []


@pytest.mark.parametrize(
    ("version", "wanted", "changelog", "citation", "words"),
    [
        ("1.2.3", "1.2.4", "## 1.2.3\n", CITED, "not 1.2.4"),
        ("1.2", None, "## 1.2\n", CITED.replace("1.2.3", "1.2"), "not of the form"),
        ("1.2.3", None, "## Unreleased\n\n## 1.2.30\n", CITED, "no section '## 1.2.3'"),
        ("1.2.3", None, "## 1.2.3 (unreleased)\n", CITED, "no date at 1.2.3"),
        ("1.2.3", None, "## 1.2.3\n", "version: 1.2.2\n", "CITATION.cff names version 1.2.2"),
        ("1.2.3", None, "## 1.2.3\n", "title: x\n", "CITATION.cff names version none"),
    ],
)
def test_a_version_that_is_wrong_somewhere(release, version, wanted, changelog, citation, words):
    (problem,) = release.version_problems(version, wanted, changelog, citation)
    assert words in problem


@pytest.mark.parametrize(
    ("names", "version", "extras", "words"),
    [
        ([*FILES[1:], LICENSE], "1.2.3", {"plot"}, "lacks zslearn/__init__.py"),
        ([*FILES, LICENSE, "tests/test_x.py"], "1.2.3", {"plot"}, "holds tests/test_x.py"),
        (FILES, "1.2.3", {"plot"}, "lacks its LICENSE"),
        ([*FILES, LICENSE], "1.2.4", {"plot"}, "version 1.2.3, not 1.2.4"),
        ([*FILES, LICENSE], "1.2.3", {"plot", "onnx"}, "lacks the extra onnx"),
    ],
)
def test_a_wheel_with_something_wrong(release, names, version, extras, words):
    (problem,) = release.wheel_problems(names, METADATA, version, extras)
    assert words in problem


def test_a_whole_wheel_has_no_problems(release):
    assert release.wheel_problems([*FILES, LICENSE], METADATA, "1.2.3", {"plot"}) == []


def test_the_version_of_the_package_is_read(release):
    import zslearn

    assert release.own_version() == zslearn.__version__
