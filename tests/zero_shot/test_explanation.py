"""Why a sample got its score: sums by dimension, and reasons that a person can read."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from zslearn import PrototypeRegression, load_animals
from zslearn.persistence import load, save
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, ConSEClassifier, DAPClassifier
from zslearn.zero_shot.explanation import Explanation, Reason


@pytest.fixture
def why():
    away = np.where(np.arange(85) % 2, 1.0, -1.0)
    names = [first + second for first in "abcdefghijklmnopq" for second in "vwxyz"]
    return Explanation.of(names, np.linspace(-1, 0.5, 85), 0.25, away)


def test_its_repr_is_short_and_names_what_counts(why):
    assert repr(why) == (
        "Explanation(score -21: lacks av -1, has aw -0.982, lacks ax -0.964, 82 more, offset +0.25)"
    )
    few = Explanation.of(["<b>", "swims"], np.array([0.5, -0.75]))
    assert repr(few) == "Explanation(score -0.25: like swims -0.75, like <b> +0.5)"
    assert "like &lt;b&gt;</td><td>+0.5</td>" in few._repr_html_()


def test_numbers_of_an_encoder_are_never_named():
    hidden = Explanation.of([f"minilm{i}" for i in range(384)], np.ones(384))
    assert repr(hidden) == "Explanation(score 384: 384 numbered dimensions)"
    assert hidden.reasons() == []
    mixed = Explanation.of(["d0", "d1", "tail"], np.ones(3), deviations=np.array([1, 1, -1.0]))
    assert mixed.reasons() == [Reason("tail", "lacks", 1.0)]


def test_a_notebook_shows_the_largest_contributions_and_the_offset(why):
    html = why._repr_html_()
    assert html.count("<tr>") == 12
    assert "<td>has bz</td>" in html
    assert "cv<" not in html
    assert "<td>offset</td><td>+0.25</td>" in html


def test_as_a_frame_it_adds_up(why):
    frame = why.to_frame()
    assert frame.index.name == "dimension"
    assert frame["contribution"].sum() + why.offset == pytest.approx(why.score)
    assert frame.loc["qz", "contribution"] == 0.5


def test_the_plot_shows_the_largest_on_top(why):
    axes = why.plot(3)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["lacks ax", "has aw", "lacks av"]
    widths = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(widths, why.contributions[[2, 1, 0]])
    assert axes.get_xlabel() == "adds to the score of -21"
    _, own = plt.subplots()
    assert why.plot(ax=own) is own
    plt.close("all")


def test_a_trait_that_a_class_lacks_is_called_so():
    animals = load_animals()
    seen = animals.rows(animals.split("proposed").seen)
    binary = (animals.signatures.vectors > 30).astype(float)
    table = Signatures(animals.signatures.names, binary, animals.signatures.dimensions)
    model = DAPClassifier(table).fit(animals.X[seen], animals.y[seen])
    found = model.explain(animals.X[0], "bat").reasons(85)
    assert {one.direction for one in found} == {"has", "lacks"}
    for one in found:
        has = table["bat"][table.dimensions.index(one.trait)] == 1
        assert one.direction == ("has" if has else "lacks")


class Letters:
    """An encoder that is worked out by hand: how often each letter occurs, and a one."""

    def transform(self, texts):
        return [[text.lower().count(letter) for letter in "abcdehiorst"] + [1] for text in texts]


WORDS = {
    "zebra": "a striped coat and a tail",
    "bear": "it hides in the dark den",
    "otter": "it rides the coast, and eats oysters",
    "ibis": "is it there",
    "carrot": "carrot",
}


@pytest.fixture(scope="module")
def described():
    rng = np.random.default_rng(0)
    table = Signatures.from_texts(WORDS, Letters())
    y = np.repeat(["zebra", "bear", "otter"], 8)
    X = table.rows(y) + rng.normal(scale=0.05, size=(24, 12))
    return table, X, y


@pytest.mark.parametrize(
    "made",
    [
        PrototypeRegression,
        ConSEClassifier,  # its scores are no sums
        lambda table: CalibratedStacking(PrototypeRegression(table)),
    ],
)
def test_the_reason_of_a_phrase_is_the_score_with_it_less_the_score_without(described, made):
    table, X, y = described
    model = made(table).fit(X, y)
    recognizer = model.recognizer()
    found = recognizer.explain(X[0], "otter")
    assert found.reasons() == model.explain(X[0], "otter").reasons()
    assert [one.trait for one in found.removals] == ["otter", "rides", "coast", "eats oysters"]
    full = recognizer.column(X[:1], "otter")[0]
    assert found.score == pytest.approx(full)
    # By another way: the class is exchanged for one that was described without the phrase.
    shorter = {"otter": "it rides the , and eats oysters"}
    without = Signatures.from_texts(shorter, Letters())["otter"]
    score = recognizer.replace("otter", without).column(X[:1], "otter")[0]
    assert found.removals[2].direction == "says"
    assert found.removals[2].adds == pytest.approx(full - score, rel=1e-4)


def test_phrases_go_where_the_class_goes(described, tmp_path):
    table, X, y = described
    model = PrototypeRegression(table).fit(X, y)
    expected = model.explain(X[0], "otter").removals
    save(model, tmp_path / "model.zsl")
    assert load(tmp_path / "model.zsl").explain(X[0], "otter").removals == expected
    recognizer = model.recognizer()
    assert recognizer.among(["otter", "zebra"]).explain(X[0], "otter").removals == expected
    # A class with another vector is not what its texts said.
    moved = recognizer.replace("otter", table["bear"])
    assert moved.explain(X[0], "otter").removals == ()
    told = recognizer.replace("pear", table["otter"], phrases=table.phrases["otter"])
    assert [one.trait for one in told.explain(X[0], "pear").removals] == [
        one.trait for one in expected
    ]
    assert told.replace("pear", table["bear"]).explain(X[0], "pear").removals == ()
    assert set(told.signatures.phrases) == {"zebra", "bear", "otter", "ibis", "pear"}
