"""The picture shows the curve it was given."""

import importlib

import matplotlib as mpl
import numpy as np
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import MissingExtraError
from zslearn.metrics import SeenUnseenCurveDisplay, seen_unseen_curve
from zslearn.zero_shot import SAEClassifier

CANDIDATES, SEEN = ["cow", "okapi"], ["cow"]
SCORES = np.array([[0.9, 0.2], [0.4, 0.6], [0.8, 0.5], [0.7, 0.1]])
Y = ["cow", "cow", "okapi", "okapi"]


@pytest.fixture(autouse=True)
def _no_window():
    before = mpl.get_backend()
    mpl.use("Agg")
    yield
    importlib.import_module("matplotlib.pyplot").close("all")
    mpl.use(before)


def test_draws_the_curve_and_its_points():
    curve = seen_unseen_curve(Y, SCORES, candidates=CANDIDATES, seen=SEEN)
    display = SeenUnseenCurveDisplay(curve, name="SAE", calibrated=curve.at(0.5)).plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.unseen)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.seen)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[0] == "SAE (AUSUC 0.500)"
    assert any("oracle" in text for text in texts)
    assert any("calibrated" in text for text in texts)
    assert "per class" in display.ax_.get_xlabel()


def test_from_estimator_scores_with_every_class():
    data = make_zero_shot(6, 3, n_per_class=5, noise=2.0, random_state=0)
    split = data.split("standard")
    rows = data.rows(split.seen)
    clf = SAEClassifier(data.signatures, lam=1.0).fit(data.X[rows], data.y[rows])
    display = SeenUnseenCurveDisplay.from_estimator(clf, data.X, data.y, average="sample")
    names = data.signatures.names
    expected = seen_unseen_curve(
        data.y,
        clf.decision_function(data.X, candidates=names),
        candidates=names,
        seen=split.seen,
        average="sample",
    )
    assert display.curve.area == expected.area
    assert "per sample" in display.ax_.get_ylabel()


def test_without_matplotlib_names_the_extra(monkeypatch):
    real = importlib.import_module

    def missing(name, *args):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="matplotlib")
        return real(name, *args)

    monkeypatch.setattr(importlib, "import_module", missing)
    curve = seen_unseen_curve(Y, SCORES, candidates=CANDIDATES, seen=SEEN)
    with pytest.raises(MissingExtraError, match=r"zslearn\[plot\]"):
        SeenUnseenCurveDisplay(curve).plot()
