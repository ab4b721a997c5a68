"""A saved model is asked about labeled samples: accuracies, mistakes and probabilities."""

import json

import numpy as np
import pandas as pd
import pytest

from zslearn.metrics import harmonic_mean, per_class_accuracy
from zslearn.persistence import load, save


@pytest.fixture
def calibrated(run, own, own_arguments):
    """A model whose probabilities were learned."""
    path = own / "calibrated.zsl"
    method = ["--method", "prototype-regression", "--calibrate"]
    assert run("fit", *own_arguments, *method, "--save", path).exit_code == 0
    return path


def test_figures_are_those_of_the_model_in_python(run, own, calibrated):
    result = run("evaluate", calibrated, own / "all.csv", "--labels", own / "all_y.csv", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    model = load(calibrated)
    X = pd.read_csv(own / "all.csv").to_numpy()
    y = pd.read_csv(own / "all_y.csv", header=None)[0].to_numpy()
    answers, unseen = model.predict(X), ~np.isin(y, model.seen_classes_)
    sides = [per_class_accuracy(y[rows], answers[rows]) for rows in (unseen, ~unseen)]
    assert facts["unseen_accuracy"]["value"] == pytest.approx(sides[0])
    assert facts["seen_accuracy"]["value"] == pytest.approx(sides[1])
    assert facts["harmonic_mean"]["value"] == pytest.approx(harmonic_mean(sides[1], sides[0]))
    assert (facts["n_samples"], facts["n_candidates"]) == (len(y), 11)
    counted = {(row["class"], row["answer"]): row["count"] for row in facts["confusions"]}
    wrong = pd.Series(list(zip(y[answers != y], answers[answers != y], strict=True)))
    assert counted == wrong.value_counts().to_dict()
    assert sum(row["samples"] for row in facts["reliability"]) == len(y)
    said = sum(row["said"] * row["samples"] for row in facts["reliability"]) / len(y)
    assert said == pytest.approx(model.predict_proba(X).max(axis=1).mean())


def test_the_table_says_which_classes_are_unseen_and_csv_holds_it(run, own, calibrated):
    result = run(
        *("evaluate", calibrated, own / "all.csv", "--labels", own / "all_y.csv"),
        *("--csv", own / "classes_out.csv"),
    )
    assert result.exit_code == 0, result.output
    rows = pd.read_csv(own / "classes_out.csv")
    unseen = rows[rows["unseen"]]["class"].tolist()
    assert sorted(unseen) == sorted(
        set(pd.read_csv(own / "new.csv")["photo"].str.rpartition("_")[0])
    )
    for name, kind in zip(rows["class"], rows["unseen"], strict=True):
        (line,) = [line for line in result.stdout.splitlines() if line.startswith(f"{name} ")]
        assert line.split()[1] == ("unseen" if kind else "seen")
    assert "Unseen classes: " in result.stdout
    assert "probability said" in result.stdout


def test_a_model_without_probabilities_says_so(run, own, calibrated):
    save(load(calibrated).estimator_, own / "plain.zsl")
    result = run("evaluate", own / "plain.zsl", own / "X.csv", "--labels", own / "y.csv")
    assert result.exit_code == 0, result.output
    assert "not calibrated" in result.stdout
    assert "probability said" not in result.stdout
    assert "H, their" not in result.stdout  # no sample is of an unseen class


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("{m}", "name labeled samples after it"),
        ("{m} {X} --labels {y} --method sae", "--method is for methods that are fitted"),
        ("{m} {X} --labels {y} --cv 3", "--cv is for methods"),
        ("{m} {X}", "say by --labels which column"),
        ("animals --text words", "--text is for a saved model"),
    ],
)
def test_usage(run, own, calibrated, arguments, words):
    paths = {"m": calibrated, "X": own / "X.csv", "y": own / "y.csv"}
    result = run("evaluate", *(part.format(**paths) for part in arguments.split()))
    assert result.exit_code == 2
    assert words in result.stderr


def test_wrong_inputs(refused, own, calibrated):
    X, y = own / "X.csv", own / "y.csv"
    swapped = refused("evaluate", X, calibrated, "--labels", y)
    assert f"try: zslearn evaluate {calibrated} {X}" in swapped
    assert "There is no file" in refused("evaluate", own / "none.zsl", X, "--labels", y)
    (own / "short.csv").write_text("\n".join(pd.read_csv(y)["label"][:5]) + "\n")
    refused_line = refused("evaluate", calibrated, X, "--labels", own / "short.csv")
    assert "has 5 labels" in refused_line
    names = pd.read_csv(y)["label"].tolist()
    (own / "odd.csv").write_text("\n".join(["nobody", *names[1:]]) + "\n")
    unknown = refused("evaluate", calibrated, X, "--labels", own / "odd.csv")
    assert "'nobody' has no signature" in unknown
