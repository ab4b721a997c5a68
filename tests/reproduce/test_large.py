"""The large-scale run against a fit in memory on the same data."""

import numpy as np
import pytest

from zslearn.datasets import load_imagenet, make_imagenet_like
from zslearn.exceptions import InvalidInputError
from zslearn.reproduce import Run, choose_experiments, make_tables
from zslearn.reproduce.experiments.large import measure, scaled_sizes
from zslearn.zero_shot import SAEClassifier, make_classifier

SIZES = {"n_seen": 30, "n_unseen": 12, "n_samples": 800, "n_features": 24, "n_dimensions": 10}
SIZES["noise"] = 6.0


def test_one_streaming_pass_recognizes_like_a_fit_in_memory(tmp_path):
    row = measure(Run("large", "sae", parameters=SIZES | {"scale": 1.0}))
    place = make_imagenet_like(tmp_path / "data", random_state=0, **SIZES)
    data = load_imagenet(place)
    split = data.split("standard")
    train, test = data.train_rows(split), data.test_rows(split)
    model = SAEClassifier(data.signatures).fit(np.asarray(data.X[train]), data.y[train])
    for direction, prefix in (("decode", ""), ("encode", "encoder_")):
        model.set_params(direction=direction)
        best = model.predict_top_k(np.asarray(data.X[test]), 5, split.unseen)
        hits = best == data.y[test][:, None]
        assert 5 / 12 < hits.any(axis=1).mean() < 1
        assert abs(row[f"{prefix}hit_at_1"] - hits[:, 0].mean()) < 1e-12
        assert abs(row[f"{prefix}hit_at_5"] - hits.any(axis=1).mean()) < 1e-12
    assert (row["n_train"], row["n_test"]) == (len(train), len(test))


def test_other_methods_are_measured_on_the_same_samples(tmp_path):
    row = measure(Run("large", "rrzsl", parameters=SIZES | {"scale": 1.0}))
    data = load_imagenet(make_imagenet_like(tmp_path / "data", random_state=0, **SIZES))
    split = data.split("standard")
    train, test = data.train_rows(split), data.test_rows(split)
    model = make_classifier("rrzsl", data.signatures).fit(data.X[train], data.y[train])
    hits = model.predict_top_k(data.X[test], 5, split.unseen) == data.y[test][:, None]
    assert (row["hit_at_1"], row["hit_at_5"]) == (hits[:, 0].mean(), hits.any(axis=1).mean())
    assert row["n_test"] == len(test)


def test_rows_shrink_with_the_scale_and_widths_with_its_root():
    small = scaled_sizes(SIZES | {"scale": 0.25})
    noise = 6.0 * 0.25**0.25
    assert small == SIZES | {"n_samples": 200, "n_features": 12, "n_dimensions": 5, "noise": noise}


def test_data_larger_than_the_disk_is_refused_before_it_is_written():
    sizes = SIZES | {"n_samples": 10**10, "n_features": 10**6}
    with pytest.raises(InvalidInputError, match=r"takes 40000000\.0 GB .* smaller --scale"):
        measure(Run("large", "sae", parameters=sizes | {"scale": 1.0}))


def test_a_block_without_unseen_classes_is_passed_over():
    sizes = {"n_seen": 4090, "n_unseen": 2, "n_samples": 4097, "n_features": 4, "n_dimensions": 3}
    for seed in range(3):
        row = measure(Run("large", "sae", seed=seed, parameters=sizes | {"noise": 0.1, "scale": 1}))
        assert row["n_test"] in (2, 3, 4)


def test_other_methods_leave_the_large_experiment_alone():
    (experiment,) = choose_experiments(["imnet-like"], ["eszsl"])
    assert experiment.methods == ("sae",)


def test_the_table_shows_sae_at_the_largest_scale_of_each_setting():
    row = {"kind": "large", "method": "sae", "status": "failed", "error": "none"}
    row |= {"parameter_name": "ImNet-1", "parameter_n_seen": 800, "parameter_n_unseen": 200}
    scales = (0.01, 1.0, 0.1)
    rows = [{"key": str(scale), **row, "parameter_scale": scale} for scale in scales]
    rows.append({"key": "devise", **row, "method": "devise", "parameter_scale": 2.0})
    (table,) = make_tables(rows, ["imnet-like"])["imnet-like"]
    assert [line[:2] for line in table.rows] == [("ImNet-1", "1")]
