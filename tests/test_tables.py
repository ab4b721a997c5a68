"""Small tables as people and programs write them: every cell is read, or its line is named.

Each case is a file and either what it holds or the words of its refusal. A reader that guesses
loses rows, shifts columns or makes NaN of most of them without a word.
"""

import datetime
import json
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from zslearn._tables import Table, check_spelled_once, column_names, read_table
from zslearn.exceptions import (
    InvalidInputError,
    InvalidTypeError,
    MissingExtraError,
    MissingFileError,
)

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


@pytest.mark.parametrize(
    ("column", "name"),
    [
        (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), "union"),
        (
            pa.StringArray.from_buffers(
                1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
            ),
            "l",
        ),
    ],
)
def test_arrow_columns_that_no_array_holds_are_refused_in_one_line(tmp_path, column, name):
    table = pa.table({name: column})
    with (
        pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as out,
    ):
        out.write_table(table)
    with pytest.raises(InvalidInputError, match=r"x\.arrow: this is not a readable Arrow file"):
        read_table(tmp_path / "x.arrow")


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather", "x.xlsx"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 broken", b"ARROW1"])
def test_damaged_files_are_refused_in_one_line(tmp_path, name, content):
    if name == "x.xlsx":
        pytest.importorskip("openpyxl")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        InvalidInputError, match=rf"{name}: this is not a readable \w+ \w+ \("
    ) as no:
        read_table(tmp_path / name)
    assert "\n" not in str(no.value)
    assert str(no.value).count(str(tmp_path)) == 1


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
