"""The scripts of the studio's page in node, against numbers that Python wrote."""

import base64
import json
import os
import re
import subprocess
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.serve.studio.page.packing import pack
from zslearn.core.nearest import unit_rows
from zslearn.datasets import make_zero_shot
from zslearn.zero_shot import SAEClassifier

HERE = Path(__file__).parent
CASES = [
    {"direction": "encode"},
    {"direction": "decode"},
    {"direction": "both"},
    {"direction": "encode", "metric": "dot", "signature_norm": None},
    {"direction": "encode", "metric": "euclidean"},
    {"direction": "decode", "metric": "euclidean", "feature_norm": None},
]


def node():
    """The program node that comes with Playwright, so that nothing else must be installed."""
    found = find_spec("playwright")
    if found is None:
        pytest.skip("playwright, which brings node, is not installed")
    return Path(found.origin).parent / "driver" / "node"


def encode(array, dtype):
    return base64.b64encode(np.ascontiguousarray(array, dtype).tobytes()).decode()


def branch(clf, X, way):
    """What a snapshot holds of one direction: products of samples and map, never the features."""
    coef = clf.coef_encode_ if way == "encode" else clf.coef_decode_
    z = X @ coef.T
    same = way == "encode"  # samples are compared in the semantic space, where classes are rows
    gram = np.eye(len(coef)) if same else coef @ coef.T
    lengths = np.linalg.norm(z if same else X, axis=1)
    arrays = {"z": z, "gram": gram, "lengths": lengths}
    return {key: encode(array, "<f4") for key, array in arrays.items()}


def scoring_case(parameters):
    """A model as a snapshot holds it, with the scores that Python gives."""
    data = make_zero_shot(9, 4, n_per_class=5, n_features=12, n_dimensions=6, random_state=3)
    train = data.rows(data.split("standard").seen)
    clf = SAEClassifier(data.signatures, lam=0.7, **parameters).fit(data.X[train], data.y[train])
    names = list(data.signatures.names)
    bias = 0.05 * np.isin(names, clf.seen_classes_)
    scores = clf.recognizer(names).scores(data.X) - bias
    X = unit_rows(data.X) if clf.feature_norm == "l2" else data.X
    ways = ("encode", "decode") if clf.direction == "both" else (clf.direction,)
    classes = [
        {"id": 10 + 3 * k, "name": str(name), "seen": bool(bias[k]), "row": row.tolist()}
        for k, (name, row) in enumerate(zip(names, data.signatures.vectors, strict=True))
    ]
    snapshot = {
        "title": "made",
        "method": "SAE",
        "n": len(X),
        "dimensions": [],
        "classes": classes,
        "bias": 0.05,
        "form": {
            "metric": clf.metric,
            "signature_norm": clf.signature_norm,
            "branches": [branch(clf, X, way) for way in ways],
        },
    }
    answers = [classes[k]["id"] for k in scores.argmax(axis=1)]
    return {
        "name": ", ".join(map(str, parameters.values())),
        "data": snapshot,
        "scores": scores.tolist(),
        "answers": answers,
    }


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory):
    """A folder with what the scripts read."""
    folder = tmp_path_factory.mktemp("fixtures")
    (folder / "scoring.json").write_text(json.dumps([scoring_case(case) for case in CASES]))
    arrays = {
        "answer": np.array([3, -1, 2**31 - 1], np.int32),
        "split": np.array([0, 1, 1, 0, 1], np.uint8),
        "none": np.zeros((0, 2), np.float32),
        "xy": np.array([[0.5, -1.25], [2.0**20, 0.0]], np.float32),
    }
    (folder / "packed.bin").write_bytes(pack({"revision": 7, "text": "λ and okapi"}, arrays))
    return folder


@pytest.mark.parametrize("script", sorted((HERE / "scripts").glob("*.mjs")), ids=lambda p: p.stem)
def test_the_scripts_do_what_they_say(script, fixtures):
    done = subprocess.run(
        [node(), "--test", "--test-reporter=tap", script],
        env={**os.environ, "ZSLEARN_FIXTURES": str(fixtures)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0" in done.stdout
    assert "# pass 0" not in done.stdout


def test_the_page_asks_for_all_its_modules_at_once():
    folder = files("zslearn.serve.studio") / "page"
    modules, waiting = {"main.js"}, ["main.js"]
    while waiting:
        text = (folder / waiting.pop()).read_text("utf-8")
        found = set(re.findall(r'from "\./(\w+\.js)"', text)) - modules
        modules |= found
        waiting += found
    page = (folder / "index.html").read_text("utf-8")
    preloaded = re.findall(r'rel="modulepreload" href="page/(\w+\.js)"', page)
    assert sorted([*preloaded, "main.js"]) == sorted(modules)
