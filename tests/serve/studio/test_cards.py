"""The card of a sample, interventions and warnings, each against a computation by hand."""

import numpy as np
import pytest

from zslearn.serve.studio.views import GREEDY


def by_hand(visitor, sample, classes):
    """Return the scores of a sample, minus the bias, by the classifier itself."""
    session = visitor.session
    state = visitor.json("state")
    recognizer = session.methods.fitted(state["method"]).unbiased.recognizer()
    found = []
    for number in classes:
        one = next(c for c in state["classes"] if c["id"] == number)
        changed = recognizer.replace(one["name"], one["row"])
        score = changed.scores(session.collection.X[sample : sample + 1].astype(np.float64))
        place = changed.names.tolist().index(one["name"])
        found.append(score[0, place] - state["balance"]["bias"] * one["seen"])
    return np.array(found)


def wrong_sample(visitor):
    """Return a test row that is answered wrongly."""
    _, labels = visitor.packed("labels")
    _, arrays = visitor.packed("answers")
    described = [c["id"] for c in visitor.json("state")["classes"] if c["described"]]
    known = (labels["split"] == 1) & np.isin(labels["truth"], described)
    wrong = known & (labels["truth"] != arrays["answer"])
    return int(np.flatnonzero(wrong)[0])


@pytest.mark.parametrize("method", ["sae", "sae-both", "prototype-regression", "eszsl"])
def test_bars_sum_to_the_difference_of_the_scores(visitor, method):
    visitor.edit("method", method=method)
    visitor.session.wait()
    sample = wrong_sample(visitor)
    card = visitor.json(f"samples/{sample}")
    why = card["reasons"]
    assert (why["right"], why["given"]) == (card["truth"], card["answer"])
    right, given = by_hand(visitor, sample, [why["right"], why["given"]])
    total = sum(part["difference"] for part in why["dimensions"]) + why["offset_difference"]
    size = max(1.0, abs(given))
    assert total == pytest.approx(given - right, abs=2e-5 * size)
    assert why["score_difference"] == pytest.approx(total)
    for part in why["dimensions"]:
        assert part["difference"] == pytest.approx(part["given"] - part["right"])
    best = {one["class"]: one["score"] for one in card["ranking"]}
    assert best[card["answer"]] == pytest.approx(given, abs=2e-5 * size)


@pytest.mark.parametrize("method", ["sae", "prototype-regression"])
def test_a_card_says_which_class_has_a_trait(visitor, method):
    visitor.edit("method", method=method)
    visitor.session.wait()
    why = visitor.json(f"samples/{wrong_sample(visitor)}")["reasons"]
    rows = {one["id"]: one["row"] for one in visitor.json("state")["classes"]}
    for part in why["dimensions"]:
        for side in ("given", "right"):
            assert part[f"{side}_has"] == (rows[why[side]][part["index"]] == 1), part


def test_an_answer_is_compared_with_any_class(visitor):
    card = visitor.json("samples/5?against=3")
    assert (card["reasons"]["right"], card["reasons"]["given"]) == (3, card["answer"])
    right, given = by_hand(visitor, 5, [3, card["answer"]])
    assert card["reasons"]["score_difference"] == pytest.approx(given - right, rel=1e-4)
    assert visitor.get("samples/5?against=99").status_code == 404


@pytest.mark.parametrize("method", ["sae", "sae-encode", "sae-both", "ridge-fs", "eszsl", "rrzsl"])
def test_scores_from_encoded_semantics_are_the_scores(visitor, method):
    visitor.edit("method", method=method)
    linear = visitor.session.methods.fitted(method).linear
    X = visitor.session.collection.X[::97].astype(np.float64)
    classifier = visitor.session.methods.fitted(method).method
    table = classifier.signatures_
    scores = linear.scores(linear.project(X), table.vectors)
    np.testing.assert_allclose(scores, classifier.recognizer(table.names).scores(X), atol=1e-9)


def test_prototype_regression_is_not_linear_in_signatures(visitor):
    assert visitor.session.methods.fitted("prototype-regression").linear is None
    visitor.edit("method", method="prototype-regression")
    card = visitor.json("samples/3")
    assert card["encoded"] is None
    assert card["reasons"]["dimensions"]
    answer = visitor.post("samples/3/intervene", {"encoded": {"0": 1}})
    assert answer.status_code == 409


def test_intervening_in_the_encoder_compares_the_corrected_semantics(visitor):
    """By hand: the corrected vector, its cosine with every signature, minus the bias."""
    visitor.edit("method", method="sae-encode")
    visitor.session.wait()
    state = visitor.json("state")
    state["classes"] = [c for c in state["classes"] if c["described"]]
    sample = wrong_sample(visitor)
    clf = visitor.session.methods.fitted("sae-encode").method
    x = visitor.session.collection.X[sample].astype(np.float64)
    code = clf.coef_encode_ @ (x / np.linalg.norm(x))
    np.testing.assert_allclose(visitor.json(f"samples/{sample}")["encoded"], code, atol=1e-9)
    truth = next(
        c for c in state["classes"] if c["id"] == visitor.json(f"samples/{sample}")["truth"]
    )
    changes = {i: 1.0 if value else -0.5 for i, value in enumerate(truth["row"])}
    for i, value in changes.items():
        code[i] = value
    rows = np.array([c["row"] for c in state["classes"]])
    scores = rows @ code / np.linalg.norm(rows, axis=1) / np.linalg.norm(code)
    scores -= state["balance"]["bias"] * np.array([c["seen"] for c in state["classes"]])
    answer = visitor.post(
        f"samples/{sample}/intervene", {"encoded": {str(i): v for i, v in changes.items()}}
    ).json()
    assert answer["answer"] == state["classes"][int(scores.argmax())]["id"] == truth["id"]
    found = {one["class"]: one["score"] for one in answer["ranking"]}
    for number, score in found.items():
        place = [c["id"] for c in state["classes"]].index(number)
        assert score == pytest.approx(scores[place], abs=1e-9)
    unchanged = visitor.post(f"samples/{sample}/intervene", {"encoded": {}}).json()
    assert unchanged["answer"] == visitor.json(f"samples/{sample}")["answer"]


def test_a_copy_of_a_class_is_called_one(visitor):
    head, _ = visitor.edit("add", name="copy", like=4)
    kinds = {said["kind"]: said for said in head["edit"]["warnings"]}
    assert kinds["near"]["class"] == 4
    assert head["edit"]["nearest"][0] == {"class": 4, "distance": 0.0}
    head, _ = visitor.edit("set", **{"class": head["edit"]["class"]}, changes={"0": 1, "8": 1})
    assert "near" not in {said["kind"] for said in head["edit"]["warnings"]}


def test_a_value_outside_the_range_is_said(visitor):
    head, _ = visitor.edit("add", name="odd", like=4)
    assert "range" not in {said["kind"] for said in head["edit"]["warnings"]}
    head, _ = visitor.edit("set", **{"class": head["edit"]["class"]}, changes={"0": 3})
    said = [one["text"] for one in head["edit"]["warnings"] if one["kind"] == "range"]
    assert said == ["outside the range of the training classes: circle."]


def test_a_class_that_takes_everything_is_a_hub(visitor):
    """A mean of all signatures, with a bias that pushes samples to unseen classes."""
    visitor.edit("balance", bias=500)
    rows = np.array([c["row"] for c in visitor.json("state")["classes"] if c["described"]])
    head, arrays = visitor.edit("add", name="everything", row=rows.mean(axis=0).tolist())
    number = head["edit"]["class"]
    taken = int((arrays["answer"] == number).sum())
    is_hub = taken > GREEDY * len(arrays["answer"]) / (len(rows) + 1)
    assert is_hub
    assert "hub" in {said["kind"] for said in head["edit"]["warnings"]}
