"""The bundled animals: shapes, splits, sources, and that they can be learned from."""

import os
import runpy
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid

from zslearn.datasets import load_animals

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ZSLEARN_DATA", ROOT.parent / "shared" / "data"))
needs_sources = pytest.mark.skipif(
    not (DATA / "animals28").is_dir(), reason=f"needs the animals28 sources in {DATA}"
)


@pytest.fixture(scope="module")
def animals():
    return load_animals()


def test_rows_classes_and_features(animals):
    assert animals.X.shape == (1680, 1280)
    assert animals.X.dtype == np.float32
    classes, counts = np.unique(animals.y, return_counts=True)
    assert classes.tolist() == sorted(animals.classes.tolist())
    assert set(counts) == {60}
    assert len(set(animals.image_files)) == 1680


def test_file_names_agree_with_the_labels(animals):
    folders = [Path(name).parent.name for name in animals.image_files]
    expected = np.where(animals.y == "giant+panda", "panda", animals.y)
    assert folders == expected.tolist()


def test_splits_are_those_of_the_50_classes_restricted(animals):
    standard, proposed = animals.split("standard"), animals.split("proposed")
    assert set(standard.unseen) == {
        "chimpanzee", "giant+panda", "hippopotamus", "leopard", "pig", "raccoon", "rat", "seal",
    }  # fmt: skip
    assert set(proposed.unseen) == {"bat", "dolphin", "horse", "rat", "seal", "sheep"}
    for split in (standard, proposed):
        assert {*split.seen, *split.unseen} == set(animals.classes)
        assert split.train is split.test_seen is None


def test_attributes_say_what_animals_are_like(animals):
    attributes = animals.semantics["attributes"]
    binary = animals.semantics["binary attributes"]
    assert attributes.dimensions == binary.dimensions
    assert attributes.vectors.shape == binary.vectors.shape == (28, 85)
    stripes = attributes.vectors[:, attributes.dimensions.index("stripes")]
    assert set(attributes.names[np.argsort(stripes)[-2:]]) == {"tiger", "zebra"}
    swims = binary.vectors[:, binary.dimensions.index("swims")] == 1
    assert {"dolphin", "otter", "seal"} <= set(binary.names[swims])
    assert not {"lion", "sheep", "bat"} & set(binary.names[swims])


def test_attribute_values_are_in_range(animals):
    attributes = animals.semantics["attributes"].vectors
    assert attributes.min() == 0
    assert 90 < attributes.max() <= 100
    assert set(np.unique(animals.semantics["binary attributes"].vectors)) == {0, 1}


def test_binary_attributes_are_the_thresholded_ones(animals):
    continuous = animals.semantics["attributes"].vectors
    binary = animals.semantics["binary attributes"].vectors.astype(bool)
    # The table was thresholded at one value for all 50 classes.
    assert continuous[binary].min() >= continuous[~binary].max() - 1e-3


def test_features_tell_the_classes_apart(animals):
    """A wrong order of rows or labels would bring this to chance, 1/28."""
    X_train, X_test, y_train, y_test = train_test_split(
        animals.X, animals.y, stratify=animals.y, random_state=0
    )
    assert NearestCentroid().fit(X_train, y_train).score(X_test, y_test) > 0.85


def test_signatures_go_with_the_features(animals):
    """Ridge regression from features to attributes names unseen classes far above chance, 1/8."""
    split = animals.split("standard")
    seen, unseen = animals.rows(split.seen), animals.rows(split.unseen)
    X = animals.X / np.linalg.norm(animals.X, axis=1, keepdims=True)
    center = animals.signatures.rows(split.seen).mean(axis=0)
    S = animals.signatures.rows(animals.y[seen]) - center
    W = np.linalg.solve(X[seen].T @ X[seen] + np.eye(X.shape[1]), X[seen].T @ S)
    prototypes = animals.signatures.rows(split.unseen) - center
    prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True)
    guesses = np.asarray(split.unseen)[np.argmax(X[unseen] @ W @ prototypes.T, axis=1)]
    assert np.mean(guesses == animals.y[unseen]) > 0.5


def test_the_photograph_that_stands_twice_is_the_one_documented(animals):
    _, first, counts = np.unique(animals.X, axis=0, return_index=True, return_counts=True)
    [repeated] = first[counts > 1]
    rows = np.flatnonzero((animals.X == animals.X[repeated]).all(axis=1))
    assert rows.tolist() == [913, 1216]
    assert animals.y[rows].tolist() == ["mouse", "rat"]


def test_each_call_gives_its_own_arrays(animals):
    again = load_animals()
    again.X[0] = -1
    assert animals.X[0].min() >= 0


def test_summary_shows_both_splits(animals):
    lines = animals.summary().splitlines()
    assert lines[1].split("  ")[-1].strip() == "20/8 (standard), 22/6 (proposed)"
    assert "not a published benchmark" in lines[-1]


def test_sources_are_named_and_the_file_is_small():
    folder = files("zslearn.datasets") / "data"
    text = (folder / "LICENSE-DATA.md").read_text(encoding="utf-8")
    for source in (
        "Lampert",
        "Osherson",
        "Kemp",
        "EfficientNet-Lite2",
        "photographs are not shipped",
    ):
        assert source in text
    assert len((folder / "animals28.npz").read_bytes()) < 4e6


@pytest.mark.data
@needs_sources
def test_bundle_is_what_the_build_script_makes():
    script = runpy.run_path(str(ROOT / "scripts" / "build_animals.py"))
    built = script["build"](DATA)
    with np.load(script["TARGET"], allow_pickle=False) as bundled:
        assert sorted(bundled.files) == sorted(built)
        for name, array in built.items():
            assert bundled[name].dtype == array.dtype
            assert np.array_equal(bundled[name], array), name


@pytest.mark.data
@needs_sources
def test_rows_and_attributes_equal_the_sources(animals):
    with np.load(DATA / "animals28" / "animals28_effnet_lite2.npz", allow_pickle=False) as source:
        assert np.array_equal(animals.X, source["X"].astype(np.float32))
        assert np.array_equal(animals.y, source["class_names"][source["y"]])
        assert list(animals.signatures.dimensions) == source["attribute_names"].tolist()
        expected = np.clip(source["S_continuous"], 0, None)
        assert np.allclose(animals.signatures.rows(source["class_names"]), expected, atol=1e-4)
