"""Examples: what is dropped is named like the rest, what is taught is learned, and comes back."""

import io
import json
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from tests.encoders.tiny_text import letter_encoder
from tests.serve.studio.conftest import Visitor
from zslearn.encoders import EncoderIdentity
from zslearn.encoders.pictures import decode_rgb, encode_picture
from zslearn.exceptions import InvalidInputError
from zslearn.serve import Limits
from zslearn.serve.studio.collection import Collection, draw_shape
from zslearn.serve.studio.opening import open_project
from zslearn.serve.studio.session import Session, Studio
from zslearn.signatures import Signatures

RING, SQUARE = "small dotted orange ring", "large plain yellow square"


def rows_of(visitor, name):
    return np.flatnonzero(visitor.session.collection.labels == name)


def photograph(name, number=54_321, side=160):
    return encode_picture(draw_shape(name, number, side))


def bring(visitor, content, title="my ring.jpg", kind="image/jpeg"):
    headers = {"content-type": kind, "x-title": quote(title)}
    return visitor.client.post("/studio/api/drop", content=content, headers=headers)


def table_with_ring(visitor):
    visitor.edit("words", name=RING, text="like small dotted orange star, but ring")
    return visitor.class_called(RING)


def test_examples_are_learned_as_partial_fit_does(visitor):
    ring = table_with_ring(visitor)
    rows = rows_of(visitor, RING)[:3]
    for row in rows:
        head, arrays = visitor.edit("example", **{"class": ring["id"], "sample": int(row)})
    assert head["edit"]["class"] == ring["id"]
    session = visitor.session
    fitted = session.fitted(session.kept.method)
    start = fitted.model.signatures_
    twin = fitted.with_bias(session.bias()).with_signatures(start.append({RING: ring["row"]}))
    twin.partial_fit(session.collection.X[rows], [RING] * 3)
    names = [one.name for one in session.candidates().values()]
    wanted = twin.recognizer(names).scores(session.collection.X)
    ids = np.array(list(session.candidates()))
    best = np.sort(wanted, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-2
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(arrays["answer"][clear], ids[wanted.argmax(axis=1)][clear])
    shown = visitor.class_called(RING)["examples"]
    assert [one["sample"] for one in shown] == rows.tolist()


def test_an_example_is_no_test_picture_any_more(visitor):
    ring = table_with_ring(visitor)
    assert ring["count"] == 40
    row = int(rows_of(visitor, RING)[0])
    visitor.edit("example", **{"class": ring["id"], "sample": row})
    assert visitor.class_called(RING)["count"] == 39
    assert visitor.packed("labels")[1]["split"][row] == 0
    assert visitor.json(f"samples/{row}")["example"] == ring["id"]
    visitor.step("undo")
    assert visitor.class_called(RING)["count"] == 40


def test_a_class_may_be_known_by_its_examples_alone(visitor):
    waiting = visitor.class_called(SQUARE)
    assert not waiting["described"]
    for row in rows_of(visitor, SQUARE)[:2]:
        visitor.edit("example", name=SQUARE, sample=int(row))
    taught = visitor.class_called(SQUARE)
    assert (taught["id"], taught["alone"], taught["described"]) == (waiting["id"], True, True)
    assert taught["accuracy"] > 0.8
    # A method that does not learn cannot answer it, and it is not in the table of descriptions.
    visitor.edit("method", method="sae")
    assert not visitor.class_called(SQUARE)["described"]
    assert SQUARE not in visitor.get("export/classes.csv").text
    visitor.step("undo")
    for example in taught["examples"]:
        visitor.edit("forget", **{"class": taught["id"], "key": example["key"]})
    assert visitor.class_called(SQUARE) == waiting
    # A description makes it one of the others, and its examples still count.
    visitor.edit("example", name=SQUARE, sample=int(rows_of(visitor, SQUARE)[0]))
    changes = {"class": taught["id"], "text": "like large plain brown square, but yellow"}
    visitor.edit("words", **changes)
    described = visitor.class_called(SQUARE)
    assert (described["alone"], len(described["examples"])) == (False, 1)


def test_undo_redo_and_a_restart_keep_examples(open_shapes):
    visitor = open_shapes()
    before = visitor.packed("answers")[1]["answer"]
    card = bring(visitor, photograph(RING)).json()
    visitor.edit("example", name="wheel", dropped=card["id"])
    taught, after = visitor.class_called("wheel"), visitor.packed("answers")[1]["answer"]
    visitor.step("undo")
    np.testing.assert_array_equal(visitor.packed("answers")[1]["answer"], before)
    visitor.step("redo")
    np.testing.assert_array_equal(visitor.packed("answers")[1]["answer"], after)
    visitor.session.close()
    again = open_shapes()
    assert again.class_called("wheel") == taught
    [example] = taught["examples"]
    assert example["title"] == "my ring.jpg"
    assert example["face"].startswith("data:image/jpeg;base64,")
    np.testing.assert_array_equal(again.packed("answers")[1]["answer"], after)


def test_a_photograph_is_named_as_a_sample_of_the_same_features(visitor):
    table_with_ring(visitor)
    answer = bring(visitor, photograph(RING, 4242))
    assert answer.status_code == 200
    card = answer.json()
    session = visitor.session
    pixels = decode_rgb(photograph(RING, 4242), "x")
    from zslearn.encoders import ImageEncoder

    vector = ImageEncoder("efficientnet-lite0").transform([pixels])
    for step in session.collection.steps:
        vector = step.transform(vector)
    made = session.model()
    names = list(made.keys)
    wanted = made.classifier.recognizer(names).probabilities(vector)[0]
    best = {one["class"]: one["probability"] for one in card["ranking"]}
    assert card["answer"] == made.keys[names[int(wanted.argmax())]]
    for number, probability in best.items():
        place = list(made.keys.values()).index(number)
        assert probability == pytest.approx(wanted[place], abs=1e-4)
    assert session.view.state.classes[card["answer"]].name == RING
    why = card["reasons"]
    total = sum(part["difference"] for part in why["dimensions"]) + why["offset_difference"]
    assert total == pytest.approx(why["score_difference"])
    assert {part["given_has"] for part in why["dimensions"]} == {True, False}
    against = visitor.json(f"drop/{card['id']}?against=3")
    assert against["reasons"]["right"] == 3
    assert card["face"].startswith("data:image/jpeg;base64,")


def test_the_bundled_features_belong_to_the_encoder(visitor):
    """The projection that ships: a drawn picture, encoded anew, lies where its row lies."""
    collection, drops = visitor.session.collection, visitor.session.drops
    for row in (3, 777, 1600):
        file = io.BytesIO()
        Image.fromarray(collection.picture(row, 96)).save(file, "PNG")
        found = drops.add_picture(file.getvalue(), "x", Limits()).vector
        known = collection.X[row]
        unit = np.sqrt(1 - max(0, 1 - float(known @ known)))  # what the axes see of it
        cosine = found @ known / np.linalg.norm(found) / np.linalg.norm(known)
        assert cosine > 0.99
        assert np.linalg.norm(found) == pytest.approx(unit, abs=0.03)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "image/jpeg", 400),
        (b"\xff\xd8\xff nothing", "image/jpeg", 400),
        (b"<svg></svg>", "image/svg+xml", 400),
        (b'{"text": "a ring"}', "application/json", 409),
        (b'{"text": 3}', "application/json", 400),
        (b"{}", "application/json", 400),
    ],
)
def test_what_cannot_be_named_is_refused(visitor, content, kind, status):
    answer = bring(visitor, content, kind=kind)
    assert answer.status_code == status, answer.text
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("document", "status", "said"),
    [
        ({"class": 0}, 400, "an example is a sample or a dropped one"),
        ({"class": 0, "sample": 1, "dropped": 1}, 400, "an example is a sample or"),
        ({"class": 0, "sample": 1680}, 404, "no sample 1680"),
        ({"class": 0, "sample": -1}, 404, "no sample -1"),
        ({"class": 0, "dropped": 7}, 404, "bring it once more"),
        ({"class": 999, "sample": 1}, 404, "no class 999"),
        ({"name": "", "sample": 1}, 400, "1 to 200 printable letters"),
        ({"name": "a\nb", "sample": 1}, 400, "1 to 200 printable letters"),
    ],
)
def test_wrong_examples_are_refused_and_change_nothing(visitor, document, status, said):
    answer = visitor.post("edits", {"op": "example", **document})
    assert (answer.status_code, said in answer.json()["error"]) == (status, True), answer.text
    assert visitor.session.project.edits().done == []


def test_the_same_example_counts_once_and_a_vector_is_not_taken_from_the_page(visitor):
    visitor.edit("example", **{"class": 0, "sample": 1})
    answer = visitor.post("edits", {"op": "example", "class": 0, "sample": 1})
    assert (answer.status_code, "already" in answer.json()["error"]) == (400, True)
    answer = visitor.post(
        "edits", {"op": "taught", "class": 0, "name": "x", "vector": "AAAA", "title": "x"}
    )
    assert answer.status_code == 400
    answer = visitor.post("edits", {"op": "forget", "class": 0, "key": "nix"})
    assert answer.status_code == 404


def test_what_to_label_next_is_what_the_classifier_suggests(visitor):
    found = visitor.json("suggest?n=4")["samples"]
    session = visitor.session
    rows = np.flatnonzero(~session.collection.train)
    made = session.model()
    wanted = made.classifier.suggest(session.collection.X[rows], 4, list(made.keys))
    assert [one["sample"] for one in found] == rows[wanted.rows].tolist()
    assert found[0]["classes"] == [made.keys[name] for name in wanted.names[0].tolist()]
    visitor.edit("example", **{"class": found[0]["classes"][0], "sample": found[0]["sample"]})
    again = visitor.json("suggest?n=4")["samples"]
    assert found[0]["sample"] not in [one["sample"] for one in again]
    visitor.edit("method", method="sae")
    answer = visitor.get("suggest")
    assert answer.status_code == 409
    assert "learns nothing from single examples" in answer.json()["error"]


def test_examples_of_another_encoder_are_refused_with_the_project(open_shapes):
    visitor = open_shapes()
    visitor.edit("example", **{"class": 0, "sample": 1})
    edit = visitor.session.project.edits().done[0]
    for wrong in ({"encoder": "0" * 64}, {"vector": edit["vector"][:8]}, {"vector": "?"}):
        visitor.session.project.undo()
        visitor.session.project.add({**edit, **wrong})
        with pytest.raises(InvalidInputError, match=r"shapes\.project: .*choose another --project"):
            visitor.session._replayed()


def test_the_page_for_a_colleague_is_about_this_model(visitor):
    table_with_ring(visitor)
    evil = "</script><script>alert(1)</script>"
    visitor.edit("add", name=evil, like=0)
    answer = visitor.get("export/report.html")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
    page = answer.text
    assert "30 classes with samples, 11 without" in page
    assert RING in page
    assert "<script" not in page
    assert "efficientnet-lite0" in page
    assert "zslearn predict model.zsl new.jpg" in page


@pytest.fixture
def texts(tmp_path):
    """A studio of texts, by an encoder that counts letters."""
    encoder = letter_encoder()
    rng = np.random.default_rng(0)
    labels = np.repeat(["ab", "cd", "ef", "gh"], 12)
    words = ["".join(rng.choice([*(str(name) * 4), *"rstxyz"], 9)) for name in labels]
    table = Signatures(
        ["ab", "cd", "ef", "gh", "new"],
        np.vstack([np.eye(4), np.full(4, 0.5)]),
        ["a or b", "c or d", "e or f", "g or h"],
    )
    train = np.arange(48) % 6 < 5
    collection = Collection(
        "letters",
        encoder.transform(words).astype(np.float32),
        labels,
        table,
        ("ab", "cd", "ef", "gh"),
        train,
        tuple(map(str, range(48))),
        texts=tuple(words),
        encoder=encoder.identity,
    )
    studio = Studio()
    project = open_project(tmp_path / "letters.project", collection.identity())
    studio.open(Session(collection, project, studio.events))
    studio.session.wait()
    yield Visitor(studio)
    studio.session.close()


def test_a_text_is_named_and_taught(texts):
    answer = texts.post("drop", {"text": "qqpqp"})
    assert answer.status_code == 200, answer.text
    card = answer.json()
    assert (card["text"], card["face"]) == ("qqpqp", None)
    texts.edit("example", name="xyz", dropped=card["id"])
    number = texts.class_called("xyz")["id"]
    assert texts.post("drop", {"text": "pqqqp"}).json()["answer"] == number
    assert texts.class_called("xyz")["examples"][0]["face"] == "qqpqp"
    assert texts.post("drop", {"text": "   "}).status_code == 400
    assert texts.post("drop", {"text": "x" * 20_000}).status_code == 413
    assert bring(texts, photograph(RING)).status_code == 409


def test_an_unknown_encoder_is_said(texts):
    object.__setattr__(texts.session.collection, "encoder", None)
    assert texts.json("state")["data"]["drop"] is None
    answer = texts.post("drop", {"text": "abba"})
    assert answer.status_code == 409
    assert "does not say what encoded its samples" in answer.json()["error"]
    assert EncoderIdentity("x", "y").kind == "image"


def test_a_project_with_a_margin_of_an_earlier_version_opens(open_shapes, tmp_path):
    """What was a margin is left out; the rejection itself stays, by what was learned."""
    visitor = open_shapes()
    edit = {"op": "reject", "on": True, "threshold": 0.01, "method": "sae", "what": "rejection"}
    visitor.session.project.add(edit)
    visitor.session.close()
    again = open_shapes()
    state = again.json("state")["reject"]
    assert state["on"]
    assert state["sure"] == state["chosen"]
    assert json.dumps(state)
