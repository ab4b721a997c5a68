"""Descriptions in words of the table."""

import numpy as np
import pytest

from zslearn.datasets import load_animals
from zslearn.serve.studio.collection import shape_classes
from zslearn.serve.studio.phrases import Vocabulary

GROUPS = ["shape"] * 6 + ["color"] * 8 + ["texture"] * 4 + ["size"] * 2


def words_of(table, groups=None):
    rows = {str(name): table[name] for name in table}
    low, high = table.vectors.min(axis=0), table.vectors.max(axis=0)
    return Vocabulary(rows, table.dimensions, low, high, groups)


@pytest.fixture(scope="module")
def animals():
    return words_of(load_animals().signatures)


@pytest.fixture(scope="module")
def shapes():
    return words_of(shape_classes()[0], GROUPS)


def meant(words, text):
    """Return the class, and the changes by the names of their dimensions."""
    said = words.read(text)
    return said.like, {words.dimensions[i]: value for i, value in said.changes.items()}


@pytest.mark.parametrize(
    ("text", "like", "changed", "lowered"),
    [
        ("like horse, but striped, not domestic", "horse", {"stripes"}, {"domestic"}),
        ("like a horse but with stripes and no tail", "horse", {"stripes"}, {"tail"}),
        ("Similar to the giant panda, swims; without paws", "giant+panda", {"swims"}, {"paws"}),
        ("like hors, furry", "horse", {"furry"}, set()),
        ("swims, fish and flippers. not furry", None, {"swims", "fish", "flippers"}, {"furry"}),
    ],
)
def test_a_phrase_names_a_class_and_its_differences(animals, text, like, changed, lowered):
    found, changes = meant(animals, text)
    assert found == like
    at = {name: i for i, name in enumerate(animals.dimensions)}
    for name in changed:
        assert changes[name] == animals.high[at[name]]
    for name in lowered:
        assert changes[name] == animals.low[at[name]]
    assert set(changes) == changed | lowered


def test_words_for_how_much_and_numbers(animals):
    _, changes = meant(animals, "like horse, somewhat striped, tail 12.5, spots = 3")
    i = animals.dimensions.index("stripes")
    assert changes["stripes"] == (animals.low[i] + animals.high[i]) / 2
    assert (changes["tail"], changes["spots"]) == (12.5, 3.0)


def test_what_is_not_understood_is_said(animals):
    said = animals.read("like unicorn, but striped, xyzzy")
    assert (said.like, said.unknown) == (None, ["unicorn", "xyzzy"])
    assert [part.partition(" ")[0] for part in said.understood] == ["stripes"]


def test_of_attributes_that_exclude_each_other_the_last_named_holds(shapes):
    for text in ("a large red ring", "large, red, ring", "not small, large and red; a ring"):
        said = shapes.read(f"like small dotted orange star, but {text}")
        row = shapes.row(said)
        on = {name for name, value in zip(shapes.dimensions, row, strict=True) if value}
        assert (said.like, said.unknown) == ("small dotted orange star", [])
        assert on == {"ring", "red", "dotted", "large"}


@pytest.mark.parametrize("text", ["", ",,,", "like", "like ,", "not", "9", "=" * 3000, "ü" * 50])
def test_any_text_is_read(animals, text):
    assert np.isfinite(animals.row(animals.read(text))).all()


def test_the_page_is_told_what_is_understood(visitor):
    document = {"text": "like small dotted orange star, but ring, sparkling"}
    said = visitor.post("phrase", document).json()
    assert said["like"] == visitor.class_called("small dotted orange star")["id"]
    assert said["unknown"] == ["sparkling"]
    name = "small dotted orange ring"
    visitor.edit("phrase", name=name, text=document["text"])
    assert visitor.class_called(name)["row"] == said["row"]
    assert visitor.class_called(name)["accuracy"] > 0.9
    answer = visitor.post("edits", {"op": "words", "name": "x", "text": "xyzzy"})
    assert answer.status_code == 400
    assert "nothing of this was understood" in answer.json()["error"]


def test_an_attribute_that_no_training_class_differs_in_is_said():
    low, high = np.array([0.0, 1.0]), np.array([1.0, 1.0])
    words = Vocabulary({"horse": np.array([0.0, 1.0])}, ["stripes", "tail"], low, high)
    said = words.read("like horse, but striped, not tail")
    assert (said.changes, said.constant, said.unknown) == ({0: 1.0}, ["tail"], [])
    # A number is taken as it is.
    assert words.read("like horse, tail 0.5").changes == {1: 0.5}
