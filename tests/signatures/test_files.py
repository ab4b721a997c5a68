"""Class tables in CSV and npz files: exact, whole, never pickled."""

import os
import pickle
import stat

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from tests.signature_tables import DIMENSIONS, in_csv, make_animals, tables, with_folder
from zslearn.exceptions import InvalidInputError, MissingFileError
from zslearn.signatures import Signatures


@pytest.fixture
def animals():
    return make_animals()


@with_folder
@given(table=tables().filter(in_csv))
def test_csv_brings_everything_but_blocks_back(tmp_path, table):
    table.to_csv(tmp_path / "table.csv")
    integers = table.names.dtype.kind == "i"
    back = Signatures.from_csv(tmp_path / "table.csv", int_names=integers)
    assert back == table
    assert back.vectors.tobytes() == table.vectors.tobytes()


@with_folder
@given(table=tables())
def test_npz_brings_everything_back(tmp_path, table):
    joined = table.join(Signatures.one_hot(table.names))
    joined.to_npz(tmp_path / "table.npz")
    back = Signatures.from_npz(tmp_path / "table.npz")
    assert back == joined
    assert back.names.dtype.kind == table.names.dtype.kind
    assert back.vectors.tobytes() == joined.vectors.tobytes()


def test_integer_names_are_text_in_csv_unless_asked_for(tmp_path):
    Signatures([7, 8], np.eye(2)).to_csv(tmp_path / "t.csv")
    assert list(Signatures.from_csv(tmp_path / "t.csv")) == ["7", "8"]
    assert list(Signatures.from_csv(tmp_path / "t.csv", int_names=True)) == [7, 8]


def test_no_name_is_a_formula_for_a_spreadsheet_and_all_come_back(tmp_path):
    names = ["=1+1", "+x", "-x", "@x", "'=x", "''=x", "'", "'x", "-5", "'-5", "x=1"]
    table = Signatures(names, np.arange(22).reshape(11, 2), ["=d", "'=d"])
    table.to_csv(tmp_path / "odd.csv")
    cells = [line.split(",")[0] for line in (tmp_path / "odd.csv").read_text().splitlines()]
    assert not any(cell.startswith(("=", "+", "@", "-x")) for cell in cells)
    again = Signatures.from_csv(tmp_path / "odd.csv")
    assert list(again) == names
    assert again.dimensions == ("=d", "'=d")


def test_csv_is_what_a_person_would_write(animals, tmp_path):
    animals.to_csv(tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_bytes().decode()
    assert text.splitlines()[:2] == ["class,stripes,tail,swims", "zebra,1.0,1.0,0.0"]
    assert "\r" not in text


def test_csv_from_other_programs_is_read(animals, tmp_path):
    frame = pd.DataFrame(animals.vectors, index=list(animals), columns=list(DIMENSIONS))
    frame.to_csv(tmp_path / "t.csv", encoding="utf-8-sig", lineterminator="\r\n")
    (tmp_path / "t.csv").write_bytes((tmp_path / "t.csv").read_bytes() + b"\r\n\r\n")
    assert Signatures.from_csv(tmp_path / "t.csv") == animals


def test_a_big_table_goes_through_npz(tmp_path):
    names = [f"n{i:08d}" for i in range(21_841)]
    table = Signatures(names, np.random.default_rng(0).standard_normal((21_841, 200)))
    table.to_npz(tmp_path / "big.npz")
    assert Signatures.from_npz(tmp_path / "big.npz") == table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file is empty"),
        (b"class\na\n", "at least one dimension, as in 'class,stripes,swims'"),
        (b"class,x\n", "there is a header but no line below it"),
        (b"class,x,y\na,1,2\n\nb,1\n", "Line 4 has 2 cells; the header has 3"),
        (b"class,x,y\na,1,2\nb,1,tall\n", "Line 3, column 'y': 'tall' is not a number"),
        (b"class,x,y\na,1,\n", "Line 2, column 'y': '' is not a number"),
        (b"class,x,y\na,1,nan\n", "Line 2, column 'y': 'nan' is not a finite number"),
        (b"class,x\na,1\na,2\n", "Duplicate class names: 'a'"),
        (b"class,x\n\xff,1\n", "not UTF-8 text"),
        (b'class,x\n"a"b,1\n', "Line 2 is not CSV"),
        (b'class,x\n"a,1\n', "Line 2 is not CSV"),
    ],
)
def test_bad_csv_is_refused_with_file_and_line(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=f"bad.csv: .*{message}"):
        Signatures.from_csv(path)


def test_a_text_name_is_refused_where_integers_are_asked_for(tmp_path):
    (tmp_path / "t.csv").write_text("class,x\n1,0\nb,1\n")
    with pytest.raises(InvalidInputError, match="The class name 'b' is not an integer"):
        Signatures.from_csv(tmp_path / "t.csv", int_names=True)


def test_npz_of_names_and_vectors_alone_is_enough(tmp_path):
    np.savez_compressed(tmp_path / "own.npz", names=[2, 1], vectors=np.eye(2), other=[1])
    assert Signatures.from_npz(str(tmp_path / "own.npz")) == Signatures([2, 1], np.eye(2))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"names": ["a"]}, "lacks vectors; it holds names"),
        ({}, "lacks names and vectors; it holds nothing"),
        ({"names": np.array(["a"], dtype=object), "vectors": [[1]]}, "pickled objects are never"),
        ({"names": ["a", "b"], "vectors": [[1]]}, "2 class names but 1 vectors"),
        (
            {"names": ["a"], "vectors": [[1, 2]], "block_names": ["l"], "block_stops": [1]},
            "blocks must cover the 2 dimensions",
        ),
    ],
)
def test_bad_npz_is_refused_with_its_name(tmp_path, arrays, message):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InvalidInputError, match=f"bad.npz: .*{message}"):
        Signatures.from_npz(tmp_path / "bad.npz")


class Trap:
    """Something that acts when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("sprung",)


def test_a_pickle_in_a_file_is_never_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("trap.npz", names=np.array([Trap()], dtype=object), vectors=[[1]])
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InvalidInputError, match="pickled objects are never loaded"):
        Signatures.from_npz("trap.npz")
    with pytest.raises(InvalidInputError, match=r"not an \.npz archive"):
        Signatures.from_npz("plain.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x93NUMPY\x01\x00"])
def test_what_is_no_archive_is_refused(tmp_path, content):
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"t\.npz: This is not an \.npz archive"):
        Signatures.from_npz(tmp_path / "t.npz")


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "t.npz"
    Signatures.one_hot(range(30)).to_npz(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"t\.npz: The archive is damaged"):
        Signatures.from_npz(path)


@pytest.mark.parametrize("read", [Signatures.from_csv, Signatures.from_npz])
def test_a_missing_file_is_named(tmp_path, read):
    with pytest.raises(MissingFileError, match=r"There is no file .*nowhere\.x.*check the path"):
        read(tmp_path / "nowhere.x")


@pytest.mark.parametrize("write", [Signatures.to_csv, Signatures.to_npz])
def test_a_missing_folder_is_named(animals, tmp_path, write):
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere.*create it first"):
        write(animals, tmp_path / "nowhere" / "t")


@pytest.mark.parametrize("write", [Signatures.to_csv, Signatures.to_npz])
def test_files_take_the_place_of_older_ones_whole(animals, tmp_path, write):
    path = tmp_path / "table"
    path.write_text("old")
    write(animals, path)
    (tmp_path / "ordinary").touch()
    assert {file.name for file in tmp_path.iterdir()} == {"table", "ordinary"}
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("table", "ordinary")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("write", [Signatures.to_csv, Signatures.to_npz])
def test_a_write_that_fails_leaves_the_old_file(animals, tmp_path, monkeypatch, write):
    path = tmp_path / "table"
    path.write_text("old")

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(animals, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["table"]


def test_a_first_line_that_counts_nothing_is_a_class(tmp_path):
    (tmp_path / "t.csv").write_text("cat,0,1,1\ndog,1,0,1\n")
    assert Signatures.from_csv(tmp_path / "t.csv").vectors.tolist() == [[0, 1, 1], [1, 0, 1]]
    (tmp_path / "t.csv").write_text("cat,1,3\ndog,1,0\n")
    with pytest.raises(InvalidInputError, match="may name the dimensions or be a class"):
        Signatures.from_csv(tmp_path / "t.csv")
