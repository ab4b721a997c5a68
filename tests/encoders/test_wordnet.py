"""Class tables from WordNet: a small one written here, and the real one where it is."""

import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.encoders.wordnet_writer import write_wordnet
from zslearn.datasets import load_animals
from zslearn.encoders import match_wordnet, wordnet
from zslearn.encoders.wordnet import find_wordnet
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnError


@pytest.fixture
def small(tmp_path):
    """Folder of the small WordNet."""
    write_wordnet(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def real():
    """Folder of the real WordNet, or a skip that says what is missing."""
    try:
        return find_wordnet()
    except MissingFileError as error:
        pytest.skip(str(error))


def column(table, word):
    (found,) = [d for d in table.dimensions if d.startswith(f"{word} n")]
    return table.vectors[:, table.dimensions.index(found)]


def test_ancestors_say_what_a_class_belongs_to(small):
    table = match_wordnet(["zebra", "horse", "goldfish"], folder=small).signatures
    assert_array_equal(column(table, "equine"), [1, 1, 0])
    assert_array_equal(column(table, "pet"), [0, 0, 1])
    assert_array_equal(column(table, "zebra"), [1, 0, 0])
    words = {dimension.partition(" ")[0] for dimension in table.dimensions}
    assert words == {"mammal", "equine", "zebra", "horse", "pet", "goldfish"}


def test_one_class_keeps_all_its_kinds(small):
    assert match_wordnet(["pet"], folder=small).signatures.shape == (1, 3)


def test_distances_count_the_steps_through_the_nearest_common_kind(small):
    names = ["zebra", "horse", "mouse", "goldfish"]
    table = match_wordnet(names, folder=small, kind="distances").signatures
    # zebra-equine-horse; zebra-equine-mammal-mouse; zebra-equine-mammal-animal-goldfish
    steps = [[0, 2, 3, 4], [2, 0, 3, 4], [3, 3, 0, 3], [4, 4, 3, 0]]
    assert_array_equal(table.vectors, 1 / (1 + np.array(steps)))
    assert list(table.dimensions) == names


@pytest.mark.parametrize(
    ("name", "rule", "synset"),
    [
        ("zebra", "exact", "zebra"),
        ("Zebra", "case", "zebra"),
        ("Polar+Bear", "separator", "polar_bear"),
        ("polar bears", "plural", "polar_bear"),
        ("mice", "plural", "mouse"),
        ("Equus caballus", "separator", "horse"),
        ("brown bear", "head noun", "bear"),
        ("seal.n.02", "synset", "seal"),
        ("seal", "exact", "sealing_wax"),
    ],
)
def test_names_are_found_by_rule(small, name, rule, synset):
    (match,) = match_wordnet([name], folder=small).coverage
    assert (match.rule, match.words[0].partition(" ")[0]) == (rule, synset)


def test_a_number_names_a_synset(small, tmp_path):
    number = f"n{write_wordnet(tmp_path)['mouse']:08d}"
    (match,) = match_wordnet([number], folder=small).coverage
    assert match.words == (f"mouse {number}: a small rodent",)


def test_below_chooses_the_sense(small):
    (match,) = match_wordnet(["seal"], folder=small, below="animal").coverage
    assert match.words[0].endswith(": a marine mammal")
    with pytest.raises(
        InvalidInputError, match=r"No sense of 'seal' is a kind of 'equine n\d{8}': sealing_wax"
    ):
        match_wordnet(["seal"], folder=small, below="equine")
    with pytest.raises(InvalidInputError, match="No noun of WordNet was found for 'plants'"):
        match_wordnet(["seal"], folder=small, below="plants")


def test_overrides_name_a_word_or_a_synset(small):
    matched = match_wordnet(
        ["my seal", "pony"], folder=small, overrides={"my seal": "seal.n.02", "pony": "horse"}
    )
    assert [match.rule for match in matched.coverage] == ["override", "override"]
    assert matched.coverage[0].words[0].startswith("seal n")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"names": ["zebbra"]}, r"No noun of WordNet .* 'zebbra' \(the closest words are 'zebra'"),
        ({"names": ["seal.n.09"]}, "No noun of WordNet was found for 'seal.n.09'"),
        ({"names": ["n00000007"]}, "data.noun: there is no synset n00000007"),
        ({"names": ["n99999999"]}, "there is no synset n99999999"),
        ({"names": ["zebra"], "kind": "depth"}, "kind must be 'ancestors' or 'distances'"),
        ({"names": []}, "There are no class names"),
        ({"names": ["zebra"], "overrides": {"ox": "x"}}, "'ox', which is none of the classes"),
    ],
)
def test_refusals(small, call, message):
    with pytest.raises(ZslearnError, match=message):
        match_wordnet(folder=small, **call)


def test_a_missing_wordnet_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet, "_usual_places", lambda: [tmp_path])
    with pytest.raises(MissingFileError, match="apt-get install wordnet-base, or pass folder="):
        match_wordnet(["zebra"])
    with pytest.raises(MissingFileError, match=r"There are no index\.noun and"):
        match_wordnet(["zebra"], folder=tmp_path)


def test_nltk_folders_are_found(tmp_path, monkeypatch):
    inner = tmp_path / "corpora" / "wordnet"
    inner.mkdir(parents=True)
    write_wordnet(inner)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    assert inner in wordnet._usual_places()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("index.noun", "zebra n 1", "zebra n x", "line of 'zebra' is not as wndb"),
        ("index.noun", "zebra n 1", "zebra n 9999", "line of 'zebra' is not as wndb"),
        ("data.noun", " n 01 zebra", " n zz zebra", "there is no synset n"),
        ("data.noun", "zebra 0 002", "zebra 0 999", "there is no synset n"),
        ("data.noun", "nobody", "no", "there is no synset n"),
    ],
)
def test_damaged_files_are_refused(small, file, old, new, message):
    content = (small / file).read_text()
    assert old in content
    (small / file).write_text(content.replace(old, new))
    with pytest.raises(InvalidInputError, match=message):
        match_wordnet(["zebra"], folder=small)


def test_a_circle_of_kinds_ends(small):
    offsets = write_wordnet(small)
    content = (small / "data.noun").read_text()
    line = "~ 00000000 n 0000 | that which exists"
    assert line in content
    circle = f"@ {offsets['zebra']:08d} n 0000 | that which exists"
    (small / "data.noun").write_text(content.replace(line, circle))
    assert match_wordnet(["zebra", "pet"], folder=small).signatures.n_dimensions > 0


def test_files_of_another_folder_are_not_needed(small, tmp_path_factory):
    bare = tmp_path_factory.mktemp("bare")
    for name in ("index.noun", "data.noun"):
        shutil.copy(small / name, bare / name)
    assert match_wordnet(["zebra"], folder=bare).coverage[0].rule == "exact"


def test_the_animals_in_the_real_wordnet(real):
    names = list(load_animals().signatures)
    matched = match_wordnet(names, below="mammal", folder=real)
    found = {match.name: match.words[0] for match in matched.coverage}
    assert found["seal"].startswith("seal n02076196: any of numerous marine mammals")
    assert found["zebra"].startswith("zebra n02391049")
    assert_array_equal(
        column(matched.signatures, "equine"), [name in ("horse", "zebra") for name in names]
    )
    close = match_wordnet(names, below="mammal", folder=real, kind="distances").signatures
    order = np.argsort(-close["zebra"])
    assert [names[i] for i in order[:2]] == ["zebra", "horse"]
    assert_array_equal(close.vectors, close.vectors.T)
