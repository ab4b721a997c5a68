"""Runs of supervised clustering: synthetic data, ordinary tables, photographs."""

from functools import partial

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_iris

from zslearn.cluster import LMNN, LajugieSpectral, SAEMapping, SupervisedKMeans
from zslearn.datasets import make_subclusters
from zslearn.metrics import clustering_loss
from zslearn.reproduce import DataSource, Run, make_tables
from zslearn.reproduce.experiments import clustering, flowers

FLOWER, LEAF, UNDEFINED = (128, 0, 0), (0, 128, 0), (0, 0, 0)


def test_lam_may_be_given_with_the_name_of_a_mapping():
    options = {"sizes": "equal", "scaling": "standardized", "draws": 1}
    row = clustering.measure(Run("clustering", "sae-balanced=0.25", parameters=options))
    data = make_subclusters("equal", random_state=1000)
    model = SupervisedKMeans(SAEMapping(0.25, class_weight="balanced"))
    labels = model.fit(data.X_train, data.y_train).cluster(data.X_test)
    assert row["clustering_loss"] == pytest.approx(clustering_loss(data.y_test, labels))


def test_halves_of_samples_are_stratified_and_halves_of_classes_disjoint():
    X, y = load_iris(return_X_y=True)
    *_, train, test = clustering._halves_of_samples(X, y, 0)
    assert np.bincount(train).tolist() == np.bincount(test).tolist() == [25, 25, 25]
    *_, train, test = clustering._halves_of_classes(X, y, 0)
    assert len(np.unique(train)) == 1
    assert set(train) | set(test) == {0, 1, 2}
    assert not set(train) & set(test)


@pytest.mark.parametrize("new_classes", [False, True])
def test_a_table_is_clustered_once_for_each_split(new_classes):
    options = {"table": "digits" if new_classes else "iris", "splits": 2}
    options |= {"new_classes": True} if new_classes else {}
    run = Run("clustering-tables", "lda", parameters=options)
    row = run.configuration() | {"status": "ok"} | clustering.measure(run)
    assert len(row["series"]["losses"]) == 2
    assert 0 <= row["clustering_loss"] < 1
    tables = make_tables([row])
    assert list(tables) == ["clustering-new-classes" if new_classes else "clustering-tables"]


def test_photographs_of_two_colors_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(flowers, "PIXELS_KEPT", 1)
    # What is asked below is not of those that take a minute.
    monkeypatch.setattr(flowers, "LMNN", partial(LMNN, n_rounds=1, max_iter=3))
    monkeypatch.setattr(flowers, "LajugieSpectral", partial(LajugieSpectral, max_iter=20))
    rng = np.random.default_rng(0)
    for part in ("images", "labels"):
        (tmp_path / part).mkdir()
    for i in range(233):
        left = np.arange(12) < rng.integers(4, 8)
        picture = np.where(left[:, None], (200, 40, 40), (30, 90, 30))
        picture = picture[None] + rng.integers(-20, 20, (12, 12, 3))
        mask = np.where(left[:, None], FLOWER, LEAF) * np.ones((12, 1, 1), int)
        mask[0] = UNDEFINED
        Image.fromarray(picture.astype(np.uint8)).save(tmp_path / "images" / f"{i}.jpg")
        Image.fromarray(mask.astype(np.uint8)).save(tmp_path / "labels" / f"{i}.png")
    source = DataSource("flowers17", "", str(tmp_path), group="flowers")
    run = Run("flowers", source=source, parameters={"height": 12})
    row = run.configuration() | {"status": "ok"} | flowers.measure(run)
    assert row["n_pixels"] == 200 * 144
    measured = {(e["learner"], e["reading"]): e for e in row["series"]["test"]}
    assert len(measured) == 2 * len(flowers.TITLES)
    assert all(entry["seconds"] >= 0.0 for entry in measured.values())
    assert measured["sae", "drop"]["loss"] < 0.3
    assert measured["sae", "drop"]["setting"] in flowers.LAMS
    assert measured["lda", "drop"]["loss"] <= measured["lda", "background"]["loss"]
    (table,) = make_tables([row])["flowers"]
    assert table.rows[0][0] == "SAE, features z-scored"


def test_as_many_samples_of_each_class_train_where_that_is_asked_for():
    options = {"sizes": "1:2:4", "scaling": "raw", "draws": 1}
    even = {**options, "options": {"as_many_of_each_class": True}}
    all_of_them, as_many = (
        clustering.measure(Run("clustering", "kissme", parameters=one))["clustering_loss"]
        for one in (options, even)
    )
    assert as_many < 0.2 < 1.0 < all_of_them
