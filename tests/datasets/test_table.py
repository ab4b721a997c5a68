"""A user's own files in every accepted form."""

import numpy as np
import pandas as pd
import pytest

from zslearn.datasets import load_features, load_table
from zslearn.exceptions import InvalidInputError, MissingFileError, UnknownClassError
from zslearn.signatures import Signatures

X = np.array([[0.5, 1.25], [2.0, -3.0], [1e-3, 4.0]])
Y = ["cat", "dog", "cat"]
TABLE = {"cat": [1, 0], "dog": [0, 1], "fox": [0.5, 0.5]}


@pytest.fixture
def files(tmp_path):
    """Write the same data in every form."""
    frame = pd.DataFrame(X, columns=["f0", "f1"])
    named = frame.assign(label=Y)
    named.insert(0, "file", ["a.jpg", "b.jpg", "c.jpg"])
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "X.npz", X=X, y=np.array(Y))
    np.savez(tmp_path / "one.npz", whatever=X)
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame.to_csv(tmp_path / "header.csv", index=False)
    named.to_csv(tmp_path / "named.csv", index=False)
    frame.to_parquet(tmp_path / "X.parquet")
    named.to_parquet(tmp_path / "named.parquet")
    (tmp_path / "y.txt").write_text("\n".join(Y) + "\n\n")
    np.save(tmp_path / "y.npy", np.array(Y))
    signatures = Signatures.from_dict(TABLE)
    signatures.to_csv(tmp_path / "s.csv")
    signatures.to_npz(tmp_path / "s.npz")
    pd.DataFrame(TABLE, index=["d0", "d1"]).T.reset_index().to_parquet(tmp_path / "s.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["X.npy", "X.npz", "one.npz", "bare.csv", "header.csv", "X.parquet"]
)
def test_features_come_back_exactly(files, name):
    assert np.array_equal(load_features(files / name), X)


@pytest.mark.parametrize("name", ["named.csv", "named.parquet"])
def test_label_column_and_identifiers(files, name):
    data = load_table(files / name, "label", files / "s.csv")
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == Y
    assert data.image_files == ("a.jpg", "b.jpg", "c.jpg")
    assert np.array_equal(load_features(files / name, ignore=["label"]), X)


@pytest.mark.parametrize("labels", ["y.txt", "y.npy", "X.npz"])
@pytest.mark.parametrize("signatures", ["s.csv", "s.npz", "s.parquet"])
def test_labels_and_signatures_from_files(files, labels, signatures):
    data = load_table(files / "X.npy", files / labels, files / signatures)
    assert data.y.tolist() == Y
    assert data.signatures["fox"].tolist() == [0.5, 0.5]
    assert data.split("own").unseen.tolist() == ["fox"]


def test_memory_map(files):
    assert isinstance(load_features(files / "X.npy", mmap=True), np.memmap)


def test_a_file_without_header_and_with_identifiers(tmp_path):
    (tmp_path / "x.csv").write_text("a,1,2\nb,3,4\n")
    assert load_features(tmp_path / "x.csv").tolist() == [[1, 2], [3, 4]]


def test_a_single_line_and_a_single_column(tmp_path):
    (tmp_path / "line.csv").write_text("1,2,3\n")
    (tmp_path / "column.csv").write_text("f0\n1\n2\n")
    assert load_features(tmp_path / "line.csv").shape == (1, 3)
    assert load_features(tmp_path / "column.csv").tolist() == [[1], [2]]


def test_quoted_cells_and_byte_order_mark(tmp_path):
    (tmp_path / "x.csv").write_text('\ufeffname,f\n"a, b # c",1\n"d",2\n', "utf-8")
    data = load_table(tmp_path / "x.csv", "name", {"a, b # c": [1], "d": [2]})
    assert data.y.tolist() == ["a, b # c", "d"]


def test_listed_unseen_classes_keep_their_rows_for_testing():
    data = load_table(X, Y, TABLE, unseen=["dog"])
    split = data.split("own")
    assert split.seen.tolist() == ["cat"]
    assert data.test_rows("own").tolist() == [1]


def test_no_unseen_class_gives_no_split():
    assert load_table(X, Y, {"cat": [1, 0], "dog": [0, 1]}).splits == {}


def test_numbers_find_their_class_whatever_the_type(tmp_path):
    Signatures(["0", "1", "2"], np.eye(3)).to_csv(tmp_path / "s.csv")
    np.save(tmp_path / "y.npy", np.array([0, 1, 0]))
    assert load_table(X, tmp_path / "y.npy", tmp_path / "s.csv").y.tolist() == ["0", "1", "0"]
    (tmp_path / "y.txt").write_text("5\n7\n5\n")
    data = load_table(X, tmp_path / "y.txt", Signatures([5, 7, 9], np.eye(3)), unseen=["7", "9"])
    assert data.y.tolist() == [5, 7, 5]
    assert data.split("own").unseen.tolist() == [7, 9]


def test_unknown_label_is_named():
    with pytest.raises(UnknownClassError, match=r"Class 'dgo' has no signature.*closest is 'dog'"):
        load_table(X, ["cat", "dgo", "cat"], TABLE)


def test_unknown_unseen_class_is_named():
    with pytest.raises(UnknownClassError, match="Class 'fx' has no signature"):
        load_table(X, Y, TABLE, unseen=["fx"])


def test_all_classes_unseen_is_refused():
    with pytest.raises(InvalidInputError, match="nothing to train on"):
        load_table(X, Y, TABLE, unseen=["cat", "dog"])


def test_label_that_is_neither_file_nor_column(files):
    with pytest.raises(MissingFileError, match=r"'klass' is neither a file nor a column .*label"):
        load_table(files / "named.csv", "klass", TABLE)


@pytest.mark.parametrize("function", [load_features, lambda path: load_table(path, Y, TABLE)])
def test_missing_file(tmp_path, function):
    with pytest.raises(MissingFileError, match="There is no file"):
        function(tmp_path / "x.npy")


def test_missing_labels_and_signatures(files):
    with pytest.raises(MissingFileError, match="one label a row"):
        load_table(X, files / "none.txt", TABLE)
    for name in ("none.csv", "none.npz", "none.parquet"):
        with pytest.raises(MissingFileError, match="There is no file"):
            load_table(X, Y, files / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"f0,f1\n1,2\n3,abc\n", "line 3, column 'f1': 'abc' is not a number"),
        ("x.csv", b"f0,f1\n1,2\n3,\n", "line 3, column 'f1': '' is not a number"),
        ("x.csv", b"f0,f1\n1,2\n3\n", "line 3 has 1 cells; 2 are needed"),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"f0,f1\n", "a header and no line below"),
        ("x.csv", b"name\na\nb\n", "no column of features"),
        ("x.csv", b"\xff\xfe,1\n", "not a CSV file in UTF-8"),
        ("x.npy", b"nonsense", "pickled objects are never loaded"),
        ("x.npz", b"PK\x03\x04 broken", "cannot be read as plain arrays"),
        ("x.parquet", b"nonsense", "not a readable Parquet file"),
        ("x.xlsx", b"PK", r"read from .npy, .npz, .csv, .parquet; got '.xlsx'"),
    ],
)
def test_unusable_features_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        load_features(tmp_path / name)


@pytest.mark.parametrize("names", [["f0", "f1"], [0, 1]])
@pytest.mark.parametrize("index", [True, False])
def test_tables_as_pandas_writes_them(tmp_path, names, index):
    """The index is no feature, and a header that counts the columns is no sample."""
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "x.csv", index=index)
    assert np.array_equal(load_features(tmp_path / "x.csv"), X)


def test_names_of_columns_are_kept(files):
    data = load_table(files / "named.csv", "label", TABLE)
    assert data.extra["feature_columns"] == ("f0", "f1")
    assert load_table(files / "bare.csv", Y, TABLE).extra["feature_columns"] == ()


def test_a_damaged_parquet_file_is_refused_as_a_table(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"nonsense")
    with pytest.raises(InvalidInputError, match="not a readable Parquet file"):
        load_table(tmp_path / "x.parquet", "label", TABLE)
    with pytest.raises(InvalidInputError, match="not a readable Parquet file"):
        load_table(X, Y, tmp_path / "x.parquet")


def test_pickled_arrays_are_never_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], object), allow_pickle=True)
    with pytest.raises(InvalidInputError, match="pickled objects are never loaded"):
        load_features(tmp_path / "x.npy")


def test_array_of_another_shape(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(InvalidInputError, match=r"\(n_samples, n_features\); got .* \(3,\)"):
        load_features(tmp_path / "x.npy")


def test_archive_with_several_arrays_and_no_X(tmp_path):
    np.savez(tmp_path / "x.npz", a=X, b=X)
    with pytest.raises(InvalidInputError, match="an array 'X' or one array only; it holds a, b"):
        load_features(tmp_path / "x.npz")


def test_text_column_of_parquet_is_named(files):
    with pytest.raises(InvalidInputError, match="column 'label' holds no numbers"):
        load_features(files / "named.parquet")


def test_unknown_column_to_ignore(files):
    with pytest.raises(InvalidInputError, match="no column 'klass'; its columns are file, f0, f1"):
        load_features(files / "named.csv", ignore=["klass"])


def test_empty_label_lines_are_counted(tmp_path):
    (tmp_path / "y.txt").write_text("cat\n\ncat\n")
    with pytest.raises(InvalidInputError, match="line 2 is empty"):
        load_table(X, tmp_path / "y.txt", TABLE)


@pytest.mark.parametrize("title", ["label", '"class"', "y"])
def test_a_title_above_the_labels_is_no_label(files, title):
    (files / "y.csv").write_text(title + "\n" + "\n".join(Y) + "\n")
    data = load_table(files / "X.npy", files / "y.csv", files / "s.csv")
    assert data.y.tolist() == Y


def test_a_label_too_many_is_not_taken_for_a_title(files):
    (files / "y.csv").write_text("cat\n" + "\n".join(Y) + "\n")
    with pytest.raises(InvalidInputError, match="X has 3 rows and y has 4 labels"):
        load_table(files / "X.npy", files / "y.csv", files / "s.csv")
    with pytest.raises(InvalidInputError, match="X has 3 rows and y has 4 labels"):
        load_table(X, ["label", *Y], TABLE)
