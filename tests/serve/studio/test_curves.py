"""The curves behind the handles agree with moving the handles."""

from dataclasses import replace

import numpy as np
import pytest

from zslearn.serve.studio.methods import Methods
from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier


def test_the_balance_curve_is_what_moving_the_handle_gives(visitor):
    head, curve = visitor.packed("balance")
    assert head["current"] == head["chosen"]
    for place in np.linspace(1, len(curve["bias"]) - 2, 5).astype(int):
        bias = float(curve["bias"][place])
        summary = visitor.edit("balance", bias=bias)[0]["summary"]
        for key in ("seen", "unseen", "h"):
            # A float32 bias can fall on the other side of one sample's gap.
            assert summary[key] == pytest.approx(curve[key][place], abs=0.02)
    visitor.edit("balance", bias=head["oracle"])
    after, _ = visitor.packed("balance")
    assert after["h"] == pytest.approx(head["oracle_point"]["h"])
    assert after["h"] >= curve["h"].max() - 1e-6
    assert head["h"] == pytest.approx(head["chosen_point"]["h"])


def test_the_bias_is_chosen_without_test_rows(visitor):
    """Other labels of test rows change the oracle, but not what was chosen."""
    head, _ = visitor.packed("balance")
    session = visitor.session
    test = np.flatnonzero(~session.collection.train)
    mixed = np.random.default_rng(0).permutation(test)
    session.collection.labels[test] = session.collection.labels[mixed]
    again = Methods(session.collection, None)
    again.calibrate(session.kept.method)
    assert again.fitted(session.kept.method).bias == head["chosen"]


def test_what_was_learned_is_known_at_the_next_start(visitor, tmp_path):
    chosen = visitor.json("state")["balance"]["chosen"]
    folder, method = tmp_path / "shapes.project.models", visitor.session.kept.method
    again = Methods(visitor.session.collection, folder)
    assert again.fitted(method).is_calibrated
    assert not again.wants_calibration(method)
    assert again.fitted(method).bias == chosen
    (folder / f"{method}.zsl").write_bytes(b"damaged")
    third = Methods(visitor.session.collection, folder)
    wanted = visitor.session.fitted(method).method.best_params_
    assert third.fitted(method).method.best_params_.keys() <= wanted.keys()
    assert third.wants_calibration(method)


@pytest.mark.parametrize("part", ["signatures", "labels", "X"])
def test_a_model_of_other_values_or_labels_is_not_taken(visitor, tmp_path, part):
    """A class table that was edited keeps its names, and a sample that was exchanged its own."""
    old, folder = visitor.session.collection, tmp_path / "shapes.project.models"
    visitor.edit("method", method="sae")
    visitor.session.wait()
    before = visitor.session.fitted("sae").method
    if part == "signatures":
        table = old.signatures
        new = Signatures(table.names, table.vectors[:, ::-1], table.dimensions)
    elif part == "X":
        new = old.X.copy()
        new[np.flatnonzero(old.train)[5]] *= -3  # one picture of many was exchanged
    else:
        new = old.labels.copy()
        new[old.train] = np.roll(new[old.train], 1)
    collection = replace(old, **{part: new})
    got = Methods(collection, folder).fitted("sae").method
    rows = collection.train
    wanted = SAEClassifier(collection.signatures).fit(collection.X[rows], collection.labels[rows])
    np.testing.assert_allclose(got.coef_, wanted.coef_, atol=1e-9)
    assert not np.allclose(got.coef_, before.coef_)


@pytest.mark.parametrize("method", ["sae", "prototype-regression"])
def test_rejection_is_what_the_threshold_gives(visitor, method):
    visitor.edit("method", method=method)
    visitor.session.wait()
    head, curve = visitor.packed("rejection")
    assert (np.diff(curve["rejected"]) >= 0).all()
    assert curve["accuracy"][60] > curve["accuracy"][0]
    place = 30
    sure = float(curve["sure"][place])
    assert 0 < sure < 1
    found, arrays = visitor.edit("reject", on=True, sure=sure)
    assert found["summary"]["rejected"] == pytest.approx(curve["rejected"][place], abs=0.01)
    _, labels = visitor.packed("labels")
    test = labels["split"] == 1
    assert found["summary"]["n_rejected"] == (test & (arrays["answer"] == -1)).sum()
    # The classifier itself, asked anew.
    made = visitor.session.model()
    confidence = made.classifier.recognizer(list(made.keys)).confidence
    wanted = confidence(visitor.session.collection.X) < sure
    assert ((arrays["answer"] == -1) == wanted).mean() > 0.999
    off, arrays = visitor.edit("reject", on=False)
    assert off["summary"]["n_rejected"] == 0
    assert (arrays["answer"] >= 0).all()
    assert head["n"] == test.sum()


def test_while_a_slider_moves_the_same_answers_stay_rejected(visitor):
    visitor.edit("reject", on=True)
    _, before = visitor.packed("answers")
    _, moving = visitor.edit("set", **{"class": 31}, changes={"0": 0.2}, final=False)
    both = (before["answer"] >= 0) & (moving["answer"] >= 0)
    assert ((before["answer"] < 0) >= (moving["answer"] < 0)).all()
    assert both.mean() > 0.5


def test_the_lambda_curve_is_that_of_the_classifiers(visitor):
    visitor.edit("method", method="sae")
    curves = visitor.json("lambda")
    X, y = visitor.session.methods.training_rows()
    for direction, name in (("encode", "encoder"), ("decode", "decoder")):
        clf = SAEClassifier(visitor.session.collection.signatures, direction=direction).fit(X, y)
        np.testing.assert_allclose(curves[name], clf.cv_results_["mean_test_score"])
        assert curves[f"chosen_{name}"] == pytest.approx(clf.best_params_["lam"])
    assert curves["current"] == curves["chosen_decoder"]


def test_another_lambda_is_another_fit(visitor):
    visitor.edit("method", method="sae")
    visitor.session.wait()
    before = visitor.packed("answers")[1]["margin"]
    _, arrays = visitor.edit("lam", value=0.5)
    state = visitor.json("state")
    assert state["lam"]["value"] == 0.5
    assert state["lam"]["chosen"] != 0.5
    X, y = visitor.session.methods.training_rows()
    clf = SAEClassifier(visitor.session.collection.signatures, lam=0.5).fit(X, y)
    names = np.array([one["name"] for one in state["classes"] if one["described"]])
    scores = clf.decision_function(visitor.session.collection.X, names)
    best = np.sort(scores, axis=1)
    # The bias of the new fit is being learned; without one the margins are those of the scores.
    visitor.edit("balance", bias=0)
    _, arrays = visitor.packed("answers")
    np.testing.assert_allclose(arrays["margin"], best[:, -1] - best[:, -2], atol=1e-5)
    assert not np.allclose(before, arrays["margin"])
    assert visitor.step("undo")
    assert visitor.step("undo")["revision"]
    np.testing.assert_array_equal(visitor.packed("answers")[1]["margin"], before)


def test_two_methods_side_by_side(visitor):
    visitor.edit("compare", method="sae-encode")
    visitor.session.wait()
    head, arrays = visitor.packed("answers")
    two = head["two"]
    assert two["method"] == "sae-encode"
    visitor.edit("compare", method=None)
    visitor.edit("method", method="sae-encode")
    alone, one = visitor.packed("answers")
    np.testing.assert_array_equal(arrays["answer2"], one["answer"])
    assert two["summary"] == alone["summary"]
    assert two["agree"] == pytest.approx((arrays["answer"] == arrays["answer2"]).mean())
    assert "two" not in alone
