"""Word vectors for class names: every format, every rule, what is missing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.encoders.vector_file_writers import FORMATS, as_binary, as_text
from zslearn.encoders import match_word_vectors
from zslearn.encoders.word_vectors import read_word_vectors
from zslearn.exceptions import InvalidInputError, InvalidTypeError, ZslearnError, ZslearnWarning

WORDS = ["the", "zebra", "Otter", "polar_bear", "whale", "émeu", "foxes"]


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    return {word: rng.standard_normal(5).astype(np.float32).tolist() for word in WORDS}


def unit(row):
    return np.asarray(row) / np.linalg.norm(row)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table(name, vectors, tmp_path):
    path = tmp_path / name
    path.write_bytes(FORMATS[name](vectors))
    names = ["zebra", "otter", "polar+bear", "émeu"]
    matched = match_word_vectors(names, path)
    expected = [unit(vectors[word]) for word in ("zebra", "Otter", "polar_bear", "émeu")]
    assert_allclose(matched.signatures.vectors, expected, rtol=1e-6)
    assert [match.rule for match in matched.coverage] == ["exact", "case", "separator", "exact"]


class Keyed:
    """What gensim's KeyedVectors offer, as far as it is used."""

    def __init__(self, vectors):
        self.key_to_index = {word: i for i, word in enumerate(vectors)}
        self._rows = np.array(list(vectors.values()), dtype=np.float32)

    def __getitem__(self, word):
        return self._rows[self.key_to_index[word]]


def test_gensim_and_a_dict_give_the_same_table(vectors):
    names = ["zebra", "otter"]
    from_dict = match_word_vectors(names, vectors)
    assert match_word_vectors(names, Keyed(vectors)).signatures == from_dict.signatures
    with pytest.raises(InvalidTypeError, match=r"a file, gensim's KeyedVectors or .*; got int"):
        match_word_vectors(names, 7)


VOCABULARY = {
    "Zebra": [1, 0],
    "zebras": [0, 1],
    "polar_bear": [1, 1],
    "fox": [2, 1],
    "goose": [3, 1],
    "New_York": [1, 3],
    "taxi": [1, 2],
    "blue": [1, 5],
    "whales": [5, 1],
    "bird": [1, 7],
    "paradise": [7, 1],
    "killerwhale": [2, 7],
    "of": [-9, 0],
}


@pytest.mark.parametrize(
    ("name", "rule", "words"),
    [
        ("Zebra", "exact", ("Zebra",)),
        ("ZEBRA", "case", ("Zebra",)),
        ("polar+bear", "separator", ("polar_bear",)),
        ("Polar-Bear", "separator", ("polar_bear",)),
        ("killer whale", "separator", ("killerwhale",)),
        ("007.Polar_Bear", "separator", ("polar_bear",)),
        ("foxes", "plural", ("fox",)),
        ("polar bears", "plural", ("polar_bear",)),
        ("whale", "plural", ("whales",)),
        ("new york taxi", "phrase", ("New_York", "taxi")),
        ("blue whale", "mean of words", ("blue", "whales")),
        ("bird of paradise", "mean of words", ("bird", "paradise")),
        ("sperm whale", "head noun", ("whales",)),
        ("bird of prey", "head noun", ("bird",)),
    ],
)
def test_rules(name, rule, words):
    (match,) = match_word_vectors([name], VOCABULARY).coverage
    assert (match.rule, match.words) == (rule, words)


def test_several_words_are_averaged_as_unit_vectors():
    table = match_word_vectors(["blue whale"], VOCABULARY).signatures
    assert_allclose(table["blue whale"], unit(unit([1, 5]) + unit([5, 1])))


def test_the_scale_of_a_file_does_not_matter(vectors):
    larger = {word: 1000 * np.array(row) for word, row in vectors.items()}
    once, again = (match_word_vectors(["zebra", "whale"], v).signatures for v in (vectors, larger))
    assert_allclose(once.vectors, again.vectors)


@pytest.mark.parametrize("order", [["ZEBRA", "Zebra", "zebra"], ["zebra", "Zebra", "ZEBRA"]])
def test_lower_case_is_preferred_and_an_exact_name_before_it(order):
    source = {word: [1.0 + i, 1.0] for i, word in enumerate(order)}
    coverage = match_word_vectors(["zeBra", "ZEBRA"], source).coverage
    assert [match.words for match in coverage] == [("zebra",), ("ZEBRA",)]


def test_the_first_of_two_rows_of_a_word_counts(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_bytes(b"zebra 1 0\nzebra 0 1\n")
    assert_allclose(match_word_vectors(["zebra"], path).signatures["zebra"], [1, 0])


def test_overrides_replace_the_name():
    matched = match_word_vectors(
        ["jackass penguin", "cab"],
        VOCABULARY,
        overrides={"jackass penguin": ["bird", "BLUE"], "cab": "taxi"},
    )
    assert [match.rule for match in matched.coverage] == ["override", "override"]
    assert matched.coverage[0].words == ("bird", "blue")
    assert_allclose(matched.signatures["cab"], unit([1, 2]))
    assert str(matched) == "2 classes: 2 by override."


def test_a_class_without_a_hit_names_the_closest_words(tmp_path, vectors):
    path = tmp_path / "glove.txt"
    path.write_bytes(as_text(vectors))
    with pytest.raises(
        InvalidInputError,
        match=r"No word vector was found for 'zebbra' \(the closest words are 'zebra'\), 'qqq'\. "
        r"Leave them out, or pass overrides=\{'zebbra'",
    ):
        match_word_vectors(["zebbra", "whale", "qqq"], path)


def test_an_override_that_is_not_found_is_named():
    with pytest.raises(InvalidInputError, match=r"for 'fox' \(looked for 'vixen'\)"):
        match_word_vectors(["fox"], VOCABULARY, overrides={"fox": ["bird", "vixen"]})
    with pytest.raises(InvalidInputError, match="'wolf', which is none of the classes"):
        match_word_vectors(["fox"], VOCABULARY, overrides={"wolf": "fox"})
    with pytest.raises(InvalidInputError, match=r"overrides\['fox'\] must be a word"):
        match_word_vectors(["fox"], VOCABULARY, overrides={"fox": []})


def test_classes_with_one_vector_are_warned_of():
    with pytest.warns(ZslearnWarning, match="classes sperm whale, pilot whale all got .* 'whales'"):
        match_word_vectors(["sperm whale", "pilot whale"], VOCABULARY)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "There are no class names"),
        ([7], "must be text that is not empty, to be looked for as words; got 7"),
        (["fox", " "], "must be text that is not empty"),
        ("fox", "several class names; got the text 'fox'"),
        (["fox", "fox"], "Duplicate class names: 'fox'"),
    ],
)
@pytest.mark.filterwarnings("ignore:The classes")
def test_names_that_cannot_be_looked_for(names, message):
    with pytest.raises(ZslearnError, match=message):
        match_word_vectors(names, VOCABULARY)


def test_words_with_spaces_are_read_from_the_right(tmp_path):
    path = tmp_path / "glove.840B.txt"
    path.write_bytes(b", 0.5 1 2\n. . . 1 2 3\nat name@domain.com 1 1 1\nzebra 4 5 6\n")
    found = {word: row.tolist() for word, row in read_word_vectors(path, lambda word: True)}
    assert found[b". . ."] == [1, 2, 3]
    assert found[b"at name@domain.com"] == [1, 1, 1]
    assert list(found)[-1] == b"zebra"


def test_only_wanted_rows_are_parsed(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(b"zebra 1 2\nbroken x y\n")
    assert match_word_vectors(["zebra"], path).signatures.n_dimensions == 2


def test_a_long_binary_word_does_not_hide_the_next(tmp_path, vectors):
    long = {"x" * 9000: [0.0] * 5, **vectors}
    path = tmp_path / "long.bin"
    path.write_bytes(as_binary(long))
    assert match_word_vectors(["foxes"], path).coverage[0].rule == "exact"


def test_records_that_cross_chunks_are_whole(tmp_path):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((3000, 300)).astype(np.float32)  # 3.6 MB, several chunks
    path = tmp_path / "large.bin"
    path.write_bytes(as_binary({f"w{i}": row for i, row in enumerate(rows)}))
    found = [row for _, row in read_word_vectors(path, lambda word: True)]
    assert_allclose(found, rows)
