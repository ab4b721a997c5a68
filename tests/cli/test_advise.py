"""`zslearn advise` and the chooser on the command line."""

import json

import numpy as np
import pytest

from zslearn.cli.advise import data_facts, next_command
from zslearn.persistence import load
from zslearn.signatures import Signatures


def test_advise_prints_facts_a_leaderboard_what_to_expect_and_the_next_command(run, own_arguments):
    found = run("advise", *own_arguments, "--time-budget", 5)
    assert found.exit_code == 0, found.output
    text = found.stdout
    assert "seen classes" in text
    assert "prototype-regression" in text
    assert "and expect an accuracy of" in text
    assert " to " in text.split("expected")[1]
    assert "zslearn fit" in text.splitlines()[-1]


def test_advise_as_json_has_the_expectation(run, own_arguments):
    found = json.loads(run("advise", *own_arguments, "--time-budget", 5, "--json").stdout)
    assert found["data"]["seen_classes"] == 8
    assert found["data"]["unseen_classes"] == 3
    assert found["expected_accuracy"]["n_candidates"] == 3
    assert found["member"] in [row["member"] for row in found["leaderboard"]]


def test_two_classes_give_one_warning_and_no_accuracies(run, own, own_arguments):
    X, y = ((own / name).read_text().splitlines() for name in ("X.csv", "y.csv"))
    kept = [0, *(i for i, name in enumerate(y) if name in ("seen0", "seen1"))]
    (own / "X.csv").write_text("\n".join(X[i] for i in kept) + "\n")
    (own / "y.csv").write_text("\n".join(y[i] for i in kept) + "\n")
    found = run("advise", *own_arguments)
    assert found.exit_code == 0, found.output
    assert "2 seen classes, four are needed" in found.stderr
    assert "Take prototype-regression." in found.stdout
    assert "expect an accuracy" not in found.stdout
    assert "root > exem" not in found.stdout  # a board of members that nobody judged


def test_a_class_without_attributes_is_no_failure(run, own, own_arguments):
    lines = (own / "classes.csv").read_text().replace("-", "").splitlines()  # attributes
    lines[1] = lines[1].split(",")[0] + ",0" * lines[1].count(",")
    (own / "classes.csv").write_text("\n".join(lines) + "\n")
    found = run("advise", *own_arguments, "--json", "--time-budget", 5)
    assert found.exit_code == 0, found.output
    assert not [row for row in json.loads(found.stdout)["leaderboard"] if "zeros" in row["note"]]


def test_fit_and_evaluate_take_auto(run, own, own_arguments):
    portfolio = 'portfolio=["rrzsl", "root > exem"]'
    target = own / "auto.zsl"
    found = run("fit", *own_arguments, "--method", "auto", "-P", portfolio, "--save", target)
    assert found.exit_code == 0, found.output
    expected = load(target).expected_accuracy_
    assert f"{100 * expected.accuracy:.0f} % among these 3 alone" in found.stdout
    assert load(target).member_ in ("rrzsl", "root > exem")
    arguments = ["--features", own / "all.csv", "--labels", own / "all_y.csv"]
    arguments += ["--signatures", own / "classes.csv", "--unseen", "unseen0,unseen1,unseen2"]
    found = run("evaluate", *arguments, "--method", "auto", "-P", portfolio, "--json")
    [row] = json.loads(found.stdout)
    assert row["per_class_accuracy"] > 0.5
    assert row["chosen_portfolio"] in ("rrzsl", "root > exem")


def test_the_facts_are_those_of_the_data():
    X = np.array([[0.0, 1.0, 5.0], [2.0, 1.0 + 2e-16, 5.5], [0.0, 1.0, 6.0]])
    X = np.column_stack([X, [1e-33, 0.0, 0.0]])
    table = Signatures(["a", "b", "c"], [[1, 0, 1], [1, 1, 1], [1, 0, 0]])
    facts = data_facts(X, np.array(["a", "b", "a"]), table)
    assert (facts["features_that_never_vary"], facts["samples_per_class"]) == (2, "1 to 2")
    assert facts["share_of_zeros"] == pytest.approx(0.3333)
    assert facts["largest_range_over_smallest"] == "2"
    assert facts["attributes_that_never_vary"] == ["d0"]
    assert facts["attributes_the_same_for_all_seen"] == ["d2"]


def test_the_next_command_makes_the_same_choice():
    for budget in (["--time-budget=3"], ["--time-budget", "3"]):
        text = next_command(["x", *budget, "--unseen", "a b"])
        assert text == (
            "zslearn fit x --unseen 'a b' --method auto -P time_budget=3 --save model.zsl"
        )
