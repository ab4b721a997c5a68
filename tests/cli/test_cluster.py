"""`zslearn cluster` as a user drives it."""

import json

import numpy as np
import pandas as pd
import pytest

from zslearn.cluster import SAEMapping, SupervisedKMeans
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss
from zslearn.persistence import load


@pytest.fixture
def files(tmp_path):
    data = make_subclusters([60, 60, 60], n_test=120, random_state=0)
    names = ["red", "green", "blue"]
    train = pd.DataFrame(data.X_train, columns=["a", "b", "c"])
    train["kind"] = np.array(names)[data.y_train]
    train.to_csv(tmp_path / "train.csv", index=False)
    np.save(tmp_path / "X.npy", data.X_test)
    (tmp_path / "y.csv").write_text("kind\n" + "\n".join(names[c] for c in data.y_test))
    np.save(tmp_path / "group.npy", np.arange(120) % 2)
    return tmp_path, data


@pytest.fixture
def saved(run, files):
    folder, _ = files
    arguments = ["--features", folder / "train.csv", "--labels", "kind", "-P", "lam=0.5"]
    result = run("cluster", "fit", *arguments, "--save", folder / "m.zsl", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["lam"] == 0.5
    return folder / "m.zsl"


def test_from_a_table_to_clusters(run, files, saved):
    folder, data = files
    result = run("cluster", "predict", saved, folder / "X.npy", "--out", folder / "out.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(folder / "out.csv")["cluster"].to_numpy()
    model = SupervisedKMeans(SAEMapping(0.5)).fit(
        data.X_train, np.array(["red", "green", "blue"])[data.y_train]
    )
    assert np.array_equal(found, model.cluster(data.X_test))


def test_evaluate_equals_the_library(run, files, saved):
    folder, data = files
    arguments = [saved, folder / "X.npy", "--labels", folder / "y.csv"]
    found = json.loads(run("cluster", "evaluate", *arguments, "--json").stdout)
    labels = load(saved).cluster(data.X_test)
    assert found["clustering_loss"] == pytest.approx(clustering_loss(data.y_test, labels))
    assert found["adjusted_rand_index"] > 0.9
    text = run("cluster", "evaluate", *arguments, "--groups", folder / "group.npy").stdout
    assert "normalized loss" in text
    assert "groups" in text


def test_groups_and_number_of_clusters(run, files, saved):
    folder, data = files
    options = ["--groups", folder / "group.npy", "--n-clusters", 2, "--json"]
    rows = json.loads(run("cluster", "predict", saved, folder / "X.npy", *options).stdout)
    expected = load(saved).cluster(data.X_test, np.arange(120) % 2, 2)
    assert [row["cluster"] for row in rows] == expected.tolist()
    assert {row["group"] for row in rows} == {0, 1}


def test_lam_is_chosen_by_default(run, files):
    folder, _ = files
    arguments = ["--features", folder / "train.csv", "--labels", "kind", "-P", "lams=[0.1,0.5,2]"]
    result = run("cluster", "fit", *arguments, "--save", folder / "m.zsl")
    assert result.exit_code == 0, result.output
    assert load(folder / "m.zsl").mapping_.lam_ in (0.1, 0.5, 2)


def test_mappings_are_listed(run):
    rows = json.loads(run("cluster", "mappings", "--json").stdout)
    assert {"sae", "lda", "lmnn"} <= {row["name"] for row in rows}
    assert "partial_fit" in run("cluster", "mappings").stdout


def test_refusals(run, refused, files, saved, own, model):
    folder, _ = files
    train = ["--features", folder / "train.csv", "--labels", "kind", "--save", folder / "n.zsl"]
    assert "Did you mean 'lda'" in refused("cluster", "fit", *train, "--mapping", "lad")
    assert "no parameter 'lma'" in refused("cluster", "fit", *train, "-P", "lma=1")
    assert "clusters nothing" in refused("cluster", "predict", model, folder / "X.npy")
    assert "names no classes" in refused("predict", saved, folder / "X.npy")
    wrong = ["--labels", folder / "group.npy", "--groups", folder / "y.csv"]
    (folder / "y.csv").write_text("red\n")
    assert "1 values but" in refused("cluster", "evaluate", saved, folder / "X.npy", *wrong)
    assert "has no column 'a'" in refused("cluster", "predict", saved, own / "X.csv")
    mistyped = ["--features", folder / "train.csv", "--labels", "kynd", "--save", folder / "n.zsl"]
    line = refused("cluster", "fit", *mistyped)
    assert "'kynd' is neither a file nor a column" in line
    assert "Did you mean 'kind'?" in line
    assert run("cluster", "fit", *train, "-P", "lam").exit_code == 2


def test_columns_in_another_order_are_told_apart_by_name(run, files, saved):
    folder, _ = files
    frame = pd.read_csv(folder / "train.csv")
    frame[["c", "b", "a", "kind"]].to_csv(folder / "turned.csv", index=False)
    frame[["a", "b", "c", "kind"]].to_csv(folder / "straight.csv", index=False)
    turned, straight = (
        run("cluster", "evaluate", saved, folder / name, "--labels", "kind", "--json")
        for name in ("turned.csv", "straight.csv")
    )
    assert "brought into the order of training" in turned.stderr
    assert turned.stdout == straight.stdout
