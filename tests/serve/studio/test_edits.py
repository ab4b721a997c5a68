"""Edits: what a person changes is answered at once, kept, undone and done again."""

import numpy as np
import pytest

RING, STAR = "small dotted orange ring", "small dotted orange star"


def describe_ring(visitor):
    """Describe the ring like the star, but a ring; return its number."""
    star = visitor.class_called(STAR)
    head, _ = visitor.edit("add", name=RING, like=star["id"])
    return head["edit"]["class"]


def ring_changes(visitor):
    names = [one["name"] for one in visitor.json("state")["dimensions"]]
    return {str(names.index("ring")): 1, str(names.index("star")): 0}


def test_a_class_nobody_has_seen_is_described_and_recognized(visitor):
    waiting = visitor.class_called(RING)
    assert (waiting["described"], waiting["row"], waiting["count"]) == (False, None, 40)
    number = describe_ring(visitor)
    assert number == waiting["id"]
    _, arrays = visitor.edit("set", **{"class": number}, changes=ring_changes(visitor))
    ring = visitor.class_called(RING)
    assert (ring["seen"], ring["described"], ring["added"], ring["count"]) == (
        False,
        True,
        True,
        40,
    )
    assert ring["accuracy"] > 0.9
    own = visitor.session.collection.labels == RING
    assert (arrays["answer"][own] == number).sum() == ring["right"]
    visitor.edit("delete", **{"class": number})
    assert visitor.class_called(RING) == waiting


def test_answers_are_those_of_the_recognizer(visitor):
    """The reference: a recognizer with all classes, asked anew, and the bias by hand."""
    number = describe_ring(visitor)
    _, arrays = visitor.edit("set", **{"class": number}, changes=ring_changes(visitor))
    session, state = visitor.session, visitor.json("state")
    state["classes"] = [one for one in state["classes"] if one["described"]]
    recognizer = session.fitted(state["method"]).unbiased.recognizer()
    for one in state["classes"]:
        recognizer = recognizer.replace(one["name"], one["row"])
    recognizer = recognizer.among([one["name"] for one in state["classes"]])
    scores = recognizer.scores(session.collection.X.astype(np.float64))
    scores -= state["balance"]["bias"] * np.array([one["seen"] for one in state["classes"]])
    ids = np.array([one["id"] for one in state["classes"]])
    order = np.argsort(-scores, axis=1)
    best = np.take_along_axis(scores, order[:, :2], axis=1)
    clear = best[:, 0] - best[:, 1] > 1e-3
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(arrays["answer"][clear], ids[order[clear, 0]])
    # In single precision, of scores up to a few hundred.
    np.testing.assert_allclose(arrays["margin"], best[:, 0] - best[:, 1], atol=1e-3)


def test_figures_count_test_rows(visitor):
    _, labels = visitor.packed("labels")
    head, arrays = visitor.packed("answers")
    test = labels["split"] == 1
    assert 0 < test.sum() < len(test)
    right = test & (labels["truth"] == arrays["answer"]) & (labels["truth"] >= 0)
    accuracies = {}
    described = {one["id"] for one in visitor.json("state")["classes"] if one["described"]}
    for one in head["classes"]:
        if one["id"] not in described:
            assert (one["right"], one["answered"], one["accuracy"]) == (0, 0, None)
            continue
        own = labels["truth"] == one["id"]
        assert one["count"] == (own & test).sum()
        assert one["rows"] == own.sum()
        assert one["right"] == (own & right).sum()
        assert one["answered"] == (test & (arrays["answer"] == one["id"])).sum()
        assert one["taken"] == (arrays["answer"] == one["id"]).sum()
        accuracies[one["id"]] = one["right"] / one["count"]
        assert one["accuracy"] == pytest.approx(accuracies[one["id"]])
    seen = {one["id"] for one in visitor.json("state")["classes"] if one["seen"]}
    means = [np.mean([a for c, a in accuracies.items() if (c in seen) == s]) for s in (True, False)]
    assert head["summary"]["seen"] == pytest.approx(means[0])
    assert head["summary"]["unseen"] == pytest.approx(means[1])
    assert head["summary"]["h"] == pytest.approx(2 * means[0] * means[1] / sum(means))


def test_a_moving_slider_is_not_kept(visitor):
    number = describe_ring(visitor)
    before = visitor.class_called(RING)["row"]
    visitor.edit("set", **{"class": number}, changes={"0": 0.7}, final=False)
    visitor.edit("set", **{"class": number}, changes={"1": 0.3}, final=False)
    moving = visitor.class_called(RING)["row"]
    assert moving[:2] == [before[0], 0.3]  # the first step was replaced
    assert len(visitor.session.project.edits().done) == 1
    visitor.edit("set", **{"class": number}, changes={"1": 0.4})
    assert visitor.class_called(RING)["row"][1] == 0.4
    assert visitor.step("undo")["redo"] == f"change {RING}"
    assert visitor.class_called(RING)["row"] == before


def test_undo_and_redo_restore_answers(visitor):
    history = [visitor.packed("answers")[1]["answer"]]
    number = describe_ring(visitor)
    history.append(visitor.packed("answers")[1]["answer"])
    for changes in ({"3": 1}, {"4": 0.5}):
        history.append(visitor.edit("set", **{"class": number}, changes=changes)[1]["answer"])
    history.append(visitor.edit("rename", **{"class": number}, name="wheel")[1]["answer"])
    history.append(visitor.edit("delete", **{"class": 3})[1]["answer"])
    for answer in history[-2::-1]:
        visitor.step("undo")
        np.testing.assert_array_equal(visitor.packed("answers")[1]["answer"], answer)
    assert visitor.json("state")["undo"] is None
    assert visitor.post("undo").status_code == 409
    for answer in history[1:]:
        visitor.step("redo")
        np.testing.assert_array_equal(visitor.packed("answers")[1]["answer"], answer)
    assert visitor.json("state")["redo"] is None


def test_numbers_are_never_given_twice(visitor):
    first = visitor.edit("add", name="wheel", like=0)[0]["edit"]["class"]
    visitor.edit("delete", **{"class": first})
    assert first not in {one["id"] for one in visitor.json("state")["classes"]}
    assert visitor.edit("add", name="wheel", like=0)[0]["edit"]["class"] > first


def test_the_suggestion_is_understood_and_works(visitor):
    for _ in range(3):
        said = visitor.json("state")["suggestion"]
        visitor.edit("words", **said)
        assert visitor.class_called(said["name"])["accuracy"] > 0.6
    assert visitor.json("state")["suggestion"] is None


def test_samples_follow_a_class_to_its_new_name(visitor):
    star = visitor.class_called(STAR)
    visitor.edit("rename", **{"class": star["id"]}, name="twinkle")
    renamed = visitor.class_called("twinkle")
    assert (renamed["rows"], renamed["id"]) == (star["rows"], star["id"])
    assert visitor.post("edits", {"op": "rename", "class": 0, "name": "twinkle"}).status_code == 400


def test_a_restart_restores_everything(open_shapes):
    visitor = open_shapes()
    number = describe_ring(visitor)
    visitor.edit("set", **{"class": number}, changes=ring_changes(visitor))
    visitor.edit("delete", **{"class": 2})
    visitor.edit("balance", bias=0.05)
    state, (_, arrays) = visitor.json("state"), visitor.packed("answers")
    visitor.session.close()
    again = open_shapes()
    after = again.json("state")
    for key in ("classes", "summary", "balance", "undo", "method"):
        assert after[key] == state[key]
    np.testing.assert_array_equal(again.packed("answers")[1]["answer"], arrays["answer"])
