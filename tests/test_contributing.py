"""CONTRIBUTING names every place that a new method is written to, and the order of the rooms."""

import importlib.util
import re
import sys
import textwrap
import tomllib
from pathlib import Path

import numpy as np
import pytest

from zslearn import zero_shot
from zslearn.datasets import make_zero_shot
from zslearn.estimator_checks import check_zero_shot_classifier

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


@pytest.mark.parametrize("name", ["SSEClassifier", "AMPClassifier", "IAPClassifier"])
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


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_rooms_are_told_in_the_order_that_is_checked(page):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    [contract] = [one for one in project["tool"]["importlinter"]["contracts"] if "layers" in one]
    kept = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    gone = ["__main__", "features", "semantics"]  # a door, and two old names
    rooms = [name for layer in kept for name in layer if name not in gone]
    text = (ROOT / page).read_text("utf-8").partition("\ncli ")[2].partition("\n```")[0]
    # Names, before the words that say what they are.
    told = re.findall(r"\w+", re.sub(r" {2,}[^>\n]*", "", "cli " + text))
    assert [name for name in told if name in rooms] == rooms


@pytest.fixture
def method(advice, tmp_path, monkeypatch):
    """The class that the advice shows, imported from a file as a contributor writes it."""
    [code] = re.findall(r"```python\n(.*?)```", textwrap.dedent(advice), re.DOTALL)
    path = tmp_path / "predicted_means.py"
    path.write_text(textwrap.dedent("   " + code.lstrip()), "utf-8")
    spec = importlib.util.spec_from_file_location("predicted_means", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "predicted_means", module)
    spec.loader.exec_module(module)
    return module.PredictedMeansClassifier


def test_the_method_of_the_advice_passes_the_checks_and_is_what_it_says(method):
    check_zero_shot_classifier(method())
    data = make_zero_shot(random_state=0)
    rows = data.rows(data.split("standard").seen)
    X, y = data.X[rows], data.y[rows]
    clf = method(data.signatures, ridge=2.0).fit(X, y)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    S = data.signatures.rows(clf.seen_classes_)
    S = S / np.linalg.norm(S, axis=1, keepdims=True)
    means = np.stack([X[y == c].mean(axis=0) for c in clf.seen_classes_])
    expected = np.linalg.inv(S.T @ S + 2 * np.eye(S.shape[1])) @ S.T @ means
    np.testing.assert_allclose(clf.coef_, expected, atol=1e-9)
    assert method(data.signatures).fit(data.X[rows], y).best_params_.keys() == {"ridge"}
