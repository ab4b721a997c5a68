"""Small tables as people and programs write them: every cell is read, or its line is named.

Each case is a file and either what it holds or the words of its refusal. A reader that guesses
loses rows, shifts columns or makes NaN of most of them without a word.
"""

import datetime
import json
import stat
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from zslearn._tables import Table, check_spelled_once, column_names, read_table
from zslearn.datasets import load_features, load_table
from zslearn.datasets.table import read_feature_table, read_noted_signatures, read_signatures
from zslearn.encoders import find_pictures, read_descriptions
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    MissingFileError,
    ZslearnError,
    ZslearnWarning,
)
from zslearn.signatures import Signatures

A = [1.5, 3.0]
B = [2.0, 4.0]


def columns(table):
    return [column.tolist() for column in table.columns]


#: Content, names of the columns, the columns, the index.
WHOLE = {
    "no header": ("1.5,2\n3,4\n", (), [A, B], None),
    "one line": ("1.5,2,3\n", (), [[1.5], [2.0], [3.0]], None),
    "one column": ("f0\n1.5\n3\n", ("f0",), [A], None),
    "one column without a header": ("1.5\n3\n", (), [A], None),
    "names without a header": ("a,1.5,2\nb,3,4\n", (), [["a", "b"], A, B], None),
    "byte-order mark": ("\ufefff0,f1\n1.5,2\n3,4\n", ("f0", "f1"), [A, B], None),
    "index of pandas": (",f0,f1\n0,1.5,2\n1,3,4\n", ("f0", "f1"), [A, B], ["0", "1"]),
    "index and counted columns": (",0,1\n0,1.5,2\n1,3,4\n", ("0", "1"), [A, B], ["0", "1"]),
    "counted columns": ("0,1\n1.5,2.0\n3.0,4.0\n", ("0", "1"), [A, B], None),
    "delimiter at every end": ("f0,f1,\n1.5,2,\n3,4,\n", ("f0", "f1"), [A, B], None),
    "delimiter at the end of rows": ("f0,f1\n1.5,2,\n3,4,\n", ("f0", "f1"), [A, B], None),
    "delimiter at the end, no header": ("1.5,2,\n3,4,\n", (), [A, B], None),
    "decimal commas": ("f0;f1\n1,5;2\n3;4\n", ("f0", "f1"), [A, B], None),
    "decimal commas, no header": ("1,5;2,0\n3,0;4,0\n", (), [A, B], None),
    "decimal commas and tabs": ("f0\tf1\n1,5\t2\n3\t4\n", ("f0", "f1"), [A, B], None),
    "declared delimiter": ("sep=;\nf0;f1\n1.5;2\n3;4\n", ("f0", "f1"), [A, B], None),
    "comments": ("# by hand\n\n# twice\nf0,f1\n1.5,2\n3,4\n", ("f0", "f1"), [A, B], None),
    "names in a comment": ("# f0,f1\n1.5,2\n3,4\n", ("f0", "f1"), [A, B], None),
    "a number sign as a title": ("#,f0\nx,2\ny,4\n", ("#", "f0"), [["x", "y"], B], None),
    "vertical bars": ("f0|f1\n1.5|2\n3|4\n", ("f0", "f1"), [A, B], None),
    "blanks": ("1.5 2\n3 4\n", (), [A, B], None),
    "row names of R": (
        '"f0" "f1"\n"1" 1.5 2\n"2" 3 4\n',
        ("f0", "f1"),
        [A, B],
        ["1", "2"],
    ),
    "row names of R with commas": ("f0,f1\na,1.5,2\nb,3,4\n", ("f0", "f1"), [A, B], ["a", "b"]),
    "lines end as on Windows": ("f0,f1\r\n1.5,2\r\n3,4\r\n\r\n", ("f0", "f1"), [A, B], None),
    "a blank behind the comma": ("f0, f1\n1.5, 2\n3, 4\n", ("f0", "f1"), [A, B], None),
    "names with blanks around": (" f0 ,f1 \n1.5,2\n3,4\n", ("f0", "f1"), [A, B], None),
    "numbers as names": (
        "id,400,410\n7,1.5,2\n9,3,4\n",
        ("id", "400", "410"),
        [[7, 9], A, B],
        None,
    ),
    "numbers as names of text": (
        "id,400,410\nx,1.5,2\ny,3,4\n",
        ("id", "400", "410"),
        [["x", "y"], A, B],
        None,
    ),
    "wavelengths": (
        "400,410,420\n1.5,2.0,0.5\n3.0,4.0,0.25\n",
        ("400", "410", "420"),
        [A, B, [0.5, 0.25]],
        None,
    ),
    "names and numbers as names": (
        "id,width,410\n7,1.5,2\n9,3,4\n",
        ("id", "width", "410"),
        [[7, 9], A, B],
        None,
    ),
    "sentences with commas and quotes": (
        'text,label\n"Where, please, is ""it""?",card\nHe said "no"; twice,refund\n',
        ("text", "label"),
        [['Where, please, is "it"?', 'He said "no"; twice'], ["card", "refund"]],
        None,
    ),
    "sentences over several lines": (
        'text,label\n"Hello,\n\nwhere is it?",card\nThanks,refund\n',
        ("text", "label"),
        [["Hello,\n\nwhere is it?", "Thanks"], ["card", "refund"]],
        None,
    ),
    "sentences between semicolons": (
        "text;label\nHello, where;card\nThanks, all, again;refund\n",
        ("text", "label"),
        [["Hello, where", "Thanks, all, again"], ["card", "refund"]],
        None,
    ),
    "sentences between tabs": (
        'Hello, you\tcard\n"No" she said, again\trefund\n',
        ("Hello, you", "card"),
        [['"No" she said, again'], ["refund"]],
        None,
    ),
    "a quoted text behind a blank": (
        'class, text\nzebra, "striped, African"\notter, it swims\n',
        ("class", "text"),
        [["zebra", "otter"], ["striped, African", "it swims"]],
        None,
    ),
    "decimal commas and tabs at the end": (
        "p.jpg\t0,001\t\nq.jpg\t0,5\t\n",
        (),
        [["p.jpg", "q.jpg"], [0.001, 0.5]],
        None,
    ),
    "numbers that are text below": (
        "f0,f1\n" + "1,2\n" * 300 + "x,2\n",
        ("f0", "f1"),
        [["1"] * 300 + ["x"], [2.0] * 301],
        None,
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_every_cell_of_a_whole_table_is_read(tmp_path, case):
    content, names, values, index = WHOLE[case]
    path = tmp_path / "x.csv"
    path.write_text(content, "utf-8", newline="")
    table = read_table(path)
    assert (table.names, columns(table), table.index) == (names, values, index)
    assert column_names(path) == list(names)
    path.write_text(content.removeprefix("\ufeff"), "utf-16", newline="")
    assert columns(read_table(path)) == values


#: Content, what the message says.
REFUSED = {
    "nothing": (b"", "x.csv: the file is empty"),
    "blank lines only": (b"\n\n  \n", "the file is empty"),
    "a comment only": (b"# nothing\n", "the file is empty"),
    "a header only": (b"f0,f1\n", "there is a header but no line below it"),
    "a cell too many in every line": (b"f0,f1\n1,2,3\n4,5,6\n", "Line 2 has 3 cells.*header has 2"),
    "a cell too many": (b"f0,f1,f2\n1.5,2,3\n1,5,2,3\n", "Line 3 has 4 cells; the header has 3"),
    "a cell too few": (b"f0,f1\n1,2\n3\n", "Line 3 has 1 cells; the header has 2"),
    "no header and a cell too many": (b"1,2\n1,5,2\n", "Line 2 has 3 cells; the first line has 2"),
    "decimal commas in one column": (b"f0\n1,5\n2,5\n", "Line 2 has 2 cells; the header has 1"),
    "an unquoted comma": (b"class,text\na,b\nc,d, e\n", "Line 3 .*holds the delimiter in double"),
    "an unquoted comma in each line": (b"class,text\na,b,c\n", "Line 2 has 3 cells; .*quotes"),
    "the same in quotes": (b'"class","text"\n"a","b", c\n', "Line 2 has 3 cells; the header has 2"),
    "two columns of one name": (b"f0,f0\n1,2\n", "two columns are called 'f0'"),
    "the same but for blanks": (b"f0, f0\n1,2\n", "two columns are called 'f0'"),
    "a quote that never ends": (b'f0,f1\n"1,2\n', "Line 2 is not CSV"),
    "text behind a quote": (b'f0,f1\n"1"x,2\n', "Line 2 is not CSV"),
    "Latin letters of one byte": (b"f0\ncaf\xe9\n", "not UTF-8 text"),
    "half of UTF-16": (b"\xff\xfe,1\n", "not UTF-16 text"),
    "a count or a sample": (b"0,1,2\n3,4,5\n6,7,8\n", "may count the columns or be a sample"),
    "a named count or sample": (b"a.jpg,0,1,2\nb.jpg,4,5,6\n", "may count the columns or be a"),
    "years or a sample": (b"Ort,2001,2002,2003\nBonn,9,4,7\n", "may count the columns or be a"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_told_is_refused_with_its_line(tmp_path, case):
    content, message = REFUSED[case]
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_table(tmp_path / "x.csv")
    assert str(caught.value).count("x.csv") == 1


#: Content, columns taken as numbers, what the message says.
NO_NUMBERS = {
    "not available": ("f0,f1\n1,NA\n3,4\n", [1], "Line 2, column 'f1': 'NA' is not a number"),
    "an empty cell": ("f0,f1\n1,2\n3,\n", [1], "Line 3, column 'f1': '' is not a number"),
    "NaN": ("f0,f1\n1,2\n3,nan\n", [0, 1], "Line 3, column 'f1': 'nan' is not a finite number"),
    "infinity": ("f0,f1\n1e999,2\n3,4\n", [0, 1], "Line 2, column 'f0': '1e999' is not a finite"),
    "a word": ("1,abc\n2,3\n", [1], "Line 1, column 2: 'abc' is not a number"),
    "a word far below": ("f0\n" + "1\n" * 300 + "x\n", [0], "Line 302, column 'f0': 'x' is not"),
    "underscores": ("f0,f1\n2,1_000\n", [0, 1], "Line 2, column 'f1': '1_000' is not a number"),
    "thousands": ("f0;f1\n2;1.234,5\n", [0, 1], "Line 2, column 'f1': '1.234,5' is not a number"),
    "a typographic minus": ("f0\n1\n\u22122.5\n", [0], "Line 3.*minus is a dash; write '-2.5'"),
    "yes and no": ("f0,f1\n1,yes\n2,no\n", [0, 1], "Line 2, column 'f1': 'yes'.*Write 1 and 0"),
    "blanks between text": ("n f0\nred 1\nblue 2\n", [0], "Line 2, column 'n f0': 'red 1'.*Put"),
}


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_the_first_cell_that_is_no_number_is_named(tmp_path, case):
    content, wanted, message = NO_NUMBERS[case]
    (tmp_path / "x.csv").write_text(content, "utf-8")
    with pytest.raises(InvalidInputError, match=r"x\.csv: " + message):
        read_table(tmp_path / "x.csv").numbers(wanted)


def test_lines_are_those_of_the_file_and_empty_ones_are_listed(tmp_path):
    (tmp_path / "x.csv").write_text('# c\nt,n\n"a\nb",1\n\n,\nc,2\n\n')
    table = read_table(tmp_path / "x.csv")
    assert list(table.lines) == [4, 7]
    assert table.skipped == (5, 6)


def test_how_a_table_was_read_is_said_where_it_was_found_out(tmp_path):
    said = {
        "a;b\n1,5;2\n": "read with semicolons between cells and decimal commas",
        "a|b\n1.5|2\n": "read with | between cells",
        "a,b\n1,2\n": None,
    }
    for content, note in said.items():
        (tmp_path / "x.csv").write_text(content)
        assert read_table(tmp_path / "x.csv").notes == ((note,) if note else ())
    (tmp_path / "x.tsv").write_text("a\tb\n1\t2\n")
    assert read_table(tmp_path / "x.tsv").notes == ()


def test_columns_are_found_by_their_names_and_taken_whole(tmp_path):
    (tmp_path / "x.csv").write_text("n,label\n007, cat\n8,dog \n9,\n")
    table = read_table(tmp_path / "x.csv")
    assert table.texts("n") == ["007", "8", "9"]
    assert table.take("n").tolist() == ["007", "8", "9"]
    assert table.texts("label ") == ["cat", "dog", ""]
    with pytest.raises(InvalidInputError, match="Line 4 has no value in column 'label'; fill it"):
        table.take("label")
    with pytest.raises(
        InvalidInputError, match=r"no column 'Lable'; .*n, label\. Did you mean 'lab"
    ):
        table.take("Lable")


def test_text_that_looks_like_numbers_is_kept_on_request(tmp_path):
    (tmp_path / "x.csv").write_text("n,label\n" + "1,007\n" * 300)
    table = read_table(tmp_path / "x.csv", text=["label"])
    assert table.is_text(1)
    assert set(table.texts("label")) == {"007"}
    assert set(read_table(tmp_path / "x.csv").texts("label")) == {"007"}
    assert table.numbers([0]).shape == (300, 1)


def test_lines_as_cells(tmp_path):
    (tmp_path / "x.txt").write_text('cat, domestic\n"dog"\n\n7\n')
    table = read_table(tmp_path / "x.txt", header=False, delimiter="\n")
    assert table.texts(0) == ["cat, domestic", "dog", "7"]
    assert table.skipped == (3,)


def test_truth_in_words_becomes_numbers_with_a_line_that_says_so(tmp_path):
    (tmp_path / "x.csv").write_text("c,a,b,d,e\np,Yes,x,TRUE,1\nq,no,,false,0\n")
    table = read_table(tmp_path / "x.csv").with_truths(range(1, 5))
    assert table.numbers([1, 2, 3, 4]).tolist() == [[1, 1, 1, 1], [0, 0, 0, 0]]
    assert table.notes == (
        "yes and no in column 'a' are read as 1 and 0",
        "x and empty cells in column 'b' are read as 1 and 0",
        "true and false in column 'd' are read as 1 and 0",
    )
    (tmp_path / "x.csv").write_text("c,a,b\np,yes,\nq,maybe,\n")
    table = read_table(tmp_path / "x.csv").with_truths([1, 2])
    with pytest.raises(InvalidInputError, match="Line 2, column 'a': 'yes' is not a number"):
        table.numbers([1])
    with pytest.raises(InvalidInputError, match="Line 2, column 'b': '' is not a number"):
        table.numbers([2])


ROWS = [{"text": 'Hi, "you"', "n": 1.5, "ok": True}, {"text": "", "n": 2, "ok": None}]


def test_json_lines(tmp_path):
    lines = [
        json.dumps(ROWS[0]),
        "",
        json.dumps({key: ROWS[1][key] for key in ("n", "ok", "text")}),
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    table = read_table(tmp_path / "x.jsonl")
    assert table.names == ("text", "n", "ok")
    assert columns(table) == [['Hi, "you"', ""], [1.5, 2.0], ["true", ""]]
    assert (list(table.lines), table.skipped) == ([1, 3], (2,))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": 1, "b": 2}\n', "Line 2 and the first one differ in the key 'b'"),
        ('{"a": 1}\nnonsense\n', "Line 2 is not JSON"),
        ("[1, 2]\n", "Line 1 must hold an object"),
        ("{}\n", "Line 1 must hold an object"),
        ('{"a": [1, 2]}\n', "Line 1: 'a' holds a list; only text and numbers"),
        ('{"a": "\\ud800"}\n', "Line 1: 'a' holds half a character"),
        ("[" * 100_000 + "\n", "Line 1 is not JSON"),
        ("1" * 5000 + "\n", "Line 1 is not JSON"),
        ("", "the file is empty"),
    ],
)
def test_malformed_json_lines_are_refused(tmp_path, content, message):
    (tmp_path / "x.jsonl").write_text(content)
    with pytest.raises(InvalidInputError, match=r"x\.jsonl: " + message):
        read_table(tmp_path / "x.jsonl")


def write_book(path, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)


def test_excel(tmp_path):
    path = tmp_path / "x.xlsx"
    rows = [["class", "a", "b", None], ["cat", 1.5, True], [], ["dog", 0.125, False]]
    write_book(path, ("Tiere", rows))
    table = read_table(path)
    assert table.names == ("class", "a", "b")
    assert columns(table) == [["cat", "dog"], [1.5, 0.125], ["True", "False"]]
    assert (list(table.lines), table.skipped, table.notes) == ([2, 4], (3,), ())
    write_book(path, ("Tiere", rows), ("Notizen", [["x"]]))
    assert read_table(path).notes == ("read the sheet 'Tiere', the first of 2",)
    write_book(path, ("leer", []))
    with pytest.raises(InvalidInputError, match="the file is empty"):
        read_table(path)


def test_frames_and_arrow_keep_their_types(tmp_path):
    frame = pd.DataFrame(
        {
            "n": np.array([1, 2], dtype=np.int8),
            "x": np.array([0.5, 1.5], dtype=np.float32),
            "kind": pd.Categorical(["a", "b"]),
            "on": [True, False],
            "exact": [Decimal("0.5"), Decimal("2")],
            "day": [datetime.datetime(2024, 5, 1)] * 2,
        },
        index=["p", "q"],
    )
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_feather(tmp_path / "x.feather")
    whole = pa.Table.from_pandas(frame)
    with (
        pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file,
        pa.ipc.new_stream(file, whole.schema) as out,
    ):
        out.write_table(whole)
    for source in (frame, *sorted(tmp_path.iterdir())):
        table = read_table(source)
        assert table.names == tuple(frame.columns)
        assert table.index == ["p", "q"]
        assert [table.columns[i].dtype.kind for i in (0, 1, 3, 4)] == ["i", "f", "b", "f"]
        assert table.numbers([0]).dtype == np.int8
        assert table.take("kind").tolist() == ["a", "b"]
        assert table.take("n").tolist() == [1, 2]
        assert table.texts("day")[0].startswith("2024-05-01")
        with pytest.raises(InvalidInputError, match="column 'kind' does not hold numbers"):
            table.numbers([0, 2])
        assert set(column_names(source)) >= set(frame.columns)


def test_an_index_that_counts_names_nothing():
    assert read_table(pd.DataFrame({"a": [1]})).index is None


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_gaps_of_frames_are_refused_with_their_row(gap):
    frame = pd.DataFrame({"label": ["cat", gap, "dog"], "x": [1.0, 2.0, np.nan]}, dtype=object)
    table = read_table(frame)
    with pytest.raises(InvalidInputError, match="Row 1 has no value in column 'label'"):
        table.take("label")
    with pytest.raises(InvalidInputError, match="Row 2, column 'x': 'nan' is not a finite number"):
        table.numbers([1])


def test_labels_of_a_frame_must_be_text_or_numbers():
    with pytest.raises(
        InvalidInputError, match=r"Row 0, column 'a' holds a list; .*text or numbers"
    ):
        read_table(pd.DataFrame({"a": [[1], [2, 3]]})).take("a")


def test_two_columns_of_a_frame_with_one_name_are_refused():
    with pytest.raises(InvalidInputError, match="two columns are called 'a'"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a "]))
    with pytest.raises(InvalidTypeError, match="a file or a pandas DataFrame; got list"):
        read_table([1, 2])


@pytest.mark.parametrize("name", ["lab\nl", "lab\x1b[31ml", "lab\r\nl"])
def test_columns_are_listed_in_one_line_whatever_their_names(tmp_path, name):
    pa.feather.write_feather(pa.table({"a": A, name: ["x", "y"]}), str(tmp_path / "x.feather"))
    for read in (
        lambda path: load_table(path, "label", {"x": [1.0], "y": [2.0]}),
        lambda path: read_table(path).take("label"),
    ):
        with pytest.raises(ZslearnError, match=r"columns are a, lab") as no:
            read(tmp_path / "x.feather")
        assert str(no.value).isprintable()


def not_utf8():
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    return pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"a\xff"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
            r"x\.arrow: column 'l' is of the type sparse_union.*which is neither numbers nor text",
        ),
        (not_utf8(), r"x\.\w+ is not a readable \w+ file \(.*Invalid UTF8 sequence"),
    ],
)
def test_arrow_columns_that_no_array_holds_are_refused_in_one_line(tmp_path, column, message):
    table = pa.table({"f": [1.0, 2.0], "l": column})
    with (
        pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as out,
    ):
        out.write_table(table)
    if column.type == pa.string():  # Parquet has no unions
        pa.parquet.write_table(table, tmp_path / "x.parquet")
    for path in sorted(tmp_path.iterdir()):
        for read in (read_table, lambda path: load_table(path, "l", CLASSES)):
            with pytest.raises(InvalidInputError, match=message) as caught:
                read(path)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather", "x.xlsx"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 broken", b"ARROW1"])
def test_damaged_files_are_refused_in_one_line(tmp_path, name, content):
    if name == "x.xlsx":
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=rf"{name} is not a readable \w+ \w+ \(") as no:
        read_table(tmp_path / name)
    assert "\n" not in str(no.value)
    assert str(no.value).count(str(tmp_path)) == 1


def test_a_workbook_with_a_password_is_refused(tmp_path):
    path = tmp_path / "x.xlsx"
    write_book(path, ("s", [["a"], [1]]))
    content = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = -1
        while (start := content.find(mark, start + 1)) >= 0:
            content[start + flags] |= 1  # says that the member is encrypted
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"x\.xlsx is not a readable Excel .*encrypted"):
        read_table(path)
    # Excel puts what it encrypts into an envelope of the older format.
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504))
    with pytest.raises(InvalidInputError, match=r"x\.xlsx: .*one with a password; save it as"):
        read_table(path)


def test_other_spreadsheets_and_missing_packages_say_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "x.ods").write_bytes(b"PK")
    with pytest.raises(InvalidInputError, match=r"read from \.xlsx; got '\.ods'"):
        read_table(tmp_path / "x.ods")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match=r"Excel workbook needs .*'openpyxl'.*\[table\]"):
        read_table(tmp_path / "x.xlsx")


def test_missing_files_and_folders_are_named(tmp_path):
    for read in (read_table, column_names):
        with pytest.raises(MissingFileError, match=r"There is no file .*none\.csv"):
            read(tmp_path / "none.csv")
        with pytest.raises(InvalidInputError, match="is a folder; give a file"):
            read(tmp_path)


def test_one_thing_is_spelled_in_one_way():
    check_spelled_once(["cat", "dog", "cat", "polar bear"])
    with pytest.raises(InvalidInputError, match="class 'Cat' differs from 'cat' in capitals"):
        check_spelled_once(["cat", "dog", "Cat"])


def test_a_table_can_be_made_of_columns():
    table = Table(("a",), (np.array([1.0, 2.0]),))
    assert table.n_rows == 2
    assert table.numbers([0]).tolist() == [[1.0], [2.0]]


# What signatures, features, labels, descriptions and lists of pictures make of their tables.

CLASSES = {"cat": [1, 0], "dog": [0, 1]}


def features_of(path, **options):
    table = read_feature_table(path, **options)
    return table.X.tolist(), table.ids


#: Content of a table of features, the features, the names of the samples, the note.
FEATURES = {
    "a column that numbers the samples": (
        "id,f0,f1\n11,1.5,2\n12,3,4\n",
        ["11", "12"],
        "the column 'id' numbers the samples: it names them and is no feature",
    ),
    "numbers in any order, called id": (
        "f0,image_id,f1\n1.5,40,2\n3,7,4\n",
        ["40", "7"],
        "image_id",
    ),
    "one sample with a number": ("id,f0,f1\n7,1.5,2\n", ["7"], "'id' numbers the samples"),
    "an index without a title": (",f0,f1\n5,1.5,2\n9,3,4\n", ["5", "9"], None),
    "a count without a header": ("1,1.5,2\n2,3,4\n3,5,6\n", ["1", "2", "3"], "column 1 numbers"),
    "numbers as a header": ("id,400,410\n1,1.5,2\n2,3,4\n", ["1", "2"], "'id' numbers"),
    "names of files": ("file,f0,f1\na.jpg,1.5,2\nb.jpg,3,4\n", ["a.jpg", "b.jpg"], None),
    "names, some of them numbers": ("f,f0,f1\na1,1.5,2\n7,3,4\nb,5,6\n", ["a1", "7", "b"], None),
    "a country called NA": ("f,f0,f1\nNA,1.5,2\nZW,3,4\nDE,5,6\n", ["NA", "ZW", "DE"], None),
}


@pytest.mark.parametrize("case", FEATURES)
def test_what_names_the_samples_is_no_feature_and_what_is_left_out_is_said(tmp_path, case):
    content, ids, note = FEATURES[case]
    (tmp_path / "x.csv").write_text(content)
    table = read_feature_table(tmp_path / "x.csv")
    assert table.X.tolist() == [[1.5, 2], [3, 4], [5, 6]][: len(ids)]
    assert table.ids == ids
    assert bool(table.notes) == bool(note)
    assert (note or "") in " ".join(table.notes)


def test_who_loads_features_alone_is_warned_of_a_column_left_out(tmp_path):
    (tmp_path / "x.csv").write_text("id,f0\n11,1.5\n12,3\n")
    with pytest.warns(ZslearnWarning, match=r"x\.csv: the column 'id' numbers the samples"):
        assert load_features(tmp_path / "x.csv").tolist() == [[1.5], [3]]
    with pytest.warns(ZslearnWarning, match="the column 'id' numbers the samples"):
        load_table(tmp_path / "x.csv", ["cat", "dog"], CLASSES)
    frame = pd.DataFrame({"id": [11, 12], "f0": [1.5, 3]})
    with pytest.warns(ZslearnWarning, match="the column 'id' numbers the samples"):
        assert load_table(frame, ["cat", "dog"], CLASSES).X.tolist() == [[1.5], [3]]
    assert load_features(tmp_path / "x.csv", ignore=["id"]).tolist() == [[1.5], [3]]


NO_FEATURES = {
    "text where the first numbers should be": (
        "f0,f1\nn/a,2\nnull,4\n5,6\n",
        "Line 2, column 'f0': 'n/a' is not a number",
    ),
    "a typographic minus first": (
        "f0,f1\n\u22121.5,2\n\u22123,4\n5,6\n",
        "Line 2, column 'f0': '\u22121.5' is not a number. Its minus is a dash; write '-1.5'",
    ),
    "a word above numbers": ("f0,f1\nabc,2\n3,4\n", "Line 2, column 'f0': 'abc' is not a number"),
    "nothing but gaps first": ("f0,f1\nn/a,2\nn/a,4\n", "Line 2, column 'f0': 'n/a' is not"),
    "yes and no first": ("f0,f1\nTrue,2\nFalse,4\n", "'True' is not a number. Write 1 and 0"),
    "an empty row": ("f0,f1\n1.5,2\n\n3,4\n", "Line 3 is empty between samples"),
    "a row of delimiters": ("f0,f1\n1.5,2\n,\n3,4\n", "Line 3 is empty between samples"),
    "NaN": ("f0,f1\n1.5,2\nnan,4\n", "Line 3, column 'f0': 'nan' is not a finite number"),
    "names only": ("name\na\nb\n", "the table has no column of features"),
}


@pytest.mark.parametrize("case", NO_FEATURES)
def test_no_feature_is_dropped_or_filled_in_silence(tmp_path, case):
    content, message = NO_FEATURES[case]
    (tmp_path / "x.csv").write_text(content, "utf-8")
    with pytest.raises(InvalidInputError, match=r"x\.csv: .*" + message):
        load_features(tmp_path / "x.csv")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_arrays_with_gaps_are_no_features(tmp_path, value):
    X = np.array([[1.0, 2.0], [3.0, value]])
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X)
    pd.DataFrame(X, columns=["f0", "f1"]).to_parquet(tmp_path / "x.parquet")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(InvalidInputError, match=r"[rR]ow 1, column ('f1'|1): .*finite number"):
            load_features(path)


def test_a_member_that_is_no_array_is_refused(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X", b"no array")
    with pytest.raises(InvalidInputError, match=r"x\.npz: its member 'X' is not an array"):
        load_features(tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as archive:
        archive.writestr("names", b"no array")
        archive.writestr("vectors", b"no array")
    with pytest.raises(InvalidInputError, match=r"s\.npz: .*names is not an array"):
        Signatures.from_npz(tmp_path / "s.npz")


#: Content of a class table, its dimensions, a note.
TABLES = {
    "no header and whole numbers": ("cat,1,0\ndog,0,1\n", ("d0", "d1"), "no header"),
    "no header and fractions": ("cat,1,0\ndog,0,1.0\n", ("d0", "d1"), "d0 and so on"),
    "numbered dimensions": ("class,0,1\ncat,1,0\ndog,0,1\n", ("0", "1"), None),
    "index of pandas": (",0,1\ncat,1,0\ndog,0,1\n", ("0", "1"), None),
    "a counted index": (",class,a,b\n0,cat,1,0\n1,dog,0,1\n", ("a", "b"), None),
    "names with blanks": ("class, a,b \n cat,1,0\ndog ,0,1\n", ("a", "b"), None),
    "tabs": ("class\ta\tb\ncat\t1\t0\ndog\t0\t1\n", ("a", "b"), "tabs"),
    "yes and no": ("class,a,b\ncat,yes,no\ndog,no,yes\n", ("a", "b"), "read as 1 and 0"),
    "crosses": ("class,a,b\ncat,x,\ndog,,X\n", ("a", "b"), "x and empty cells in columns 'a', 'b'"),
    "truth": ("class,a,b\ncat,TRUE,0\ndog,False,1\n", ("a", "b"), "true and false in column 'a'"),
    "an empty line": ("class,a,b\ncat,1,0\n\ndog,0,1\n", ("a", "b"), "line 3 is empty"),
}


@pytest.mark.parametrize("case", TABLES)
def test_class_tables_keep_every_class(tmp_path, case):
    content, dimensions, note = TABLES[case]
    (tmp_path / "s.csv").write_text(content)
    signatures, notes = read_noted_signatures(tmp_path / "s.csv")
    assert signatures == Signatures.from_dict(CLASSES, dimensions)
    assert bool(notes) == bool(note)
    assert (note or "") in " ".join(notes)
    assert Signatures.from_csv(tmp_path / "s.csv") == signatures


NO_TABLES = {
    "a class or a header": ("cat,0,1\ndog,1,0\n", "may count the columns or be a sample"),
    "a class or numbers": ("cat,1,3\ndog,1,0\n", "may name the dimensions or be a class"),
    "capitals": ("class,a\nCat,1\ncat,0\n", "class 'cat' differs from 'Cat' in capitals"),
    "no name": ("class,a\ncat,1\n ,0\n", "Line 3 has no class name"),
    "half an answer": ("class,a\ncat,yes\ndog,\n", "Line 2, column 'a': 'yes' is not a number"),
    "a gap": ("class,a\ncat,1\ndog,\n", "Line 3, column 'a': '' is not a number"),
    "NaN": ("class,a\ncat,nan\n", "Line 2, column 'a': 'nan' is not a finite number"),
    "two of one name": ("class,a\ncat,1\ncat ,2\n", "Duplicate class names: 'cat'"),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_class_tables_are_never_guessed(tmp_path, case):
    content, message = NO_TABLES[case]
    (tmp_path / "s.csv").write_text(content)
    with pytest.raises(InvalidInputError, match=r"s\.csv: .*" + message):
        Signatures.from_csv(tmp_path / "s.csv")


def test_class_tables_in_every_form_are_the_same(tmp_path):
    signatures = Signatures.from_dict(CLASSES, ["a", "b"])
    frame = signatures.to_frame()
    signatures.to_csv(tmp_path / "s.csv")
    frame.to_parquet(tmp_path / "s.parquet")
    frame.reset_index().to_feather(tmp_path / "s.feather")
    frame.to_csv(tmp_path / "s.tsv", sep="\t")
    frame.reset_index().to_json(tmp_path / "s.jsonl", orient="records", lines=True)
    write_book(tmp_path / "s.xlsx", ("s", [["class", "a", "b"], ["cat", 1, 0], ["dog", 0, 1]]))
    for path in sorted(tmp_path.iterdir()):
        assert read_signatures(path) == signatures


def test_what_a_csv_file_could_not_bring_back_is_not_written(tmp_path):
    for names, message in ((["cat", "Cat"], "in capitals"), ([" cat", "dog"], "blanks around")):
        with pytest.raises(InvalidInputError, match=message):
            Signatures(names, np.eye(2)).to_csv(tmp_path / "s.csv")
        Signatures(names, np.eye(2)).to_npz(tmp_path / "s.npz")
        assert list(Signatures.from_npz(tmp_path / "s.npz")) == names


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("y.txt", " cat\ndog \n"),
        ("y.csv", "label\ncat\n dog\n"),
        ("y.csv", '"cat"\n"dog"\n\n'),
        ("y.tsv", "file\tlabel\na.jpg\tcat\nb.jpg\tdog\n"),
        ("y.csv", ",label\n0,cat\n1,dog\n"),
        ("y.jsonl", '{"label": "cat"}\n{"label": "dog"}\n'),
    ],
)
def test_labels_in_every_form(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert load_table(np.eye(2), tmp_path / name, CLASSES).y.tolist() == ["cat", "dog"]
    (tmp_path / name).write_text(content, "utf-16")
    assert load_table(np.eye(2), tmp_path / name, CLASSES).y.tolist() == ["cat", "dog"]


def test_labels_that_cannot_be_told_are_refused(tmp_path):
    (tmp_path / "y.csv").write_text("cat\n\ndog\n")
    with pytest.raises(
        InvalidInputError, match=r"y\.csv: line 2 is empty; every row needs a label"
    ):
        load_table(np.eye(2), tmp_path / "y.csv", CLASSES)
    (tmp_path / "y.csv").write_text("file,kind\na,cat\nb,dog\n")
    with pytest.raises(InvalidInputError, match="which of the columns file, kind holds the labels"):
        load_table(np.eye(2), tmp_path / "y.csv", CLASSES)
    with pytest.raises(InvalidInputError, match=r"Class 'Dog' has no signature.*closest is 'dog'"):
        load_table(np.eye(2), ["cat", "Dog"], CLASSES)
    (tmp_path / "x.csv").write_text("label,f0,f1\ncat,1,0\n,0,1\n")
    with pytest.raises(InvalidInputError, match="Line 3 has no value in column 'label'"):
        load_table(tmp_path / "x.csv", "label", CLASSES)
    frame = pd.DataFrame({"f": [1.0, 2.0], "label": pd.array(["cat", pd.NA])})
    with pytest.raises(InvalidInputError, match="Row 1 has no value in column 'label'"):
        load_table(frame, "label", CLASSES)


def test_labels_that_look_like_numbers_stay_as_written(tmp_path):
    (tmp_path / "x.csv").write_text("f0,label\n1.5,007\n3,010\n")
    data = load_table(tmp_path / "x.csv", "label", {"007": [1], "010": [2]})
    assert data.y.tolist() == ["007", "010"]


DESCRIPTIONS = {
    "texts in columns": (
        'class,text,more\nzebra,"a horse, striped",\n\nsea_lion,,\nzebra,grazes,in herds\n',
        {"zebra": ["a horse, striped", "grazes", "in herds"], "sea_lion": ["sea lion"]},
    ),
    "semicolons": ("class;text\nzebra;a horse, striped\n", {"zebra": ["a horse, striped"]}),
    "blanks around": (" class , text\n zebra , a horse \n", {"zebra": ["a horse"]}),
    "names only": ("zebra\npolar+bear\n", {"zebra": ["zebra"], "polar+bear": ["polar bear"]}),
    "names with a title": ("class\nzebra\n", {"zebra": ["zebra"]}),
    "index of pandas": (",class,text\n0,zebra,a horse\n", {"zebra": ["a horse"]}),
    "names longer than what is said of them": (
        "species,text\nnorthern flying squirrel,glides\nafrican wild dog,hunts\n",
        {"northern flying squirrel": ["glides"], "african wild dog": ["hunts"]},
    ),
    "sentences that are called classes": (
        "class,category\nWhere is my card?,card\nMoney back please,refund\n",
        {"Where is my card?": ["card"], "Money back please": ["refund"]},
    ),
}


@pytest.mark.parametrize("case", DESCRIPTIONS)
def test_descriptions(tmp_path, case):
    content, texts = DESCRIPTIONS[case]
    (tmp_path / "c.csv").write_text(content)
    assert read_descriptions(tmp_path / "c.csv") == texts


TICKETS = "text,category\n" + "".join(
    f"Where is my card number {i} please?,{'card' if i % 2 else 'refund'}\n" for i in range(8)
)
NO_DESCRIPTIONS = {
    "numbers": ("class,a,b\ncat,1,0\ndog,0,1\n", "column 'a' holds numbers.*--signatures"),
    "a row per sample": (TICKETS, "each of the 8 rows would be a class.*'category'"),
    "no header": ("zebra,a horse with stripes\notter,it swims\n", "put a line .*class,text"),
    "capitals": ("class,text\nzebra,a\nZebra,b\n", "'Zebra' differs from 'zebra' in capitals"),
    "no class": ("class,text\n,a text\n", "Line 2 has no class name in its first column"),
    "an unquoted comma": ("class,text\nzebra,a horse, striped\n", "Line 2 has 3 cells; the header"),
    "three samples of three classes": (
        "text,category\nWhere is my card?,card\nMoney back please,refund\nIt fails,login\n",
        "each of the 3 rows would be a class.*if 'category' names .* if 'text' does, call it",
    ),
    "one sample": ("message,kind\nWhere is my card?,card\n", "the 1 rows .*if 'kind' names"),
    "titles that say nothing": (
        "a,b\nWhere is my card?,card\nGive my money back,refund\n",
        "each of the 2 rows would be a class, such as 'Give my money back'.*if 'b' names",
    ),
    "samples with a number": (
        "id,text,label\n1,Where is my card?,card\n2,It fails,login\n",
        "each of the 2 rows would be a class, such as '1'.*if 'label' names",
    ),
    "samples with a number and other titles": (
        "id,asked,about\n1,Where is my card?,card\n2,It fails,login\n",
        "each of the 2 rows would be a class, such as '1'.*if 'about' names",
    ),
    "texts alone": ("text\nWhere?\nWhen?\n", "each of the 2 rows .*with 'class' above"),
    "sentences alone": (
        "a\nWhere is the card I asked for last week?\nPlease give me all of my money back\n",
        "each of the 3 rows .*with 'class' above",
    ),
}


@pytest.mark.parametrize("case", NO_DESCRIPTIONS)
def test_what_is_no_description_gets_a_question(tmp_path, case):
    content, message = NO_DESCRIPTIONS[case]
    (tmp_path / "c.csv").write_text(content)
    with pytest.raises(InvalidInputError, match=r"c\.csv: .*" + message):
        read_descriptions(tmp_path / "c.csv")


@pytest.mark.parametrize(
    "content",
    [
        "a.png,cat\nb.png,dog\n",
        "picture,class\na.png,cat\nb.png,dog\n",
        "picture;class\na.png;cat\nb.png;dog\n",
        ",picture,class\n0,a.png, cat\n1,b.png,dog\n",
    ],
)
def test_lists_of_pictures(tmp_path, content):
    for name in ("a.png", "b.png"):
        (tmp_path / name).touch()
    (tmp_path / "list.csv").write_text(content)
    found = find_pictures(tmp_path, tmp_path / "list.csv")
    assert [(picture.name, picture.label) for picture in found] == [
        ("a.png", "cat"),
        ("b.png", "dog"),
    ]
    (tmp_path / "list.csv").write_text("a.png,cat\nb.png,Cat\n")
    with pytest.raises(
        InvalidInputError, match=r"list\.csv: .*'Cat' differs from 'cat' in capitals"
    ):
        find_pictures(tmp_path, tmp_path / "list.csv")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["all/cat/1.png", "all/dog/1.png"], "one folder, 'all', and in it the folders cat, dog"),
        (
            ["test/cat/1.png", "train/cat/1.png", "train/dog/1.png"],
            "test.*train.* both hold the folders cat",
        ),
    ],
)
def test_a_folder_one_level_too_high_says_what_lies_below(tmp_path, names, message):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    with pytest.raises(InvalidInputError, match=message):
        find_pictures(tmp_path)
    assert len(find_pictures(tmp_path / names[0].partition("/")[0])) > 0


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_written_again_keeps_its_mode_and_its_link(tmp_path, mode):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.touch()
    real.chmod(mode)
    link.symlink_to(real)
    Signatures.from_dict(CLASSES).to_csv(link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == mode
    assert Signatures.from_csv(real) == Signatures.from_dict(CLASSES)
