"""Calibrated methods with unknown classes: rows, tables and pictures."""

import pytest

from zslearn.evaluation import OpenProtocol, evaluate
from zslearn.reproduce import make_tables
from zslearn.reproduce.experiments.open import CONFIDENCES, DISTANCE, measure, plots
from zslearn.reproduce.specification import Run
from zslearn.zero_shot import RRZSLClassifier


@pytest.fixture(scope="module")
def row(animals):
    run = Run("open", "rrzsl", animals, "proposed", "attributes", seed=1)
    return run.configuration() | {"status": "ok"} | measure(run)


def test_the_three_sides_are_those_of_evaluate(animals, row):
    data = animals.load()
    lam = RRZSLClassifier(data.signatures).fit(*training(data)).lam_
    method = RRZSLClassifier(data.signatures, lam=lam)
    found = evaluate(data, method, OpenProtocol("proposed", random_state=1))
    for name in ("unknown_auroc", "unseen_accuracy", "known_rejected", "calibration_error"):
        assert row[name] == pytest.approx(found.metrics[name], abs=1e-9), name


def training(data):
    task = OpenProtocol("proposed", random_state=1).task(data)
    return data.X[task.train], data.y[task.train]


def test_calibration_lowers_the_error_and_no_temperature_is_much_better_than_the_best(row):
    for part in ("conventional", "generalized"):
        assert row[f"ece_calibrated_{part}"] < row[f"ece_plain_{part}"]
        assert row[f"ece_best_{part}"] < row[f"ece_plain_{part}"]


def test_no_way_to_reject_is_missing_and_angles_are_their_own_distance(row):
    for setting in ("all", "unseen"):
        found = [row[f"auroc_{way}_{setting}"] for way in CONFIDENCES]
        assert len(set(found)) == len(CONFIDENCES)
        assert all(0.3 < value < 1.0 for value in found)
        # Ridge regression compares angles.
        same = row[f"auroc_score_{setting}"], row[f"auroc_{DISTANCE}_{setting}"]
        assert same[0] == pytest.approx(same[1])


def test_tables_show_what_the_rows_say(row):
    together, errors, ways, rejected, unseen, means = make_tables([row], ["open"])["open"]
    assert together.rows[0][together.columns.index("AUROC")] == f"{100 * row['unknown_auroc']:.1f}"
    assert float(errors.rows[1][2]) == pytest.approx(row["ece_calibrated_conventional"], abs=5e-4)
    for table in (ways, rejected, unseen, means):
        assert [line[0] for line in table.rows] == [*CONFIDENCES, DISTANCE]
    assert rejected.rows[-1][-1] == "– / –"  # no threshold is learned for the distance


def test_a_picture_for_each_data_set(row):
    (picture,) = plots([row])
    assert picture.name == "calibration-animals28"
    assert picture.png().startswith(b"\x89PNG")
