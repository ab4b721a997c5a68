"""Requests that no page would send: refused in one line, never a failure of the server."""

import json
import random

import pytest

from zslearn.serve.studio.routes import ADDRESSES

ODD = (
    None,
    True,
    -1,
    0,
    3,
    41,
    10**12,
    1e308,
    "NaN",
    "",
    "x" * 5000,
    "</script><b>",
    "../../etc/passwd",
    "\u0000",
    "ﷺ",
    [],
    [[]],
    [1e400],
    [0] * 20,
    {},
    {"0": 1},
    {"x": None},
    {"99999999999": 1},
    {"-1": 1},
    {"0": "1"},
)
FIELDS = (
    "op class name row like changes text bias on threshold value method final encoded ids".split()
)
OPS = "add set row rename delete words phrase balance reject lam method compare nix".split()


def odd_document(rng):
    document = {field: rng.choice(ODD) for field in FIELDS if rng.random() < 0.4}
    if rng.random() < 0.9:
        document["op"] = rng.choice(OPS)
    if rng.random() < 0.5:
        document["class"] = rng.randrange(45)
    return document


def test_hundreds_of_odd_requests_are_refused_or_answered(visitor):
    rng = random.Random(0)
    statuses = set()
    for _ in range(400):
        method, path, _ = rng.choice(ADDRESSES)
        if path in ("events", "export/{name}"):
            continue
        number = rng.choice(["0", "7", "1679", "1680", "-1", "x", "99999999999", "%00", "1e3", "٣"])
        address = "/studio/api/" + path.replace("{number}", number)
        query = rng.choice(["", "?kind=pca", "?kind=../x", "?against=77", "?against=x", "?of=nix"])
        if method == "GET":
            answer = visitor.client.get(address + query)
        else:
            body = json.dumps(odd_document(rng)).encode()
            body = rng.choice([body] * 8 + [body[:-1], b"", b"[1]", b"\xff\xfe", b"NaN"])
            headers = {"content-type": rng.choice(["application/json"] * 8 + ["text/plain", ""])}
            answer = visitor.client.post(address + query, content=body, headers=headers)
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (method, address, answer.text)
        if answer.status_code >= 400:
            assert list(answer.json()) == ["error"]
            assert "\n" not in answer.json()["error"]
    assert {200, 400, 404, 415} <= statuses
    assert visitor.get("state").status_code == 200


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"op": "add", "name": "x", "row": [float("inf")] * 20}, "not JSON"),
        ({"op": "add", "name": "x", "row": [0.5] * 19}, "a list of 20 numbers"),
        ({"op": "add", "name": "x", "row": [1e31] * 20}, "<= 1e+30"),
        ({"op": "add", "name": "y" * 201}, "1 to 200 printable letters"),
        ({"op": "add", "name": "a\nb"}, "printable"),
        ({"op": "set", "class": 0, "changes": {"20": 1}}, "there is no dimension 20"),
        ({"op": "lam", "value": 0}, "> 0"),
        ({"op": []}, "op"),
        ({"op": {}}, "op"),
        ({"op": None}, "op"),
        ({}, "op"),
        ({"op": "method", "method": "sea"}, "Did you mean"),
    ],
)
def test_refusals_say_what_is_wrong(visitor, document, said):
    body = json.dumps(document).replace("Infinity", "1e999")
    headers = {"content-type": "application/json"}
    answer = visitor.client.post("/studio/api/edits", content=body, headers=headers)
    assert answer.status_code == 400
    assert said in answer.json()["error"] or said == "not JSON"
    assert visitor.session.project.edits().done == []


def test_a_row_of_another_length_is_refused_and_the_board_stays(visitor):
    before = visitor.json("state")
    answer = visitor.post("edits", {"op": "add", "name": "short", "row": [0] * 19})
    assert answer.status_code == 400
    after = visitor.json("state")
    assert (after["classes"], after["undo"]) == (before["classes"], None)
    assert visitor.edit("add", name="something", like=0)


def test_a_body_that_is_too_large_is_refused(visitor):
    headers = {"content-type": "application/json"}
    body = b'{"op": "' + b"x" * (5 * 2**20) + b'"}'
    answer = visitor.client.post("/studio/api/edits", content=body, headers=headers)
    assert answer.status_code == 413


def test_only_files_of_the_page_are_sent(visitor):
    assert (
        visitor.client.get("/studio/page/main.js").headers["content-type"].startswith("text/java")
    )
    for name in ("..%2fproject.py", "project.py", "../project.py", "%2e%2e/routes.py", "nix.js"):
        assert visitor.client.get(f"/studio/page/{name}").status_code == 404
