"""A user's own files in every accepted form."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from zslearn.datasets import load_features, load_table
from zslearn.datasets.table import read_feature_table
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    MissingFileError,
    UnknownClassError,
)
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
    with pytest.raises(MissingFileError, match="one label per row"):
        load_table(X, files / "none.txt", TABLE)
    for name in ("none.csv", "none.npz", "none.parquet"):
        with pytest.raises(MissingFileError, match="There is no file"):
            load_table(X, Y, files / name)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"f0,f1,f2\n1.5,2,3\n1,5,2,3\n", "Line 3 has 4 cells; the header has 3"),
        ("x.csv", b"1,2\n1,5,2\n", "Line 2 has 3 cells; the first line has 2"),
        ("x.csv", b"f0\n1,5\n2,5\n", "Line 2 has 2 cells; the header has 1"),
        ("x.csv", b"f0,f1\n1,5,2\n2,5,3\n", "Line 2 has 3 cells; the header has 2"),
        ("x.csv", b"f0;f1\n2;1.234,5\n", "Line 2, column 'f1': '1.234,5' is not a number"),
        ("x.csv", b"f0,f1\nabc,2\n3,4\n", "Line 2, column 'f0': 'abc' is not a number"),
        ("x.csv", b"f0,f1\n2,1_000\n", "Line 2, column 'f1': '1_000' is not a number"),
        ("x.csv", b"1.5,\n2.5,3\n", "Line 1, column 2: '' is not a number"),
        ("x.csv", b"1,abc\n2,3\n", "Line 1, column 2: 'abc' is not a number"),
        ("x.csv", b"0,1,2\n3,4,5\n6,7,8\n", "may count the columns or be a sample"),
        ("x.csv", b"a.jpg,0,1,2\nb.jpg,4,5,6\n", "may count the columns or be a sample"),
        ("x.csv", b"\n\n  \n", "is empty"),
        ("x.csv", b"# nothing\n", "is empty"),
        ("x.csv", b'f0,f1\n"1,2\n', "is not CSV"),
        ("x.csv", b"f0,f1\n1,\0\n", "is not"),
        ("x.csv", b"f0,f1\n1,2\n3,abc\n", "Line 3, column 'f1': 'abc' is not a number"),
        ("x.csv", b"f0,f1\n1,2\n3,\n", "Line 3, column 'f1': '' is not a number"),
        ("x.csv", b"f0,f1\n1,2\n3\n", "Line 3 has 1 cells; the header has 2"),
        ("x.csv", b"", "is empty"),
        ("x.csv", b"f0,f1\n", "a header but no line below"),
        ("x.csv", b"name\na\nb\n", "no column of features"),
        ("x.csv", b"\xff\xfe,1\n", "not UTF-16 text"),
        ("x.npy", b"nonsense", "Pickled objects are never loaded"),
        ("x.npz", b"PK\x03\x04 broken", "not a readable file of plain arrays"),
        ("x.parquet", b"nonsense", "not a readable Parquet file"),
        ("x.txt", b"1", r"read from .npy, .npz, .csv, .*, .xlsx; got '.txt'"),
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


def test_a_named_index_over_counted_columns(tmp_path):
    frame = pd.DataFrame(X + 0.5, index=pd.Index(["a", "b", "c"], name="sample"))
    frame.to_csv(tmp_path / "x.csv")
    data = load_table(tmp_path / "x.csv", Y, TABLE)
    assert np.array_equal(data.X, X + 0.5)
    assert list(data.image_files) == ["a", "b", "c"]


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
    with pytest.raises(InvalidInputError, match="Pickled objects are never loaded"):
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
    with pytest.raises(InvalidInputError, match="column 'label' does not hold numbers"):
        load_features(files / "named.parquet")


def test_unknown_column_to_ignore(files):
    with pytest.raises(InvalidInputError, match="no column 'klass'; the columns are file, f0, f1"):
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


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("f0;f1\n0,5;1,25\n2;-3\n0,001;4\n", "semicolons between cells and decimal commas"),
        ("sep=;\nf0;f1\n0,5;1,25\n2;-3\n0,001;4\n", "semicolons"),
        ("f0;f1\n0.5;1.25\n2;-3\n0.001;4\n", "semicolons between cells$"),
        ("f0\tf1\n0.5\t1.25\n2\t-3\n0.001\t4\n", "tabs"),
        ("f0\tf1\n0,5\t1,25\n2\t-3\n1e-3\t4\n", "tabs between cells and decimal commas"),
        ('"f0" "f1"\n"1" 0.5 1.25\n"2" 2 -3\n"3" 0.001 4\n', "blanks"),
        ('"f0","f1"\n"1",0.5,1.25\n"2",2,-3\n"3",0.001,4\n', None),
        ("f0,f1\na,0.5,1.25\nb,2,-3\nc,0.001,4\n", None),
        ("f0,f1\n0.5,1.25,\n2,-3,\n0.001,4,\n", None),
        ("f0,f1,\n0.5,1.25,\n2,-3,\n0.001,4,\n", None),
        ("0.5,1.25,\n2,-3,\n0.001,4,\n", None),
        ("# made by hand\n\n# twice\nf0,f1\n0.5,1.25\n2,-3\n0.001,4\n", None),
        ("# f0,f1\n0.5,1.25\n2,-3\n0.001,4\n", None),
        ("#,f0,f1\n1,0.5,1.25\n2,2,-3\n3,0.001,4\n", None),
        ("f0,f1\r\n0.5,1.25\r\n2,-3\r\n0.001,4\r\n\r\n", None),
        (",0,1\n0,0.5,1.25\n1,2,-3\n2,0.001,4\n", None),
    ],
)
def test_tables_as_other_programs_write_them(tmp_path, content, note):
    """Excel in Europe, R, spreadsheets that end every line in a comma, and comments."""
    (tmp_path / "x.csv").write_text(content)
    table = read_feature_table(tmp_path / "x.csv", ignore=["#"] if content[:2] == "#," else [])
    assert np.array_equal(table.X, X)
    assert table.columns in ((), ("f0", "f1"), ("0", "1"))
    assert re.search(note, table.notes[0]) if note else table.notes == ()


def test_a_comment_names_the_columns_where_it_fits(tmp_path):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="width,height")
    table = read_feature_table(tmp_path / "x.csv")
    assert np.array_equal(table.X, X)
    assert table.columns == ("width", "height")


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_first_column_without_a_title_numbers_the_samples_from_0_or_1(tmp_path, first):
    lines = [f"{first + i},{x},{y}" for i, (x, y) in enumerate(X)]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    found = read_feature_table(tmp_path / "x.csv")
    numbered = first < 2
    assert found.X.shape == (3, 2 if numbered else 3)
    assert (found.ids == [str(first + i) for i in range(3)]) == numbered


def test_a_line_that_counts_is_a_header_above_fractions_only(tmp_path):
    (tmp_path / "x.csv").write_text("0,1\n0.5,1.25\n2.0,-3.0\n")
    assert load_features(tmp_path / "x.csv").tolist() == [[0.5, 1.25], [2.0, -3.0]]
    (tmp_path / "x.csv").write_text("0,1\n")
    assert load_features(tmp_path / "x.csv").tolist() == [[0, 1]]


def test_how_a_table_was_read_is_kept(files):
    (files / "x.csv").write_text("f0;f1\n0,5;1,25\n2;-3\n0,001;4\n")
    data = load_table(files / "x.csv", Y, files / "s.csv")
    assert data.extra["notes"] == ("read with semicolons between cells and decimal commas",)


def test_signatures_of_european_excel(tmp_path):
    (tmp_path / "s.csv").write_text("class;a;b\ncat;1,5;0\ndog;0;1\n")
    assert Signatures.from_csv(tmp_path / "s.csv")["cat"].tolist() == [1.5, 0]


def test_excel_workbooks(files):
    pytest.importorskip("openpyxl")
    pd.read_csv(files / "named.csv").to_excel(files / "x.xlsx", index=False)
    pd.DataFrame(TABLE, index=["d0", "d1"]).T.to_excel(files / "s.xlsx")
    data = load_table(files / "x.xlsx", "label", files / "s.xlsx")
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == Y
    assert data.image_files == ("a.jpg", "b.jpg", "c.jpg")
    assert data.signatures["fox"].tolist() == [0.5, 0.5]
    (files / "bad.xlsx").write_bytes(b"PK nonsense")
    with pytest.raises(InvalidInputError, match=r"bad\.xlsx is not a readable Excel"):
        load_features(files / "bad.xlsx")


def test_excel_without_openpyxl_says_what_is_missing(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (files / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match=r"Excel workbook needs .*'openpyxl'.*\[table\]"):
        load_features(files / "x.xlsx")


@pytest.mark.parametrize("index", [["p", "q", "r"], [7, 3, 5]])
def test_frames_with_an_index_name_samples_and_classes(tmp_path, index):
    frame = pd.DataFrame(X, columns=["f0", "f1"], index=index).assign(label=Y)
    classes = pd.DataFrame(TABLE, index=["d0", "d1"]).T
    frame.to_parquet(tmp_path / "x.parquet")
    classes.to_parquet(tmp_path / "s.parquet")
    for features, signatures in (
        (frame, classes),
        (tmp_path / "x.parquet", tmp_path / "s.parquet"),
    ):
        data = load_table(features, "label", signatures)
        assert np.array_equal(data.X, X)
        assert data.y.tolist() == Y
        assert data.image_files == tuple(map(str, index))
        assert data.extra["feature_columns"] == ("f0", "f1")
        assert data.signatures["fox"].tolist() == [0.5, 0.5]


def test_a_counted_index_names_nothing():
    assert load_table(pd.DataFrame(X), pd.Series(Y), TABLE).image_files is None


def test_labels_in_the_order_of_another_index_are_brought_into_that_of_the_features():
    frame = pd.DataFrame(X, index=["p", "q", "r"])
    labels = pd.Series(Y, index=frame.index).loc[["r", "q", "p"]]
    assert load_table(frame, labels, TABLE).y.tolist() == Y


def test_missing_labels_of_a_frame_are_refused():
    frame = pd.DataFrame(X).assign(label=["cat", None, "dog"])
    with pytest.raises(InvalidInputError, match="Row 1 has no value in column 'label'"):
        load_table(frame, "label", TABLE)


def test_truth_values_are_classes_of_their_own_and_no_numbers():
    labels = [True, False, True]
    data = load_table(X, labels, {"True": [1, 0], "False": [0, 1]})
    assert data.y.tolist() == ["True", "False", "True"]
    with pytest.raises(InvalidTypeError, match="labels are True and False"):
        load_table(X, labels, {0: [1, 0], 1: [0, 1]})


def test_a_folder_is_not_called_a_missing_file(tmp_path):
    (tmp_path / "deep").mkdir()
    with pytest.raises(InvalidInputError, match="is a folder; give a file"):
        load_features(tmp_path)
    (tmp_path / "deep" / "a.JPG").touch()
    with pytest.raises(InvalidInputError, match=r"holds 1 pictures.*: zslearn features .*"):
        load_features(tmp_path)
    with pytest.raises(InvalidInputError, match=r"a\.JPG is a picture.*zslearn features"):
        load_features(tmp_path / "deep" / "a.JPG")


def test_a_column_that_stands_twice_is_not_guessed(tmp_path):
    (tmp_path / "x.csv").write_text("label,f,label\ncat,1,dog\n")
    with pytest.raises(InvalidInputError, match="two columns are called 'label'"):
        load_table(tmp_path / "x.csv", "label", TABLE)


def test_a_mistyped_column_is_the_one_to_blame(files):
    with pytest.raises(MissingFileError, match=r"'lable' is neither .* Did you mean 'label'"):
        load_table(files / "named.csv", "lable", TABLE)
