"""A small folder in the layout of xlsa17, written by the tests."""

import numpy as np
from scipy.io import savemat

# The class table is not in the order of the class numbers, as in CUB.
CLASSES = ["c.elk", "a.bat", "d.fox", "b.cow", "e.owl"]
LABELS = np.array([1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5])  # 1-based; 3 and 5 are unseen
ROWS = {  # 1-based, as stored
    "trainval_loc": [1, 2, 4, 5, 9, 10],
    "test_seen_loc": [3, 6, 11],
    "test_unseen_loc": [7, 8, 12, 13],
}
LEAKING = {"train_loc": [1, 2, 3, 4, 5, 6], "val_loc": [9, 10, 11]}
CLEAN = {"train_loc": [1, 2, 4, 5], "val_loc": [9, 10]}
ORIGINAL = np.array([[3.0, 1, 0, 2, 5], [4, 0, 2, 1, 0], [0, 2, 2, -1, 1]])  # 3 attributes x 5


def split_arrays(**more):
    names = np.empty((len(CLASSES), 1), object)
    names[:, 0] = CLASSES
    columns = {name: np.array(rows, np.uint16)[:, None] for name, rows in {**ROWS, **more}.items()}
    return {
        "att": ORIGINAL / np.linalg.norm(ORIGINAL, axis=0),
        "original_att": ORIGINAL,
        "allclasses_names": names,
        **columns,
    }


def feature_arrays(n_features=4):
    X = np.arange(len(LABELS) * n_features, dtype=np.float64).reshape(len(LABELS), n_features)
    files = np.empty((len(LABELS), 1), object)
    files[:, 0] = [f"images/{row}.jpg" for row in range(len(LABELS))]
    return {"features": X.T, "labels": LABELS[:, None].astype(float), "image_files": files}


def write_folder(folder, *, features="res101", **more):
    folder.mkdir()
    savemat(folder / "att_splits.mat", split_arrays(**more))
    if features:
        savemat(folder / f"{features}.mat", feature_arrays())
    lists = {
        "trainvalclasses": ["c.elk", "a.bat", "b.cow"],
        "testclasses": ["d.fox", "e.owl"],
        "trainclasses1": ["c.elk", "a.bat"],
        "valclasses1": ["b.cow"],
    }
    for name, classes in lists.items():
        (folder / f"{name}.txt").write_text("\n".join(classes) + "\n")
    return folder
