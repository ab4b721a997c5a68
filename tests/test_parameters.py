"""Constraints of parameters, each on its own, and the check that reads them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from zslearn._parameters import (
    Constraint,
    Either,
    Flag,
    Instance,
    Number,
    Numbers,
    RandomSource,
    Seed,
    Whole,
    check_parameters,
    check_value,
    constraints_of,
)
from zslearn.exceptions import InvalidInputError

NEVER_NUMBERS = [True, np.True_, "1", None, [1], np.nan, np.inf, -np.inf, 1j, object()]


@pytest.mark.parametrize("value", NEVER_NUMBERS, ids=lambda value: type(value).__name__)
def test_what_is_not_a_finite_number_is_refused_by_all_numbers(value: object) -> None:
    assert not Number().allows(value)
    assert not Whole(-5).allows(value)
    assert not Numbers(Number()).allows([value])


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2), 1e300, -7])
def test_numbers_of_python_and_numpy_are_numbers(value: object) -> None:
    assert Number().allows(value)


@pytest.mark.parametrize(
    ("constraint", "inside", "outside", "words"),
    [
        (Number(), [-1e9, 0], [10**400], "a number"),
        (Number(above=0), [1e-9], [0, -1], "a positive number"),
        (Number(least=0), [0], [-1e-9], "a number of at least 0"),
        (Number(above=0, most=1), [1, 0.5], [0, 1.1], "a number above 0 and at most 1"),
        (Number(least=0, most=1), [0, 1], [-0.1, 1.1], "a number from 0 to 1"),
        (Number(above=0, below=1), [0.5], [0, 1], "a number above 0 and below 1"),
        (Whole(1), [1, np.int32(5)], [0, 1.0, 1.5, -2], "a whole number of at least 1"),
        (Whole(0, 3), [0, 3], [4, -1], "a whole number from 0 to 3"),
        (Flag(), [True, np.False_], [0, 1, "True", None], "True or False"),
        (
            Seed(),
            [None, 0, np.uint32(7), 2**32 - 1],
            [-1, 2**32, 1.0, True, "0", np.random.RandomState(0), np.random.default_rng(0)],
            "None or a whole number from 0 to 4294967295",
        ),
        (
            RandomSource(),
            [None, 0, np.random.RandomState(0)],
            [-1, "0", np.random.default_rng(0)],
            "None, a whole number from 0 to 4294967295 or a RandomState",
        ),
        (
            Numbers(Number(above=0)),
            [[1, 2.5], (1,), np.logspace(0, 1, 3), range(1, 3)],
            [3.0, [], [1, -1], [1, "2"], [True], [[1.0]], [[1], [1, 2]], "12", {"a": 1}],
            "a list of positive numbers",
        ),
        (Numbers(Whole(1)), [[1, 5]], [[1.0], [0]], "a list of whole numbers of at least 1"),
        (Instance(dict, "a dict"), [{}], [[], None], "a dict"),
        (Constraint("an even number", lambda n: n % 2 == 0), [2], [3], "an even number"),
        (Either("l2", None), ["l2", np.str_("l2"), None], ["l1", 0, False, ["l2"]], "'l2' or None"),
        (Either(True, "cv"), [True, "cv"], [1, False, np.ones(2)], "True or 'cv'"),
        (Either("a", "b", None), ["b"], ["c", np.array(["a", "b"])], "'a', 'b' or None"),
        (
            Either("cv", Number(above=0)),
            ["cv", 1],
            ["auto", 0, None, True],
            "'cv' or a positive number",
        ),
    ],
    ids=lambda case: getattr(case, "words", None),
)
def test_a_constraint_allows_what_its_words_say(
    constraint: Constraint, inside: list[Any], outside: list[Any], words: str
) -> None:
    assert constraint.words == words
    for value in inside:
        assert constraint.allows(value), value
        check_value("p", value, constraint)
    for value in outside:
        assert not constraint.allows(value), value
        with pytest.raises(InvalidInputError, match=f"^p must be {words}; got .*\\.$"):
            check_value("p", value, constraint)


def test_the_message_is_one_line_however_large_the_value() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_value("p", np.zeros((400, 400)), Flag())
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 200
    with pytest.raises(InvalidInputError, match=r"got nan\.$"):
        check_value("p", np.float64("nan"), Number())


class _Base:
    parameter_constraints: ClassVar = {"lam": Number(above=0), "cv": Whole(2)}


class _Method(_Base):
    parameter_constraints: ClassVar = {"lam": Either("cv", Number(above=0)), "top": Whole(1)}

    def __init__(self, lam: object, top: object = 1) -> None:
        self.lam = lam
        self.top = top


def test_tables_are_merged_over_the_bases_and_the_nearest_goes_first() -> None:
    table = constraints_of(_Method)
    assert {name: one.words for name, one in table.items()} == {
        "lam": "'cv' or a positive number",
        "cv": "a whole number of at least 2",
        "top": "a whole number of at least 1",
    }


def test_a_wrong_parameter_is_named_and_a_missing_one_is_no_matter() -> None:
    check_parameters(_Method("cv"))  # has no `cv` of its own
    with pytest.raises(InvalidInputError, match=r"^lam must be 'cv' or a positive .*; got -1\.$"):
        check_parameters(_Method(-1))
    with pytest.raises(InvalidInputError, match=r"^top must be a whole number .*; got 2\.5\.$"):
        check_parameters(_Method(1.0, top=2.5))
