"""A first model, and what fits promise: figures that can be made in another way."""

import numpy as np
import pytest

from zslearn.datasets import load_animals, make_family
from zslearn.exceptions import ZslearnWarning
from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.reproduce import Run, find_data, make_tables
from zslearn.reproduce.experiments.newcomer import described, drawn, measure
from zslearn.zero_shot import CalibratedStacking, SAEClassifier


@pytest.fixture(scope="module")
def first():
    """A row of the animals, with its draw."""
    source = next(one for one in find_data()[0] if one.dataset == "animals28")
    run = Run("newcomer", "sae", source, seed=212, parameters={"table": "85 attributes"})
    return run.configuration() | {"status": "ok"} | measure(run), drawn(load_animals().y, 212)


def test_a_draw_has_eleven_seen_four_unseen_and_three_strange_classes():
    y = load_animals().y
    draw = drawn(y, 3)
    known = {*draw.seen, *draw.unseen}
    assert (len(draw.seen), len(draw.unseen), len(known)) == (11, 4, 15)
    assert not np.intersect1d(draw.train, draw.test).size
    assert {*y[draw.train]} == {*draw.seen}
    assert {*y[draw.test]} == known
    assert len({*y[draw.strangers]} - known) == 3
    assert (len(draw.train), len(draw.test), len(draw.strangers)) == (11 * 20, 11 * 5 + 100, 75)
    assert not np.array_equal(draw.train, drawn(y, 4).train)


def test_traits_are_answers_that_divide_the_classes_most_evenly():
    animals = load_animals()
    classes = drawn(animals.y, 5).seen.tolist()
    table = described("15 traits", classes)
    whole = animals.signatures.subset(classes).vectors > animals.signatures.vectors.mean()
    assert set(np.unique(table.vectors)) == {0.0, 1.0}
    uneven = np.abs(whole.mean(axis=0) - 0.5)
    taken = np.abs(table.vectors.mean(axis=0) - 0.5)
    assert np.allclose(np.sort(uneven)[:15], np.sort(taken))


def test_a_first_model_is_that_of_the_library(first):
    row, draw = first
    animals = load_animals()
    names = [*draw.seen, *draw.unseen]
    table = animals.signatures.subset(names)
    X, y = animals.X[draw.test], animals.y[draw.test]
    new = np.isin(y, draw.unseen)
    for way, clf in (
        ("plain", SAEClassifier(table)),
        ("calibrated", CalibratedStacking(SAEClassifier(table))),
    ):
        clf.fit(animals.X[draw.train], animals.y[draw.train])
        found = clf.predict(X)
        parts = (per_class_accuracy(y[side], found[side]) for side in (new, ~new))
        assert row[f"{way}_harmonic_mean"] == pytest.approx(harmonic_mean(*parts), abs=1e-12)
    assert row["best_harmonic_mean"] >= row["calibrated_harmonic_mean"]
    with pytest.warns(ZslearnWarning, match="hardly be told"):
        answers = clf.predict(X[new], reject=True, reject_label="none")
    assert row["unseen_rejected_all"] == np.mean(answers == "none")
    assert row["reached_unseen"] == clf.score(X[new], y[new], "unseen")


def test_promises_are_kept_by_classes_that_were_not_drawn_for_training():
    options = {"problem": "linear", "n_seen": 11, "n_unseen": 4}
    run = Run("promises", "sae", seed=204, parameters=options)
    row = measure(run)
    assert row["expected_low"] <= row["expected_unseen"] <= row["expected_high"]
    data = make_family("linear", random_state=204)
    order = np.random.default_rng(204).permutation(np.unique(data.y))
    assert row["reached_unseen"] > 1 / 4
    assert len(order) >= 15


def test_tables_tell_means_ranges_and_how_many_intervals_held(first):
    row, _ = first
    other = row | {"seed": 213, "calibrated_harmonic_mean": 0.1, "best_harmonic_mean": 0.5}
    other |= {"reached_unseen": 0.4, "expected_low": 0.5, "expected_unseen": 0.6}
    other |= {"expected_high": 0.7, "unseen_rejected_alone": 0.25}
    reached, told = make_tables([row, other], ["newcomer"])["newcomer"]
    title = "85 attributes, SAE (decoder)"
    held = row["expected_low"] <= row["reached_unseen"] <= row["expected_high"]
    assert told.cell(title, "intervals that held") == f"{int(held)} of 2"
    gap = 50 * (row["best_harmonic_mean"] - row["calibrated_harmonic_mean"] + 0.4)
    assert float(reached.cell(title, "lost to it, points")) == pytest.approx(gap, abs=0.05)
    assert reached.cell(title, "single draws").startswith(".100 to ")
    assert told.cell("SAE (decoder)", "alone, single draws").endswith(" to 25")
    many = {"kind": "promises", "parameter_n_seen": 30, "parameter_n_unseen": 10}
    few = many | {"parameter_n_seen": 11, "parameter_n_unseen": 4, "seen_rejected_all": None}
    rows = [row | many, other | many, other | many | few]
    rows = [one | {"parameter_problem": str(i)} for i, one in enumerate(rows)]
    (table,) = make_tables(rows, ["promises"])["promises"]
    assert table.cell("30 + 10, SAE (decoder)", "problems") == "2"
    assert table.cell("11 + 4, SAE (decoder)", "intervals that held") == "0 of 1"
    assert table.cell("11 + 4, SAE (decoder)", "told − reached") == "+.200"
    assert table.cell("all", "intervals that held") == f"{int(held)} of 3"
