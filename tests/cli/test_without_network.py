"""From pictures and words to an answer with the installed program, no network anywhere."""

import json
import os
import subprocess
import sys

import pytest
from PIL import Image

from zslearn.datasets import make_shapes

# Loaded by every Python before anything else: a connection is refused and noted down.
REFUSING = """
import os, socket

def refuse(*arguments, **options):
    with open(os.environ["ATTEMPTS"], "a") as file:
        file.write(repr(arguments[1:]) + "\\n")
    raise OSError("there is no network")

for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = socket.create_connection = refuse
"""


# The same in a fork of a process that has everything imported.
FORKED = f"""{REFUSING}
import sys
from zslearn.cli.main import main
os.environ["ATTEMPTS"] = sys.argv.pop(1)
main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pictures of seen classes by folder, one picture of an unseen class, and descriptions."""
    folder = tmp_path_factory.mktemp("user")
    shapes = make_shapes(8, 2, n_per_class=3, random_state=0)
    for i, (label, pixels) in enumerate(zip(shapes.y, shapes.pictures, strict=True)):
        place = folder / "photos" / label
        if label in shapes.split.seen:
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(place / f"{i}.jpg")
        else:
            Image.fromarray(pixels).save(folder / "new.jpg")
    shapes.signatures.to_csv(folder / "classes.csv")
    lines = [f"{name},{name.replace('_', ' ')}" for name in map(str, shapes.signatures.names)]
    (folder / "texts.csv").write_text("\n".join(["class,text", *lines]) + "\n")
    (folder / "blocked").mkdir()
    (folder / "blocked" / "sitecustomize.py").write_text(REFUSING)
    return folder


@pytest.fixture(scope="module")
def store(folder, program):
    """Vectors of the pictures, by the installed program in its own folder."""
    paths = [str(folder / "blocked"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "ATTEMPTS": str(folder / "attempts"),
    }
    command = [*program, "features", "photos", "--out", "store", "--encoder", "efficientnet-lite0"]
    made = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert made.returncode == 0, made.stderr
    return "store"


@pytest.fixture(scope="module")
def offline(folder, warm):
    """Run the program in its own folder without a network."""

    def invoke(*arguments):
        return warm.python("-c", FORKED, folder / "attempts", *arguments, cwd=folder)

    return invoke


def test_the_block_blocks(folder, warm):
    script = "import socket; socket.create_connection(('127.0.0.1', 9))"
    environment = os.environ | {"PYTHONPATH": str(folder / "blocked"), "ATTEMPTS": os.devnull}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert "there is no network" in done.stderr
    forked = warm.python("-c", f"{REFUSING}\nos.environ['ATTEMPTS'] = os.devnull\n{script}")
    assert "there is no network" in forked.stderr


@pytest.mark.parametrize("words", [False, True], ids=["attributes", "words"])
def test_three_commands_need_no_network(folder, offline, store, words):
    table = "classes.csv"
    if words:
        table = "signatures.csv"
        described = offline("describe", "texts.csv", "--out", table)
        assert described.returncode == 0, described.stderr
    fitted = offline("fit", store, "--signatures", table, "--save", "model.zsl")
    assert fitted.returncode == 0, fitted.stderr
    named = offline("predict", "model.zsl", "new.jpg", "--json")
    assert named.returncode == 0, named.stderr
    (answer,) = json.loads(named.stdout)
    assert answer["sample"] == "new.jpg"
    # The dimensions of a text encoder are numbered, so they are no reasons.
    assert ("because" in answer) == (not words)
    assert not (folder / "attempts").exists()


def test_an_encoder_of_the_hub_says_what_is_missing(offline):
    refused = offline("features", "photos", "--out", "hub", "--encoder", "timm:resnet18")
    assert refused.returncode == 1
    lines = [line for line in refused.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1
    assert "pip install 'zslearn[hub]'" in lines[0] or "There is no network" in lines[0]
