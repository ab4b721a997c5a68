"""A class in words of its table: what is taken, what is only suggested, what is said back."""

import numpy as np
import pytest

from zslearn.datasets import load_animals
from zslearn.encoders import phrases, read_phrase
from zslearn.exceptions import InvalidInputError, MissingExtraError
from zslearn.serve.studio.collection import shape_classes
from zslearn.signatures import Signatures

GROUPS = ["shape"] * 6 + ["color"] * 8 + ["texture"] * 4 + ["size"] * 2


@pytest.fixture(scope="module")
def animals():
    return load_animals().signatures


@pytest.fixture(scope="module")
def shapes():
    return shape_classes()[0]


def named(table, said):
    return {table.dimensions[i]: value for i, value in said.changes.items()}


@pytest.mark.parametrize(
    ("text", "like", "raised", "lowered"),
    [
        ("like horse, but with stripes, not domestic", "horse", {"stripes"}, {"domestic"}),
        ("like a horse but with stripes and no tail", "horse", {"stripes"}, {"tail"}),
        ("Similar to the giant panda, swims; without paws", "giant+panda", {"swims"}, {"paws"}),
        ("a horse with a stripe", "horse", {"stripes"}, set()),
        ("swims, fish and flippers. not furry", None, {"swims", "fish", "flippers"}, {"furry"}),
        ("no stripes or spots, but a tail", None, {"tail"}, {"stripes", "spots"}),
        ("it doesn’t have any horns or tusks; claws", None, {"claws"}, {"horns", "tusks"}),
        ("a long leg, hoof and CAVE", None, {"longleg", "hooves", "cave"}, set()),
        (
            "a big orange cat with black stripes that eats meat",
            None,
            {"big", "orange", "black", "stripes", "meat"},
            set(),
        ),
    ],
)
def test_traits_and_classes_are_taken_as_they_are_named(animals, text, like, raised, lowered):
    said = read_phrase(text, animals, suggest=False)
    assert said.like == like
    low, high = animals.vectors.min(axis=0), animals.vectors.max(axis=0)
    at = {name: i for i, name in enumerate(animals.dimensions)}
    wanted = {name: high[at[name]] for name in raised} | {name: low[at[name]] for name in lowered}
    assert named(animals, said) == wanted
    row = animals.vectors.mean(axis=0) if like is None else animals[like].copy()
    for name, value in wanted.items():
        row[at[name]] = value
    np.testing.assert_array_equal(said.row, row)


def test_words_for_how_much_and_numbers(animals):
    said = read_phrase("like horse, slightly stripes, tail 12.5, spots = 3", animals)
    i = animals.dimensions.index("stripes")
    middle = (animals.vectors[:, i].min() + animals.vectors[:, i].max()) / 2
    assert named(animals, said) == {"stripes": middle, "tail": 12.5, "spots": 3.0}
    assert said.understood == ["like horse", "somewhat stripes", "tail 12.5", "spots 3"]


def test_the_range_is_that_of_the_training_classes(animals):
    seen = ["bat", "horse", "seal"]
    said = read_phrase("black, not big", animals, seen=seen)
    known = animals.rows(seen)
    black, big = animals.dimensions.index("black"), animals.dimensions.index("big")
    assert said.changes == {black: known[:, black].max(), big: known[:, big].min()}


def test_what_is_near_in_letters_or_meaning_is_suggested_and_never_taken(animals, shapes):
    pytest.importorskip("tokenizers", reason="the extra text is not installed")
    said = read_phrase("a big ring like small doted orange star", shapes)
    assert said.suggestions == {"big": ("large",), "doted": ("dotted",)}
    assert named(shapes, said) == {"ring": 1.0, "small": 1.0, "orange": 1.0, "star": 1.0}
    said = read_phrase("striped, lives in the sea, quick", animals)
    assert not said.is_understood
    assert said.suggestions["striped"] == ("stripes",)
    assert "ocean" in said.suggestions["sea"]
    assert "fast" in said.suggestions["quick"]


def test_without_the_text_encoder_spelling_alone_suggests(animals, monkeypatch):
    class Missing:
        def transform(self, texts):
            raise MissingExtraError("tokenizers", "text", "Encoding texts")

    monkeypatch.setattr(phrases, "TextEncoder", Missing)
    said = read_phrase("hors, a striped panda of the sea", animals)
    assert said.suggestions["hors"][:2] == ("like horse", "horns")
    assert said.suggestions["striped"] == ("stripes",)
    assert said.suggestions["panda"] == ("like giant panda",)
    assert "quick" not in said.suggestions


def test_what_is_not_understood_is_said(animals):
    said = read_phrase("like unicorn, but stripes, xyzzy", animals)
    assert (said.like, said.unknown, said.understood) == (None, ["unicorn", "xyzzy"], ["stripes"])
    with pytest.raises(
        InvalidInputError, match=r"nothing of this names .* Not understood: hors \(is that 'like h"
    ):
        read_phrase("a hors", animals).checked()
    with pytest.raises(InvalidInputError, match="Write for example: like CLASS, but TRAIT"):
        read_phrase("", animals).checked()


def test_of_traits_that_exclude_each_other_the_last_named_holds(shapes):
    for text in ("a large red ring", "large, red, ring", "not small, large and red; a ring"):
        said = read_phrase(f"like small dotted orange star, but {text}", shapes, groups=GROUPS)
        on = {name for name, value in zip(shapes.dimensions, said.row, strict=True) if value}
        assert (said.like, said.unknown) == ("small dotted orange star", [])
        assert on == {"ring", "red", "dotted", "large"}


def test_names_of_several_words_are_found_before_shorter_ones():
    names = ["eats meat", "meat", "has_bill_shape::curved", "7"]
    table = Signatures(["polar bear", "bear"], [[0, 0, 0, 1], [1, 1, 1, 0]], names)
    said = read_phrase("like a polar bear that eats meats, has bill shape curved; 7", table)
    assert said.like == "polar bear"
    assert said.understood == ["like polar bear", "eats meat", "has_bill_shape::curved", "7"]
    whole = Signatures([3, 4], [[0.0], [1.0]], ["fur"])
    assert read_phrase("like 4, no fur", whole).like == 4


def test_a_trait_in_which_no_training_class_differs_is_said():
    table = Signatures(["horse", "cow"], [[0, 1], [1, 1]], ["stripes", "tail"])
    said = read_phrase("like horse, but stripes, no tail", table)
    assert (said.changes, said.constant, said.unknown) == ({0: 1.0}, ["tail"], [])
    assert "The same in all training classes: tail." in said.hint()
    # A number is taken as it is.
    assert read_phrase("like horse, tail 0.5", table).changes == {1: 0.5}


@pytest.mark.parametrize("text", ["", ",,,", "like", "like ,", "not", "9", "=" * 3000, "ü" * 9000])
def test_any_text_is_read(animals, text):
    said = read_phrase(text, animals, suggest=False)
    assert np.isfinite(said.row).all()
    assert sum(map(len, said.unknown)) <= phrases.MOST_LETTERS
