"""Texts from tables of every kind, and what is no table of texts."""

import json

import numpy as np
import pandas as pd
import pytest

from zslearn.encoders import Sample, read_texts
from zslearn.exceptions import ZslearnError

TEXTS = ["Where is my card?", "Money back, please; now", "It's 5 o'clock\tand late"]
KINDS = ["card", "refund", "card"]
FRAME = pd.DataFrame({"text": TEXTS, "category": KINDS})
EXPECTED = list(map(Sample, ["0", "1", "2"], TEXTS, KINDS))


def write(path, frame=FRAME):
    ending = path.suffix
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    elif ending == ".jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_excel(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_texts_of_every_kind_of_table(tmp_path, ending):
    path = write(tmp_path / f"tickets.{ending}")
    assert read_texts(path, text="text", labels="category") == EXPECTED
    assert read_texts(path, labels="category") == EXPECTED
    without = [sample._replace(label=None) for sample in EXPECTED]
    assert read_texts(path, text="text") == without


def test_texts_of_a_frame():
    assert read_texts(FRAME, labels="category") == EXPECTED
    named = FRAME.set_axis(["a", "b", "c"])
    assert [sample.name for sample in read_texts(named, labels="category")] == ["a", "b", "c"]
    twice = FRAME.set_axis(["a", "b", "a"])
    assert [sample.name for sample in read_texts(twice, labels="category")] == ["0", "1", "2"]
    ids = FRAME.assign(id=["x", "y", "z"])
    assert [s.name for s in read_texts(ids, labels="category", name="id")] == ["x", "y", "z"]


def test_texts_with_line_breaks_and_quotes(tmp_path):
    texts = ['He said "no"', "two\nlines", "semi;colon", "trailing, comma,", "ünï ✓"]
    frame = pd.DataFrame({"text": texts, "category": list("abcab")})
    path = write(tmp_path / "t.csv", frame)
    assert [sample.content for sample in read_texts(path, labels="category")] == texts


def test_labels_that_are_numbers_stay_as_they_are_written(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nWhere is it?,01\nMy card is lost,2\n")
    samples = read_texts(tmp_path / "t.csv", labels="label")
    assert [sample.label for sample in samples] == ["01", "2"]


def test_missing_texts_are_left_to_the_builder():
    texts = ["a card", None, " ", np.nan, "nan", "N/A", "nancy", "none"]
    frame = pd.DataFrame({"text": texts, "label": list("abababab")})
    found = [sample.content for sample in read_texts(frame, labels="label")]
    assert found == ["a card", "", "", "", "", "", "nancy", "none"]


NUMBERS = pd.DataFrame({"text": ["12", "13.5", "a card", "7"], "label": list("abab")})


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME, {"text": "texts"}, r"no column 'texts'; .* Did you mean 'text'\?"),
        (FRAME, {"text": "text", "labels": "kategory"}, r"no column 'kategory'.*'category'"),
        (FRAME, {}, "several columns hold text: 'text', 'category'"),
        (pd.DataFrame({"a": [1, 2]}), {}, "no column holds texts"),
        (
            NUMBERS,
            {"text": "text"},
            "no word in 3 of 4 rows, the first is '12' in row 0",
        ),
        (pd.DataFrame({"n": [1.5, 2]}), {"text": "n"}, r"'n' holds no word in 2 of 2 rows"),
        (pd.DataFrame({"t": ["2026-01-10", "?", "hi"]}), {"text": "t"}, "no word in 2 of 3 rows"),
        (pd.DataFrame({"text": ["a", 7, ["b"]]}), {"text": "text"}, "Row 1, .* holds a int, 7"),
        (
            FRAME.assign(category=["a", None, "b"]),
            {"text": "text", "labels": "category"},
            "Row 1 has",
        ),
        (
            FRAME.assign(category=["Card", "card", "b"]),
            {"labels": "category"},
            "differs from 'Card'",
        ),
        (FRAME.assign(id=[1, 1, 2]), {"labels": "category", "name": "id"}, "names 2 rows '1'"),
    ],
    ids=range(11),
)
def test_what_is_no_table_of_texts_is_one_line(frame, options, message):
    with pytest.raises(ZslearnError, match=message) as caught:
        read_texts(frame, **options)
    assert "\n" not in str(caught.value)


def test_a_column_that_tells_rows_apart_is_no_label(tmp_path):
    rows = [{"text": f"ticket {i} is late", "ticket": f"T{i}"} for i in range(5000)]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ZslearnError, match=r"t\.jsonl: column 'ticket' has 5000 different values"):
        read_texts(path, text="text", labels="ticket")
    few = pd.DataFrame(rows[:50])
    assert len(read_texts(few, text="text", labels="ticket")) == 50


def test_a_mistake_names_the_line(tmp_path):
    (tmp_path / "t.csv").write_text("text,label\nWhere is it?,a\nLost my card,\n")
    with pytest.raises(ZslearnError, match=r"t\.csv: Line 3 has no value in column 'label'"):
        read_texts(tmp_path / "t.csv", labels="label")
