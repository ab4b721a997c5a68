"""Damaged, foreign and hostile word-vector files: one line each, and no memory to speak of."""

import gzip
import os
import pickle
import struct
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest

from tests.encoders.vector_file_writers import as_binary, as_text
from zslearn.encoders import match_word_vectors
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnError

GOOD = {"zebra": [1.0, 2.0, 3.0], "otter": [4.0, 5.0, 6.0], "whale": [7.0, 8.0, 9.0]}
NAN = float("nan")


def text(**rows):
    return as_text({**GOOD, **rows})


HOSTILE = {
    "empty": (b"", "the file is empty"),
    "blank lines": (b"\n\n\n", "neither a header .* nor a word with numbers"),
    "text cut short": (as_text(GOOD, header=True)[:40], "declares 3 words and the file holds 2"),
    "row cut short": (as_text(GOOD)[:-6], "line 3 has 2 numbers; 3 are expected"),
    "binary cut short": (as_binary(GOOD)[:-9], "declares 3 words and the file ends .* after 2"),
    "more than declared": (as_binary(GOOD) + b"zebra!", "more follows behind the 3 words"),
    "huge count": (as_binary(GOOD).replace(b"3 3\n", b"999999999999 3\n"), "declares 9{12} words"),
    "huge count of text": (
        as_text(GOOD, header=True).replace(b"3 3\n", b"999999999999 3\n"),
        "declares 9{12} words and the file holds 3",
    ),
    "huge width": (b"1 2000000000\nzebra 1 2\n", "declares 1 words of 2000000000 dimensions"),
    "count beyond every integer": (b"9" * 400 + b" 3\nzebra 1 2 3\n", "line 2 has 3 numbers; 1"),
    "no words": (b"0 3\n", "declares 0 words of 3 dimensions"),
    "narrow row": (b"whale 1 2 3\nzebra 1 2\n", "line 2 has 2 numbers; 3 are expected"),
    "wide row": (b"whale 1 2 3\nzebra 1 2 3 4\n", "line 2 has 4 numbers; 3 are expected"),
    "header of another width": (b"2 5\nzebra 1 2 3\notter 1 2 3\n", "line 2 has 3 numbers; 5"),
    "NaN": (text(zebra=[1, NAN, 3]), "word 'zebra' has a value that is not finite"),
    "infinity": (text(zebra=[1, 1e999, 3]), "word 'zebra' has a value that is not finite"),
    "binary NaN": (as_binary({"zebra": [NAN]}), "word 'zebra' has a value that is not finite"),
    "zeros": (text(zebra=[0, 0, 0]), "word 'zebra' has only zeros"),
    "blank number": (
        b"whale 1 2 3\nzebra 1  3\n",
        "line 2, word 'zebra': 2 numbers; 3 are expected",
    ),
    "letters": (b"otter 1 2 3\nzebra 1 x 3\n", "line 2, word 'zebra': a number is expected"),
    "complex": (b"otter 1 2 3\nzebra 1 2j 3\n", "line 2, word 'zebra': a number is expected"),
    "UTF-16": (as_text(GOOD).decode().encode("utf-16"), "holds NUL bytes; not word vectors"),
    "Latin-1": ("zébra 1 2 3\n".encode("latin-1"), "1 words of the file are not UTF-8"),
    "zip archive": (
        b"PK\x03\x04" + b"x" * 50 + b"\n",
        "this is a zip archive or a workbook; unpack it",
    ),
    "pickle": (pickle.dumps(GOOD) + b"\n", "a pickle, which is never opened"),
    "fastText model": (
        struct.pack("<ii", 793712314, 12) + b"\n",
        r"fastText model; take the \.vec",
    ),
    "web page": (b"<!DOCTYPE html>\n<p>404\n", "this is a web page; download the file again"),
    "one endless line": (b"zebra" + b" 1" * 1_000_000, "no line break in the first megabyte"),
    "endless second line": (b"otter 1 2\n" + b"z" * 3_000_000, "line 2 is longer than 2 numbers"),
    "endless binary word": (b"1 3\n" + b"z" * 3_000_000, "declares 1 words and the file ends or"),
    "random bytes": (np.random.default_rng(0).bytes(5000), "NUL bytes|neither a header"),
    "gzip cut short": (gzip.compress(as_text(GOOD))[:-12], "gzip file is damaged or cut short"),
    "gzip flipped": (
        gzip.compress(as_text(GOOD))[:-8] + b"\0" * 8,
        "gzip file is damaged or cut short",
    ),
    "gzip in gzip": (gzip.compress(gzip.compress(as_text(GOOD))), "compressed by gzip; unpack"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(kind, tmp_path):
    content, message = HOSTILE[kind]
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError, match=message) as caught:
            match_word_vectors(["zebra"], path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert peak < 20e6


@pytest.mark.parametrize("filler", [b"\0", b"a"])
def test_a_gzip_bomb_is_not_unpacked(filler, tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", 1) as file:
        for _ in range(300):
            file.write(filler * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInputError, match="no line break in the first megabyte"):
            match_word_vectors(["zebra"], path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, message, kind in (
        ("", "is a folder; give a file", InvalidInputError),
        ("nowhere.txt", "There is no file", MissingFileError),
        ("pipe", "There is no file", MissingFileError),
    ):
        with pytest.raises(kind, match=message):
            match_word_vectors(["zebra"], tmp_path / name)


@pytest.mark.parametrize("writer", [as_text, as_binary])
def test_one_flipped_byte_never_crashes(writer, tmp_path):
    content = bytearray(writer(GOOD))
    path = tmp_path / "vectors"
    for position in range(len(content)):
        changed = bytes(content[:position]) + b"\xff" + bytes(content[position + 1 :])
        path.write_bytes(changed)
        with suppress(ZslearnError):
            match_word_vectors(["zebra"], path)


@pytest.mark.parametrize("binary", [False, True])
def test_a_large_file_costs_the_memory_of_the_rows_asked_for(binary, tmp_path):
    """A file of 60 MB, and a tenth of that memory at most."""
    path = tmp_path / "large"
    row = np.linspace(-1, 1, 300)
    record = row.astype("<f4").tobytes() if binary else " ".join(f"{v:.6f}" for v in row).encode()
    n_words = 50_000 if binary else 22_000
    with open(path, "wb") as file:
        file.write(f"{n_words} 300\n".encode())
        for i in range(n_words):
            file.write(f"word{i} ".encode() + record + b"\n")
    assert path.stat().st_size > 55e6
    tracemalloc.start()
    try:
        matched = match_word_vectors([f"word{n_words - 1}", "word7"], path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert matched.signatures.shape == (2, 300)
    assert peak < 6e6
