"""Where requests are computed: small ones of a quick model at once, all others in threads."""

import time

import numpy as np
import pytest

from zslearn.serve import routes as route
from zslearn.serve.work import MOST_SLOW, QUICK, Pace


def body(rows, **more):
    part = {"name": "features", "shape": list(rows.shape), "datatype": "FP32"}
    return {"inputs": [part | {"data": rows.ravel().tolist()}]} | more


@pytest.fixture
def ask(client, monkeypatch):
    """Ask, and return the names and whether a thread was needed."""
    pool, hops = client.app.state.server.pool, []
    run = pool.run

    async def noted(*work):
        hops.append(work)
        return await run(*work)

    monkeypatch.setattr(pool, "run", noted)

    def ask(rows, **more):
        hops.clear()
        answer = client.post("/v2/models/made/infer", json=body(rows, **more))
        assert answer.status_code == 200, answer.text
        return answer.json()["outputs"][0]["data"], bool(hops)

    return ask


@pytest.fixture
def patient(monkeypatch):
    """The machine of the tests may be busy; here every answer is quick."""
    monkeypatch.setattr("zslearn.serve.work.QUICK", 10.0)


def test_small_requests_of_a_quick_model_need_no_thread(ask, classifier, rows, patient):
    asked = [ask(rows) for _ in range(10)]
    assert [hop for _, hop in asked] == [True] * (MOST_SLOW // 2) + [False] * 6
    assert all(names == classifier.predict(rows).tolist() for names, _ in asked)


def test_large_requests_always_go_to_a_thread(ask, classifier, rows, patient):
    for _ in range(10):
        ask(rows)
    many = np.tile(rows, (route.SMALL_ROWS // 4, 1))
    assert ask(many) == (classifier.predict(many).tolist(), False)
    more = np.vstack([many, rows[:1]])
    assert ask(more) == (classifier.predict(more).tolist(), True)


def test_many_classes_go_to_a_thread(ask, rows, patient, monkeypatch):
    for _ in range(10):
        ask(rows)
    monkeypatch.setattr(route, "SMALL_SCORES", 4 * 11)  # four rows, eleven classes
    assert not ask(rows)[1]
    monkeypatch.setattr(route, "SMALL_SCORES", 4 * 11 - 1)
    assert ask(rows)[1]


def test_a_slow_model_stays_in_threads(ask, rows, monkeypatch):
    infer = route.infer

    def slow(*args):
        time.sleep(2 * QUICK)
        return infer(*args)

    monkeypatch.setattr(route, "infer", slow)
    assert all(ask(rows)[1] for _ in range(12))


def test_a_class_that_another_process_adds_is_answered_at_once(
    ask, make_client, classifier, data, patient
):
    rows = data.X[data.y == "unseen0"][:1].astype(np.float32)
    for _ in range(10):
        ask(rows)
    vector = classifier.signatures_["unseen0"].tolist()
    other = make_client()
    assert other.delete("/v2/models/made/classes/unseen0").status_code == 204
    assert ask(rows)[0] != ["unseen0"]
    assert other.put("/v2/models/made/classes/twin", json={"vector": vector}).status_code == 201
    assert ask(rows) == (["twin"], True)  # the change had to be read
    assert ask(rows) == (["twin"], False)


def test_refusals_are_the_same_without_a_thread(client, rows, patient):
    bad = rows.copy()
    bad[0, 3] = 0
    asked = [
        body(rows[:, :-1]),
        body(rows, parameters={"top_k": 0}),
        body(np.zeros_like(rows)),
        body(rows) | {"inputs": []},
    ]
    url = "/v2/models/made/infer"
    first = [client.post(url, json=one) for one in asked]
    for _ in range(10):
        client.post(url, json=body(rows))
    again = [client.post(url, json=one) for one in asked]
    assert [one.status_code for one in first] == [400] * 4
    assert [one.text for one in first] == [one.text for one in again]


def test_one_slow_answer_is_an_accident_and_several_are_not():
    pace = Pace()
    for _ in range(20):
        pace.run(int)
    assert pace.is_quick
    seen = []
    for _ in range(4):
        pace.run(time.sleep, 2 * QUICK)
        seen.append(pace.is_quick)
    assert seen == [True, True, False, False]
    for _ in range(MOST_SLOW):
        pace.run(int)
    assert pace.is_quick


def test_an_error_counts_by_its_time_and_is_raised():
    pace = Pace()

    def fail():
        raise ValueError("no")

    for _ in range(MOST_SLOW):
        with pytest.raises(ValueError, match="no"):
            pace.run(fail)
    assert pace.is_quick
