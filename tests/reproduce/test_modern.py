"""The experiment on generators: one fit, two settings, and the best checkpoint by the test."""

import numpy as np
import pytest

from zslearn.core.threads import threads
from zslearn.datasets import ClassSplit, load_animals
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, evaluate
from zslearn.metrics import harmonic_mean
from zslearn.reproduce import find_data, make_tables
from zslearn.reproduce.experiments.modern import measure
from zslearn.reproduce.specification import Run


def run(method, **parameters):
    source = next(one for one in find_data()[0] if one.dataset == "animals28")
    return Run(
        "modern",
        method,
        source,
        split="proposed",
        semantics="attributes",
        seed=1,
        parameters=parameters,
    )


def test_closed_forms_are_measured_as_by_the_two_protocols():
    got = measure(run("rrzsl"))
    animals, protocol = load_animals(), GeneralizedProtocol("proposed", random_state=1)
    task = protocol.task(animals)
    among = evaluate(animals, "rrzsl", protocol).metrics
    assert got["harmonic_mean"] == among["calibrated_harmonic_mean"]
    rows = ClassSplit(task.seen, task.unseen, task.train)
    alone = evaluate(animals, "rrzsl", ConventionalProtocol(rows)).metrics
    assert got["per_class_accuracy"] == alone["per_class_accuracy"]


def test_the_best_checkpoint_is_told_apart_from_the_chosen_one():
    pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")
    with threads(1):
        short = {"epochs": 4, "width": 0.05, "learning_rate": 1e-3}
        settings = {f"training__{name}": value for name, value in short.items()}
        got = measure(run("cada-vae", search__n_checkpoints=4, **settings))
    stages = got["series"]["stages"]
    assert [stage["n_steps"] for stage in stages] == [22, 44, 66, 88]
    assert got["harmonic_mean"] == stages[-1]["harmonic_mean"]
    assert got["best_on_test_harmonic_mean"] == max(stage["harmonic_mean"] for stage in stages)
    for stage in stages:
        sides = stage["seen_accuracy"], stage["unseen_accuracy"]
        assert stage["harmonic_mean"] == harmonic_mean(*sides)
        # With fewer classes to confuse it with, an unseen class is found at least about as often.
        assert stage["per_class_accuracy"] > stage["unseen_accuracy"] - 0.1


def row(method, seed, accuracy, **more):
    return {
        "key": f"{method} {seed}",
        "kind": "modern",
        "method": method,
        "dataset": "CUB",
        "semantics": "attributes",
        "seed": seed,
        "status": "ok",
        "per_class_accuracy": accuracy,
        "harmonic_mean": accuracy / 2,
        "fit_cpu_minutes": 3.0,
    } | more


def test_table_has_means_over_seeds_and_the_figures_taken_on_the_test():
    rows = [row("sae", 0, 0.5), row("cada-vae", 0, 0.4, best_on_test_harmonic_mean=0.3)]
    rows.append(row("cada-vae", 1, 0.6, best_on_test_harmonic_mean=0.5))
    *_, table = make_tables(rows, ["modern"])["modern"]
    by_name = {line[0]: dict(zip(table.columns, line, strict=True)) for line in table.rows}
    assert by_name["SAE (decoder)"]["T1"] == "50.0"
    assert by_name["SAE (decoder)"]["H, best on test"] == ""
    cada = by_name["CADA-VAE"]
    deviation = 100 * np.std([0.4, 0.6], ddof=1)
    assert cada["T1"] == f"50.0 ± {deviation:.1f}"
    assert (cada["seeds"], cada["minutes"]) == ("2", "3.0 ± 0.00")
    assert cada["H, best on test"].startswith("40.0")
