"""Calibrated methods with unknown classes: rows, tables and pictures."""

import pytest

from zslearn.evaluation import OpenProtocol, evaluate
from zslearn.reproduce import make_tables
from zslearn.reproduce.plots.open import open_plots
from zslearn.reproduce.runs.open import CONFIDENCES, measure
from zslearn.reproduce.specification import Run
from zslearn.reproduce.tables.open import WAYS
from zslearn.zero_shot import RRZSLClassifier


@pytest.fixture(scope="module")
def row(animals):
    run = Run("open", "rrzsl", animals, "proposed", "attributes", seed=1)
    return run.configuration() | {"status": "ok"} | measure(run)


def test_the_row_is_that_of_evaluate(animals, row):
    data = animals.load()
    lam = RRZSLClassifier(data.signatures).fit(*training(data)).lam_
    method = RRZSLClassifier(data.signatures, lam=lam)
    found = evaluate(data, method, OpenProtocol("proposed", random_state=1))
    for name in ("unknown_auroc", "coverage_area", "known_rejected", "calibration_error"):
        assert row[name] == pytest.approx(found.metrics[name], abs=1e-9), name
    assert row["auroc_right"] == row["unknown_auroc"]


def training(data):
    task = OpenProtocol("proposed", random_state=1).task(data)
    return data.X[task.train], data.y[task.train]


def test_calibration_lowers_the_error_and_no_way_to_reject_is_missing(row):
    assert row["ece_calibrated_generalized"] < row["ece_plain_generalized"]
    assert 0 < row["ece_floor_generalized"] < 0.1
    assert set(CONFIDENCES) == set(WAYS)
    assert len({row[f"auroc_{name}"] for name in CONFIDENCES}) == len(CONFIDENCES)


def test_tables_show_what_the_rows_say(row):
    together, errors, ways = make_tables([row], ["open"])["open"]
    assert together.rows[0][together.columns.index("AUROC")] == f"{100 * row['unknown_auroc']:.1f}"
    assert errors.rows[1][1] == f"{row['ece_calibrated_conventional']:.3f}"
    assert [line[0] for line in ways.rows] == list(WAYS.values())


def test_two_pictures_for_each_data_set(row):
    pictures = list(open_plots([row]))
    assert [plot.name.partition("-")[0] for plot in pictures] == ["reliability", "coverage"]
    assert all(plot.png.startswith(b"\x89PNG") for plot in pictures)
