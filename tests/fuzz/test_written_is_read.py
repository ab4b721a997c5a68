"""What was written is what is read: features, labels and signatures in every form, or a refusal.

Each case writes a small data set by another library, in a dialect drawn by its seed, and reads it
by `load_table`. Numbers, labels, names and signatures must come back exactly. Refused may be only
what cannot be told by anyone, such as a first line of 0, 1, 2. Then one thing is spoiled: the file
must be refused, or say what it left out. ``ZSLEARN_FUZZ_CASES`` is the number of cases.
"""

import csv
import io
import json
import os
import warnings

import numpy as np
import pandas as pd
import pytest

from zslearn._cells import is_no_name
from zslearn.datasets.table import read_own_data
from zslearn.encoders import read_descriptions, read_texts
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures

CASES = int(os.environ.get("ZSLEARN_FUZZ_CASES", "200"))
WORDS = [
    "cat",
    "polar bear",
    "a, b",
    'say "hi"',
    "x;y",
    "élan",
    "象",
    "7",
    "007",
    "1e3",
    "N/A",
    "-",
]
WORDS += ["o'hara", "tab\there", "two\nlines", "|bar|", "#3", "yes", "True", "sep=;", "=1+1", "−2"]
KINDS = ["csv", "csv", "csv", "tsv", "jsonl", "xlsx", "parquet", "frame"]
#: What nobody can tell; anything else that is whole must be read.
AMBIGUOUS = (
    "may count the columns or be a sample",
    "may name the dimensions or be a class",
    "Line 1, column",  # names and numbers in the first line: a header, or a sample with a mistake
    "There is no file 'kind of thing'",  # the first line was taken for a sample
)


class Drawn:
    """A data set and the way it is written, both decided by a seed."""

    def __init__(self, case):
        self.rng = rng = np.random.default_rng([case, 30])
        self.kind = str(rng.choice(KINDS))
        n_rows, n_features, n_classes = rng.integers(3, 9), rng.integers(1, 6), rng.integers(2, 6)
        self.names = [str(name) for name in rng.permutation(WORDS)[:n_classes]]
        self.y = [self.names[i] for i in rng.integers(n_classes, size=n_rows)]
        self.X = self.numbers((n_rows, n_features))
        self.S = self.numbers((n_classes, rng.integers(1, 5)))
        self.columns = self.titles(n_features)
        self.dimensions = self.titles(self.S.shape[1])
        self.header = self.kind != "csv" or bool(rng.random() < 0.7)
        self.ids = self.drawn_ids(n_rows)
        # One number above numbers, or several that do not increase, names a column to nobody.
        self.looks_headless = self.ids is None and all(is_no_name(name) for name in self.columns)
        self.labels_inside = self.header and bool(rng.random() < 0.6)

    def numbers(self, shape):
        X = self.rng.standard_normal(shape) * 10.0 ** self.rng.integers(-3, 4)
        how = self.rng.integers(4)
        X = np.round(X, 3) if how or self.kind == "xlsx" else X  # Excel keeps 15 digits
        return np.round(X) + 0.0 if how == 1 else X

    def titles(self, n):
        how = self.rng.integers(4)
        if how == 0:
            return [str(400 + 10 * i) for i in range(n)]
        if how == 1:
            return [str(i) for i in range(n)]
        if how == 2:
            words = [word for word in WORDS if word[0] != "#"]  # begins a comment
            return [str(name) for name in self.rng.permutation(words)[:n]]
        return [f"f{i}" for i in range(n)]

    def drawn_ids(self, n):
        """Names of the samples and their title: text, a number, an index, or nothing."""
        how = self.rng.integers(4)
        if how == 0 or (not self.header and how > 1):
            return None
        if how == 1:
            return "photo", [f"p{i}.jpg" for i in self.rng.permutation(n)]
        return ("id" if how == 2 else ""), [str(i) for i in np.sort(self.rng.choice(900, n, False))]


def records(drawn):
    """Return the rows of the table of features, the header first if there is one."""
    rows = [[repr(value) for value in row] for row in drawn.X.tolist()]
    head = list(drawn.columns)
    if drawn.labels_inside:
        at = int(drawn.rng.integers(len(head) + 1))
        for row, label in zip([head, *rows], ["kind of thing", *drawn.y], strict=True):
            row.insert(at, label)
    if drawn.ids is not None:
        for row, name in zip([head, *rows], [drawn.ids[0], *drawn.ids[1]], strict=True):
            row.insert(0, name)
    return [head, *rows] if drawn.header else rows


def delimited(rows, rng, delimiter=None, end=True):
    """Write rows as CSV in one of the ways programs do."""
    delimiter = delimiter or str(rng.choice([",", ",", ";", "\t", "|"]))
    delimiter = delimiter if len(rows[0]) > 1 else ","  # nothing to tell it by in one column
    if delimiter != "," and len(rows[0]) > 1 and rng.random() < 0.5:
        rows = [[with_comma(cell) for cell in row] for row in rows]
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    terminator = "\r\n" if rng.random() < 0.3 else "\n"
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=terminator)
    ending = [""] if end and len(rows[0]) > 1 and rng.random() < 0.1 else []
    writer.writerows([*row, *ending] for row in rows)
    content = text.getvalue() + terminator * int(rng.integers(3))
    return content.encode(str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])))


def with_comma(cell):
    """A fraction with a decimal comma."""
    try:
        float(cell)
    except ValueError:
        return cell
    return cell.replace(".", ",")


def typed(rows):
    """Return records as a frame of numbers and text."""
    frame = pd.DataFrame(rows[1:], columns=rows[0])
    for i, name in enumerate(rows[0]):
        try:
            numbers = frame.iloc[:, i].astype(float)
        except ValueError:
            continue
        if name not in ("kind of thing", "class"):
            frame[name] = numbers
    return frame.set_index("") if rows[0][0] == "" else frame


def write(drawn, folder):
    """Write the data set; return what `load_table` is given."""
    features = write_table(records(drawn), drawn.kind, drawn.rng, folder)
    return features, write_labels(drawn, folder), write_signatures(drawn, folder)


def write_table(rows, kind, rng, folder):
    """Write rows in the form of a kind; return the file, or the frame."""
    path = folder / f"x.{kind}"
    if kind in ("csv", "tsv"):
        path.write_bytes(delimited(rows, rng, "\t" if kind == "tsv" else None))
    elif kind == "jsonl":
        given = [dict(zip(rows[0], map(value_of, row), strict=True)) for row in rows[1:]]
        path.write_text("".join(json.dumps(row) + "\n" for row in given))
    elif kind == "xlsx":
        write_book(path, rows)
    elif kind == "parquet":
        typed(rows).to_parquet(path)
    return typed(rows) if kind == "frame" else path


def value_of(cell):
    try:
        return float(cell) if "." in cell else cell
    except ValueError:
        return cell


def write_book(path, rows):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for i, row in enumerate(rows, 1):
        for j, cell in enumerate(row, 1):
            # A text such as =1+1 stays a text, as it does where a person types it with a quote.
            written = book.active.cell(i, j, value_of(cell))
            written.data_type = "n" if isinstance(written.value, float) else "s"
    book.save(path)


def write_labels(drawn, folder):
    if drawn.labels_inside:
        return "kind of thing"
    title = [["label"]] if drawn.rng.random() < 0.5 else []
    if any("\n" in label or "\t" in label for label in drawn.y) or drawn.rng.random() < 0.3:
        return np.array(drawn.y)
    path = folder / str(drawn.rng.choice(["y.csv", "y.txt"]))
    if path.suffix == ".txt":
        path.write_text("\n".join([*(t for row in title for t in row), *drawn.y]), "utf-8")
        return path
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([*title, *([label] for label in drawn.y)])
    path.write_text(text.getvalue(), "utf-8", newline="")
    return path


def write_signatures(drawn, folder):
    how = drawn.rng.integers(5)
    drawn.S = np.round(drawn.S, 3) if how == 0 else drawn.S
    rows = [[n, *map(repr, row)] for n, row in zip(drawn.names, drawn.S.tolist(), strict=True)]
    rows.insert(0, ["class", *drawn.dimensions])
    path = folder / ("s.xlsx" if how == 0 else "s.npz" if how == 1 else "s.csv")
    if how == 0:
        write_book(path, rows)
    elif how == 1:
        Signatures(drawn.names, drawn.S, drawn.dimensions).to_npz(path)
    elif how == 2:
        Signatures(drawn.names, drawn.S, drawn.dimensions).to_csv(path)
    else:
        path.write_bytes(delimited(rows, drawn.rng, end=False))
    return path


def problem(drawn, folder):
    """Return what is wrong with how one data set came back; None if nothing is."""
    try:
        own = read_own_data(*write(drawn, folder))
    except (InvalidInputError, MissingFileError) as error:
        # A title over two lines makes the header end in the second.
        told = (
            str(error).replace("Line 2", "Line 1") if "two\nlines" in drawn.columns else str(error)
        )
        known = drawn.looks_headless or any(words in told for words in AMBIGUOUS)
        return None if known else f"refused: {error}"
    if not np.array_equal(own.X, drawn.X):
        return f"features {own.X.tolist()} in place of {drawn.X.tolist()}"
    if own.y.tolist() != drawn.y:
        return f"labels {own.y.tolist()} in place of {drawn.y}"
    if own.signatures != Signatures(drawn.names, drawn.S, drawn.dimensions):
        return f"signatures {own.signatures} in place of {drawn.names} {drawn.dimensions}"
    names = None if drawn.ids is None else drawn.ids[1]
    found = None if own.image_files is None else [str(name) for name in own.image_files]
    if names is not None and found is not None:
        found = [name.removesuffix(".0") for name in found]
    return None if found == names else f"names {found} in place of {names}"


def test_what_was_written_is_read(tmp_path):
    found = {}
    for case in range(CASES):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            wrong = problem(Drawn(case), tmp_path)
        if wrong:
            found[case] = wrong
    assert found == {}


def drawn_texts(rng, n):
    """Sentences of odd words, one of them plain."""
    drawn = (" ".join(map(str, rng.choice(WORDS, rng.integers(1, 7)))) for _ in range(n))
    return [f"{text} today" if rng.random() < 0.5 else f"today {text}" for text in drawn]


def test_texts_with_their_classes_are_read_as_written(tmp_path):
    found = {}
    for case in range(CASES):
        rng = np.random.default_rng([case, 33])
        n, kind = int(rng.integers(2, 9)), str(rng.choice(KINDS))
        texts = drawn_texts(rng, n)
        labels = [str(name) for name in rng.choice(WORDS, n)]
        numbers = [repr(value) for value in np.round(rng.standard_normal(n), 3).tolist()]
        columns = [["what was said", *texts], ["kind of thing", *labels], ["n", *numbers]]
        rows = list(zip(*(columns[i] for i in rng.permutation(3)), strict=True))
        source = write_table(rows, kind, rng, tmp_path)
        try:
            samples = read_texts(source, text="what was said", labels="kind of thing")
            read = [tuple(sample) for sample in samples]
        except InvalidInputError as error:
            read = str(error)
        if read != [(str(i), texts[i], labels[i]) for i in range(n)]:
            found[case] = f"{kind}: {read} in place of {texts} {labels}"
    assert found == {}


def test_descriptions_are_read_as_written(tmp_path):
    found = {}
    for case in range(CASES):
        rng = np.random.default_rng([case, 34])
        kind = str(rng.choice(["csv", "csv", "tsv", "jsonl", "xlsx", "parquet"]))
        names = [str(name) for name in rng.permutation(WORDS)[: rng.integers(1, 6)]]
        told = {name: drawn_texts(rng, int(rng.integers(1, 3))) for name in names}
        rows = [("class", "description"), *((n, text) for n in names for text in told[n])]
        try:
            read = read_descriptions(write_table(rows, kind, rng, tmp_path))
        except InvalidInputError as error:
            read = str(error)
        if read != told:
            found[case] = f"{kind}: {read} in place of {told}"
    assert found == {}


SPOILERS = ["n/a", "", "nan", "inf", "−1.5", "1_0", "0x1f", "yes", "1.5.2", "1,5,2", "text"]


def test_a_spoiled_number_is_never_read_as_another(tmp_path):
    """One cell of the features is replaced; its line and the cell are named."""
    path, found = tmp_path / "x.csv", {}
    for case in range(CASES):
        rng = np.random.default_rng([case, 31])
        X = rng.standard_normal((int(rng.integers(3, 7)), int(rng.integers(2, 6))))
        rows = [
            [f"f{i}" for i in range(X.shape[1])],
            *([repr(v) for v in row] for row in X.tolist()),
        ]
        row, column = int(rng.integers(1, len(rows))), int(rng.integers(X.shape[1]))
        rows[row][column] = spoiler = str(rng.choice(SPOILERS))
        delimiter = str(rng.choice([",", ";", "\t", "|"]))
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter).writerows(rows)
        try:
            own = read_own_data(path, ["a"] * len(X), {"a": [1]})
            found[case] = f"{spoiler!r} was read as {own.X.tolist()}"
        except InvalidInputError as error:
            if f"Line {row + 1}, column 'f{column}': {spoiler!r}" not in str(error):
                found[case] = str(error)
    assert found == {}


@pytest.mark.parametrize("kind", ["drop", "cut", "blank", "delimiters", "twice"])
def test_a_spoiled_row_is_never_lost_in_silence(tmp_path, kind):
    """A cell dropped, a file cut off, an empty row: refused, or every whole row is there."""
    path, found = tmp_path / "x.csv", {}
    for case in range(max(1, CASES // 5)):
        rng = np.random.default_rng([case, 32])
        X = np.round(rng.standard_normal((int(rng.integers(4, 8)), int(rng.integers(2, 6)))), 4)
        rows = [["file", *(f"f{i}" for i in range(X.shape[1]))]]
        rows += [[f"p{i}", *map(repr, row)] for i, row in enumerate(X.tolist())]
        row = int(rng.integers(1, len(rows) - 1))
        if kind == "drop":
            del rows[row][int(rng.integers(1, len(rows[row])))]
        elif kind == "blank":
            rows.insert(row + 1, [])
        elif kind == "delimiters":
            rows.insert(row + 1, [""] * len(rows[0]))
        elif kind == "twice":
            rows[0][1] = rows[0][-1] if len(rows[0]) > 2 else "file"
        text = "".join(",".join(cells) + "\n" for cells in rows)
        if kind == "cut":
            text = text[: text.index(f"p{row},") + len(f"p{row},") - 1]
        path.write_text(text)
        try:
            own = read_own_data(path, ["a"] * len(X), {"a": [1]})
            found[case] = f"{own.X.shape} read from\n{text}"
        except InvalidInputError as error:
            if not any(w in str(error) for w in ("Line ", "two columns are called", "X has")):
                found[case] = str(error)
    assert found == {}
