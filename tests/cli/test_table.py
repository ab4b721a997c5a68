import json

import numpy as np

from zslearn.cli.output import display_width, echo_json, format_table


def test_columns_line_up_with_text_to_the_left_and_numbers_to_the_right():
    rows = [{"name": "ox", "n": 7, "ok": True}, {"name": "zebra", "n": 1234}]
    lines = format_table(rows, {"name": "class", "n": "rows", "ok": "fine"}).split("\n")
    assert lines == [
        "class  rows  fine",
        "-----  ----  ----",
        "ox        7  yes",
        "zebra  1234",
    ]


def test_wide_letters_take_two_columns():
    assert display_width("λ") == 1
    assert display_width("斑馬") == 4
    lines = format_table([{"a": "斑馬", "b": 1}, {"a": "x", "b": 2}], {"a": "", "b": "b"})
    assert [display_width(line) for line in lines.split("\n")][2:] == [7, 7]


def test_no_rows_is_a_header():
    assert format_table([], {"a": "name"}) == "name\n----"


def test_json_takes_numpy_values_and_has_no_nan(capsys):
    echo_json({"a": np.float32(0.5), "b": np.array([1.0, np.nan]), 3: (np.int64(2), "é")})
    assert json.loads(capsys.readouterr().out) == {"a": 0.5, "b": [1.0, None], "3": [2, "é"]}


def test_escape_sequences_are_not_sent_to_the_terminal():
    name = "\x1b[31mred\x1b[0m\x1b]0;title\x07 fox\r\n\u202e"
    assert format_table([{"n": name}], {"n": "name"}).splitlines()[-1] == "red fox"
