"""The authors' data files, in small ones of the same layout."""

import numpy as np
import pytest
from scipy.io import savemat

from zslearn.datasets import load_sae_demo, open_dataset
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.zero_shot import SAEClassifier

SEEN = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
UNSEEN = np.array([[1.0, 1, 0], [0, 1, 1]])
TRAIN = np.array([30, 30, 10, 20, 20, 20])  # numbers of classes
TEST = np.array([5, 7, 7, 5])
RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 8))


def parts():
    S_tr = SEEN[np.searchsorted([10, 20, 30], TRAIN)]
    S_te = UNSEEN[np.searchsorted([5, 7], TEST)]
    return {
        "X_tr": S_tr @ W,
        "X_te": S_te @ W,
        "S_tr": S_tr,
        # rows in the order 7, 5
        "S_te_pro": UNSEEN[::-1],
    }


def awa():
    param = {"test_labels": TEST[:, None], "testclasses_id": np.array([[7], [5]])}
    return parts() | {"S_te_gt": UNSEEN[::-1], "param": param}


def cub():
    return parts() | {
        "train_labels_cub": TRAIN[:, None],
        "test_labels_cub": TEST[:, None],
        "te_cl_id": np.array([[7], [5]]),
    }


def imnet():
    return parts() | {
        "Y": (TRAIN[:, None] == [10, 20, 30]).astype(np.uint8),
        "Y_te": TEST[:, None],
        "X_te_cl_id": np.array([[7], [5]]),
    }


@pytest.mark.parametrize("layout", [awa, cub, imnet])
def test_every_row_gets_the_signature_of_its_class(tmp_path, layout):
    savemat(tmp_path / "x_demo_data.mat", layout())
    data = load_sae_demo(tmp_path / "x_demo_data.mat")
    assert data.name == "x"
    assert np.allclose(data.X, data.signatures.rows(data.y) @ W)
    split = data.split("standard")
    assert (len(split.seen), len(split.unseen)) == (3, 2)
    assert data.train_rows("standard").tolist() == [0, 1, 2, 3, 4, 5]
    assert data.test_rows("standard").tolist() == [6, 7, 8, 9]
    assert data.y[6:].tolist() == ["unseen 5", "unseen 7", "unseen 7", "unseen 5"]


def test_class_numbers_of_the_file_are_kept(tmp_path):
    savemat(tmp_path / "cub_demo_data.mat", cub())
    data = load_sae_demo(tmp_path / "cub_demo_data.mat")
    assert data.y[:3].tolist() == ["seen 30", "seen 30", "seen 10"]
    assert data.split("standard").unseen.tolist() == ["unseen 7", "unseen 5"]


def test_ground_truth_is_a_space_where_it_differs(tmp_path):
    savemat(tmp_path / "a.mat", awa())
    assert list(load_sae_demo(tmp_path / "a.mat").semantics) == ["signatures"]
    savemat(tmp_path / "b.mat", awa() | {"S_te_gt": 2 * UNSEEN[::-1]})
    data = open_dataset(tmp_path / "b.mat", semantics="ground truth")
    assert data.signatures["unseen 7"].tolist() == [0, 2, 2]
    assert data.signatures["seen 1"].tolist() == data.semantics["signatures"]["seen 1"].tolist()


def test_it_can_be_learned_from(tmp_path):
    savemat(tmp_path / "cub_demo_data.mat", cub())
    data = open_dataset(tmp_path / "cub_demo_data.mat")
    train, test = data.train_rows("standard"), data.test_rows("standard")
    clf = SAEClassifier(data.signatures).fit(data.X[train], data.y[train])
    found = clf.predict(data.X[test], candidates=data.split("standard").unseen)
    assert found.tolist() == data.y[test].tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"S_te_pro": None}, "has no S_te_pro; it holds X_tr"),
        ({"X_te": np.zeros((4, 7))}, r"X_te \(4, 7\).* do not fit together"),
        ({"train_labels_cub": TRAIN[:5]}, "6 training rows have 5 labels"),
        ({"train_labels_cub": np.array([1, 1, 1, 2, 2, 2])}, "class 1 differ in their signature"),
        ({"test_labels_cub": None}, "has no test labels; looked for test_labels"),
        ({"te_cl_id": None}, "has no test classes; looked for testclasses_id"),
        ({"te_cl_id": np.array([7])}, "1 test classes for 2 rows of S_te_pro"),
        ({"te_cl_id": np.array([7, 6])}, "test label 5 is not among the test classes"),
    ],
)
def test_unusable_files_are_refused(tmp_path, changes, message):
    arrays = {name: value for name, value in (cub() | changes).items() if value is not None}
    savemat(tmp_path / "x.mat", arrays)
    with pytest.raises(InvalidInputError, match=message):
        load_sae_demo(tmp_path / "x.mat")


def test_missing_file(tmp_path):
    with pytest.raises(MissingFileError, match="There is no file"):
        load_sae_demo(tmp_path / "awa_demo_data.mat")
