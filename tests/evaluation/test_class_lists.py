"""Splits from lists of unseen classes."""

import pytest

from zslearn.evaluation import read_class_splits
from zslearn.exceptions import InvalidInputError, MissingFileError, UnknownClassError


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_one_split_a_file(tmp_path):
    first = write(tmp_path, "split1.txt", "# unseen\nfox\n\n  bat \n")
    second = write(tmp_path, "split2.txt", "\ufeffcow\r\n")
    splits = read_class_splits([first, second], ["bat", "cow", "fox", "yak"])
    assert list(splits) == ["split1", "split2"]
    assert splits["split1"].unseen.tolist() == ["fox", "bat"]
    assert splits["split1"].seen.tolist() == ["cow", "yak"]
    assert splits["split2"].unseen.tolist() == ["cow"]


def test_numbers_stay_numbers(tmp_path):
    path = write(tmp_path, "s.txt", "3\n1\n")
    split = read_class_splits([path], [1, 2, 3])["s"]
    assert split.unseen.tolist() == [3, 1]
    assert split.seen.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("fux\n", UnknownClassError, "'fux'.*closest is 'fox'.*s.txt"),
        ("", InvalidInputError, "lists 0 of 2"),
        ("fox\nbat\n", InvalidInputError, "lists 2 of 2"),
        ("fox\nfox\n", InvalidInputError, "'fox' twice"),
    ],
)
def test_refuses_lists_that_are_no_split(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_class_splits([write(tmp_path, "s.txt", text)], ["bat", "fox"])


def test_refuses_missing_files_and_equal_names(tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*gone"):
        read_class_splits([tmp_path / "gone.txt"], ["bat", "fox"])
    path = write(tmp_path, "s.txt", "fox")
    with pytest.raises(InvalidInputError, match="two files are called 's'"):
        read_class_splits([path, path], ["bat", "fox"])
    with pytest.raises(InvalidInputError, match="paths is empty"):
        read_class_splits([], ["bat", "fox"])
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        read_class_splits([tmp_path / "b.txt"], ["bat", "fox"])
