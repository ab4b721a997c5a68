import pickle

import pytest

from zslearn.exceptions import (
    InvalidInputError,
    MissingExtraError,
    TransductiveBatchError,
    UnknownClassError,
    closest_name,
    did_you_mean,
)


@pytest.mark.parametrize(
    "error",
    [
        InvalidInputError("k must be positive"),
        UnknownClassError(["zebrra"], ["zebra", "lion"]),
        TransductiveBatchError("PST", 1, 10),
        MissingExtraError("pooch", "data", "Downloading"),
    ],
)
def test_errors_survive_the_way_back_from_a_worker_process(error):
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)


def test_an_unknown_class_is_told_with_the_nearest_name():
    message = str(UnknownClassError(["zebrra", "lyon"], ["zebra", "lion"]))
    assert message.startswith("Class 'zebrra' (and 1 more) has no signature; 2 classes have one")
    assert "the closest is 'zebra'" in message


def test_no_name_is_suggested_when_nothing_is_near():
    assert closest_name("okapi", ["zebra", "lion"]) is None
    assert closest_name("3.0", ["13", "3", "30"]) == "3"


def test_the_closest_name_is_offered_in_the_words_wanted():
    assert did_you_mean("esszl", ["sae", "eszsl"]) == " Did you mean 'eszsl'?"
    assert did_you_mean("lable", ["label"], ", the closest is {!r}") == ", the closest is 'label'"
    assert did_you_mean("okapi", ["zebra", "lion"]) == ""
