"""`zslearn data check`: samples against a class table."""

import json

import numpy as np

from zslearn.datasets import load_animals
from zslearn.encoders import write_store


def test_the_animals_with_one_class_more(run, tmp_path):
    table = load_animals().signatures
    table.append(table.like("horse", name="okapi")).to_csv(tmp_path / "s.csv")
    result = run("data", "check", "animals", tmp_path / "s.csv")
    assert result.exit_code == 0, result.output
    assert "28 classes have samples and a signature, 1 a signature only" in result.stdout
    assert "no method tells apart: horse and okapi." in result.stdout
    facts = json.loads(run("data", "check", "animals", tmp_path / "s.csv", "--json").stdout)
    assert facts["unseen"] == ["okapi"]
    assert facts["n_samples"]["zebra"] == 60
    assert facts["near_duplicates"] == [["horse", "okapi", 0]]


def test_samples_without_a_signature_are_an_error(run, tmp_path):
    load_animals().signatures.drop(["fox", "wolf"]).to_npz(tmp_path / "s.npz")
    result = run("data", "check", "animals", tmp_path / "s.npz")
    assert result.exit_code == 1
    assert "2 classes have samples and no signature: fox, wolf." in result.stderr
    assert "no signature" in result.stdout


def test_a_store(run, own, tmp_path):
    batches = [(np.ones((3, 2)), ["cat", "dog", "cat"])]
    write_store(tmp_path / "store", batches)
    (tmp_path / "s.csv").write_text("class,a,b\ncat,1,0\ndog,0,1\nzebra,1,1\n")
    facts = json.loads(
        run("data", "check", tmp_path / "store", tmp_path / "s.csv", "--json").stdout
    )
    assert facts["n_samples"] == {"cat": 2, "dog": 1, "zebra": 0}
    assert list(facts["leakage"]["exact"]) == ["zebra"]


def test_files_of_features_and_labels(run, refused, own):
    result = run("data", "check", own / "X.csv", own / "classes.csv", "--labels", own / "y.csv")
    assert result.exit_code == 0, result.output
    assert "8 classes have samples and a signature, 3 a signature only" in result.stdout
    assert "has no column 'label'" in refused("data", "check", own / "X.csv", own / "classes.csv")
    line = refused("data", "check", own / "all.csv", own / "classes.csv", "--labels", own / "y.csv")
    assert "has 66 samples and" in line


def test_a_column_of_labels(run, own):
    (own / "t.csv").write_text("f0,f1,label\n1,2,a\n3,4,b\n")
    (own / "s.csv").write_text("class,x,y\na,1,2\nb,3,4\n")
    facts = json.loads(run("data", "check", own / "t.csv", own / "s.csv", "--json").stdout)
    assert facts["seen"] == ["a", "b"]


def test_one_class_is_one_class(run, tmp_path):
    (tmp_path / "X.csv").write_text("label,a\ncat,1\nfox,2\n")
    (tmp_path / "s.csv").write_text("class,a,b\ncat,1,0\ndog,0,1\n")
    result = run("data", "check", tmp_path / "X.csv", tmp_path / "s.csv")
    assert "\n1 class has samples and a signature, 1 a signature only" in result.stdout
    assert "1 class has samples and no signature: fox." in result.stderr
