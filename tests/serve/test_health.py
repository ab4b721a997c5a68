import pytest

from zslearn import __version__


def test_the_server_says_what_it_is(client):
    answer = client.get("/v2").json()
    assert (answer["name"], answer["version"]) == ("zslearn", __version__)
    assert "binary_tensor_data" in answer["extensions"]


@pytest.mark.parametrize("path", ["/v2/health/live", "/v2/health/ready"])
def test_health_has_the_keys_of_both_kinds_of_clients(client, path):
    response = client.get(path)
    assert (response.status_code, response.json()) == (200, {"live": True, "ready": True})


def test_a_model_describes_its_inputs_and_outputs(client, classifier):
    for path in ("/v2/models/made", "/v2/models/made/versions/1"):
        answer = client.get(path).json()
        assert answer["versions"] == ["1"]
        assert answer["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 10]}]
        assert "predict" in [output["name"] for output in answer["outputs"]]
        assert answer["parameters"]["n_classes"] == len(classifier.classes_)


@pytest.mark.parametrize("path", ["/v2/models/made/ready", "/v2/models/made/versions/1/ready"])
def test_a_model_is_ready(client, path):
    assert client.get(path).json()["ready"] is True


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v2/models/maid", 404),
        ("GET", "/v2/models/made/versions/2", 404),
        ("POST", "/v2/models/other/infer", 404),
        ("GET", "/nothing", 404),
        ("GET", "/v2/", 404),
        ("GET", "/v2/models/made/infer", 405),
        ("POST", "/v2/health/live", 405),
    ],
)
def test_wrong_addresses_are_errors_in_json(client, method, path, status):
    response = client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["error"]


def test_a_stopping_server_is_live_but_not_ready(client):
    client.app.state.server.stopping = True
    assert client.get("/v2/health/live").status_code == 200
    for path in ("/v2/health/ready", "/v2/models/made/ready"):
        response = client.get(path)
        assert (response.status_code, response.json()["ready"]) == (503, False)
        assert response.headers["retry-after"] == "5"
