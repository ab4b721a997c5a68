"""Clients of others, as released; ``make test-clients`` installs each in a venv of its own."""

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.serve.process import running_server
from tests.serve.test_texts import REQUESTS, fitted_on_texts
from zslearn.persistence import save

VENVS = Path(os.environ.get("ZSLEARN_CLIENTS", ".venv-clients")).absolute()
SCRIPTS = Path(__file__).with_name("clients")
REQUIRED = os.environ.get("ZSLEARN_CLIENTS_REQUIRED", "").split()


@pytest.fixture
def server(model_file, rows):
    np.save(model_file.with_name("rows.npy"), rows)
    with running_server(model_file, "--log", "errors") as server:
        server.rows = model_file.with_name("rows.npy")
        yield server


def run(*command, timeout=120):
    environment = os.environ | {"no_proxy": "*", "NO_PROXY": "*"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=timeout, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def venv(name, program="python"):
    """The program of a client, or a skip with its reason."""
    path = VENVS / name / "bin" / program
    if not path.exists():
        assert name not in REQUIRED, f"{path} is missing"
        pytest.skip(f"{name} is not installed; make test-clients installs and runs it")
    return path


def test_the_client_of_triton(server, classifier, rows):
    script = SCRIPTS / "triton.py"
    found = json.loads(run(venv("triton"), script, f"127.0.0.1:{server.port}", server.rows))
    assert (found["live"], found["ready"], found["model_ready"]) == (True, True, True)
    assert found["name"] == "zslearn"
    assert found["inputs"][0]["shape"] == [-1, 10]
    assert found["index"][0]["state"] == "READY"
    wanted, scores = classifier.predict(rows).tolist(), classifier.decision_function(rows)
    answers = [value for value in found.values() if isinstance(value, dict)]
    assert len(answers) == 12
    for answer in answers:
        assert answer["names"] == wanted
        assert np.allclose(answer["scores"], scores, atol=1e-6)
    score, index, name = found["classes"][0].split(":")
    assert (name, classifier.classes_[int(index)]) == (wanted[0], wanted[0])
    assert float(score) == pytest.approx(scores[0].max(), abs=1e-5)
    assert found["few"] == ["unseen0"] * 4
    assert found["error"][0] == "InferenceServerException"
    assert "shape [n, 10]" in found["error"][1]
    assert (found["unloaded"], found["loaded"]) == (False, True)


def test_the_client_of_triton_sends_texts(tmp_path):
    pytest.importorskip("tokenizers", reason="the extra text is not installed")
    classifier = fitted_on_texts()
    save(classifier, tmp_path / "made.zsl")
    with running_server(tmp_path / "made.zsl", "--log", "errors") as server:
        script = SCRIPTS / "triton_texts.py"
        found = json.loads(run(venv("triton"), script, f"127.0.0.1:{server.port}", *REQUESTS))
    assert found["inputs"][1] == {"name": "text", "datatype": "BYTES", "shape": [-1]}
    wanted = classifier.predict(REQUESTS).tolist()
    assert (found["names True"], found["names False"]) == (wanted, wanted)
    assert np.allclose(found["scores"], classifier.decision_function(REQUESTS), atol=1e-5)
    assert "text 1: the text is empty" in found["error"]


def test_the_client_of_kserve(server, classifier, rows):
    script = SCRIPTS / "kserve_client.py"
    found = json.loads(run(venv("kserve"), script, f"127.0.0.1:{server.port}", server.rows))
    assert (found["live"], found["ready"], found["model_ready"]) == (True, True, True)
    wanted = classifier.predict(rows).tolist()
    assert (found["names True"], found["names False"]) == (wanted, wanted)


@pytest.mark.parametrize("flags", [[], ["-b"]], ids=["json", "binary"])
def test_mlserver_infer(server, classifier, rows, tmp_path, flags):
    program = venv("mlserver", "mlserver")
    requests, answers = tmp_path / "in.txt", tmp_path / "out.txt"
    part = {"name": "features", "shape": [1, 10], "datatype": "FP32"}
    lines = [json.dumps({"inputs": [part | {"data": row.tolist()}]}) for row in rows]
    requests.write_text("\n".join(lines) + "\n")
    address = f"127.0.0.1:{server.port}"
    run(program, "infer", "-u", address, "-m", "made", "-i", requests, "-o", answers, *flags)
    found = [json.loads(line) for line in answers.read_text().splitlines()]
    found.sort(key=lambda one: one["parameters"].get("batch_index", 0))
    names = [one["outputs"][0]["data"][0] for one in found]
    assert names == classifier.predict(rows).tolist()


def test_schemathesis_finds_no_failure_of_the_server(server):
    program = venv("schemathesis", "schemathesis")
    examples = os.environ.get("ZSLEARN_SCHEMA_EXAMPLES", "130")
    address = f"http://127.0.0.1:{server.port}/openapi.json"
    # A model that is unloaded answers 503, as it should, but it counts as a failure here.
    wishes = ["--checks", "not_a_server_error", "--exclude-path-regex", "unload", "--seed", "1"]
    report = run(program, "run", address, *wishes, "-n", examples, timeout=1500)
    generated, passed = re.search(r"(\d+) generated, (\d+) passed", report).groups()
    assert generated == passed
    assert int(passed) >= 2000 or examples != "130"


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(server, classifier, rows):
    base = f"http://127.0.0.1:{server.port}"
    body = json.dumps({"rows": rows.tolist()})
    answer = json.loads(run("curl", "-sf", f"{base}/predict", "-d", body))
    assert [one["class"] for one in answer["answers"]] == classifier.predict(rows).tolist()
    body = '{"like": "seen0", "changes": {"d1": 0.5}}'
    put = ["curl", "-sf", "-X", "PUT", f"{base}/v2/models/made/classes/polar%20bear", "-d", body]
    assert json.loads(run(*put))["created"] is True
    gone = ["-o", "/dev/null", "-w", "%{http_code}", "-X", "DELETE"]
    assert run("curl", "-s", *gone, f"{base}/v2/models/made/classes/polar%20bear") == "204"
    zipped = server.rows.with_name("body.gz")
    zipped.write_bytes(gzip.compress(json.dumps({"rows": rows.tolist()}).encode()))
    sent = ["-H", "Content-Encoding: gzip", "--data-binary", f"@{zipped}"]
    again = json.loads(run("curl", "-sf", f"{base}/predict", *sent))
    assert [one["class"] for one in again["answers"]] == classifier.predict(rows).tolist()
