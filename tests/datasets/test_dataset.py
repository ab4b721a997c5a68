"""ZeroShotDataset: what it checks, selects and tells."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zslearn.datasets import ClassSplit, ZeroShotDataset
from zslearn.exceptions import InvalidInputError, InvalidTypeError, UnknownClassError
from zslearn.signatures import Signatures

NAMES = ["bat", "cow", "fox", "seal"]
#          0      1      2      3      4       5      6
LABELS = ["cow", "bat", "fox", "cow", "seal", "bat", "cow"]


def small_dataset():
    return ZeroShotDataset(
        name="small",
        X=np.arange(14.0).reshape(7, 2),
        y=LABELS,
        semantics={
            "attributes": Signatures(NAMES, np.eye(4)),
            "word vectors": Signatures(NAMES[::-1], np.arange(12.0).reshape(4, 3)),
        },
        splits={
            "standard": ClassSplit(["bat", "cow"], ["fox", "seal"]),
            "generalized": ClassSplit(["bat", "cow", "fox"], ["seal"], [0, 1, 2, 3], [5, 6]),
        },
        image_files=[f"{row}.jpg" for row in range(7)],
        features="counting numbers",
    )


@pytest.fixture
def small():
    return small_dataset()


def test_first_semantic_space_is_the_default(small):
    assert small.signatures is small.semantics["attributes"]
    assert small.classes.tolist() == NAMES


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
def test_rows_are_those_of_the_classes(classes):
    rows = small_dataset().rows(classes)
    assert rows.tolist() == [row for row, label in enumerate(LABELS) if label in classes]


def test_class_without_rows_has_none(small):
    wider = replace(small, semantics={"a": Signatures([*NAMES, "elk"], np.eye(5))})
    assert wider.rows("elk").tolist() == []
    assert wider.rows(["elk", "seal"]).tolist() == [4]


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
def test_subset_keeps_rows_with_their_labels_files_and_signatures(classes):
    small = small_dataset()
    rows, part = small.rows(classes), small.subset(classes)
    assert np.array_equal(part.X, small.X[rows])
    assert part.y.tolist() == [LABELS[row] for row in rows]
    assert part.image_files == tuple(f"{row}.jpg" for row in rows)
    assert part.classes.tolist() == classes
    for name, space in small.semantics.items():
        assert np.array_equal(part.semantics[name].vectors, space.rows(classes))


def test_subset_renumbers_the_rows_of_a_split(small):
    part = small.subset(["cow", "bat", "seal"])
    split = part.split("generalized")
    assert split.seen.tolist() == ["bat", "cow"]
    assert part.X[split.train].tolist() == small.X[[0, 1, 3]].tolist()
    assert part.X[split.test_seen].tolist() == small.X[[5, 6]].tolist()


def test_subset_drops_a_split_that_lost_a_side(small):
    assert list(small.subset(["bat", "cow", "fox"]).splits) == ["standard"]
    assert small.subset(["seal"]).splits == {}


def test_subset_drops_a_split_that_lost_its_training_rows(small):
    split = ClassSplit(["bat", "cow"], ["seal"], train=[1], test_seen=[0])
    part = replace(small, splits={"generalized": split}).subset(["cow", "seal"])
    assert part.splits == {}


def test_subset_of_all_classes_is_the_same(small):
    same = small.subset(NAMES)
    assert np.array_equal(same.X, small.X)
    assert same.split("generalized").train.tolist() == [0, 1, 2, 3]
    assert small.subset(NAMES[:2]).y.tolist() != small.y.tolist()


def test_survives_pickling_for_parallel_work(small):
    again = pickle.loads(pickle.dumps(small))
    assert np.array_equal(again.X, small.X)
    assert again.summary() == small.summary()


def test_summary_is_the_row_of_a_table(small):
    assert small.summary().splitlines() == [
        "data set  instances  semantic space  dimension  seen/unseen",
        "small     7          attributes      4          2/2 (standard), 3/1 (generalized)",
        "                     word vectors    3",
        "features: counting numbers",
    ]


def test_repr_tells_sizes(small):
    assert repr(small) == (
        "ZeroShotDataset('small': 7 samples, 2 features, 4 classes; "
        "semantics attributes, word vectors; splits standard, generalized)"
    )


def test_memory_map_stays_one_and_is_not_scanned(small, tmp_path):
    stored = np.memmap(tmp_path / "X.f4", dtype="float32", mode="w+", shape=(7, 2))
    stored[3] = np.nan
    mapped = replace(small, X=stored)
    assert mapped.X is stored


def test_integer_labels_work():
    data = ZeroShotDataset(
        name="numbers",
        X=np.eye(3),
        y=[7, 9, 7],
        semantics={"one-hot": Signatures([9, 7], np.eye(2))},
        splits={"standard": ClassSplit([7], [9])},
    )
    assert data.rows(data.split("standard").seen).tolist() == [0, 2]


def test_unknown_split_suggests_one(small):
    with pytest.raises(
        InvalidInputError,
        match=r"no split 'standrad'; it has 'standard', 'generalized'\. Did you mean 'standard'\?",
    ):
        small.split("standrad")


def test_missing_splits_are_said_to_be_none(small):
    with pytest.raises(InvalidInputError, match=r"no split 'standard'; it has none\.$"):
        replace(small, splits={}).split("standard")


@pytest.mark.parametrize("method", ["rows", "subset"])
def test_unknown_class_is_named_with_the_closest(small, method):
    with pytest.raises(
        UnknownClassError, match=r"Class 'seel' has no signature.*closest is 'seal'"
    ):
        getattr(small, method)(["bat", "seel"])


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"X": np.zeros((6, 2))}, InvalidInputError, "X has 6 rows and y has 7 labels"),
        ({"X": np.zeros(7)}, InvalidInputError, r"got \(7,\) and \(7,\)"),
        ({"X": np.full((7, 2), "a")}, InvalidTypeError, "X must hold numbers; got type <U1"),
        ({"X": np.zeros((0, 2)), "y": []}, InvalidInputError, "X has 0 rows"),
        ({"y": np.array([LABELS])}, InvalidInputError, r"got \(7, 2\) and \(1, 7\)"),
        ({"image_files": ["a.jpg"]}, InvalidInputError, "image_files has 1 names for 7 rows"),
        ({"semantics": {}}, InvalidInputError, "semantics is empty"),
        ({"semantics": {"a": np.eye(4)}}, InvalidTypeError, r"semantics\['a'\] .*got ndarray"),
        ({"splits": {"s": (["bat"], ["cow"])}}, InvalidTypeError, r"splits\['s'\] .*got tuple"),
        ({"y": ["cow"] * 6 + ["elk"]}, UnknownClassError, "Class 'elk' has no signature"),
        (
            {"splits": {"s": ClassSplit(["bat"], ["elk"])}},
            UnknownClassError,
            "Class 'elk' has no signature",
        ),
        (
            {"splits": {"s": ClassSplit(["elk"], ["bat"])}},
            UnknownClassError,
            "Class 'elk' has no signature",
        ),
        (
            {"splits": {"s": ClassSplit(["bat"], ["cow"], train=[1, 7])}},
            InvalidInputError,
            "train of split 's' has row 7; there are 7 rows",
        ),
        (
            {"splits": {"s": ClassSplit(["bat"], ["cow"], train=[1], test_seen=[5, 3])}},
            InvalidInputError,
            "test_seen of split 's' has row 3 of class 'cow', which is not a seen class",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(small, changes, error, message):
    with pytest.raises(error, match=message):
        replace(small, **changes)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_located(small, value):
    X = small.X.copy()
    X[[2, 5], 1] = value
    with pytest.raises(InvalidInputError, match="NaN or infinity in 2 of 7 rows, first in row 2"):
        replace(small, X=X)


def test_second_semantic_space_must_cover_the_labels_too(small):
    spaces = {"a": small.signatures, "b": Signatures(["bat", "cow"], np.eye(2))}
    with pytest.raises(UnknownClassError, match="has no signature; 2 classes have one"):
        replace(small, semantics=spaces, splits={})


def test_rows_of_a_split_by_name_or_itself(small):
    split = ClassSplit(["bat"], ["cow"], train=[1], test_unseen=[3])
    data = replace(small, splits={"narrow": split, "wide": ClassSplit(["bat"], ["cow"])})
    assert data.train_rows("narrow").tolist() == data.train_rows(split).tolist() == [1]
    assert data.test_rows("narrow").tolist() == data.test_rows(split).tolist() == [3]
    assert data.train_rows("wide").tolist() == data.rows(["bat"]).tolist()
    assert data.test_rows("wide").tolist() == data.rows(["cow"]).tolist()


def test_test_rows_must_be_of_unseen_classes(small):
    with pytest.raises(
        InvalidInputError, match=r"test_unseen .* row 1 of class 'bat'.* not an unseen"
    ):
        replace(small, splits={"s": ClassSplit(["bat"], ["cow"], test_unseen=[1])})


def test_subset_renumbers_test_rows_and_drops_a_split_without_any(small):
    rows = small.rows(["cow"])[1:]
    narrow = replace(small, splits={"s": ClassSplit(["bat"], ["cow", "seal"], test_unseen=rows)})
    reduced = narrow.subset(["bat", "cow"])
    assert reduced.y[reduced.test_rows("s")].tolist() == ["cow"] * len(rows)
    assert np.array_equal(reduced.X[reduced.test_rows("s")], small.X[rows])
    assert narrow.subset(["bat", "seal"]).splits == {}


def test_withheld_split_gives_its_reason(small):
    with pytest.raises(InvalidInputError, match="it holds test images"):
        replace(small, withheld={"validation": "it holds test images"}).split("validation")


def test_preferred_space_comes_first(small):
    other = small.prefer("word vectors")
    assert list(other.semantics) == ["word vectors", "attributes"]
    assert other.X is small.X
    with pytest.raises(InvalidInputError, match="no semantic space 'words'; it has 'attributes'"):
        small.prefer("words")


def test_features_that_were_not_loaded(small):
    data = replace(small, X=np.empty((0, 0)), y=np.empty(0, "U1"), splits={}, image_files=None)
    assert data.rows(["bat"]).size == 0
    assert "0 samples" in repr(data)
