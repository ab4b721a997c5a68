"""Phrases of texts, and the classes without them."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from zslearn.exceptions import InvalidInputError, InvalidTypeError
from zslearn.signatures import Signatures
from zslearn.signatures.phrases import MOST_PHRASES, cut_phrases, versions_without


class Lengths:
    """An encoder that is worked out by hand: (characters, words)."""

    def transform(self, texts):
        self.texts = list(texts)
        return [[len(text), len(text.split())] for text in texts]


def unit(vector):
    return np.asarray(vector) / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("I do not recognize a payment on my card", ["recognize", "payment", "card"]),
        ("black, white; striped", ["black", "white", "striped"]),
        ("one two", []),  # numerals are stop words
        ("big gray wolf like animal pack", ["big gray wolf", "like animal pack"]),
        ("ein gestreiftes Pferd", ["ein gestreiftes Pferd"]),
        ("it's the well-known beak-like snout", ["well-known beak-like snout"]),
        ("斑马 条纹", ["斑马 条纹"]),
        ("", []),
    ],
)
def test_a_phrase_is_a_run_between_stop_words_and_punctuation(text, phrases):
    assert [phrase for phrase, _ in cut_phrases(text)] == phrases


@given(st.text(max_size=200) | st.text("ab ,'-the", max_size=60))
@example("A'0:0")
@example("then th")
def test_what_is_left_has_the_other_words_in_order(text):
    word = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
    words = word.findall
    begins, ends = zip(*[each.span() for each in word.finditer(text)] or [(0, 0)], strict=True)

    start = 0
    for phrase, left in cut_phrases(text):
        # Whole words: in "A'0:0" the phrase is the last "0".
        start = next(
            at
            for at in begins
            if at >= start and text.startswith(phrase, at) and at + len(phrase) in ends
        )
        assert 1 <= len(words(phrase)) <= 4
        assert words(left) == words(text[:start] + " ") + words(" " + text[start + len(phrase) :])
        start += len(phrase)


def test_a_long_description_has_a_dozen_phrases():
    text = "; ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    assert len(versions_without([text], "name")) == MOST_PHRASES


def test_a_class_is_encoded_without_each_phrase():
    encoder = Lengths()
    table = Signatures.from_texts({"polar_bear": "white bear of the ice"}, encoder)
    words, vectors = table.phrases["polar_bear"]
    assert words == ("polar bear", "white bear", "ice")
    # Without the name; without "white bear", which takes "bear" from the name; without "ice".
    sentence = unit([21, 5])
    rows = [
        sentence,
        unit(unit([10, 3]) + unit([5, 1])),
        unit(unit([17, 4]) + unit([10, 2])),
    ]
    assert_allclose(vectors, rows, rtol=1e-6)
    # The whole texts were encoded first and are the same as without phrases.
    plain = Signatures.from_texts({"polar_bear": "white bear of the ice"}, Lengths(), phrases=False)
    assert_array_equal(plain.vectors, table.vectors)
    assert plain.phrases == {}


def test_large_tables_have_phrases_only_when_they_are_asked_for():
    texts = {f"class {i}": "a striped horse" for i in range(501)}
    assert Signatures.from_texts(texts, Lengths()).phrases == {}
    assert len(Signatures.from_texts(texts, Lengths(), phrases=True).phrases) == 501


def test_phrases_follow_their_table(tmp_path):
    table = Signatures.from_texts({"a": "red hat", "b": "a hat of wool"}, Lengths(), names=False)
    table.to_npz(tmp_path / "table.npz")
    again = Signatures.from_npz(tmp_path / "table.npz")
    for kept in (again, pickle.loads(pickle.dumps(table)), table.normalized("l2")):
        assert kept.phrases["b"].words == ("hat", "wool")
        assert_array_equal(kept.phrases["b"].vectors, table.phrases["b"].vectors)
    assert set(table.renamed({"a": "c"}).phrases) == {"b", "c"}
    assert set(table.drop(["a"]).phrases) == {"b"}
    assert table.like("a", name="a", d0=0.5).phrases == {}
    assert table.normalized("zscore-seen", seen=["a", "b"]).phrases == {}
    turned = Signatures(["c"], table.vectors[1:, ::-1], ["d1", "d0"])
    assert set(table.append(turned).phrases) == {"a", "b"}
    both = Signatures(
        ["c"],
        table.vectors[1:, ::-1],
        ["d1", "d0"],
        phrases={"c": (["hat"], table.phrases["b"].vectors[:1, ::-1])},
    )
    assert_array_equal(table.append(both).phrases["c"].vectors, table.phrases["b"].vectors[:1])


@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        ("hat", r"phrases must be \{class: Phrases\}; got str"),
        ({"c": (["hat"], [[1, 1]])}, "phrases names 'c', which is none of the classes"),
        ({"a": (["hat", "red"], [[1, 1]])}, "'a' has 2 phrases, which need as many finite vectors"),
        ({"a": (["hat"], [[1, np.nan]])}, "finite vectors of length 2"),
        ({"a": ([3], [[1, 1]])}, "A phrase of a class must be text"),
    ],
)
def test_phrases_that_do_not_fit_are_refused(phrases, message):
    with pytest.raises((InvalidInputError, InvalidTypeError), match=message):
        Signatures(["a", "b"], np.eye(2), phrases=phrases)


def test_an_archive_whose_phrases_do_not_fit_is_refused(tmp_path):
    table = Signatures.from_texts({"a": "red hat", "b": "a hat of wool"}, Lengths())
    table.to_npz(tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz") as archive:
        arrays = dict(archive)
    arrays["phrase_vectors"] = arrays["phrase_vectors"][:-1]
    np.savez(tmp_path / "short.npz", **arrays)
    with pytest.raises(InvalidInputError, match="phrases of the classes do not fit"):
        Signatures.from_npz(tmp_path / "short.npz")
