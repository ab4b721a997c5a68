import matplotlib.pyplot as plt
import numpy as np
import pytest

from zslearn.zero_shot.explanation import Explanation


@pytest.fixture
def why():
    return Explanation.of([f"d{i}" for i in range(85)], np.linspace(-1, 0.5, 85), 0.25)


def test_its_repr_is_short_and_names_what_counts(why):
    assert repr(why) == "Explanation(score -21: d0 -1, d1 -0.982, d2 -0.964, 82 more, offset +0.25)"
    few = Explanation.of(["<b>", "swims"], np.array([0.5, -0.75]))
    assert repr(few) == "Explanation(score -0.25: swims -0.75, <b> +0.5)"
    assert "&lt;b&gt;</td><td>+0.5</td>" in few._repr_html_()


def test_a_notebook_shows_the_largest_contributions_and_the_offset(why):
    html = why._repr_html_()
    assert html.count("<tr>") == 12
    assert "<td>d9</td>" in html
    assert "<td>d10</td>" not in html
    assert "<td>offset</td><td>+0.25</td>" in html


def test_as_a_frame_it_adds_up(why):
    frame = why.to_frame()
    assert frame.index.name == "dimension"
    assert frame["contribution"].sum() + why.offset == pytest.approx(why.score)
    assert frame.loc["d84", "contribution"] == 0.5


def test_the_plot_shows_the_largest_on_top(why):
    axes = why.plot(3)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["d2", "d1", "d0"]
    widths = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(widths, why.contributions[[2, 1, 0]])
    assert axes.get_xlabel() == "adds to the score of -21"
    _, own = plt.subplots()
    assert why.plot(ax=own) is own
    plt.close("all")
