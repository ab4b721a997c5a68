"""Runs over many class splits, and their tables."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from zslearn.datasets import load_animals
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce import Run, load_experiments, make_tables
from zslearn.reproduce.experiments.class_splits import class_split, harder, measure
from zslearn.zero_shot import RRZSLClassifier


@pytest.fixture(scope="module")
def data():
    return load_animals()


def test_a_random_split_deals_the_classes_anew(data):
    first, again, other = (class_split(data, f"random {seed}") for seed in (1, 1, 2))
    assert set(first.seen) | set(first.unseen) == set(data.classes)
    assert len(first.unseen) == len(data.split("standard").unseen)
    assert list(first.unseen) == list(again.unseen)
    assert set(first.unseen) != set(other.unseen)
    assert class_split(data, "proposed") is data.split("proposed")


def test_a_run_is_a_fit_on_the_seen_classes(animals, data):
    row = measure(Run("class-splits", "rrzsl", animals, "random 0", "attributes"))
    split = class_split(data, "random 0")
    train, test = data.rows(split.seen), data.rows(split.unseen)
    model = RRZSLClassifier(data.signatures).fit(data.X[train], data.y[train])
    assert row["per_class_accuracy"] == pytest.approx(
        model.score(data.X[test], data.y[test], "unseen")
    )


def test_hard_cases_change_what_their_name_says(data):
    split, table = data.split("proposed"), data.signatures
    cases = harder(data, split, table)
    assert len(cases["20 seen"][0].seen) == 20
    assert "50 seen" not in cases
    few = cases["5 per class"][0]
    assert np.unique(data.y[few.train], return_counts=True)[1].tolist() == [5] * len(split.seen)
    assert all(set(case.unseen) == set(split.unseen) for case, _ in cases.values())
    assert 0.45 < np.mean(cases["half missing"][1].vectors[table.vectors != 0] == 0) < 0.55
    assert not np.allclose(cases["noisy attributes"][1].vectors, table.vectors)


def test_parameters_reach_the_method_and_wrong_cases_are_refused(animals):
    place = (animals, "proposed", "attributes")
    row = measure(Run("class-splits", "rrzsl", *place, parameters={"lam": 3.0}))
    assert row["settings"] == "lam=3.0"
    with pytest.raises(InvalidInputError, match=r"no case 'dark'.*noisy attributes"):
        measure(Run("class-splits", "rrzsl", *place, parameters={"case": "dark"}))


def test_random_splits_take_the_first_named_space_alone(animals):
    runs = list(load_experiments()["splits"].runs([animals]))
    assert {run.semantics for run in runs if run.split.startswith("random")} == {"attributes"}
    assert len({run.split for run in runs}) == 12
    words = replace(load_experiments()["splits"], semantics=("binary attributes", "attributes"))
    spaces = {run.semantics for run in words.runs([animals]) if run.split.startswith("random")}
    assert spaces == {"binary attributes"}


def test_the_table_pairs_differences_over_random_splits():
    place = {"kind": "class-splits", "dataset": "D", "features": "f", "semantics": "attributes"}
    own, base = [0.5, 0.4, 0.6, 0.3], [0.55, 0.5, 0.7, 0.32]
    rows = [
        place | {"method": method, "split": f"random {i}", "status": "ok", "per_class_accuracy": a}
        for method, values in (("prototype-regression", base), ("sae", own))
        for i, a in enumerate(values)
    ]
    (table,) = make_tables(rows, ["splits"])["splits"]
    low, high = stats.ttest_rel(own, base).confidence_interval()
    assert table.rows[1][0] == "SAE (decoder)"
    assert table.rows[1][-1] == f".450 ({100 * low:+.1f} … {100 * high:+.1f})"
    assert table.rows[0][-1] == ".517"
