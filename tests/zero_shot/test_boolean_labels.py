"""Labels True and False stay what they are; they are never the numbers 1 and 0."""

import numpy as np
import pandas as pd
import pytest

from zslearn.datasets import load_table
from zslearn.exceptions import InvalidInputError, InvalidTypeError, UnknownClassError
from zslearn.zero_shot import SAEClassifier

X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.array([True, False] * 6)
FORMS = {
    "array": Y,
    "list": Y.tolist(),
    "series": pd.Series(Y),
    "nullable": pd.Series(Y, dtype="boolean"),
    "objects": Y.astype(object),
}


@pytest.mark.parametrize("form", FORMS)
def test_booleans_come_back_as_booleans(form):
    clf = SAEClassifier(lam=1.0).fit(X, FORMS[form])
    assert clf.predict(X).dtype == bool
    assert clf.score(X, FORMS[form]) == np.mean(clf.predict(X) == Y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [(1, 0), ("1", "0"), ("yes", "no")])
def test_booleans_are_not_classes_of_another_name(form, names):
    table = {names[0]: [1.0, 0.0], names[1]: [0.0, 1.0], 2 if names[0] == 1 else "2": [1.0, 1.0]}
    with pytest.raises(UnknownClassError, match=r"Class False .*has no signature"):
        SAEClassifier(table, lam=1.0).fit(X, FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_booleans_of_a_table_are_the_words_or_refused(form):
    words = load_table(X, FORMS[form], {"True": [1.0], "False": [0.0], "other": [2.0]})
    assert words.y.tolist() == [str(value) for value in Y]
    with pytest.raises(InvalidTypeError, match="True and False where the classes are numbers"):
        load_table(X, FORMS[form], {1: [1.0], 0: [0.0], 2: [2.0]})


def test_a_missing_label_is_named():
    labels = pd.Series(["cat", "dog"] * 6)
    labels[5] = None
    table = {"cat": [1.0, 0.0], "dog": [0.0, 1.0]}
    with pytest.raises(InvalidInputError, match="label of row 5 is missing"):
        SAEClassifier(table).fit(X, labels)
    with pytest.raises(InvalidInputError, match="label of row 5 is missing"):
        load_table(X, labels, table)
