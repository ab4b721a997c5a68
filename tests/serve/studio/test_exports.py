"""What is taken home gives the answers of the board."""

import base64
import csv
import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from zslearn.persistence import load
from zslearn.signatures import Signatures

RING = "small dotted orange ring"


@pytest.fixture
def described(visitor):
    """A visitor who described a class, changed another one and moved the balance."""
    visitor.edit("phrase", name=RING, text="like small dotted orange star, but ring")
    visitor.edit("set", **{"class": 31}, changes={"2": 0.8})
    visitor.edit("balance", bias=0.06)
    return visitor


def answered_names(visitor):
    names = {one["id"]: one["name"] for one in visitor.json("state")["classes"]}
    names[-1] = "none of these"
    return np.array([names[i] for i in visitor.packed("answers")[1]["answer"].tolist()])


def taken(visitor, name):
    answer = visitor.get(f"export/{name}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    return answer.content


def test_classes_come_back_as_they_are(described, tmp_path):
    path = tmp_path / "classes.csv"
    path.write_bytes(taken(described, "classes.csv"))
    table = Signatures.from_csv(path)
    rows = {c["name"]: c["row"] for c in described.json("state")["classes"] if c["described"]}
    assert list(table) == list(rows)
    for name, row in rows.items():
        assert table[name].tolist() == row


def test_names_that_a_spreadsheet_would_run_come_back_as_they_are(visitor, tmp_path):
    odd = ["=1+1", "+x", "-x", "@x", "'=x", "''-x", "'x", "-5", "'-5", "zebra+"]
    for name in odd:
        visitor.edit("add", name=name, like=0)
    path = tmp_path / "classes.csv"
    path.write_bytes(taken(visitor, "classes.csv"))
    assert list(Signatures.from_csv(path))[-len(odd) :] == odd


def test_a_name_is_no_formula(visitor):
    visitor.edit("add", name='=HYPERLINK("http://evil.example")', like=0)
    rows = list(csv.reader(io.StringIO(taken(visitor, "classes.csv").decode())))
    assert rows[-1][0] == '\'=HYPERLINK("http://evil.example")'


@pytest.mark.parametrize("reject", [False, True])
@pytest.mark.parametrize("method", ["sae", "prototype-regression"])
def test_the_model_answers_as_the_board(described, tmp_path, method, reject):
    described.edit("method", method=method)
    described.session.wait()
    described.edit("reject", on=reject)
    path = tmp_path / "model.zsl"
    path.write_bytes(taken(described, "model.zsl"))
    model = load(path)
    found = model.predict(described.session.collection.X, reject=reject)
    assert (found == answered_names(described)).mean() > 0.999


@pytest.mark.parametrize("method", ["sae-both", "prototype-regression"])
def test_the_python_lines_give_the_answers_of_the_board(described, method):
    described.edit("method", method=method)
    described.edit("rename", **{"class": 0}, name='it\'s "odd"\\')
    described.edit("delete", **{"class": 5})
    described.edit("reject", on=True, threshold=0.01)
    described.session.wait()
    made = {}
    exec(compile(taken(described, "model.py"), "model.py", "exec"), made)
    assert (made["answers"] == answered_names(described)).mean() > 0.999


def test_a_selection_is_exported(described):
    answer = described.post("export/selection.csv", {"ids": [3, 1600]})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    names = answered_names(described)
    assert [row["id"] for row in rows] == ["3", "1600"]
    assert [row["answer"] for row in rows] == names[[3, 1600]].tolist()
    for wrong in ([-1], [1e9], ["0"], [1680], {}, None, [True]):
        assert described.post("export/selection.csv", {"ids": wrong}).status_code == 400


def snapshot_of(visitor):
    page = taken(visitor, "snapshot.html").decode()
    text = re.search(r'<script type="application/json" id="snapshot-data">(.*?)</script>', page)[1]
    return page, json.loads(text)


def numbers(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def scored(data):
    """Score the samples of a snapshot by the formula that its page uses."""
    n, k = data["n"], data["k"]
    S = np.array([one["row"] for one in data["classes"]])
    if data["form"]["signature_norm"] == "l2":
        S = S / np.linalg.norm(S, axis=1, keepdims=True)
    parts = []
    for branch in data["form"]["branches"]:
        z, lengths = numbers(branch["z"], "<f4").reshape(n, k), numbers(branch["lengths"], "<f4")
        gram = numbers(branch["gram"], "<f4").reshape(k, k)
        squares = np.array([s @ gram @ s for s in S])
        product = z @ S.T
        assert data["form"]["metric"] == "cosine"
        parts.append(product / lengths[:, None] / np.sqrt(squares))
    seen = np.array([one["seen"] for one in data["classes"]])
    return np.mean(parts, axis=0) - data["bias"] * seen


@pytest.mark.parametrize("method", ["sae", "sae-both", "sae-encode"])
def test_a_snapshot_scores_like_the_board(described, method):
    described.edit("method", method=method)
    described.session.wait()
    _, data = snapshot_of(described)
    scores = scored(data)
    board = described.session.board()
    np.testing.assert_allclose(scores, board.biased(described.session.bias()), atol=1e-5)
    ids = np.array([one["id"] for one in data["classes"]])
    answer = described.packed("answers")[1]["answer"]
    assert (ids[scores.argmax(axis=1)] == answer).mean() > 0.999
    np.testing.assert_array_equal(numbers(data["answer"], "<i4"), answer)
    assert len(data["thumbnails"]) == data["n"]


def test_a_snapshot_needs_nothing_else_and_nothing_in_it_runs(visitor):
    evil = "</script><script>alert(1)</script><!--"
    visitor.edit("add", name=evil, like=0)
    page, data = snapshot_of(visitor)
    assert data["classes"][-1]["name"] == evil
    assert page.count("<script") == page.count("</script>") == 2
    assert "alert(1)</script>" not in page
    assert not re.search(r'(?:src|href)="', page)
    assert not re.search(r"^(?:import|export) ", page, re.MULTILINE)
    assert "<!-- data -->" not in page


def test_a_snapshot_of_a_method_that_is_not_linear_is_of_one_that_is(visitor):
    visitor.edit("method", method="prototype-regression")
    _, data = snapshot_of(visitor)
    assert data["method"] == "SAE (decoder)"


def test_edits_need_not_wait_for_the_pictures_of_a_snapshot(visitor):
    collection = visitor.session.collection
    draw, asked, go = collection.picture, Event(), Event()

    def slow(row, side):
        asked.set()
        assert go.wait(60)
        return draw(row, side)

    object.__setattr__(collection, "picture", slow)
    with ThreadPoolExecutor(1) as beside:
        page = beside.submit(visitor.get, "export/snapshot.html")
        assert asked.wait(60)
        visitor.edit("add", name="meanwhile", like=0)
        go.set()
        assert b"meanwhile" in page.result().content
