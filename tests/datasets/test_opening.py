"""One function opens every kind of data set."""

import numpy as np
import pytest
from scipy.io import savemat

from tests.datasets.xlsa17_folder import feature_arrays, write_folder
from zslearn.datasets import open_dataset
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures


def own_folder(folder, labels="labels.txt"):
    folder.mkdir()
    np.save(folder / "features.npy", np.eye(3))
    (folder / labels).write_text("cat\ndog\ncat\n")
    Signatures.from_dict({"cat": [1, 0], "dog": [0, 1], "fox": [1, 1]}).to_csv(
        folder / "signatures.csv"
    )
    return folder


def test_bundled_name():
    assert open_dataset("animals").name == "animals28"
    assert open_dataset("animals", semantics="binary attributes").signatures.vectors.max() == 1


def test_xlsa17_folder_with_its_only_features(tmp_path):
    folder = write_folder(tmp_path / "CUB", features="vgg")
    data = open_dataset(folder)
    assert data.X.shape == (13, 4)
    assert open_dataset(str(folder), semantics="att_splits").signatures.n_dimensions == 3
    assert open_dataset(folder, features="none").X.shape == (0, 0)


def test_res101_is_taken_before_others(tmp_path):
    folder = write_folder(tmp_path / "CUB")
    savemat(folder / "other.mat", feature_arrays(7))
    assert open_dataset(folder).X.shape == (13, 4)
    assert open_dataset(folder, features="other").X.shape == (13, 7)


def test_several_features_must_be_chosen_from(tmp_path):
    folder = write_folder(tmp_path / "CUB", features="a")
    savemat(folder / "b.mat", feature_arrays())
    with pytest.raises(InvalidInputError, match="feature files a, b; say which with features="):
        open_dataset(folder)


def test_semantic_space_of_an_xlsa17_folder(tmp_path):
    folder = write_folder(tmp_path / "CUB")
    with pytest.raises(InvalidInputError, match=r"no semantic space 'atributes'.*'attributes'"):
        open_dataset(folder, semantics="atributes")


def test_own_folder(tmp_path):
    data = open_dataset(own_folder(tmp_path / "pets"))
    assert data.name == "pets"
    assert data.split("own").unseen.tolist() == ["fox"]


def test_own_folder_with_listed_unseen_classes(tmp_path):
    folder = own_folder(tmp_path / "pets", "labels.csv")
    (folder / "unseen.txt").write_text("dog\n")
    assert open_dataset(folder).split("own").unseen.tolist() == ["dog"]


@pytest.mark.parametrize("column", ["label", "class"])
def test_own_folder_with_a_label_column(tmp_path, column):
    folder = own_folder(tmp_path / "pets")
    (folder / "labels.txt").unlink()
    (folder / "features.npy").unlink()
    (folder / "features.csv").write_text(f"{column},f\ncat,1\ndog,2\n")
    assert open_dataset(folder).y.tolist() == ["cat", "dog"]


def test_what_is_missing_from_an_own_folder_is_said(tmp_path):
    folder = own_folder(tmp_path / "pets")
    (folder / "labels.txt").unlink()
    with pytest.raises(MissingFileError, match=r"no labels\.npy.*no column 'label' or 'class'"):
        open_dataset(folder)
    (folder / "signatures.csv").unlink()
    with pytest.raises(MissingFileError, match=r"no signatures\.csv"):
        open_dataset(folder)


def test_two_files_for_one_thing_are_refused(tmp_path):
    folder = own_folder(tmp_path / "pets")
    (folder / "labels.csv").write_text("cat\ndog\ncat\n")
    with pytest.raises(InvalidInputError, match=r"both labels\.csv and labels\.txt"):
        open_dataset(folder)


def test_nothing_there_lists_what_was_looked_for(tmp_path):
    with pytest.raises(MissingFileError, match=r"no data set at(.|\n)*xlsa17 folder(.|\n)*labels"):
        open_dataset(tmp_path / "nowhere")


def test_folder_that_is_no_data_set(tmp_path):
    with pytest.raises(InvalidInputError, match=r"is not a data set\. Looked for:(.|\n)*xlsa17"):
        open_dataset(tmp_path)
