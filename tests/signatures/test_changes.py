"""Tables made from tables: subset, drop, append, rename, join, normalize."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.signature_tables import few_times, make_animals, tables
from zslearn.exceptions import InvalidInputError, ZslearnError
from zslearn.signatures import Signatures


@pytest.fixture
def animals():
    return make_animals()


@few_times
@given(tables(), st.randoms())
def test_subset_keeps_the_order_asked_for(table, random):
    names = list(table)
    random.shuffle(names)
    chosen = names[: random.randint(1, len(names))]
    smaller = table.subset(chosen)
    assert list(smaller) == chosen
    assert_array_equal(smaller.vectors, table.rows(chosen))
    assert smaller.dimensions == table.dimensions
    assert table.subset(list(table)) == table


@few_times
@given(tables(), st.data())
def test_drop_and_append_undo_each_other(table, data):
    assume(len(table) > 1)
    last = data.draw(st.integers(1, len(table) - 1))
    head, tail = table.subset(list(table)[:last]), table.subset(list(table)[last:])
    assert head.append(tail) == table
    assert head.append(dict(zip(tail, tail.vectors, strict=True))) == table
    assert table.drop(list(tail)) == head


def test_append_reads_named_values_in_the_order_of_the_table(animals):
    bigger = animals.append({"okapi": {"swims": 0, "stripes": 0.5, "tail": 1}})
    assert_array_equal(bigger["okapi"], [0.5, 1, 0])
    assert len(animals) == 3


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ({"zebra": [1, 2, 3]}, "already have a signature: 'zebra'. Drop them first"),
        ({"okapi": [1, 2]}, r"'okapi' has a vector of shape \(2,\); the table needs \(3,\)"),
        ({"okapi": {"stripes": 1}}, "Class 'okapi' must have .* extra: 'swims', 'tail'"),
        ({7: [1, 2, 3]}, "all text or all integers; got int and str"),
        ({}, "table is empty"),
        (Signatures(["okapi"], [[1, 2]]), "new classes lack the dimension 'stripes'"),
        (
            Signatures(["okapi"], [[1, 2, 3]], ["stripes", "swims", "tails"]),
            "lack the dimension 'tail'; the closest of theirs is 'tails'",
        ),
        (
            Signatures(["okapi"], [[1, 2, 3, 4]], ["stripes", "swims", "tail", "tusks"]),
            "have the dimension 'tusks', which the table does not have",
        ),
    ],
)
def test_append_refuses(animals, new, message):
    with pytest.raises(ZslearnError, match=message):
        animals.append(new)


def test_append_matches_dimensions_by_their_names(animals):
    okapi = Signatures(["okapi"], [[1, 2, 3]], ["swims", "tail", "stripes"])
    assert animals.append(okapi)["okapi"].tolist() == [3, 2, 1]


def test_drop_cannot_empty_the_table(animals):
    with pytest.raises(InvalidInputError, match="table is empty"):
        animals.drop(list(animals))


def test_subset_refuses_a_class_twice(animals):
    with pytest.raises(InvalidInputError, match="Duplicate class names: 'zebra'"):
        animals.subset(["zebra", "zebra"])


def test_renamed_changes_only_what_it_is_told(animals):
    table = animals.renamed({"otter": "sea otter"})
    assert list(table) == ["zebra", "sea otter", "whale"]
    assert_array_equal(table.vectors, animals.vectors)
    swapped = animals.renamed({"otter": "zebra", "zebra": "otter"})
    assert_array_equal(swapped["zebra"], animals["otter"])
    assert list(animals.renamed({"zebra": 1, "otter": 2, "whale": 3})) == [1, 2, 3]
    with pytest.raises(InvalidInputError, match="Duplicate class names: 'zebra'"):
        animals.renamed({"otter": "zebra"})


@few_times
@given(tables(), st.data())
def test_join_puts_two_spaces_side_by_side(table, data):
    order = data.draw(st.permutations(list(table)))
    width = data.draw(st.integers(1, 4))
    other = Signatures(order, np.arange(len(order) * width).reshape(len(order), width))
    both = table.join(other)
    first, second = both.blocks.values()
    assert list(both) == list(table)
    assert list(both.blocks) == ["attributes", "word vectors"]
    assert_array_equal(both.vectors[:, first], table.vectors)
    assert_array_equal(both.vectors[:, second], other.rows(list(table)))


def test_join_prefixes_only_dimensions_of_both():
    left = Signatures(["a"], [[1, 2]], ["size", "tail"])
    both = left.join(Signatures(["a"], [[3, 4]], ["size", "w"]), names=("attr", "text"))
    assert both.dimensions == ("attr: size", "tail", "text: size", "w")


def test_a_third_space_keeps_the_blocks_of_the_first_two():
    one, two, three = (Signatures(["a"], np.ones((1, k))) for k in (1, 2, 3))
    every = one.join(two).join(three, names=("not used", "text"))
    assert dict(every.blocks) == {
        "attributes": slice(0, 1),
        "word vectors": slice(1, 3),
        "text": slice(3, 6),
    }
    assert len(set(every.dimensions)) == 6
    turned = three.join(one.join(two), names=("text", "not used"))
    assert list(turned.blocks) == ["text", "attributes", "word vectors"]
    assert_array_equal(turned.vectors, every.vectors)
    with pytest.raises(InvalidInputError, match=r"have a block 'word vectors'. Pass names="):
        one.join(two).join(three)


def test_join_lists_the_classes_that_differ(animals):
    other = Signatures(["zebra", "okapi"], np.eye(2))
    with pytest.raises(
        InvalidInputError,
        match="same classes: the second lacks 'otter', 'whale'; the first lacks 'okapi'",
    ):
        animals.join(other)
    many = Signatures.one_hot(range(9)), Signatures.one_hot([0])
    with pytest.raises(InvalidInputError, match="lacks 1, 2, 3, 4, 5 and 3 more"):
        many[0].join(many[1])


@few_times
@given(tables())
def test_l2_gives_unit_rows_in_the_same_direction(table):
    assume(np.abs(table.vectors).max(axis=1).all())
    unit = table.normalized("l2")
    assert_allclose(np.linalg.norm(unit.vectors, axis=1), 1)
    largest = np.abs(table.vectors).max(axis=1, keepdims=True)
    cosine = np.einsum("ij,ij->i", table.vectors / largest, unit.vectors)
    assert_allclose(cosine, np.linalg.norm(table.vectors / largest, axis=1))
    assert (list(unit), unit.dimensions) == (list(table), table.dimensions)


def test_l2_block_scales_each_space_alone():
    both = Signatures(["a", "b"], [[3, 4], [0, 2]]).join(Signatures(["a", "b"], [[9], [-4]]))
    unit = both.normalized("l2-block")
    assert_allclose(unit.vectors, [[0.6, 0.8, 1], [0, 1, -1]])
    assert unit.blocks == both.blocks


def test_a_row_of_zeros_is_named():
    table = Signatures(["a", "b"], [[1, 2], [0, 0]])
    with pytest.raises(InvalidInputError, match="Class 'b' has only zeros, which"):
        table.normalized("l2")
    both = Signatures(["a", "b"], [[1], [1]]).join(table)
    assert_allclose(both.normalized("l2")["b"], [1, 0, 0])
    with pytest.raises(InvalidInputError, match="'b' has only zeros in the block 'word vectors'"):
        both.normalized("l2-block")


@few_times
@given(tables(bound=1e6), st.data())
def test_seen_classes_alone_set_the_scale(table, data):
    seen = data.draw(st.lists(st.sampled_from(list(table)), min_size=1))
    reference = table.rows(list(dict.fromkeys(seen)))
    spread = np.ptp(reference, axis=0)
    varied = spread > 1e-9 * np.abs(reference).max(axis=0)
    constant = spread == 0

    scored = table.normalized("zscore-seen", seen=seen).rows(list(dict.fromkeys(seen)))
    assert_allclose(scored[:, varied].mean(axis=0), 0, atol=1e-5)
    assert_allclose(scored[:, varied].std(axis=0), 1, rtol=1e-5)
    assert_array_equal(scored[:, constant], 0)

    ranged = table.normalized("minmax-seen", seen=seen).rows(list(dict.fromkeys(seen)))
    assert_array_equal(ranged[:, varied].min(axis=0), 0)
    assert_array_equal(ranged[:, varied].max(axis=0), 1)
    assert_array_equal(ranged[:, constant], 0)


@pytest.mark.parametrize("how", ["zscore-seen", "minmax-seen"])
def test_unseen_classes_do_not_move_the_others(animals, how):
    seen = ["zebra", "otter", "zebra"]
    changed = animals.drop(["whale"]).append({"whale": [1e3, -1e3, 7]})
    expected = animals.normalized(how, seen=seen).rows(seen)
    assert_array_equal(changed.normalized(how, seen=seen).rows(seen), expected)
    # "tail" is constant over the seen classes: only centered, for unseen ones too.
    assert animals.normalized(how, seen=seen)["whale"][1] == -0.5


def test_zscore_agrees_with_numbers_worked_by_hand():
    table = Signatures(["a", "b", "c"], [[1.0, 5], [3, 5], [7, 6]])
    scored = table.normalized("zscore-seen", seen=["a", "b"])
    assert_allclose(scored.vectors, [[-1, 0], [1, 0], [5, 1]])


def test_tiny_values_have_a_deviation():
    table = Signatures(["a", "b"], [[1e-200], [3e-200]])
    assert_allclose(table.normalized("zscore-seen", seen=["a", "b"]).vectors, [[-1], [1]])


def test_a_value_that_overflows_is_named():
    table = Signatures(["a", "b", "c"], [[1e-200], [3e-200], [1e200]])
    with pytest.raises(InvalidInputError, match="Class 'c' has the value inf in dimension 'd0'"):
        table.normalized("minmax-seen", seen=["a", "b"])


def test_rounding_noise_is_no_variation():
    table = Signatures(["a", "b"], [[0.1 + 0.2], [0.3]])
    assert abs(table.normalized("zscore-seen", seen=["a", "b"]).vectors).max() < 1e-15


@pytest.mark.parametrize("seen", [None, []])
def test_measuring_seen_classes_needs_them(animals, seen):
    with pytest.raises(
        InvalidInputError, match=r"measures the seen classes but got none. Pass seen="
    ):
        animals.normalized("zscore-seen", seen=seen)


def test_an_unknown_normalization_lists_the_known(animals):
    with pytest.raises(
        InvalidInputError, match=r"how='L2' is not .* choose l2, l2-block, zscore-seen"
    ):
        animals.normalized("L2")
