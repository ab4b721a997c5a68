"""Rows for new classes: from texts, from one class, from several."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.signature_tables import few_times, make_animals, tables
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


class Lengths:
    """An encoder that is worked out by hand: (characters, words)."""

    def transform(self, texts):
        self.texts = list(texts)
        return [[len(text), len(text.split())] for text in texts]

    def get_feature_names_out(self):
        return np.array(["characters", "words"], dtype=object)


def unit(vector):
    return np.asarray(vector) / np.linalg.norm(vector)


def test_texts_of_a_class_are_averaged_as_unit_vectors():
    texts = {"cat": ["abc", "d e"], "dog": "abcdefgh"}
    table = Signatures.from_texts(texts, Lengths(), names=False)
    assert_allclose(table["cat"], unit((unit([3, 1]) + unit([3, 2])) / 2))
    assert_allclose(table["dog"], unit([8, 1]))
    assert table.dimensions == ("characters", "words")
    assert list(Signatures.from_texts({7: "a", 8: "b"}, Lengths())) == [7, 8]


def test_every_text_goes_into_every_template():
    encoder = Lengths()
    texts = {"cat": ["x", "y"], "dog": "z"}
    table = Signatures.from_texts(texts, encoder, templates=["a {}", "the {}!"], names=False)
    assert encoder.texts == ["a x", "the x!", "a y", "the y!", "a z", "the z!"]
    assert_allclose(table["dog"], unit(unit([3, 2]) + unit([6, 2])))


def test_a_name_counts_as_much_as_all_texts_of_its_class():
    encoder = Lengths()
    texts = {"polar_bear": ["abc", "d e"], "Otter": "otter", "7": "abcd", "n02391049": "abcd"}
    table = Signatures.from_texts(texts, encoder)
    described = unit((unit([3, 1]) + unit([3, 2])) / 2)
    assert_allclose(table["polar_bear"], unit(described + unit([10, 2])))
    # A text that is the name, and names that are no words, add nothing.
    assert encoder.texts == ["abc", "d e", "otter", "abcd", "abcd", "polar bear"]
    assert_allclose(table["Otter"], unit([5, 1]))
    assert_allclose(table.vectors[2], table.vectors[3])
    assert table.texts["polar_bear"] == ("abc", "d e")


def test_what_made_a_table_follows_it(tmp_path):
    identity = {"model": "letters", "sha256": "0" * 64, "settings": {}, "kind": "text"}
    table = Signatures(["a", "b"], np.eye(2), encoder=identity, texts={"a": ["one", "two"]})
    table.to_npz(tmp_path / "table.npz")
    again = Signatures.from_npz(tmp_path / "table.npz")
    for kept in (again, pickle.loads(pickle.dumps(table)), table.normalized("l2")):
        assert (dict(kept.encoder), dict(kept.texts)) == (identity, {"a": ("one", "two")})
    assert dict(table.renamed({"a": "c"}).texts) == {"c": ("one", "two")}
    assert dict(table.drop(["a"]).texts) == {}
    more = table.append(Signatures(["c"], [[0, 1]], texts={"c": "three"}))
    assert dict(more.texts) == {"a": ("one", "two"), "c": ("three",)}
    assert table.normalized("zscore-seen", seen=["a", "b"]).encoder is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"encoder": "minilm"}, "encoder must be what EncoderIdentity.as_dict"),
        ({"encoder": {"model": "minilm"}}, "encoder must be what EncoderIdentity.as_dict"),
        ({"texts": ["one"]}, r"texts must be \{class: texts\}; got list"),
        ({"texts": {"c": "one"}}, "texts names 'c', which is none of the classes"),
    ],
)
def test_what_made_a_table_is_checked(parts, message):
    with pytest.raises(ZslearnError, match=message):
        Signatures(["a", "b"], np.eye(2), **parts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "table is empty"),
        ({"cat": ""}, "'cat' needs one or several texts, none empty; got ''"),
        ({"cat": " \n"}, "'cat' needs one or several texts"),
        ({"cat": []}, r"'cat' needs one or several texts, none empty; got \[\]"),
        ({"cat": ["fine", None]}, "'cat' needs one or several texts"),
        ({"cat": 7}, "Expected a sequence"),
        (["cat"], r"takes \{class: text or texts\}; got list"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(ZslearnError, match=message):
        Signatures.from_texts(texts, Lengths())


@pytest.mark.parametrize("template", ["no place", "{} {}", "{name}", "{", "{!r}", "{:>9}", 7])
def test_a_template_has_one_place(template):
    with pytest.raises(InvalidInputError, match=r"A template needs exactly one \{\}"):
        Signatures.from_texts({"cat": "x"}, Lengths(), templates=[template])


def test_no_template_at_all_is_refused():
    with pytest.raises(InvalidInputError, match="templates is empty"):
        Signatures.from_texts({"cat": "x"}, Lengths(), templates=[])


def test_an_encoder_must_give_one_vector_per_text():
    class Wrong(Lengths):
        def transform(self, texts):
            return np.ones(2)

    with pytest.raises(InvalidInputError, match=r"shape \(2,\) for 1 texts"):
        Signatures.from_texts({"cat": "cat"}, Wrong())
    with pytest.raises(ZslearnError, match="must have the method transform; got str"):
        Signatures.from_texts({"cat": "x"}, "minilm")


def test_like_changes_only_what_is_named():
    animals = make_animals()
    okapi = animals.like("zebra", {"tail": 0.2}, name="okapi", stripes=0.4)
    assert list(okapi) == ["okapi"]
    assert_array_equal(okapi["okapi"], [0.4, 0.2, 0])
    assert_array_equal(animals["zebra"], [1, 1, 0])
    assert (okapi.dimensions, okapi.blocks) == (animals.dimensions, animals.blocks)


@few_times
@given(tables(), st.data())
def test_like_without_changes_is_the_same_row(table, data):
    known = data.draw(st.sampled_from(list(table)))
    new = "new" * 5 if isinstance(known, str) else 0
    assert_array_equal(table.like(known, name=new)[new], table[known])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"strips": 1}, "no dimension 'strips'; the table has 3, the closest is 'stripes'"),
        ({"stripes": "many"}, "'stripes' needs a finite number; got 'many'"),
        ({"stripes": float("nan")}, "'stripes' needs a finite number; got nan"),
    ],
)
def test_like_refuses(call, message):
    with pytest.raises(InvalidInputError, match=message):
        make_animals().like("zebra", name="okapi", **call)


def test_like_names_the_closest_class():
    with pytest.raises(InvalidInputError, match=r"'zebras' has no signature.*closest is 'zebra'"):
        make_animals().like("zebras", name="okapi")


@few_times
@given(tables(bound=1e6), st.data())
def test_a_mixture_lies_between_its_parts(table, data):
    weights = data.draw(
        st.dictionaries(st.sampled_from(list(table)), st.floats(0.01, 10), min_size=1)
    )
    new = "new" * 5 if isinstance(next(iter(table)), str) else 0
    row = table.mix(weights, name=new)[new]
    parts = table.rows(list(weights))
    slack = 1e-9 * (1 + np.abs(parts).max())
    assert (row >= parts.min(axis=0) - slack).all()
    assert (row <= parts.max(axis=0) + slack).all()
    expected = sum(w * table[c] for c, w in weights.items()) / sum(weights.values())
    assert_allclose(row, expected, atol=slack)


@pytest.mark.parametrize(
    "weights", [{}, {"zebra": 0}, {"zebra": -1, "otter": 2}, {"zebra": float("inf")}]
)
def test_mix_refuses(weights):
    with pytest.raises(InvalidInputError, match=r"mix needs weights|needs a finite number"):
        make_animals().mix(weights, name="new")


def test_a_classifier_takes_the_new_row():
    data = make_zero_shot(6, 2, n_dimensions=5, random_state=0)
    rows = data.rows(data.split("standard").seen)
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    first, second = list(data.signatures)[:2]
    clf.add_classes(data.signatures.like(first, name="new", d0=3.0))
    clf.add_classes(data.signatures.mix({first: 1, second: 1}, name="between"))
    known = list(data.signatures)
    assert list(clf.signatures_) == [*known, "new", "between"]
    assert set(clf.predict(data.X, candidates=["new", "between"])) <= {"new", "between"}
