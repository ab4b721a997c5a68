"""The real xlsa17 files: published sizes, the leak of version 1, AwA's own tables."""

import numpy as np
import pytest

from zslearn.datasets import load_xlsa17

pytestmark = pytest.mark.data
VERSION_1 = [
    ("AWA1", "hist5_pca500", "att_splits_with_wv1000", (3404, 1554)),
    ("AWA2", None, "binaryAtt_splits", (4031, 1851)),
    ("CUB", "effnet_lite0", "sent_splits", (1173, 591)),
]


@pytest.mark.parametrize(
    ("name", "features", "rows", "classes", "train", "test_seen", "test_unseen"),
    [
        ("AWA1", "hist5_pca500", 30475, (40, 10), 19832, 4958, 5685),
        ("CUB", "effnet_lite0", 11788, (150, 50), 7057, 1764, 2967),
    ],
)
def test_sizes_are_the_published_ones(
    data_dir, name, features, rows, classes, train, test_seen, test_unseen
):
    data = load_xlsa17(data_dir / "xlsa17" / name, features)
    split = data.split("proposed")
    assert len(data.y) == rows
    assert (len(split.seen), len(split.unseen)) == classes
    assert [len(split.train), len(split.test_seen)] == [train, test_seen]
    assert len(split.test_unseen) == len(data.rows(split.unseen)) == test_unseen


@pytest.mark.parametrize(
    ("name", "dimensions", "classes"),
    [("AWA2", 85, (40, 10)), ("SUN", 102, (645, 72)), ("APY", 64, (20, 12))],
)
def test_folders_without_features(data_dir, name, dimensions, classes):
    data = load_xlsa17(data_dir / "xlsa17" / name, None)
    split = data.split("proposed")
    assert data.signatures.n_dimensions == dimensions
    assert (len(split.seen), len(split.unseen)) == classes
    for number in (1, 2, 3):
        fold = data.split(f"fold {number}")
        assert set(fold.seen) | set(fold.unseen) == set(split.seen)


@pytest.mark.parametrize(("name", "features", "splits", "leak"), VERSION_1)
def test_leak_of_version_1_is_counted(data_dir, name, features, splits, leak):
    data = load_xlsa17(data_dir / "xlsa17" / name, features, splits)
    assert (data.extra["leak"]["train"], data.extra["leak"]["val"]) == leak
    assert "validation" in data.withheld


def test_repaired_rows_are_those_of_the_first_class_fold(data_dir):
    """In version 1 train/val are all images of trainclasses1/valclasses1."""
    data = load_xlsa17(data_dir / "xlsa17" / "CUB", "effnet_lite0", "sent_splits", repair=True)
    repaired, fold = data.split("validation"), data.split("fold 1")
    assert set(repaired.train) == set(fold.train)
    assert set(repaired.test_unseen) == set(fold.test_unseen)


def test_version_2_of_awa1_is_clean(data_dir):
    data = load_xlsa17(data_dir / "xlsa17" / "AWA1", "hist5_pca500")
    assert data.extra["leak"] == {"train": 0, "val": 0}
    assert len(data.split("validation").train) == 13460


def test_sun_holds_back_four_images_of_each_seen_class(data_dir):
    """So version 1, whose train/val are whole classes, leaks 580 x 4 and 65 x 4 images."""
    data = load_xlsa17(data_dir / "xlsa17" / "SUN", None)
    fold = data.split("fold 1")
    assert len(data.extra["rows"]["test_seen"]) == 4 * 645
    assert (4 * len(fold.seen), 4 * len(fold.unseen)) == (2320, 260)


def test_cub_labels_agree_with_the_image_folders(data_dir):
    data = load_xlsa17(data_dir / "xlsa17" / "CUB", "effnet_lite0")
    assert [name.split("/")[0] for name in data.image_files] == data.y.tolist()


def test_awa_attributes_are_the_original_table(data_dir):
    data = load_xlsa17(data_dir / "xlsa17" / "AWA1", "hist5_pca500", attributes="original")
    table = np.loadtxt(data_dir / "awa_original" / "predicate-matrix-continuous.txt")
    assert np.array_equal(data.signatures.vectors, np.maximum(table, 0))
    stripes = data.signatures.vectors[:, data.signatures.dimensions.index("stripes")]
    assert set(data.classes[np.argsort(stripes)[-2:]]) == {"tiger", "zebra"}
    assert set(data.split("standard").unseen) & set(data.split("proposed").unseen) == {
        "rat",
        "seal",
    }
