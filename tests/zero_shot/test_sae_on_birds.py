"""The autoencoder on real data: 200 species of birds, 50 of them never seen in training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import io

from zslearn.signatures import Signatures
from zslearn.zero_shot import SAEClassifier

pytestmark = pytest.mark.data


class Birds(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    signatures: Signatures
    train: np.ndarray
    unseen: np.ndarray


@pytest.fixture(scope="module")
def birds(data_dir):
    folder = data_dir / "xlsa17" / "CUB"
    if not folder.is_dir():
        pytest.skip(f"no CUB in {data_dir}")
    features = io.loadmat(folder / "effnet_lite0.mat", variable_names=["features", "labels"])
    splits = io.loadmat(folder / "att_splits.mat")
    names = [str(name[0][0]) for name in splits["allclasses_names"]]
    y = np.array(names)[features["labels"].ravel().astype(int) - 1]
    return Birds(
        features["features"].T.astype(np.float32),
        y,
        Signatures(names, splits["att"].T),
        splits["trainval_loc"].ravel().astype(int) - 1,
        splits["test_unseen_loc"].ravel().astype(int) - 1,
    )


@pytest.fixture(scope="module")
def fitted(birds):
    return SAEClassifier(birds.signatures).fit(birds.X[birds.train], birds.y[birds.train])


def test_training_and_test_classes_are_apart(birds):
    seen, unseen = set(birds.y[birds.train]), set(birds.y[birds.unseen])
    assert (len(seen), len(unseen)) == (150, 50)
    assert not seen & unseen


def test_unseen_birds_are_recognized(birds, fitted):
    assert sorted(np.concatenate(fitted.folds_)) == sorted(set(birds.y[birds.train]))
    accuracy = fitted.score(birds.X[birds.unseen], birds.y[birds.unseen], "unseen")
    assert 0.58 <= accuracy <= 0.62


def test_signatures_given_to_other_classes_are_worth_nothing(birds, fitted):
    unseen = np.unique(birds.y[birds.unseen])
    vectors = birds.signatures.rows(unseen)
    shuffled = {
        f"shuffled {name}": vector
        for name, vector in zip(unseen, np.roll(vectors, 17, axis=0), strict=True)
    }
    clf = SAEClassifier(birds.signatures, lam=fitted.lam_["decode"])
    clf.fit(birds.X[birds.train], birds.y[birds.train]).add_classes(shuffled)
    predicted = clf.predict(birds.X[birds.unseen], list(shuffled))
    right = predicted == np.char.add("shuffled ", birds.y[birds.unseen])
    assert np.mean([right[birds.y[birds.unseen] == name].mean() for name in unseen]) < 0.06


def test_signatures_shuffled_over_all_classes_teach_nothing(birds, fitted):
    order = np.random.default_rng(0).permutation(len(birds.signatures))
    table = Signatures(birds.signatures.names, birds.signatures.vectors[order])
    clf = SAEClassifier(table, lam=fitted.lam_["decode"])
    clf.fit(birds.X[birds.train], birds.y[birds.train])
    assert clf.score(birds.X[birds.unseen], birds.y[birds.unseen], "unseen") < 0.06
