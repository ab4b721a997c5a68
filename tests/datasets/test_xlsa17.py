"""xlsa17 folders: indices, names, attributes, splits, both MATLAB versions, the leak."""

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from tests.datasets.xlsa17_folder import (
    CLASSES,
    CLEAN,
    LABELS,
    LEAKING,
    ORIGINAL,
    feature_arrays,
    split_arrays,
    write_folder,
)
from zslearn.datasets import load_xlsa17
from zslearn.exceptions import InvalidInputError, MissingFileError


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "CUB")


def write_v73(path, arrays):
    """Write arrays as MATLAB 7.3 does: axes reversed, text as references to character codes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in arrays.items():
            if value.dtype == object:
                cells = [
                    file.create_dataset(
                        f"#refs#/{name}{i}", data=np.array([[ord(c)] for c in text])
                    )
                    for i, text in enumerate(value.ravel())
                ]
                references = np.array([[cell.ref for cell in cells]], dtype=h5py.ref_dtype)
                file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
            else:
                file.create_dataset(name, data=value.T)


def test_rows_are_samples_and_labels_are_names(folder):
    data = load_xlsa17(folder)
    assert data.name == "CUB"
    assert data.X.shape == (13, 4)
    assert data.X[1].tolist() == [4, 5, 6, 7]
    assert data.X.flags.c_contiguous
    assert data.y.tolist() == [CLASSES[number - 1] for number in LABELS]
    assert data.image_files[2] == "images/2.jpg"
    assert "Caltech-UCSD" in data.citation
    assert "comprehensive evaluation" in data.citation


def test_proposed_split_comes_from_the_rows(folder):
    split = load_xlsa17(folder).split("proposed")
    assert split.seen.tolist() == ["c.elk", "a.bat", "b.cow"]
    assert split.unseen.tolist() == ["d.fox", "e.owl"]
    assert split.train.tolist() == [0, 1, 3, 4, 8, 9]
    assert split.test_seen.tolist() == [2, 5, 10]
    assert split.test_unseen.tolist() == [6, 7, 11, 12]


def test_class_folds_use_rows_of_trainval_only(folder):
    data = load_xlsa17(folder)
    fold = data.split("fold 1")
    assert fold.seen.tolist() == ["c.elk", "a.bat"]
    assert fold.unseen.tolist() == ["b.cow"]
    assert data.train_rows("fold 1").tolist() == [0, 1, 3, 4]
    assert data.test_rows("fold 1").tolist() == [8, 9]
    assert "fold 2" not in data.splits


def test_original_attributes_have_their_missing_entry_at_zero(folder):
    vectors = load_xlsa17(folder, attributes="original").signatures
    assert vectors["b.cow"].tolist() == [2, 1, 0]
    assert vectors["e.owl"].tolist() == [5, 0, 1]


def test_normalized_attributes_stay_of_unit_length(folder):
    vectors = load_xlsa17(folder).signatures
    assert np.allclose(np.linalg.norm(vectors.vectors, axis=1), 1)
    assert np.allclose(vectors["b.cow"], np.array([2, 1, 0]) / np.sqrt(5))


def test_normalized_attributes_come_with_the_raw_ones(folder):
    data = load_xlsa17(folder)
    raw = load_xlsa17(folder, attributes="original")
    assert data.raw["attributes"] == raw.signatures
    assert raw.raw == {}
    kept = data.subset(CLASSES[:3])
    np.testing.assert_array_equal(kept.raw["attributes"].names, kept.signatures.names)


def test_missing_entries_are_found_without_the_original_values(folder):
    arrays = split_arrays()
    del arrays["original_att"]
    savemat(folder / "att_splits.mat", arrays)
    assert np.allclose(load_xlsa17(folder).signatures["b.cow"], np.array([2, 1, 0]) / np.sqrt(5))
    with pytest.raises(InvalidInputError, match="has no original_att"):
        load_xlsa17(folder, attributes="original")


def test_negative_entries_of_embeddings_are_kept(folder):
    embedding = np.random.default_rng(0).normal(size=(6, 5))
    arrays = split_arrays() | {"att": embedding}
    del arrays["original_att"]
    savemat(folder / "sent_splits.mat", arrays)
    data = load_xlsa17(folder, semantics="sent_splits")
    assert list(data.semantics) == ["sentences", "attributes"]
    assert np.array_equal(data.signatures.vectors, embedding.T)


def test_word_vectors_come_along_whatever_the_order_of_classes(folder):
    arrays = split_arrays()
    order = [4, 2, 0, 1, 3]
    words = np.arange(10.0).reshape(2, 5)
    arrays |= {
        "wv": words[:, order],
        "att": arrays["att"][:, order],
        "original_att": ORIGINAL[:, order],
        "allclasses_names": arrays["allclasses_names"][order],
    }
    savemat(folder / "att_splits_with_wv1000.mat", arrays)
    data = load_xlsa17(folder)
    assert list(data.semantics) == ["attributes", "word vectors"]
    assert np.array_equal(data.semantics["word vectors"].vectors, words.T)
    assert data.prefer("word vectors").signatures["a.bat"].tolist() == [1, 6]


def test_version_73_files_give_the_same(folder):
    expected = load_xlsa17(folder)
    write_v73(folder / "att_splits.mat", split_arrays())
    write_v73(folder / "res101.mat", feature_arrays())
    data = load_xlsa17(folder)
    assert np.array_equal(data.X, expected.X)
    assert data.y.tolist() == expected.y.tolist()
    assert data.image_files == expected.image_files
    assert np.array_equal(data.signatures.vectors, expected.signatures.vectors)
    assert data.split("proposed").train.tolist() == [0, 1, 3, 4, 8, 9]
    assert data.X.flags.c_contiguous


def test_leak_is_withheld_with_its_numbers(tmp_path):
    data = load_xlsa17(write_folder(tmp_path / "CUB", **LEAKING))
    assert data.extra["leak"] == {"train": 2, "val": 1}
    with pytest.raises(
        InvalidInputError, match=r"of the 3 test_seen .* 2 are also in train_loc and 1"
    ):
        data.split("validation")
    assert data.split("proposed").test_seen.tolist() == [2, 5, 10]


def test_leak_is_repaired_on_request(tmp_path):
    data = load_xlsa17(write_folder(tmp_path / "CUB", **LEAKING), repair=True)
    split = data.split("validation")
    assert split.train.tolist() == [0, 1, 3, 4]
    assert split.test_unseen.tolist() == [8, 9]
    assert not np.isin(data.split("proposed").test_seen, [*split.train, *split.test_unseen]).any()


def test_clean_files_offer_the_validation_split(tmp_path):
    data = load_xlsa17(write_folder(tmp_path / "CUB", **CLEAN))
    assert data.extra["leak"] == {"train": 0, "val": 0}
    assert data.split("validation").unseen.tolist() == ["b.cow"]


def test_without_features_there_are_classes_and_semantics(tmp_path):
    folder = write_folder(tmp_path / "SUN", features=None, **LEAKING)
    data = load_xlsa17(folder, features=None)
    assert data.X.shape == (0, 0)
    assert data.split("proposed").unseen.tolist() == ["d.fox", "e.owl"]
    assert data.split("fold 1").train is None
    assert data.extra["rows"]["test_unseen"].tolist() == [6, 7, 11, 12]
    with pytest.raises(InvalidInputError, match="2 are also in train_loc"):
        data.split("validation")


def test_missing_features_name_those_that_are_there(tmp_path):
    folder = write_folder(tmp_path / "CUB", features="vgg")
    with pytest.raises(MissingFileError, match=r"no res101\.mat .* Pass features='vgg'"):
        load_xlsa17(folder)


def test_no_features_at_all_is_said(tmp_path):
    folder = write_folder(tmp_path / "CUB", features=None)
    with pytest.raises(MissingFileError, match="feature files there: none"):
        load_xlsa17(folder)


def test_missing_split_file_names_those_that_are_there(folder):
    with pytest.raises(MissingFileError, match="split files there: att_splits"):
        load_xlsa17(folder, semantics="sent_splits")


def test_missing_folder(tmp_path):
    with pytest.raises(MissingFileError, match="There is no folder"):
        load_xlsa17(tmp_path / "AWA1")


def test_unknown_attributes_are_refused(folder):
    with pytest.raises(InvalidInputError, match="'normalized' or 'original'; got 'raw'"):
        load_xlsa17(folder, attributes="raw")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.full((13, 1), 6.0)}, "labels run from 6 to 6; the split file has 5 classes"),
        ({"labels": np.ones((12, 1))}, "one label per sample; got .* and 12 labels"),
        ({"features": np.ones((4, 12)), "labels": np.ones((12, 1))}, "image 13 .* has 12"),
    ],
)
def test_features_that_do_not_fit_are_refused(folder, changes, message):
    savemat(folder / "res101.mat", feature_arrays() | changes)
    with pytest.raises(InvalidInputError, match=message):
        load_xlsa17(folder)


def test_indices_from_zero_are_refused(tmp_path):
    folder = write_folder(tmp_path / "CUB", trainval_loc=[0, 1, 3])
    with pytest.raises(InvalidInputError, match="trainval_loc holds 0; xlsa17 files count from 1"):
        load_xlsa17(folder)


@pytest.mark.parametrize(
    "content", [b"", b"<html>moved</html>", b"MATLAB 5.0 MAT-file" + b" " * 200]
)
def test_damaged_files_are_refused(folder, content):
    (folder / "att_splits.mat").write_bytes(content)
    with pytest.raises(InvalidInputError, match="not a readable MATLAB file"):
        load_xlsa17(folder)


def test_interrupted_download_is_refused(folder):
    stored = (folder / "res101.mat").read_bytes()
    (folder / "res101.mat").write_bytes(stored[: len(stored) // 2])
    with pytest.raises(InvalidInputError, match="interrupted download"):
        load_xlsa17(folder)


def test_other_classes_in_a_second_split_file_are_refused(folder):
    arrays = split_arrays()
    arrays["allclasses_names"][0, 0] = "gnu"
    savemat(folder / "sent_splits.mat", arrays)
    with pytest.raises(InvalidInputError, match="name different classes"):
        load_xlsa17(folder)
