"""The class table: what it keeps, what it refuses, what it is made from."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV

from tests.signature_tables import DIMENSIONS, few_times, make_animals, tables
from zslearn.exceptions import (
    ImmutableError,
    InvalidInputError,
    InvalidTypeError,
    UnknownClassError,
    ZslearnError,
)
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


@pytest.fixture
def animals():
    return make_animals()


def test_it_keeps_a_float64_copy_in_row_order():
    vectors = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    table = Signatures(np.array(["c", "a", "b"], dtype=object), vectors)
    vectors[:] = 0
    assert table.vectors.dtype == np.float64
    assert table.vectors.flags.c_contiguous
    assert_array_equal(table.vectors, [[0, 1], [2, 3], [4, 5]])
    assert table.names.tolist() == ["c", "a", "b"]
    assert table.dimensions == ("d0", "d1")
    assert dict(table.blocks) == {"semantics": slice(0, 2)}
    assert (len(table), table.shape, table.n_dimensions) == (3, (3, 2), 2)


def test_it_behaves_as_a_container_of_classes(animals):
    assert list(animals) == ["zebra", "otter", "whale"]
    assert "otter" in animals
    assert np.str_("otter") in animals
    assert "okapi" not in animals
    assert_array_equal(animals["whale"], [0, 0.5, 2])


def test_integer_names_of_every_width_are_found():
    table = Signatures(np.array([30, 10, 20], dtype=np.uint8), np.eye(3))
    assert table.names.dtype == np.int64
    assert list(table) == [30, 10, 20]
    assert_array_equal(table[np.int32(20)], [0, 0, 1])
    assert_array_equal(table.index_of(np.array([20, 30], dtype=np.int16)), [2, 0])


def test_numpy_text_dimensions_become_plain_strings():
    table = Signatures(["a"], [[1, 2]], np.array(["x", "y"]))
    assert [type(name) for name in table.dimensions] == [str, str]


@pytest.mark.parametrize(
    ("n_classes", "n_dimensions", "expected"),
    [
        (1, 1, "Signatures(1 class × 1 dimension: c0)"),
        (2, 3, "Signatures(2 classes × 3 dimensions: c0, c1)"),
        (50, 85, "Signatures(50 classes × 85 dimensions: c0, c1, ...)"),
    ],
)
def test_repr_is_short(n_classes, n_dimensions, expected):
    names = [f"c{i}" for i in range(n_classes)]
    assert repr(Signatures(names, np.ones((n_classes, n_dimensions)))) == expected


def test_repr_cuts_long_names():
    assert len(repr(Signatures(["x" * 500], [[1]]))) < 100


@pytest.mark.parametrize("attribute", ["names", "vectors", "dimensions", "blocks", "color"])
def test_attributes_cannot_be_set_or_deleted(animals, attribute):
    with pytest.raises(ImmutableError, match=f"never change, so '{attribute}' cannot be set"):
        setattr(animals, attribute, None)
    with pytest.raises(AttributeError, match=f"'{attribute}' cannot be deleted"):
        delattr(animals, attribute)


def test_contents_cannot_be_written(animals):
    with pytest.raises(ValueError, match="read-only"):
        animals.vectors[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        animals["zebra"][0] = 5
    with pytest.raises(ValueError, match="read-only"):
        animals.names[0] = "x"
    with pytest.raises(TypeError, match="does not support item assignment"):
        animals.blocks["x"] = slice(0, 1)


def test_copies_are_free(animals):
    assert copy.copy(animals) is animals
    assert copy.deepcopy({"table": animals})["table"] is animals
    assert clone(animals, safe=False) is animals


class Holder(ClassifierMixin, BaseEstimator):
    """An estimator with a table as a parameter."""

    def __init__(self, signatures):
        self.signatures = signatures

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.signatures.names[0])


def test_an_estimator_with_a_table_clones_and_searches(animals):
    other = animals.subset(["otter", "zebra", "whale"])
    assert clone(Holder(animals)).signatures is animals
    X, y = np.zeros((6, 1)), np.array(["otter", "zebra"] * 3)
    search = GridSearchCV(Holder(animals), {"signatures": [animals, other]}, cv=2).fit(X, y)
    assert search.best_params_["signatures"] in (animals, other)
    assert len(search.cv_results_["param_signatures"]) == 2


@few_times
@given(tables())
def test_equal_tables_have_equal_hashes(table):
    again = Signatures(table.names, table.vectors, table.dimensions, blocks=table.blocks)
    assert again == table
    assert hash(again) == hash(table)
    wider = (
        table.append({"a much longer name than any": np.ones(table.n_dimensions)})
        if isinstance(next(iter(table)), str)
        else table
    )
    assert wider.subset(list(table)) == table
    assert hash(wider.subset(list(table))) == hash(table)


def test_signed_zeros_are_equal_and_hash_alike():
    plus, minus = Signatures(["a"], [[0.0]]), Signatures(["a"], [[-0.0]])
    assert plus == minus
    assert hash(plus) == hash(minus)


@pytest.mark.parametrize(
    "other",
    [
        Signatures(["a", "b"], [[1, 2], [3, 5]]),
        Signatures(["a", "c"], [[1, 2], [3, 4]]),
        Signatures(["b", "a"], [[3, 4], [1, 2]]),
        Signatures(["a", "b"], [[1, 2], [3, 4]], ["x", "y"]),
        Signatures(["a", "b"], [[1, 2], [3, 4]], blocks={"l": slice(0, 1), "r": slice(1, 2)}),
        Signatures([1, 2], [[1, 2], [3, 4]]),
        "a",
    ],
)
def test_tables_that_differ_in_anything_are_not_equal(other):
    assert Signatures(["a", "b"], [[1, 2], [3, 4]]) != other


@few_times
@given(tables())
def test_processes_can_exchange_it(table):
    back = pickle.loads(pickle.dumps(table))
    assert back == table
    assert not back.vectors.flags.writeable


def test_a_million_labels_are_found_in_a_big_table():
    rng = np.random.default_rng(0)
    names = np.array([f"n{number:08d}" for number in rng.permutation(21_841)])
    expected = rng.integers(0, len(names), 1_000_000)
    table = Signatures(names, rng.standard_normal((len(names), 3)))
    assert_array_equal(table.index_of(names[expected]), expected)
    numbered = Signatures(rng.permutation(21_841), table.vectors)
    assert_array_equal(numbered.index_of(numbered.names[expected]), expected)


def make_series(labels):
    return pd.Series(labels, index=[7] * len(labels))


@pytest.mark.parametrize(
    "kind",
    [list, tuple, np.array, make_series, pd.Categorical, lambda x: np.array(x, dtype=object)],
)
def test_every_kind_of_label_array_is_looked_up(animals, kind):
    labels = kind(["whale", "zebra", "whale"])
    assert_array_equal(animals.index_of(labels), [2, 0, 2])
    assert_array_equal(animals.rows(labels), animals.vectors[[2, 0, 2]])


def test_rows_are_a_writable_copy(animals):
    rows = animals.rows(["zebra"])
    rows[:] = 9
    assert_array_equal(animals["zebra"], [1, 1, 0])


def test_no_labels_give_no_rows(animals):
    assert animals.index_of([]).shape == (0,)
    assert animals.rows([]).shape == (0, 3)


@pytest.mark.parametrize(
    "look_up",
    [
        lambda table: table["zebre"],
        lambda table: table.index_of(["otter", "zebre"]),
        lambda table: table.rows(np.array(["zebre"])),
        lambda table: table.subset(["zebre"]),
        lambda table: table.drop(["zebre"]),
        lambda table: table.renamed({"zebre": "x"}),
        lambda table: table.normalized("zscore-seen", seen=["zebre", "otter"]),
    ],
)
def test_an_unknown_class_is_named_with_the_closest(animals, look_up):
    with pytest.raises(UnknownClassError, match=r"'zebre' has no signature; 3 .* is 'zebra'"):
        look_up(animals)


def test_several_unknown_classes_are_counted_once_each(animals):
    with pytest.raises(UnknownClassError, match=r"'okapi' \(and 1 more\) has no signature"):
        animals.index_of(["okapi", "okapi", "zebra", "unicorn"])


def test_a_number_does_not_find_the_same_number_as_text():
    with pytest.raises(UnknownClassError, match="Class '7' has no signature"):
        Signatures([7], [[1]]).index_of(["7"])


@pytest.mark.parametrize("name", [["zebra"], None, slice(0, 1), 1.0])
def test_square_brackets_take_one_name(animals, name):
    with pytest.raises(InvalidTypeError, match=r"takes one class name; got .*subset"):
        animals[name]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("zebra", "got 'zebra'. Put a single one in a list"),
        (5, "got 5. Put a single one in a list"),
        ([["zebra"]], r"text or integers; got \['zebra'\]"),
        (np.array([["zebra"]]), r"got shape \(1, 1\). Use ravel"),
    ],
)
def test_what_is_no_array_of_labels_is_refused(animals, labels, message):
    with pytest.raises(ZslearnError, match=message):
        animals.index_of(labels)


def test_from_dict_takes_vectors_and_named_values(animals):
    vectors = dict(zip(animals, animals.vectors, strict=True))
    named = {
        "zebra": {"stripes": 1, "tail": 1, "swims": 0},
        "otter": {"swims": 1, "tail": 1, "stripes": 0},
        "whale": {"tail": 0.5, "swims": 2, "stripes": 0},
    }
    assert Signatures.from_dict(vectors, DIMENSIONS) == animals
    assert Signatures.from_dict(named) == animals
    assert Signatures.from_dict(named, ["tail", "swims", "stripes"])["whale"].tolist() == [
        0.5,
        2,
        0,
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "table is empty"),
        ({"a": {"x": 1}, "b": {"y": 1}}, "Class 'b' must have the same .* extra: 'x', 'y'"),
        ({"a": {"x": 1}, "b": [1]}, "Class 'b' is a list where others are {dimension: value}"),
        ({"a": [1, 2], "b": [1]}, r"class 'a' has shape \(2,\) and class 'b' has \(1,\)"),
    ],
)
def test_from_dict_refuses(table, message):
    with pytest.raises(ZslearnError, match=message):
        Signatures.from_dict(table)


def test_from_frame_reads_index_and_columns(animals):
    frame = pd.DataFrame(animals.vectors, index=list(animals), columns=list(DIMENSIONS))
    assert Signatures.from_frame(frame) == animals
    numbered = Signatures.from_frame(pd.DataFrame(np.eye(2), index=[5, 3]))
    assert list(numbered) == [5, 3]
    assert numbered.dimensions == ("0", "1")


def test_from_frame_names_a_bad_cell():
    frame = pd.DataFrame({"x": [1, 2], "y": ["3", 4]}, index=["a", "b"])
    with pytest.raises(
        InvalidTypeError, match="Class 'a' has '3' in column 1, which is not a number"
    ):
        Signatures.from_frame(frame)
    frame = pd.DataFrame({"x": [1.0, 2], "y": [3, np.nan]}, index=["a", "b"])
    with pytest.raises(InvalidInputError, match="Class 'b' has the value nan in dimension 'y'"):
        Signatures.from_frame(frame)
    with pytest.raises(InvalidTypeError, match="takes a pandas DataFrame; got list"):
        Signatures.from_frame([[1]])


@pytest.mark.parametrize("labels", [["b", "a"], [3, 1, 2], np.array([0])])
def test_one_hot_is_the_identity(labels):
    table = Signatures.one_hot(labels)
    assert list(table) == list(labels)
    assert table.dimensions == tuple(str(label) for label in labels)
    assert_array_equal(table.vectors, np.eye(len(labels)))


@pytest.mark.parametrize(
    ("names", "vectors", "message"),
    [
        ([], np.empty((0, 2)), "table is empty"),
        (["a", "b", "a"], np.eye(3), "Duplicate class names: 'a'. Keep one row"),
        (["a", 1], np.eye(2), "all text or all integers; got int and str"),
        ([1.5, 2.5], np.eye(2), "all integers; got float"),
        ([True, False], np.eye(2), "all integers; got bool"),
        ([b"a", b"b"], np.eye(2), "all integers; got bytes"),
        ("ab", np.eye(2), "Expected a sequence of class labels; got 'ab'"),
        ([["a"], ["b"]], np.eye(2), r"got \['a'\]"),
        (["a\0", "b"], np.eye(2), "class name .* holds a NUL"),
        (["\ud800", "b"], np.eye(2), "half a character"),
        ([2**70, 1], np.eye(2), "does not fit in 64 bits"),
        (["a", "b"], np.eye(3), "2 class names but 3 vectors"),
        (["a", "b"], np.ones(2), r"shape \(n_classes, n_dimensions\); got \(2,\)"),
        (["a", "b"], np.empty((2, 0)), "zero dimensions"),
        (["a", "b"], [[1, 2], [3]], r"class 'a' has shape \(2,\) and class 'b' has \(1,\)"),
        (["a"], [[1], [2, 3]], "All vectors must have the same length"),
        (["a", "b"], [[1, 2], [3, "x"]], "Class 'b' has 'x' in column 1, which is not a number"),
        (["a", "b"], [[1, 2], [None, 4]], "Class 'b' has None in column 0"),
        (["a"], [[1j]], "Class 'a' has 1j in column 0"),
        (
            ["a", "b"],
            [[1, 2], [3, np.nan]],
            "Class 'b' has the value nan in dimension 'd1' .1 such",
        ),
        (["a", "b"], [[1, np.inf], [3, np.nan]], "Class 'a' has the value inf in .*2 such values"),
    ],
)
def test_what_is_no_table_is_refused(names, vectors, message):
    with pytest.raises(ZslearnError, match=message):
        Signatures(names, vectors)


@pytest.mark.parametrize(
    ("dimensions", "message"),
    [
        (["x"], "1 dimension names but vectors of length 2"),
        (["x", "x"], "Duplicate dimension names: 'x'"),
        (["x", 2], "A dimension name must be text; got 2"),
        ("xy", "got 'xy'"),
        (["x", "y\0"], "dimension name .* holds a NUL"),
    ],
)
def test_bad_dimensions_are_refused(dimensions, message):
    with pytest.raises(ZslearnError, match=message):
        Signatures(["a"], [[1, 2]], dimensions)


@pytest.mark.parametrize(
    "blocks",
    [
        {},
        {"l": slice(0, 2)},
        {"l": slice(0, 1), "r": slice(2, 3)},
        {"l": slice(0, 2), "r": slice(1, 3)},
        {"r": slice(2, 3), "l": slice(0, 2)},
        {"l": slice(0, 3, 2)},
        {"l": slice(0, 4)},
        {"l": slice(0, 3), "empty": slice(3, 3)},
    ],
)
def test_blocks_that_do_not_cover_are_refused(blocks):
    with pytest.raises(InvalidInputError, match="cover the 3 dimensions from left to right"):
        Signatures(["a"], [[1, 2, 3]], blocks=blocks)


def test_open_ended_blocks_are_made_explicit():
    table = Signatures(["a"], [[1, 2, 3]], blocks={"l": slice(2), "r": slice(2, None)})
    assert dict(table.blocks) == {"l": slice(0, 2), "r": slice(2, 3)}


def test_a_table_goes_through_a_frame_and_back():
    table = Signatures(["cat", "dog"], [[1, 0.5], [0, 2]], ["purrs", "barks"])
    frame = table.to_frame()
    assert frame.loc["dog", "barks"] == 2
    frame.loc["dog", "barks"] = 7  # the table does not change with it
    assert table["dog"].tolist() == [0, 2]
    assert Signatures.from_frame(table.to_frame()) == table
    more = table.append(table.to_frame().rename(index={"cat": "fox", "dog": "owl"}))
    assert list(more) == ["cat", "dog", "fox", "owl"]


def test_notebooks_show_a_table_and_run_nothing_in_it():
    table = Signatures([f"<b>{i}" for i in range(9)], np.eye(9))
    shown = table._repr_html_()
    assert "9 classes × 9 dimensions" in shown
    assert "<b>" not in shown
    assert shown.count("<tr>") == 8


def test_truth_values_are_not_the_classes_one_and_zero():
    table = Signatures([0, 1], np.eye(2))
    for labels in ([True], np.array([True, False])):
        with pytest.raises(InvalidTypeError, match="text or integers; got True or False"):
            table.index_of(labels)
    assert True not in table
    assert np.True_ not in table
    assert 1 in table
    with pytest.raises(UnknownClassError, match="Class True has no signature"):
        table[True]
    with pytest.raises(UnknownClassError, match=r"Class False .* has no signature"):
        SAEClassifier(table, lam=1.0).fit(np.eye(4), [True, False, True, False])


@pytest.mark.parametrize("names", [["b", "c", "a"], ["a", "b", "c"], [7, -1, 3]])
def test_the_names_in_order_come_with_their_rows_and_cannot_be_written(names):
    table = Signatures(names, np.eye(3))
    in_order, rows = table.in_order()
    assert in_order.tolist() == sorted(names)
    assert [names[row] for row in rows] == sorted(names)
    assert (in_order is table.names) == (names == sorted(names))
    assert not in_order.flags.writeable
    assert not rows.flags.writeable
