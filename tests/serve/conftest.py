import os
import subprocess

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from zslearn.datasets import make_zero_shot
from zslearn.persistence import save
from zslearn.serve import ServerSettings, create_app
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier


@pytest.fixture(scope="session")
def data():
    """Samples of eight seen and three unseen classes, ten features, five dimensions."""
    return make_zero_shot(
        8, 3, n_per_class=6, n_features=10, n_dimensions=5, noise=0.1, random_state=0
    )


@pytest.fixture(scope="session")
def classifier(data):
    """A classifier fitted on the seen classes."""
    seen = data.rows(data.split("standard").seen)
    return SAEClassifier(data.signatures, lam=1.0).fit(data.X[seen], data.y[seen])


@pytest.fixture(scope="session")
def teachable(data):
    """A calibrated classifier that learns from single samples, with traits that have names."""
    table = data.signatures
    traits = Signatures(
        table.names, table.vectors, ["fur", "tail", "wings", "eats meat", "stripes"]
    )
    seen = data.rows(data.split("standard").seen)
    method = PrototypeRegression(traits, n_repeats=1)
    return CalibratedStacking(method).fit(data.X[seen], data.y[seen])


@pytest.fixture
def model_file(tmp_path, classifier):
    """The classifier as a file in a folder of its own."""
    save(classifier, tmp_path / "made.zsl")
    return tmp_path / "made.zsl"


@pytest.fixture
def make_client(model_file):
    """Make a client of a server with some settings; its default name is an allowed one."""

    def make(**settings):
        app = create_app(ServerSettings({"made": model_file}, **settings))
        return TestClient(app, base_url="http://localhost")

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def rows(data):
    """Four samples, float32 as clients send them."""
    return np.ascontiguousarray(data.X[-4:], dtype=np.float32)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 100 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = None
    if os.name == "posix" and os.geteuid() == 0:
        command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder]
        done = subprocess.run(command, capture_output=True)
    if done is None or done.returncode:
        pytest.skip("only root may mount a small disk, and not everywhere")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
