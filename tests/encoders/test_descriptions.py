"""Files of class names and descriptions."""

import pytest

from zslearn.encoders.samples import read_descriptions
from zslearn.exceptions import InvalidInputError, ZslearnError


def test_names_one_per_line(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("1\tpolar+bear\n2\tzebra\n")
    assert read_descriptions(path) == {"polar+bear": ["polar bear"], "zebra": ["zebra"]}


def test_descriptions_in_columns_and_lines_add_up(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text(
        '\ufeffclass,text,more\nzebra,"a horse, striped",\n\nsea_lion,,\nzebra,grazes,in herds\n'
    )
    assert read_descriptions(path) == {
        "zebra": ["a horse, striped", "grazes", "in herds"],
        "sea_lion": ["sea lion"],
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"class,text\n", "a header but no line below it"),
        (b"class,text\n,a text\n", "Line 2 has no class name in its first column"),
        (b"class,text\nzebra,a horse, striped\n", "Line 2 has 3 cells; the header has 2. *Put"),
        (b'class,text\nzebra,"open\n', "Line 2 is not CSV"),
        (b"class,text\nz\xe9bra,x\n", "not UTF-8 text"),
    ],
)
def test_refusals(content, message, tmp_path):
    path = tmp_path / "classes.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_descriptions(path)
    assert "classes.csv" in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere.csv", tmp_path / "nowhere.txt"):
        with pytest.raises(ZslearnError, match=r"is a folder|There is no file"):
            read_descriptions(path)
