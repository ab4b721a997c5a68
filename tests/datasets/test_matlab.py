"""MATLAB files are read as scipy reads whole ones, and a damaged one ends in one line."""

import contextlib
import tracemalloc

import h5py
import numpy as np
import pytest
from scipy.io import loadmat, savemat

from zslearn.datasets.matlab import matlab_names, read_matlab, read_matrix
from zslearn.exceptions import InvalidInputError, MissingFileError

CELLS = np.array([["cat"], ["polar bear"], ["ü€"]], dtype=object)
VARIABLES = {
    "double": np.random.default_rng(0).standard_normal((3, 4)),
    "single": np.float32([[1, 2]]),
    "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "cube": np.arange(24, dtype=np.int64).reshape(2, 3, 4),
    "empty": np.empty((0, 3)),
    "flags": np.array([[True, False]]),
    "a_name_of_more_letters": np.ones((1, 1), np.int16),
}


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def file(tmp_path, request):
    path = tmp_path / "a.mat"
    other = {"cells": CELLS, "text": "hello", "lines": np.array(["ab", "cd"])}
    struct = {"struct": {"x": np.eye(2), "t": "hi", "c": CELLS}}
    savemat(path, VARIABLES | other | struct, do_compression=request.param)
    return path


def test_numbers_are_those_of_scipy(file):
    got, expected = read_matlab(file), loadmat(file)
    for name in VARIABLES:
        assert got[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(got[name], expected[name], strict=True)


def test_texts_cells_and_structs(file):
    got = read_matlab(file)
    assert got["cells"] == ["cat", "polar bear", "ü€"]
    assert got["text"].tolist() == ["hello"]
    assert got["lines"].tolist() == ["ab", "cd"]
    assert got["struct"]["x"].tolist() == [[1, 0], [0, 1]]
    assert got["struct"]["t"].tolist() == ["hi"]
    assert got["struct"]["c"] == ["cat", "polar bear", "ü€"]


def test_names_and_selection(file):
    assert matlab_names(file) == [*VARIABLES, "cells", "text", "lines", "struct"]
    assert list(read_matlab(file, ("cube", "none"))) == ["cube"]


def test_big_endian(tmp_path):
    """The same file as a machine of the other byte order writes it."""
    savemat(tmp_path / "a.mat", {"x": np.array([[1.0, 2.0]])}, do_compression=False)
    content = (tmp_path / "a.mat").read_bytes()
    words = np.frombuffer(content[128:], "<u4").byteswap().tobytes()
    # Small elements pack two halves into a word, and doubles are eight bytes.
    values = np.array([1.0, 2.0], ">f8").tobytes()
    body = words[: -len(values)] + values
    name = body.index(b"\0\1\0\1")
    body = body[: name + 4] + b"x\0\0\0" + body[name + 8 :]
    (tmp_path / "b.mat").write_bytes(content[:124] + b"\x01\x00MI" + body)
    assert read_matlab(tmp_path / "b.mat")["x"].tolist() == [[1.0, 2.0]]


def test_every_cut_and_every_flipped_byte_ends_in_one_line(file):
    """One flipped byte in such a file ended the interpreter inside scipy."""
    content = file.read_bytes()
    rng = np.random.default_rng(1)
    places = rng.choice(len(content), 300, replace=False)
    for place in places:
        for bad in (content[:place], _flipped(content, place, int(rng.integers(1, 256)))):
            file.write_bytes(bad)
            with contextlib.suppress(InvalidInputError):
                read_matlab(file)


def _flipped(content, place, by):
    return content[:place] + bytes([content[place] ^ by]) + content[place + 1 :]


def test_other_kinds_are_named(tmp_path):
    savemat(tmp_path / "a.mat", {"z": np.array([[1j]]), "x": np.eye(2)})
    with pytest.raises(InvalidInputError, match=r"a\.mat is not a readable MATLAB file \('z'"):
        read_matlab(tmp_path / "a.mat")
    (tmp_path / "b.mat").write_bytes(bytes(200))
    with pytest.raises(InvalidInputError, match=r"version is not one from 5 to 7\.3"):
        read_matlab(tmp_path / "b.mat")
    with pytest.raises(MissingFileError, match="There is no file"):
        read_matlab(tmp_path / "none.mat")


def test_a_matrix_is_asked_for(file):
    stored = read_matlab(file)
    assert read_matrix(stored, "double", file).shape == (3, 4)
    for name in ("cells", "cube", "struct", "text"):
        with pytest.raises(InvalidInputError, match=f"{name!r} must be a matrix of numbers"):
            read_matrix(stored, name, file)


def test_version_73_files_keep_to_themselves(tmp_path):
    with h5py.File(tmp_path / "other.mat", "w") as file:
        file["x"] = np.eye(2)
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["x"] = h5py.ExternalLink("other.mat", "/x")
    with pytest.raises(InvalidInputError, match="'x' is a link to another place"):
        read_matlab(tmp_path / "a.mat")


def test_a_cell_named_many_times_takes_its_memory_once(tmp_path):
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        cell = file.create_dataset("#refs#/a", data=np.full(400_000, ord("x"), dtype=np.uint16))
        other = file.create_dataset("#refs#/b", data=np.uint16([ord("y")]))
        names = [[*[cell.ref] * 2000, other.ref]]
        file["names"] = np.array(names, dtype=h5py.ref_dtype)
    tracemalloc.start()
    try:
        found = read_matlab(tmp_path / "a.mat")["names"]
        assert tracemalloc.get_traced_memory()[1] < 5e7
    finally:
        tracemalloc.stop()
    assert len(found) == 2001
    assert {len(text) for text in found[:-1]} == {400_000}
    assert found[-1] == "y"


def test_structs_that_name_each_other_are_not_read_without_end(tmp_path):
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        level = file.create_group("#refs#/0")
        level["x"] = np.eye(2)
        for depth in range(1, 7):
            above = file.create_group(f"#refs#/{depth}")
            for i in range(16):
                above[str(i)] = level
            level = above
        file["s"] = level
    with pytest.raises(InvalidInputError, match="structs within structs without end"):
        read_matlab(tmp_path / "a.mat")
