import os

import pytest

from zslearn._files import read_names
from zslearn.cli.output import names_in, write_rows
from zslearn.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("text", "names"),
    [(None, ()), ("", ()), (" a ,b,, c d", ("a", "b", "c d")), ('"a,b",c', ("a,b", "c"))],
)
def test_lists_of_names(text, names):
    assert names_in(text) == names


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "n.txt").write_bytes(b"\xff\xff")
    with pytest.raises(InvalidInputError, match="not UTF-8 text"):
        read_names(str(tmp_path / "n.txt"))


def test_rows_with_different_keys_share_a_table(tmp_path):
    write_rows(str(tmp_path / "r.csv"), [{"a": 1, "b": None}, {"a": "x,y", "c": 0.1}])
    assert (tmp_path / "r.csv").read_text() == 'a,b,c\n1,,\n"x,y",,0.1\n'
    assert os.listdir(tmp_path) == ["r.csv"]


def test_cells_that_a_spreadsheet_would_run_are_guarded(tmp_path, monkeypatch):
    rows = [{"sample": "=cmd()", "class": "-1", "score": -0.5}, {"sample": "@x", "class": "-fox"}]
    write_rows(str(tmp_path / "r.csv"), rows)
    assert (tmp_path / "r.csv").read_text() == ("sample,class,score\n'=cmd(),-1,-0.5\n'@x,'-fox,\n")
    monkeypatch.setenv("ZSLEARN_CSV_GUARD", "0")
    write_rows(str(tmp_path / "r.csv"), rows)
    assert (tmp_path / "r.csv").read_text().startswith("sample,class,score\n=cmd(),-1,")
