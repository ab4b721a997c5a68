"""CONTRIBUTING names every place that a new method is written to."""

import re
from pathlib import Path

import pytest

from zslearn import zero_shot

ROOT = Path(__file__).parents[1]


def places(class_name):
    """The files of the library in which a class is named."""
    folder = ROOT / "src" / "zslearn"
    word = re.compile(rf"\b{class_name}\b")
    return {path for path in folder.rglob("*.py") if word.search(path.read_text("utf-8"))}


@pytest.fixture(scope="module")
def advice():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return text.partition("## Add a method")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", ["GFZSLClassifier", "AMPClassifier", "IAPClassifier"])
def test_a_method_is_named_in_three_files_and_the_advice_names_them(name, advice):
    own, *lists = sorted(places(name), key=lambda path: path.parent.name == "zero_shot")
    assert [path.name for path in sorted(lists)] == ["__init__.py", "registry.py"]
    assert own.parent.parent.name == "zero_shot"
    for path in lists:
        assert f"`{path.relative_to(ROOT)}`" in advice


def test_the_files_and_folders_of_the_advice_exist(advice):
    paths = re.findall(r"`((?:src|tests|scripts)/[^`]+)`|python (scripts/\w+\.py)", advice)
    assert len(paths) >= 5
    for found in paths:
        assert (ROOT / "".join(found)).exists()


def test_every_class_of_the_registry_is_exported():
    assert {method.class_name for method in zero_shot.METHODS.values()} <= set(zero_shot.__all__)
