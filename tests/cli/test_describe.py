"""`zslearn describe`: from names and descriptions to a class table."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.encoders.vector_file_writers import as_text
from tests.encoders.wordnet_writer import write_wordnet
from zslearn.encoders import TextEncoder, wordnet
from zslearn.signatures import Signatures


@pytest.fixture
def classes(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("zebra\npolar+bear\nhorse\n")
    return path


def test_names_by_the_text_encoder(run, classes, tmp_path):
    result = run("describe", classes, "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert "3 classes × 384 dimensions" in result.stdout
    assert "minilm (SHA-256 " in result.stdout
    table = Signatures.from_csv(tmp_path / "out.csv")
    expected = TextEncoder().transform(["zebra", "polar bear", "horse"])
    assert_allclose(table.vectors, expected, atol=1e-6)


def test_descriptions_and_templates(run, tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text("class,text\nzebra,a striped horse\nzebra,a grazer\notter,it swims\n")
    result = run(
        "describe", path, "--out", tmp_path / "o.npz", "--template", "a photo of {}", "--json"
    )
    facts = json.loads(result.stdout)
    assert (facts["classes"], facts["coverage"][0]["texts"]) == (2, 2)
    encoder = TextEncoder()
    mean = encoder.transform(["a photo of a striped horse", "a photo of a grazer"]).mean(axis=0)
    # The name counts as much as the descriptions.
    both = mean / np.linalg.norm(mean) + encoder.transform(["a photo of zebra"])[0]
    table = Signatures.from_npz(tmp_path / "o.npz")
    assert_allclose(table["zebra"], both / np.linalg.norm(both), atol=1e-6)
    assert table.texts["zebra"] == ("a striped horse", "a grazer")


def test_word_vectors_print_their_coverage(run, classes, tmp_path):
    vectors = {"zebra": [1, 2], "Polar_bear": [2, 1], "pony": [0, 1]}
    (tmp_path / "v.txt").write_bytes(as_text(vectors))
    arguments = ["describe", classes, "--out", tmp_path / "o.csv", "--vectors", tmp_path / "v.txt"]
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "No word vector was found for 'horse'" in refused.stderr
    assert not (tmp_path / "o.csv").exists()
    result = run(*arguments, "--override", "horse=pony")
    assert result.exit_code == 0, result.output
    assert "3 classes: 1 by exact, 1 by separator, 1 by override." in result.stdout
    assert_allclose(Signatures.from_csv(tmp_path / "o.csv")["horse"], [0, 1])


def test_wordnet(run, classes, tmp_path, monkeypatch):
    write_wordnet(tmp_path)
    monkeypatch.setattr(wordnet, "_usual_places", lambda: [tmp_path])
    result = run("describe", classes, "--out", tmp_path / "o.csv", "--wordnet", "--below", "animal")
    assert result.exit_code == 0, result.output
    assert "striped African equine" in result.stdout
    assert Signatures.from_csv(tmp_path / "o.csv").shape[0] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vectors", "x", "--wordnet"], "--vectors and --wordnet exclude each other"),
        (["--below", "animal"], "--below is for --wordnet"),
        (["--override", "a=b"], "--override is for --vectors and --wordnet"),
        (["--wordnet", "--template", "{}"], "--template is for --encoder"),
        (["--wordnet", "--override", "a"], "--override must be CLASS=WORD"),
    ],
)
def test_wrong_usage(run, classes, tmp_path, options, message):
    result = run("describe", classes, "--out", tmp_path / "o.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_target_is_checked_before_any_work(run, refused, classes, tmp_path):
    assert "--out must end in .csv or .npz" in run("describe", classes, "--out", "o.txt").stderr
    assert "There is no folder" in refused("describe", classes, "--out", tmp_path / "x" / "o.csv")
    assert "There is no file" in refused("describe", tmp_path / "no.txt", "--out", "o.csv")


def test_an_unknown_encoder_is_one_line(refused, classes, tmp_path):
    line = refused("describe", classes, "--out", tmp_path / "o.csv", "--encoder", "bert")
    assert "there is no text encoder 'bert'; choose 'minilm'" in line
