from __future__ import annotations

import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import METHODS, SAEClassifier, ZeroShotClassifier, make_classifier
from zslearn.zero_shot.registry import find_method


@pytest.mark.parametrize("name", METHODS)
def test_every_name_makes_its_classifier(name):
    method = METHODS[name]
    clf = make_classifier(name)
    assert type(clf) is method.estimator
    assert isinstance(clf, ZeroShotClassifier)
    assert clf.signatures is None
    assert clf.get_params().items() >= method.parameters.items()
    assert method.cost in ("instant", "seconds", "minutes")
    assert method.tags == clf.zero_shot_tags
    assert method.tags.reference


def test_titles_are_all_different():
    titles = [method.title for method in METHODS.values()]
    assert len(set(titles)) == len(titles)


def test_parameters_given_override_those_of_the_method():
    clf = make_classifier("sae-encode", {"a": [1.0]}, direction="both", lam=2.0)
    assert isinstance(clf, SAEClassifier)
    assert (clf.direction, clf.lam, clf.signatures) == ("both", 2.0, {"a": [1.0]})


def test_an_unknown_name_is_told_its_neighbor():
    with pytest.raises(InvalidInputError, match=r"no method 'sae-encod'\. Did you mean 'sae-enc"):
        find_method("sae-encod")
    with pytest.raises(InvalidInputError, match=r"no method 'qqqqq'\. Known methods: sae,"):
        make_classifier("qqqqq")


@pytest.mark.parametrize("name", METHODS)
def test_a_frozen_copy_of_every_method_fits_the_same_model(name):
    data = make_zero_shot(10, 3, n_per_class=6, n_features=12, n_dimensions=6, random_state=1)
    split = data.split("standard")
    seen, unseen = data.rows(split.seen), data.rows(split.unseen)
    X = np.abs(data.X)
    clf = make_classifier(name, data.signatures).fit(X[seen], data.y[seen])
    again = clf.frozen().fit(X[seen], data.y[seen])
    assert again.cv_results_ is None
    assert again.best_params_ == {}
    X_new = np.concatenate([X[unseen], X[seen]])
    np.testing.assert_allclose(
        again.decision_function(X_new), clf.decision_function(X_new), rtol=1e-4, atol=1e-6
    )
