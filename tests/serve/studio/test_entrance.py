"""Who comes in: the token once, then the cookie; nobody else."""

import socket
import stat

import pytest
from starlette.testclient import TestClient

from zslearn.serve.studio import StudioSettings, make_app
from zslearn.serve.studio.opening import keep_port, kept_port
from zslearn.serve.studio.routes import ADDRESSES


@pytest.fixture
def stranger(visitor):
    app = make_app(StudioSettings({}), visitor.studio)
    return TestClient(app, base_url="http://localhost:8080", follow_redirects=False)


def test_every_address_is_closed_to_strangers(stranger):
    for method, path, _ in ADDRESSES:
        address = "/studio/api/" + path.replace("{number}", "1").replace("{name}", "classes.csv")
        assert stranger.request(method, address, json={}).status_code == 401, address
    assert stranger.get("/studio/page/main.js").status_code == 401
    front = stranger.get("/studio/")
    assert (front.status_code, front.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "zslearn studio" in front.text
    assert "set-cookie" not in front.headers


def test_the_token_works_once(visitor, stranger):
    for token in ("", "x", visitor.studio.entrance.token, "ä" * 50):
        answer = stranger.get("/studio/enter", params={"token": token})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
    # Who is in already may open the address again.
    again = visitor.client.get("/studio/enter?token=used", follow_redirects=False)
    assert again.status_code == 303


def test_the_cookie_is_for_this_page_alone(visitor):
    answer = visitor.client.get("/studio/enter", follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/studio" in cookie
    assert visitor.studio.entrance.token not in cookie
    assert answer.headers["location"] == "/studio/"


def test_pages_of_others_change_nothing(visitor):
    edit = {"op": "delete", "class": 0}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert visitor.post("edits", edit, headers=headers).status_code == 403
    assert visitor.post("edits", edit, headers={"host": "evil.example"}).status_code == 421
    assert visitor.class_called(visitor.json("state")["classes"][0]["name"])["described"]


def test_an_open_tab_stays_in_after_a_restart(open_shapes, tmp_path):
    visitor = open_shapes()
    cookies = dict(visitor.client.cookies)
    visitor.session.close()
    again = open_shapes()
    tab = TestClient(
        make_app(StudioSettings({}), again.studio),
        base_url="http://localhost:8080",
        cookies=cookies,
    )
    assert tab.get("/studio/api/state").status_code == 200
    key = tmp_path / "shapes.project.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    again.session.close()
    key.chmod(0o644)  # others could have read it
    third = open_shapes()
    assert third.studio.entrance.cookie not in cookies


def test_a_project_has_the_port_of_its_last_start(tmp_path):
    project = tmp_path / "p.project"
    assert kept_port(project) == 0
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        keep_port(project, port)
        other.listen()
        assert kept_port(project) == 0  # taken by another program
    assert kept_port(project) == port
    for odd in ("80", "x", "99999999", "-1", ""):
        (tmp_path / "p.project.port").write_text(odd)
        assert kept_port(project) == 0
