import json
import shutil

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from zslearn.serve.studio import Source, StudioSettings, make_app, open_studio


def unpack(content):
    """Return the head and the arrays of packed bytes."""
    length = int.from_bytes(content[:4], "little")
    start = 4 + length
    head = json.loads(content[4:start])
    arrays = {}
    for said in head["arrays"]:
        dtype = np.dtype(said["dtype"])
        n = int(np.prod(said["shape"], dtype=int))
        arrays[said["name"]] = np.frombuffer(content, dtype, n, start).reshape(said["shape"])
        start += -(-n * dtype.itemsize // 8) * 8
    return head, arrays


class Visitor:
    """A client that came in by the token, and reads packed answers."""

    def __init__(self, studio):
        self.studio = studio
        self.client = TestClient(
            make_app(StudioSettings({}), studio), base_url="http://localhost:8080"
        )
        answer = self.client.get(
            f"/studio/enter?token={studio.entrance.token}", follow_redirects=False
        )
        assert answer.status_code == 303

    @property
    def session(self):
        return self.studio.session

    def get(self, path):
        return self.client.get(f"/studio/api/{path}")

    def post(self, path, document=None, **more):
        return self.client.post(f"/studio/api/{path}", json=document or {}, **more)

    def json(self, path):
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def packed(self, path):
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return unpack(answer.content)

    def edit(self, op, **more):
        """Make an edit that must be taken; return head and arrays."""
        answer = self.post("edits", {"op": op, **more})
        assert answer.status_code == 200, answer.text
        return unpack(answer.content)

    def step(self, which):
        answer = self.post(which)
        assert answer.status_code == 200, answer.text
        return unpack(answer.content)[0]

    def class_called(self, name):
        return next(one for one in self.json("state")["classes"] if one["name"] == name)


@pytest.fixture(scope="session")
def fitted_shapes(tmp_path_factory):
    """What a studio of the shapes learns at its first start, for all tests that only look at it."""
    project = tmp_path_factory.mktemp("fitted") / "shapes.project"
    studio = open_studio(Source(project=project))
    for method in ("prototype-regression", "sae"):
        studio.session.methods.calibrate(method)
    studio.session.wait()
    studio.session.close()
    return project.with_name("shapes.project.models")


@pytest.fixture
def open_shapes(tmp_path, fitted_shapes):
    """Open the shapes with a project in a folder of the test; a second call opens it again."""
    studios = []

    def opened(**source):
        source = {"project": tmp_path / "shapes.project", **source}
        models = source["project"].with_name(f"{source['project'].name}.models")
        if "data" not in source and not models.exists():
            shutil.copytree(fitted_shapes, models)
        studio = open_studio(Source(**source))
        studio.session.wait()
        studios.append(studio)
        return Visitor(studio)

    yield opened
    for studio in studios:
        studio.session.close()


@pytest.fixture
def visitor(open_shapes):
    return open_shapes()
