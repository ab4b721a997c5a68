import json
import re

import pytest
from starlette.routing import Route

from zslearn.persistence import save
from zslearn.serve.openapi import document
from zslearn.zero_shot import SAEClassifier

LOAD, UNLOAD = (f"/v2/repository/models/made/{verb}" for verb in ("load", "unload"))


def test_the_index_names_models_and_their_state(client):
    ready = {"name": "made", "version": "1", "state": "READY", "reason": ""}
    assert client.post("/v2/repository/index").json() == [ready]
    assert client.post("/v2/repository/index", json={"ready": True}).json() == [ready]
    assert client.post("/v2/repository/index", json=[]).status_code == 400


def test_a_model_is_unloaded_and_loaded(client):
    assert client.post(UNLOAD).status_code == 200
    assert client.post("/v2/repository/index").json()[0]["state"] == "UNAVAILABLE"
    assert client.post("/v2/repository/index", json={"ready": True}).json() == []
    for path in ("/v2/health/ready", "/v2/models/made", "/v2/models/made/classes"):
        response = client.get(path)
        assert (response.status_code, response.headers["retry-after"]) == (503, "5")
    assert client.post("/v2/models/made/infer", content=b"").status_code == 503
    assert client.post(LOAD).status_code == 200
    assert client.get("/v2/health/ready").status_code == 200


def test_only_known_models_are_loaded(client, make_client):
    assert client.post("/v2/repository/models/other/load").status_code == 404
    assert client.post("/v2/repository/models/..%2Fmade/load").status_code == 404
    assert make_client(read_only=True).post(LOAD).status_code == 403
    assert make_client(workers=2).post(UNLOAD).status_code == 403


def test_loading_reads_the_file_again_and_a_bad_file_leaves_the_old_model(client, model_file, data):
    client.put("/v2/models/made/classes/new", json={"like": "seen0"})
    fewer = data.signatures.subset(data.signatures.names[:9])
    rows = [name in fewer for name in data.y]
    save(SAEClassifier(fewer, lam=1.0).fit(data.X[rows], data.y[rows]), model_file)
    assert client.post(LOAD).status_code == 200
    names = [one["name"] for one in client.get("/v2/models/made/classes").json()["classes"]]
    assert names == [*fewer.names, "new"]
    model_file.write_bytes(model_file.read_bytes()[:-5])
    response = client.post(LOAD)
    assert (response.status_code, "cannot be loaded" in response.json()["error"]) == (400, True)
    assert client.get("/v2/models/made").json()["parameters"]["n_classes"] == 10


def test_figures_count_requests_by_route(client):
    for _ in range(3):
        client.get("/v2/models/made")
    client.get("/v2/models/none")
    client.get("/some/address")
    client.request("BREW", "/v2")
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    counts = dict(re.findall(r"zslearn_requests_total(\{.*?\}) (\S+)", response.text))
    route = 'route="/v2/models/{name}"'
    assert counts[f'{{method="GET",{route},status="200"}}'] == "3.0"
    assert counts[f'{{method="GET",{route},status="404"}}'] == "1.0"
    assert counts['{method="GET",route="other",status="404"}'] == "1.0"
    assert counts['{method="other",route="/v2",status="405"}'] == "1.0"
    assert 'zslearn_classes{model="made"} 11.0' in response.text


def test_the_description_names_every_address(client):
    description = client.get("/openapi.json").json()
    assert description == json.loads(json.dumps(document(client.app.state.operations, ["made"])))
    routes = {
        (route.path.replace(":path", ""), method.lower())
        for route in client.app.routes
        if isinstance(route, Route)
        for method in route.methods - {"HEAD"}
    }
    described = {
        (path, method) for path, methods in description["paths"].items() for method in methods
    }
    assert routes == described
    # Everything that is referred to is there.
    refers = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(description)))
    assert refers == set(description["components"]["schemas"])


def test_the_page_needs_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert set(re.findall(r'(?:href|src)="([^"]*)"', page)) == {"/docs.css", "/openapi.json"}
    assert "<script" not in page
    assert "<style" not in page
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in page
    assert client.get("/docs.css").headers["content-type"].startswith("text/css")


def test_a_hostile_host_does_not_write_into_the_page(make_client):
    page = make_client(allowed_hosts=("*",)).get("/docs", headers={"host": "<b>x</b>"}).text
    assert "<b>x" not in page


@pytest.mark.parametrize("origin", ["https://good.example", "https://evil.example"])
def test_listed_pages_may_read_answers(make_client, origin):
    client = make_client(origins=("https://good.example",), api_key="0123456789abcdef")
    asked = {"origin": origin, "access-control-request-method": "POST"}
    preflight = client.options("/v2/models/made/infer", headers=asked)
    allowed = preflight.headers.get("access-control-allow-origin") == origin
    assert allowed == (origin == "https://good.example")
