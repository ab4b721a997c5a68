"""The page of pitfalls names tests that exist; those that belong nowhere else stand here."""

import ast
import doctest
import re
from pathlib import Path

import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import METHODS, SAEClassifier, make_classifier

ROOT = Path(__file__).parents[2]
INDUCTIVE = [
    name
    for name, method in METHODS.items()
    if method.tags.closed_form and not method.tags.transductive
]
SCALING = [
    name for name in INDUCTIVE if make_classifier(name).get_params().get("feature_norm") == "l2"
]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(8, 4, n_per_class=8, n_features=20, n_dimensions=10, random_state=0)


@pytest.fixture(scope="module")
def rows(data):
    split = data.split("standard")
    return data.rows(split.seen), data.rows(split.unseen)


def page(name):
    path = ROOT / "docs" / name
    if not path.exists():
        pytest.skip("the docs are not part of this installation")
    return path


def test_every_pitfall_names_tests_that_exist():
    text = page("pitfalls.md").read_text(encoding="utf-8")
    sections = re.split(r"^### (?=\d)", text, flags=re.M)[1:]
    assert [int(section.split(".")[0]) for section in sections] == list(range(1, 18))
    for section in sections:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", section)
        assert named, section
        for file, test in named:
            tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
            found = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert test in found, f"{file}::{test}"


def test_the_page_on_evaluation_runs():
    failures, tried = doctest.testfile(str(page("evaluation.md")), module_relative=False)
    assert (failures, tried > 5) == (0, True)


def test_the_final_fit_uses_all_seen_classes_and_keeps_its_folds(data, rows):
    X, y = data.X[rows[0]], data.y[rows[0]]
    clf = SAEClassifier(data.signatures).fit(X, y)
    for direction, chosen in clf.lam_.items():
        again = SAEClassifier(data.signatures, lam=chosen, direction=direction).fit(X, y)
        whole = clf.coef_encode_ if direction == "encode" else clf.coef_decode_
        np.testing.assert_allclose(whole, again.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(np.sort(np.concatenate(clf.folds_)), clf.seen_classes_)


@pytest.mark.parametrize("name", INDUCTIVE)
def test_an_inductive_method_answers_one_sample_as_in_a_batch(data, rows, name):
    clf = make_classifier(name, data.signatures).fit(data.X[rows[0]], data.y[rows[0]])
    X = data.X[rows[1]]
    whole = clf.decision_function(X)
    for i in (0, 7):
        np.testing.assert_allclose(clf.decision_function(X[i : i + 1])[0], whole[i], atol=1e-10)


@pytest.mark.parametrize("name", SCALING)
def test_normalization_is_the_same_at_fit_and_at_prediction(data, rows, name):
    # Unit length makes the length of a sample irrelevant, but only if both sides are scaled.
    stretched = data.X * np.random.default_rng(0).uniform(0.1, 10, size=(len(data.X), 1))
    clf, other = (make_classifier(name, data.signatures) for _ in range(2))
    clf.fit(data.X[rows[0]], data.y[rows[0]])
    other.fit(stretched[rows[0]], data.y[rows[0]])
    expected = clf.decision_function(data.X[rows[1]])
    for scores in (
        clf.decision_function(stretched[rows[1]]),
        other.decision_function(data.X[rows[1]]),
    ):
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-8)
