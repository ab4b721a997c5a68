"""Class names as words."""

import pytest

from zslearn.encoders.word_search import (
    content_words,
    head_noun,
    number_forms,
    plural_form,
    singular_forms,
    split_words,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("giant+panda", ("giant", "panda")),
        ("Black_footed-Albatross", ("black", "footed", "albatross")),
        ("042.Brewer's Blackbird", ("brewers", "blackbird")),
        ("a/abbey", ("abbey",)),
        ("Öland goose", ("öland", "goose")),
        ("+", ()),
    ],
)
def test_names_are_split(name, words):
    assert split_words(name) == words


@pytest.mark.parametrize("word", ["fox", "pony", "monkey", "bear", "witch", "thrush", "bus"])
def test_the_singular_of_a_plural_is_the_word(word):
    assert (word,) in singular_forms(plural_form((word,)))


def test_number_forms_leave_out_the_name_itself():
    assert number_forms(("red", "bears")) == [("red", "bear"), ("red", "bearses")]
    assert number_forms(()) == []


@pytest.mark.parametrize(
    ("words", "head"),
    [
        (("blue", "whale"), "whale"),
        (("bird", "of", "paradise"), "bird"),
        (("zebra",), "zebra"),
        (("the", "cat"), "cat"),
    ],
)
def test_head_nouns(words, head):
    assert head_noun(words) == head


def test_function_words_carry_no_content():
    assert content_words(("bird", "of", "the", "sea")) == ("bird", "sea")
    assert content_words(("of",)) == ()
