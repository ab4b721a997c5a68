from __future__ import annotations

import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import ClassKFold
from zslearn.zero_shot import SAEClassifier
from zslearn.zero_shot._search import class_wise_search

LAMS = [1e-3, 0.3, 50.0]


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        9, 2, n_per_class=8, n_features=12, n_dimensions=6, noise=0.9, random_state=1
    )


def seen(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


def test_the_search_agrees_with_the_path_of_the_autoencoder(data):
    X, y = seen(data)
    found = class_wise_search(
        lambda lam: SAEClassifier(data.signatures, lam=lam), X, y, [{"lam": v} for v in LAMS]
    )
    path = SAEClassifier(data.signatures, lams=LAMS).fit(X, y)
    np.testing.assert_allclose(found.scores, path.cv_results_["decode"])
    assert found.best == {"lam": path.lam_["decode"]}
    assert found.points == [{"lam": v} for v in LAMS]


def test_only_classes_that_were_held_out_are_scored(data):
    X, y = seen(data)
    calls = []

    class Recorder:
        def fit(self, X, y):
            self.seen = set(y.tolist())
            return self

        def score(self, X, y):
            calls.append((self.seen, set(y.tolist())))
            return 0.0

    found = class_wise_search(lambda a: Recorder(), X, y, [{"a": 1}, {"a": 2}], cv=3)
    assert found.best == {"a": 1}  # the first of equals
    assert len(calls) == 6
    assert all(not (trained & scored) for trained, scored in calls)
    folds = [set(f.tolist()) for f in ClassKFold(3, shuffle=True, random_state=0).class_folds(y)]
    assert [scored for _, scored in calls[:3]] == folds


@pytest.mark.parametrize(("n_classes", "n_points"), [(3, 2), (9, 1)])
def test_without_anything_to_choose_the_first_point_is_taken(data, n_classes, n_points):
    X, y = seen(data)
    rows = np.isin(y, np.unique(y)[:n_classes])
    points = [{"lam": v} for v in LAMS[:n_points]]
    found = class_wise_search(lambda lam: 1 / 0, X[rows], y[rows], points)
    assert found.best == points[0]
    assert found.scores.shape == (n_points, 0)


def test_no_points_are_refused(data):
    with pytest.raises(InvalidInputError, match="at least one parameter setting"):
        class_wise_search(SAEClassifier, *seen(data), [])
