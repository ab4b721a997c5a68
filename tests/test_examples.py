"""The gallery's examples run as programs; what they find is what their pages say."""

import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(autouse=True)
def without_a_screen():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


def names_of(example):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
        return runpy.run_path(str(EXAMPLES / example))


def test_the_picture_of_the_readme_is_what_its_example_draws(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra images is not installed")
    image = pytest.importorskip("matplotlib.image")
    names = names_of("first_steps/plot_shapes.py")
    names["figure"].savefig(tmp_path / "now.png", dpi=90)
    kept = image.imread(EXAMPLES.parent / "docs" / "images" / "shapes.png")
    # Other answers change words and colors, another font some edges.
    assert np.abs(image.imread(tmp_path / "now.png") - kept).mean() < 0.002
    # What the pages say beside it.
    assert names["right"][names["firsts"]].sum() == 8
    share = f"{100 * names['right'].mean():.0f} %"
    for page, words in (
        ("README.md", "of the new ones are right"),
        ("docs/index.md", "of all are right"),
    ):
        assert f"{share} {words}" in (EXAMPLES.parent / page).read_text(encoding="utf-8")


def test_sensor_data_needs_a_nonlinear_classifier():
    accuracy = names_of("data/plot_sensor_data.py")["accuracy"]
    assert accuracy["SAE"] < 2 / 6
    assert accuracy["DAP, logistic"] < 2 / 6
    assert accuracy["DAP, naive Bayes"] > 5 / 6


def test_each_kind_of_data_gets_its_method(capsys):
    names_of("data/plot_auto.py")
    said = re.findall(r"^(\w+) +takes ([^;]+);.* reached ([\d.]+)", capsys.readouterr().out, re.M)
    taken = {kind: method for kind, method, _ in said}
    assert taken["linear"].endswith("prototype-regression")
    assert taken["spread"] == "standardize > dap + naive-bayes"
    assert taken["product"] in ("standardize > dap + quadratic", "nystroem > prototype-regression")
    assert min(float(reached) for *_, reached in said) > 0.85


def test_a_class_made_like_a_horse_but_striped_takes_the_zebras():
    names = names_of("first_steps/plot_add_class.py")
    assert (names["after"] == "striped horse").mean() > 0.8
    assert (names["others"] == "striped horse").mean() < 0.02


def test_calibrated_probabilities_are_nearer_to_the_truth_and_unknown_animals_rejected_more():
    names = names_of("measuring/plot_calibration_and_rejection.py")
    assert names["honest"].curve.error < 0.25 * names["plain"].curve.error
    known, rejected = names["known"], names["rejected"]
    assert rejected[known].mean() < 0.1 < rejected[~known].mean()
    assert min(names["auroc"].values()) > 0.55


def test_the_decoder_has_the_smaller_hub():
    # The example runs the encoder first; what it leaves is the decoder's report.
    names = names_of("understanding/plot_hubness.py")
    clf = names["SAEClassifier"](names["animals"].signatures, direction="encode")
    X, y, test = names["animals"].X, names["animals"].y, names["test"]
    answers = clf.fit(X[~test], y[~test]).predict(X[test], candidates=names["unseen"])
    encoder = names["hubness_report"](answers, names["unseen"])
    assert names["report"].largest_share < encoder.largest_share


def test_unseen_shapes_are_recognized_better_by_convolutions():
    pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")
    accuracy = names_of("understanding/plot_deep_shapes.py")["accuracy"]
    assert accuracy["convolutional"] > accuracy["linear, on pixels"] + 0.1
    assert accuracy["linear, on pixels"] > accuracy["guessing"]


def test_every_example_has_a_title_and_a_section_with_a_header():
    examples = sorted(EXAMPLES.rglob("plot_*.py"))
    assert len(examples) >= 12
    for example in examples:
        title, underline = example.read_text("utf-8").splitlines()[1:3]
        assert len(underline) >= len(title) > 0, example
        assert set(underline) == {"="}, example
        assert (example.parent / "GALLERY_HEADER.rst").exists(), example
