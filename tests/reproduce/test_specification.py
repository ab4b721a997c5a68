from dataclasses import replace

import numpy as np
import pytest

from zslearn.cluster import find_mapping
from zslearn.datasets import load_animals
from zslearn.evaluation import ConventionalProtocol, evaluate
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.reproduce import Run, choose_experiments, find_data, load_experiments, plan
from zslearn.reproduce.experiments import KINDS, measure, program
from zslearn.reproduce.experiments.zero_shot import with_steps
from zslearn.reproduce.specification import base_name
from zslearn.signatures import Signatures
from zslearn.zero_shot import METHODS


def test_every_experiment_has_a_program_and_known_methods():
    for quick in (False, True):
        for experiment in load_experiments(quick=quick).values():
            assert experiment.kind in KINDS
            for name in experiment.method_names():
                if experiment.kind in ("zero-shot", "class-splits"):
                    with_steps(name)
                elif name and experiment.kind.startswith("cluster"):
                    find_mapping(base_name(name))


def test_tables_are_made_of_experiments_alone():
    makers = {name for kind in KINDS for name in program(kind).TABLES}
    assert makers <= set(load_experiments())


def test_all_means_every_method_but_the_demos():
    names = load_experiments()["zsl"].method_names()
    assert set(names) == {name for name in METHODS if not name.startswith("legacy")}


def test_key_depends_on_configuration_and_content_alone(animals, tmp_path):
    run = Run("zero-shot", "sae", animals, "standard", "attributes", "conventional")
    assert run.key == replace(run, seconds=1.0, exclusive=True).key
    keys = {run.key, replace(run, method="eszsl").key, replace(run, seed=1).key}
    copy = tmp_path / "elsewhere.npz"
    with open(animals.files[0], "rb") as file:
        copy.write_bytes(file.read())
    moved = replace(run, source=replace(animals, path="other", files=(str(copy),)))
    assert moved.key == run.key
    copy.write_bytes(copy.read_bytes() + b"x")
    other = tmp_path / "other.npz"
    copy.rename(other)
    changed = replace(run, source=replace(animals, files=(str(other),)))
    assert len(keys | {changed.key}) == 4


def test_experiments_that_ask_for_the_same_run_share_it(animals):
    zsl, ablation = (
        plan(choose_experiments([name], ["sae"]), [animals]) for name in ("zsl", "ablation")
    )
    both = plan(choose_experiments(["zsl", "ablation"], ["sae"]), [animals])
    assert [run.key for run in zsl] == [run.key for run in ablation] == [run.key for run in both]


def test_spaces_side_by_side_need_both_and_their_parts_are_of_length_one(animals):
    both = "attributes + binary attributes"
    asked = replace(load_experiments()["spaces-joined"], methods=("rrzsl",), semantics=(both,))
    (run,) = plan([asked], [animals])
    assert run.semantics == both
    data = load_animals()
    rows = [
        data.semantics[name].vectors / np.linalg.norm(data.semantics[name].vectors, axis=1)[:, None]
        for name in both.split(" + ")
    ]
    joined = Signatures(list(data.signatures), np.hstack(rows))
    wanted = evaluate(data, "rrzsl", ConventionalProtocol("standard"), semantics=joined)
    assert measure(run)["per_class_accuracy"] == wanted.metrics["per_class_accuracy"]
    alone = replace(animals, semantics=("attributes",))
    (run,) = plan([asked], [alone])
    assert run.semantics == "attributes"


def test_only_methods_that_draw_numbers_run_with_every_seed(animals):
    runs = plan(choose_experiments(["zsl"], ["sae", "ale"]), [animals])
    seeds = {name: sorted({r.seed for r in runs if r.method == name}) for name in ("sae", "ale")}
    assert seeds == {"sae": [0], "ale": [0, 1, 2]}
    assert with_steps("ale", 2).random_state == 2
    assert with_steps("sae", 2) == "sae"


def test_methods_go_to_the_experiments_they_belong_to():
    zsl, clusters = choose_experiments(["zsl", "clustering-equal"], ["rvml", "eszsl"])
    assert zsl.methods == ("eszsl",)
    assert clusters.methods == ("rvml",)


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(InvalidInputError, match=r"no experiment 'zls'.*Did you mean 'zsl'"):
        choose_experiments(["zls"])
    with pytest.raises(InvalidInputError, match=r"no method 'eszl'.*'eszsl'"):
        choose_experiments(["zsl"], ["eszl"])
    with pytest.raises(InvalidInputError, match=r"steps are projection and zscore"):
        with_steps("eszsl+projection")


def test_data_that_is_missing_is_named_with_a_remedy(tmp_path, monkeypatch):
    monkeypatch.delenv("ZSLEARN_DATA", raising=False)
    found, missing = find_data()
    assert [source.dataset for source in found] == ["animals28"]
    assert {item.dataset for item in missing} >= {"AWA1", "CUB", "SUN", "APY", "flowers17"}
    told = ("--data", "put", "pip install")
    assert all(any(word in item.reason for word in told) for item in missing)
    with pytest.raises(MissingFileError, match="no folder"):
        find_data(tmp_path / "nowhere")


@pytest.mark.data
def test_real_folder_holds_cub_and_awa(data_dir):
    found, missing = find_data(data_dir)
    by_name = {source.dataset: source for source in found}
    assert by_name["CUB"].splits[0] == "proposed"
    assert "standard" in by_name["AWA1"].splits
    assert any("features are not" in item.reason for item in missing if item.dataset == "SUN")
