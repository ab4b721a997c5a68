"""The text files of Animals with Attributes, with each way of storing features."""

import numpy as np
import pytest

from zslearn.datasets import load_awa, open_dataset
from zslearn.exceptions import InvalidInputError, MissingFileError

CLASSES = ["antelope", "rat", "seal", "zebra"]


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "awa"
    home.mkdir()
    numbered = "".join(f"{i:6d}\t{name}\n" for i, name in enumerate(CLASSES, 1))
    (home / "classes.txt").write_text(numbered)
    (home / "predicates.txt").write_text("     1\tblack\n     2\tpolar bear\n")
    (home / "predicate-matrix-continuous.txt").write_text("-1.00 2\n3 4\n5 6\n7.5 8\n")
    (home / "predicate-matrix-binary.txt").write_text("0 0\n0 1\n1 1\n1 1\n")
    (home / "testclasses.txt").write_text("seal\nzebra\n")
    return home


def write_text_features(folder):
    for name, n in (("antelope", 3), ("zebra", 2)):
        (folder / "Features" / "sift" / name).mkdir(parents=True)
        for i in range(1, n + 1):
            vector = f"{i} {len(name)} 0.5 \n"
            (folder / "Features" / "sift" / name / f"{name}_{i:04d}.txt").write_text(vector)


def test_attributes_and_splits(folder):
    data = load_awa(folder)
    assert data.X.shape == (0, 0)
    assert data.signatures.dimensions == ("black", "polar bear")
    assert data.signatures["antelope"].tolist() == [0, 2]
    assert data.semantics["binary attributes"]["seal"].tolist() == [1, 1]
    assert list(data.splits) == ["listed"]
    assert data.split("listed").seen.tolist() == ["antelope", "rat"]
    assert "CVPR 2009" in data.citation


def test_one_vector_a_file(folder):
    write_text_features(folder)
    data = load_awa(folder, "sift")
    assert data.X.tolist() == [[1, 8, 0.5], [2, 8, 0.5], [3, 8, 0.5], [1, 5, 0.5], [2, 5, 0.5]]
    assert data.y.tolist() == ["antelope"] * 3 + ["zebra"] * 2
    assert data.image_files[3] == "zebra/zebra_0001"
    assert np.array_equal(open_dataset(folder).X, data.X)
    assert open_dataset(folder, features="none").X.shape == (0, 0)


def test_one_array_a_class(folder):
    (folder / "Features" / "net").mkdir(parents=True)
    np.save(folder / "Features" / "net" / "rat.npy", np.arange(6.0).reshape(2, 3))
    data = load_awa(folder, "net")
    assert data.X.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert data.y.tolist() == ["rat", "rat"]


def test_one_sample_a_line_as_in_the_second_edition(folder, tmp_path):
    home = tmp_path / "elsewhere"
    (home / "Features" / "ResNet101").mkdir(parents=True)
    (home / "Features" / "ResNet101" / "AwA2-features.txt").write_text("1 2\n3 4\n")
    (home / "Features" / "ResNet101" / "AwA2-labels.txt").write_text("4\n1\n")
    (home / "Features" / "ResNet101" / "AwA2-filenames.txt").write_text("a.jpg\nb.jpg\n")
    data = load_awa(folder, "ResNet101", feature_home=home)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == ["zebra", "antelope"]
    assert data.image_files == ("a.jpg", "b.jpg")


def test_several_features_must_be_chosen_from(folder):
    for name in ("a", "b"):
        (folder / "Features" / name).mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="features a, b; say which"):
        open_dataset(folder)


def test_missing_features_name_those_that_are_there(folder):
    write_text_features(folder)
    with pytest.raises(MissingFileError, match=r"no features 'surf' in .*there: sift"):
        load_awa(folder, "surf")


def test_empty_feature_folder(folder):
    (folder / "Features" / "sift").mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="holds no features"):
        load_awa(folder, "sift")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("antelope_0002.txt", "1 2\n", "a different number of features than antelope_0001"),
        ("antelope_0002.txt", "1 x 2\n", "does not hold one vector"),
    ],
)
def test_unusable_vectors(folder, name, content, message):
    write_text_features(folder)
    (folder / "Features" / "sift" / "antelope" / name).write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        load_awa(folder, "sift")


@pytest.mark.parametrize(("content", "message"), [("1 2\n3 4\n", "2 × 2"), ("a b\n", "a")])
def test_unusable_attribute_table(folder, content, message):
    (folder / "predicate-matrix-continuous.txt").write_text(content)
    with pytest.raises(InvalidInputError, match=message):
        load_awa(folder)


def test_missing_files(folder, tmp_path):
    with pytest.raises(MissingFileError, match="There is no folder"):
        load_awa(tmp_path / "none")
    for name in ("continuous", "binary"):
        (folder / f"predicate-matrix-{name}.txt").unlink()
    with pytest.raises(MissingFileError, match="neither predicate-matrix-continuous"):
        load_awa(folder)
    (folder / "classes.txt").unlink()
    with pytest.raises(MissingFileError, match=r"classes\.txt"):
        load_awa(folder)


@pytest.mark.data
def test_real_files(data_dir):
    data = load_awa(data_dir / "awa_original")
    assert data.signatures.shape == (50, 85)
    assert list(data.splits) == ["standard", "proposed"]
    assert data.split("standard").unseen.tolist() == [
        *(data_dir / "awa_original" / "testclasses.txt").read_text().split()
    ]
    assert data.signatures.vectors.min() == 0
