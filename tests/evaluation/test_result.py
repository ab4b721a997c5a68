import matplotlib.pyplot as plt
import pytest

from zslearn.datasets import make_zero_shot
from zslearn.evaluation import GeneralizedProtocol, evaluate, evaluate_splits
from zslearn.zero_shot import SAEClassifier


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(8, 3, n_per_class=8, noise=3.0, random_state=0)


@pytest.fixture
def drawn():
    _, axes = plt.subplots()
    yield axes
    plt.close("all")


def test_reprs_fit_on_two_lines(data):
    result = evaluate(data, SAEClassifier(lam=1.0))
    share = f"{result.metrics['per_class_accuracy']:.4f}"
    start = f"Result(SAEClassifier on {data.name}, split standard, conventional: per_class_accuracy"
    assert repr(result).startswith(f"{start} {share}, ")
    assert len(repr(result)) < 200
    split = data.split("standard")
    both = evaluate_splits(data, SAEClassifier(lam=1.0), [split, split])
    assert f"2 splits, conventional: per_class_accuracy {share} ± 0.0000" in repr(both)


def test_a_notebook_shows_every_metric(data):
    result = evaluate(data, SAEClassifier(lam=1.0), GeneralizedProtocol())
    html = result._repr_html_()
    for name, value in result.metrics.items():
        assert f"<td>{name}</td><td>{value:.4f}</td>" in html


def test_a_curve_says_its_area_and_best_points(data):
    curve = evaluate(data, SAEClassifier(lam=1.0), GeneralizedProtocol()).curve
    assert repr(curve) == (
        f"SeenUnseenCurve({len(curve.seen)} points per class: area {curve.area:.4f}, "
        f"H {curve.uncalibrated.harmonic_mean:.4f} without bias, at most "
        f"{curve.oracle.harmonic_mean:.4f})"
    )


def test_a_conventional_result_is_drawn_as_bars_beside_chance(data, drawn):
    result = evaluate(data, SAEClassifier(lam=1.0))
    assert result.plot(drawn) is drawn
    names = [label.get_text() for label in drawn.get_yticklabels()]
    assert names == ["per_sample_accuracy", "per_class_accuracy"]
    widths = [bar.get_width() for bar in drawn.patches]
    assert widths == [result.metrics[name] for name in names]
    assert drawn.lines[0].get_xdata()[0] == result.chance


def test_a_generalized_result_is_drawn_as_its_curve_with_the_chosen_bias(data, drawn):
    result = evaluate(data, SAEClassifier(lam=1.0), GeneralizedProtocol())
    result.plot(drawn, name="ours")
    labels = [line.get_label() for line in drawn.lines]
    assert labels[0].startswith("ours (AUSUC")
    star = drawn.lines[labels.index(next(text for text in labels if "calibrated" in text))]
    assert star.get_xdata()[0] == result.metrics["calibrated_unseen_accuracy"]
    display = result.curve.plot(name="alone")
    assert display.line_.get_label().startswith("alone (AUSUC")
