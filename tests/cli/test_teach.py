"""Labeled samples for a saved model, samples to label next, and answers adapted to a batch."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from zslearn.persistence import load


@pytest.fixture
def model(run, own, own_arguments):
    """Prototype regression, fitted by the program."""
    arguments = [*own_arguments, "--method", "prototype-regression", "--save", own / "model.zsl"]
    assert run("fit", *arguments).exit_code == 0
    return own / "model.zsl"


def test_what_auto_took_is_taught_too(run, own, own_arguments, labeled):
    path = own / "auto.zsl"
    assert run("fit", *own_arguments, "--method", "auto", "--save", path).exit_code == 0
    taken = load(path)
    result = run("teach", path, labeled, "--labels", "species")
    if hasattr(taken, "partial_fit"):
        assert result.exit_code == 0, result.output
        assert load(path).estimator_.evidence_.weights.sum() == 18
        assert "Adapted to 18" in run("predict", path, own / "new.csv", "--adapt").stderr
    else:
        assert "learns nothing from single samples" in result.stderr


@pytest.fixture
def labeled(own):
    """New samples with their classes in a column."""
    frame = pd.read_csv(own / "new.csv")
    frame["species"] = [photo.rpartition("_")[0] for photo in frame.pop("photo")]
    frame.to_csv(own / "labeled.csv", index=False)
    return own / "labeled.csv"


def test_the_program_teaches_a_saved_model(program, model, labeled, own):
    arguments = [*program, "teach", model, labeled, "--labels", "species", "--json"]
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    facts = json.loads(result.stdout)
    frame = pd.read_csv(labeled)
    counts = frame["species"].value_counts()
    assert {row["class"]: row["added"] for row in facts["classes"]} == counts.to_dict()
    assert {row["by"] for row in facts["classes"]} == {"description"}
    taught = load(model)
    assert facts["description_counts_as"] == pytest.approx(taught.kappa_)
    expected = load_again(own, model).partial_fit(
        frame.drop(columns="species").to_numpy(), frame["species"].to_numpy()
    )
    X = pd.read_csv(own / "all.csv").to_numpy()
    np.testing.assert_allclose(taught.decision_function(X), expected.decision_function(X))


def load_again(own, model):
    """Fit what the program fitted, without what was taught."""
    twin = load(model)
    for name in twin.estimator_.evidence_.names.tolist():
        twin.forget(name)
    return twin


def test_a_copy_is_written_and_labels_may_be_a_file(run, model, own):
    before = model.read_bytes()
    result = run("teach", model, own / "X.csv", "--labels", own / "y.csv", "--out", own / "b.zsl")
    assert result.exit_code == 0, result.output
    assert "training samples" in result.stdout
    assert "48 samples added; a description counts as" in result.stderr
    assert model.read_bytes() == before
    assert load(own / "b.zsl").estimator_.evidence_.weights.sum() == 48


def test_a_class_that_nobody_described_is_learned_by_its_samples(run, model, labeled):
    rng = np.random.default_rng(0)
    X = rng.normal(size=10) + 0.1 * rng.normal(size=(12, 10))
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(species="okapi")
    frame.to_csv(labeled, index=False)
    result = run("teach", model, labeled, "--labels", "species", "--json")
    assert json.loads(result.stdout)["classes"] == [
        {"class": "okapi", "added": len(frame), "by": "these samples alone"}
    ]
    answers = json.loads(run("predict", model, labeled, "--ignore", "species", "--json").stdout)
    assert {row["class"] for row in answers} == {"okapi"}


def test_what_cannot_teach_is_refused_and_changes_nothing(
    run, refused, model, labeled, own, own_arguments
):
    before = model.read_bytes()
    assert "specis" in refused("teach", model, labeled, "--labels", "specis")
    line = refused("teach", model, own / "new.csv", "--labels", own / "y.csv")
    assert "49 labels" in line
    assert "18 samples" in line
    assert "try: zslearn teach" in refused("teach", labeled, model, "--labels", "species")
    usage = run("teach", model, labeled)
    assert (usage.exit_code, "--labels" in usage.stderr) == (2, True)
    assert model.read_bytes() == before
    assert run("fit", *own_arguments, "--method", "sae", "--save", own / "s.zsl").exit_code == 0
    line = refused("teach", own / "s.zsl", labeled, "--labels", "species")
    assert "SAEClassifier, which learns nothing from single samples" in line
    assert "--method prototype-regression" in line
    assert "SAEClassifier" in refused("predict", own / "s.zsl", own / "new.csv", "--adapt")


def test_suggestions_are_the_rows_that_the_classifier_suggests(run, model, own):
    result = run("suggest", model, own / "new.csv", "--n", 4, "--unseen-only", "--json")
    rows = json.loads(result.stdout)
    frame = pd.read_csv(own / "new.csv")
    X = frame.drop(columns="photo").to_numpy()
    expected = load(model).suggest(X, 4, "unseen")
    assert [row["sample"] for row in rows] == frame["photo"].iloc[expected.rows].tolist()
    assert [[row["first"], row["second"]] for row in rows] == expected.names.tolist()
    assert rows[0]["worth"] == 1.0
    written = run("suggest", model, own / "new.csv", "--n", 2, "--out", own / "next.csv")
    assert "Wrote" in written.stderr
    assert len(pd.read_csv(own / "next.csv")) == 2
    table = run("suggest", model, own / "new.csv", "--n", 2).stdout
    assert "is it" in table


def test_answers_can_be_adapted_to_their_batch(run, model, own):
    arguments = ["predict", model, own / "new.csv", "--unseen-only", "--json"]
    result = run(*arguments, "--adapt")
    assert "Adapted to 18 samples of 3 candidates" in result.stderr
    adapted = load(model).adapt(
        pd.read_csv(own / "new.csv").drop(columns="photo").to_numpy(), "unseen"
    )
    rows = json.loads(result.stdout)
    expected = adapted.predict(
        pd.read_csv(own / "new.csv").drop(columns="photo").to_numpy(), "unseen"
    )
    assert [row["class"] for row in rows] == expected.tolist()
    scores = [row["score"] for row in rows]
    assert scores != [row["score"] for row in json.loads(run(*arguments).stdout)]


def test_a_full_disk_leaves_the_model_as_it_was(run, model, labeled, monkeypatch):
    before = model.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    result = run("teach", model, labeled, "--labels", "species")
    assert result.exit_code == 1
    assert model.read_bytes() == before
