"""Classes by sentences, where the class table comes from the text encoder."""

import numpy as np
import pytest

pytest.importorskip("tokenizers", reason="the extra text is not installed")

from tests.serve.studio.conftest import Visitor
from zslearn.encoders import TextEncoder
from zslearn.serve.studio.collection import Collection
from zslearn.serve.studio.opening import open_project
from zslearn.serve.studio.session import Session, Studio
from zslearn.signatures import Signatures

TEXTS = {
    "horse": "a large animal with hooves and a mane",
    "dolphin": "a gray animal that swims in the sea",
    "bat": "a small animal that flies at night",
    "tiger": "a large cat with orange and black stripes",
}


@pytest.fixture
def visitor(tmp_path):
    table = Signatures.from_texts(TEXTS, TextEncoder("minilm"))
    rng = np.random.default_rng(0)
    y = np.repeat(list(TEXTS), 8)
    X = table.rows(y) @ rng.standard_normal((384, 40)) + 0.1 * rng.standard_normal((32, 40))
    train = np.arange(32) % 4 > 0
    seen = tuple(TEXTS)
    collection = Collection("words", X.astype(np.float32), y, table, seen, train)
    studio = Studio()
    project = open_project(tmp_path / "words.project", collection.identity())
    studio.open(Session(collection, project, studio.events))
    studio.session.wait()
    yield Visitor(studio)
    studio.session.close()


def test_a_sentence_describes_a_class(visitor):
    assert visitor.json("state")["text"] is True
    text = "a horse with black and white stripes"
    visitor.edit("words", name="zebra", text=text)
    zebra = visitor.class_called("zebra")
    expected = Signatures.from_texts({"zebra": text}, TextEncoder("minilm"))["zebra"]
    np.testing.assert_allclose(zebra["row"], expected, atol=1e-6)
    head, _ = visitor.edit("words", **{"class": zebra["id"]}, text="a bird that cannot fly")
    assert head["edit"]["class"] == zebra["id"]
    assert visitor.class_called("zebra")["row"] != zebra["row"]
    assert not any(one["meaningful"] for one in visitor.json("state")["dimensions"])


def test_numbers_of_an_encoder_are_no_reason_for_a_warning(visitor):
    low, high = visitor.session.ranges()
    head, _ = visitor.edit("add", name="far away", row=(2 * high - low + 1).tolist())
    assert head["edit"]["nearest"]
    assert "range" not in {said["kind"] for said in head["edit"]["warnings"]}
    assert "minilm" not in str(head["edit"]["warnings"])


def test_attributes_beside_an_encoders_numbers_keep_their_names():
    names = ["minilm0", "d_3", "17", "tail", "vitamin 2", "legs4"]
    table = Signatures(list("abcdef"), np.eye(6), names)
    collection = Collection("mixed", np.eye(6), None, table, (), np.zeros(6, bool))
    assert collection.named.tolist() == [False] * 3 + [True] * 3


def test_the_page_is_told_what_is_understood(open_shapes):
    visitor = open_shapes()
    document = {"text": "like small dotted orange star, but a ring, sparkling, bigg"}
    said = visitor.post("phrase", document).json()
    assert said["like"] == visitor.class_called("small dotted orange star")["id"]
    assert said["unknown"] == ["sparkling", "bigg"]
    assert said["understood"] == ["like small dotted orange star", "ring"]
    # At once, without what may be meant: that may have to load the text encoder.
    plain = visitor.post("phrase", document | {"suggest": False}).json()
    assert said["suggestions"]
    assert plain == said | {"suggestions": {}}
    name = "small dotted orange ring"
    visitor.edit("words", name=name, text=document["text"])
    assert visitor.class_called(name)["row"] == said["row"]
    assert visitor.class_called(name)["accuracy"] > 0.9
    answer = visitor.post("edits", {"op": "words", "name": "x", "text": "xyzzy"})
    assert answer.status_code == 400
    assert "nothing of this names a trait or a class" in answer.json()["error"]
