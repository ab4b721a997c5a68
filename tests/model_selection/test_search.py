"""choose: the outcome of scikit-learn's own search, ties and points without a score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold

from zslearn.exceptions import InvalidInputError
from zslearn.model_selection import choose

score_tables = st_numpy.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


def points(n):
    return [{"lam": float(i)} for i in range(n)]


def judged(table):
    return choose(points(table.shape[1]), list(table), lambda fold: fold)


@pytest.mark.parametrize("n_folds", [3, 15])
def test_results_are_those_of_grid_search_cv(n_folds):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    grid, folds = [{"alpha": a} for a in (1.0, 1e-6, 1e6, 1.0)], list(KFold(n_folds).split(X))
    theirs = GridSearchCV(Ridge(), [{"alpha": [p["alpha"]]} for p in grid], cv=folds).fit(X, y)

    def judge(fold):
        train, test = fold
        return [Ridge(**p).fit(X[train], y[train]).score(X[test], y[test]) for p in grid]

    ours = choose(grid, folds, judge)
    assert ours.cv_results["params"] == theirs.cv_results_["params"]
    assert ours.best_params == theirs.best_params_
    assert ours.best_index == theirs.best_index_
    for key in set(ours.cv_results) - {"params"}:
        np.testing.assert_allclose(ours.cv_results[key], theirs.cv_results_[key], rtol=1e-12)
        assert ours.cv_results[key].dtype == theirs.cv_results_[key].dtype
    mean = "mean_test_score"
    np.testing.assert_array_equal(ours.cv_results[mean], theirs.cv_results_[mean])


@given(score_tables)
def test_the_earliest_of_the_best_is_taken(table):
    choice = judged(table)
    means = [sum(column) / len(column) for column in table.T.tolist()]
    assert choice.best_index == means.index(max(means))
    assert choice.best_params == {"lam": float(choice.best_index)}
    beaten_by = [sum(other > mean for other in means) for mean in means]
    assert choice.cv_results["rank_test_score"].tolist() == [n + 1 for n in beaten_by]


def test_keys_are_scikit_learns():
    assert list(judged(np.eye(2)).cv_results) == [
        "params",
        "split0_test_score",
        "split1_test_score",
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
    ]


def test_a_point_without_a_score_on_every_fold_ranks_last():
    table = np.array([[np.nan, 0.1, -np.inf, 0.2], [1.0, 0.1, 0.3, np.nan]])
    choice = judged(table)
    assert choice.cv_results["rank_test_score"].tolist() == [3, 1, 2, 3]
    assert choice.best_index == 1


def test_nothing_but_nan_is_refused():
    with pytest.raises(InvalidInputError, match="none of the 2 parameter points has a score"):
        judged(np.array([[np.nan, 0.1], [0.3, np.nan]]))


@pytest.mark.parametrize(("n_points", "n_folds"), [(0, 2), (3, 0)])
def test_an_empty_search_is_refused(n_points, n_folds):
    with pytest.raises(InvalidInputError, match=rf"got {n_points} point.s. and {n_folds} fold"):
        choose(points(n_points), range(n_folds), lambda fold: [])


@pytest.mark.parametrize("scores", [0.5, [0.5], [[0.1, 0.2]], [0.1, 0.2, 0.3]])
def test_anything_but_one_score_per_point_is_refused(scores):
    with pytest.raises(InvalidInputError, match=r"one score per point, of shape \(2,\); got shape"):
        choose(points(2), [0], lambda fold: scores)


def test_points_are_copied():
    mine = points(2)
    choice = choose(mine, [0], lambda fold: [1.0, 0.0])
    mine[0]["lam"] = -1.0
    assert choice.best_params == {"lam": 0.0}


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_is_one_line_for_each_fold(capsys, verbose):
    choose(points(2), [0.25, 0.5], lambda fold: [fold, np.nan], verbose=verbose, name="Tree")
    lines = [
        "[Tree] fold 1/2: best held-out score 0.250",
        "[Tree] fold 2/2: best held-out score 0.500",
    ]
    assert capsys.readouterr().err.splitlines() == lines * verbose
