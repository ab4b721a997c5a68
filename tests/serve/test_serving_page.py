"""The page "Serving" and its examples, as far as they can be checked without other engines."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serve.process import running_server
from tests.test_docs import run_blocks
from zslearn.cli.serve import serve

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serving.md").read_text("utf-8")
EXAMPLES = ROOT / "examples" / "serving"
FLAGS = {flag for option in serve.params for flag in option.opts}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_curl_of_the_page_is_answered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_blocks(PAGE.partition("## Ask with curl")[0], "serving.md")
    with running_server(tmp_path / "animals.zsl") as server:
        commands = re.findall(r"^\$ (curl .*)$", PAGE, flags=re.M)
        assert len(commands) >= 5
        for command in commands:
            words = shlex.split(command.replace("localhost:8080", f"127.0.0.1:{server.port}"))
            done = subprocess.run(
                [*words, "-sSf", "--noproxy", "*"], capture_output=True, text=True
            )
            assert done.returncode == 0, (command, done.stderr)
            assert '"error"' not in done.stdout


def test_every_flag_of_the_page_exists():
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGE)) - {
        "--save",  # of zslearn fit
        "--help",
        "--data-binary",
    }
    assert named <= FLAGS


def test_the_program_of_the_image_and_of_the_unit_have_known_flags():
    docker = (EXAMPLES / "Dockerfile").read_text()
    unit = (EXAMPLES / "zslearn.service").read_text()
    program = docker.partition('CMD ["/models')[2] + re.search(r"ExecStart=.*", unit)[0]
    named = set(re.findall(r"--[a-z-]+", program))
    assert {"--host", "--workers", "--classes-dir"} <= named <= FLAGS
    assert re.search(r"^USER (?!0$|root$)\d+$", docker, flags=re.M)
    assert "HEALTHCHECK" in docker
    assert "TimeoutStopSec=12" in unit  # longer than the ten seconds of draining


def test_the_service_of_kserve_is_whole():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    service = yaml.safe_load((EXAMPLES / "inference_service.yaml").read_text())
    assert (service["apiVersion"], service["kind"]) == (
        "serving.kserve.io/v1beta1",
        "InferenceService",
    )
    [container] = service["spec"]["predictor"]["containers"]
    assert container["name"] == "kserve-container"
    assert {flag for flag in container["args"] if flag.startswith("--")} <= FLAGS
    assert container["readinessProbe"]["httpGet"]["path"] == "/v2/health/ready"
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
