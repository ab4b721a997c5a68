import pytest

from zslearn.exceptions import InvalidInputError
from zslearn.serve import Limits, ServerSettings
from zslearn.serve.application import allowed_hosts

KEY = "0123456789abcdef-key"
INFER = "/v2/models/made/infer"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:9999", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:80", 421),
        ("", 421),
    ],
)
def test_only_names_of_this_machine_are_answered(client, host, status):
    assert client.get("/v2", headers={"host": host}).status_code == status


def test_more_names_can_be_allowed(make_client):
    client = make_client(allowed_hosts=("models.example",))
    assert client.get("/v2", headers={"host": "Models.example:443"}).status_code == 200
    assert client.get("/v2", headers={"host": "other.example"}).status_code == 421
    anything = make_client(allowed_hosts=("*",))
    assert anything.get("/v2", headers={"host": "other.example"}).status_code == 200


def test_addresses_that_mean_all_are_no_names():
    settings = ServerSettings({"m": "m.zsl"}, host="0.0.0.0", api_key=KEY)
    assert "0.0.0.0" not in allowed_hosts(settings)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 400),
        ({"origin": "http://localhost"}, 400),
        ({"sec-fetch-site": "same-origin"}, 400),
        ({"sec-fetch-site": "none"}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": "localhost"}, 403),
        ({"origin": "http://localhost:1234"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "https://good.example", "sec-fetch-site": "cross-site"}, 400),
    ],
)
def test_pages_of_others_may_not_post(make_client, headers, status):
    client = make_client(origins=("https://good.example",))
    assert client.post(INFER, content=b"", headers=headers).status_code == status


def test_pages_of_others_may_not_read_without_being_listed(client):
    response = client.get("/v2", headers={"origin": "http://evil.example"})
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": f"Bearer {KEY}"}, 200),
        ({"authorization": f"bearer {KEY}"}, 200),
        ({"x-api-key": KEY}, 200),
        ({"authorization": f"Basic {KEY}"}, 401),
        ({"authorization": f"Bearer {KEY[:-1]}"}, 401),
        ({"x-api-key": KEY + "x"}, 401),
        ({"x-api-key": "ä".encode()}, 401),
    ],
)
def test_a_key_is_asked_for_everywhere_but_for_health(make_client, headers, status):
    client = make_client(api_key=KEY)
    assert client.get("/v2", headers=headers).status_code == status
    assert client.get("/nothing", headers=headers).status_code == (404 if status == 200 else 401)
    assert client.get("/v2/health/ready", headers=headers).status_code == 200


@pytest.mark.parametrize("name", ["authorization", "origin", "host"])
def test_a_header_that_decides_may_come_once(client, name):
    twice = [("host", "localhost"), (name, "localhost"), (name, "elsewhere")]
    answer = client.get("/v2", headers=twice)
    assert (answer.status_code, "comes twice" in answer.json()["error"]) == (400, True)


def test_a_refusal_names_the_way_to_give_a_key_but_not_the_key(make_client):
    response = make_client(api_key=KEY).get("/v2")
    assert response.headers["www-authenticate"] == "Bearer"
    assert KEY not in response.text
    assert KEY not in repr(ServerSettings({"m": "m.zsl"}, api_key=KEY))


def test_every_answer_tells_browsers_to_load_nothing_foreign(client):
    for path in ("/v2", "/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert policy.startswith("default-src 'self'")
    assert client.get("/v2").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "models.example", ""])
def test_other_addresses_than_loopback_need_a_key(host):
    with pytest.raises(InvalidInputError, match="an API key is needed"):
        ServerSettings({"m": "m.zsl"}, host=host)
    assert ServerSettings({"m": "m.zsl"}, host=host, api_key=KEY).api_key == KEY


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_needs_none(host):
    assert ServerSettings({"m": "m.zsl"}, host=host).api_key is None


@pytest.mark.parametrize("key", ["", "short", "has blanks in it all", "ä" * 20, "x" * 20 + "\n"])
def test_a_weak_key_is_refused(key):
    with pytest.raises(InvalidInputError, match="at least 16 letters"):
        ServerSettings({"m": "m.zsl"}, api_key=key)


def test_a_key_of_sixteen_letters_is_taken_and_one_of_fifteen_is_not():
    assert ServerSettings({"m": "m.zsl"}, api_key="x" * 16).api_key == "x" * 16
    with pytest.raises(InvalidInputError, match="at least 16 letters"):
        ServerSettings({"m": "m.zsl"}, api_key="x" * 15)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "../x", "a%2f"])
def test_a_name_of_a_model_must_fit_into_an_address(name):
    with pytest.raises(InvalidInputError, match="letters, digits"):
        ServerSettings({name: "m.zsl"})


def test_a_server_without_models_is_refused():
    with pytest.raises(InvalidInputError, match="no model to serve"):
        ServerSettings({})


def test_limits_must_be_positive():
    with pytest.raises(InvalidInputError, match="rows must be a whole number of at least 1"):
        Limits(rows=0)


def test_pages_of_others_may_not_embed_answers(client):
    for path in ("/v2", "/docs", "/nowhere"):
        assert client.get(path).headers["cross-origin-resource-policy"] == "same-origin"
