"""Numbers read by simdjson are those that orjson reads, and so is every refusal."""

import json
import math
import struct
import threading
from itertools import chain

import numpy as np
import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from zslearn.serve import protocol as number_lists
from zslearn.serve.protocol import (
    KEPT,
    LONGEST,
    SHORTEST,
    Message,
    decode_request,
    read_request_json,
)
from zslearn.serve.responses import RequestError

pytest.importorskip("simdjson", reason="pysimdjson has no wheel for this Python")

# Long enough for simdjson, whatever the request is.
PADDING = b" " * SHORTEST


def request(data, datatype="FP32", shape=(2, 20), more=""):
    """A request with its data as text."""
    head = f'{{"inputs": [{{"name": "x", "shape": {list(shape)}, "datatype": "{datatype}", '
    return f'{head}"data": {data}}}]{more}}}'.encode() + PADDING


def outcome(body):
    """What becomes of a request: its tensors bit by bit, or the refusal."""
    try:
        found = decode_request(Message(body))
    except RequestError as error:
        return error.status, error.message
    tensors = {
        name: (array.dtype.str, array.shape, array.tobytes())
        for name, array in found.inputs.items()
    }
    return tensors, found.outputs, dict(found.parameters), found.id, found.binary


def outcomes(body):
    """What becomes of a request with simdjson and without it."""
    known = number_lists.simdjson
    first = outcome(body)
    number_lists.simdjson = None
    try:
        return first, outcome(body)
    finally:
        number_lists.simdjson = known


def is_read_fast(body):
    return isinstance(read_request_json(body)["inputs"][0]["data"], np.ndarray)


def as_text(rows):
    return "[" + ", ".join(rows) + "]"


digits = st.text("0123456789", min_size=1, max_size=25)
written = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.integers(2**53 - 5, 2**64 + 5).map(str),
    st.tuples(digits, digits, st.integers(-400, 330)).map(
        lambda part: f"-{int(part[0])}.{part[1]}e{part[2]:+}"
    ),
    st.sampled_from(
        "-0 -0.0 0 0E5 1e-400 5e-324 2.4703282292062328e-324 2.2250738585072011e-308 1e400 "
        "1.7976931348623158e308 1.7976931348623159e308 3.4028236e38 9007199254740993 "
        "18446744073709551615 18446744073709551616".split()
    ),
)
odd = st.sampled_from(
    'null true false "1.5" "[" "\\u005b" {} [] [1.5] [[1,2]] NaN Infinity -Infinity 01 +1 .5 1. 1e '
    "0x1 1_0 '1' \"\\ud800\"".split()
)
datatypes = st.sampled_from(["FP32", "FP64", "FP32", "FP64", "INT64", "UINT8", "BYTES", "FP99"])


@given(st.lists(written, min_size=1, max_size=40), st.sampled_from(["FP32", "FP64"]))
@example(["576460786663161857", "1"], "FP32")  # rounded once and rounded twice are not the same
@settings(max_examples=40, deadline=None)
def test_numbers_are_the_same_bit_by_bit(numbers, datatype):
    fast, slow = outcomes(request(as_text(numbers), datatype, [len(numbers)]))
    assert fast == slow
    values = [float(number) for number in numbers]
    if any(map(math.isinf, values)):
        assert fast[0] == 400
    elif datatype == "FP64":
        # A whole -0 is read as the whole number 0.
        expected = [0.0 if text == "-0" else float(text) for text in numbers]
        assert fast[0]["x"][2] == struct.pack(f"<{len(expected)}d", *expected)


@given(
    st.lists(
        st.lists(st.one_of(written, written, written, odd), min_size=0, max_size=22),
        min_size=0,
        max_size=3,
    ),
    datatypes,
    st.booleans(),
    st.sampled_from([(2, 20), (40,), (1,), (0,), (2, 21), (-1,), (20, 2)]),
)
@settings(max_examples=40, deadline=None)
def test_odd_lists_end_alike(rows, datatype, is_nested, shape):
    data = as_text(map(as_text, rows)) if is_nested else as_text(chain(*rows))
    fast, slow = outcomes(request(data, datatype, shape))
    assert fast == slow


@given(st.binary(min_size=1, max_size=3), st.integers(0, 2**20), st.booleans())
@settings(max_examples=40, deadline=None)
def test_damaged_requests_end_alike(noise, place, insert):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2, 20)).tolist()
    more = ', "id": "a[b", "parameters": {"top_k": 2, "candidates": ["x", "y"]}'
    body = request(json.dumps(rows), "FP64", more=more).rstrip()
    place %= len(body)
    body = body[:place] + noise + body[place + (0 if insert else len(noise)) :]
    fast, slow = outcomes(body + PADDING)
    assert fast == slow


ROW = [0.5] * 20
HIDDEN = {
    # Rows and counts look right in all of these.
    "a list of one number": as_text(["0.5", "[0.5]", *["0.5"] * 38]),
    "a list in a row": json.dumps([ROW, [*ROW[1:], [0.5]]]),
    "as many numbers as two rows": json.dumps([[*ROW[1:], [0.5] * 21]]),
    "empty lists in a row": json.dumps([[*ROW, []], [[], *ROW]]),
    "three levels": json.dumps([[ROW], [ROW]]),
    "rows of two lengths": json.dumps([ROW[1:], [*ROW, 0.5]]),
    "rows of three lengths": json.dumps([ROW, ROW[1:], [*ROW, 0.5]]),
    "a number among rows": json.dumps([ROW, *ROW]),
    "many short rows": json.dumps([[0.5, 0.5]] * 20),
    "nothing": "[]",
    "empty rows": "[[], []]",
    "no list": "0.5",
    "an object": '{"0": 0.5}',
    "a text": '"0.5"',
    "a level too many": "[" * 1025 + "]" * 1025,
    "levels without end": "[" * 100_000,
}
WHOLE = request(json.dumps([ROW, ROW]))
BODIES = {
    "a byte order mark": b"\xef\xbb\xbf" + WHOLE,
    "space before": b" \r\n\t" + WHOLE,
    "something behind": WHOLE + b"x",
    "a null byte behind": WHOLE + b"\0",
    "no UTF-8": request(json.dumps(ROW * 2), more=', "id": "').replace(b"}   ", b'\xff"}   ', 1),
    "half a surrogate": request(json.dumps(ROW * 2), more=', "id": "\\ud800"'),
    "a null letter": request(json.dumps(ROW * 2), more=', "id": "a\\u0000b"'),
    "an id that is no text": request(json.dumps(ROW * 2), more=', "id": 7'),
    "data twice": request(f'{json.dumps(ROW * 2)}, "data": {json.dumps([0.25] * 40)}'),
    "a type twice": request(f'{json.dumps(ROW * 2)}, "datatype": "FP64"'),
    "an id twice": request(json.dumps(ROW * 2), more=', "id": "1", "id": "2"'),
    "inputs twice": request(json.dumps(ROW * 2), more=', "inputs": []'),
    "a parameter twice": request(
        json.dumps(ROW * 2), more=', "parameters": {"top_k": 1, "top_k": [2]}'
    ),
    "a bracket for a list": request(
        as_text(["0.5", "[0.5]", *["0.5"] * 38]), more=', "id": "\\u005b"'
    ),
    "many keys": request(json.dumps(ROW * 2), more="".join(f', "k{i}": [{i}]' for i in range(99))),
    "inputs as an object": b'{"inputs": {"data": [1]}}' + PADDING,
    "inputs of texts": b'{"inputs": ["data", "x"]}' + PADDING,
    "no inputs": b'{"outputs": []}' + PADDING,
    "no data": b'{"inputs": [{"name": "x", "shape": [1], "datatype": "FP32"}]}' + PADDING,
    "a list": b"[1, 2]" + PADDING,
    "spaces": PADDING,
    "too large a number": request(as_text(["1e400"] * 40)),
}
BODIES |= {name: request(data) for name, data in HIDDEN.items()}
BODIES |= {f"{name}, as 60": request(data, shape=(60,)) for name, data in HIDDEN.items()}


@pytest.mark.parametrize("name", BODIES)
def test_unusual_requests_end_alike(name):
    fast, slow = outcomes(BODIES[name])
    assert fast == slow
    assert outcome(WHOLE)[0]["x"][1] == (2, 20)
    assert is_read_fast(WHOLE)  # the parser was let go


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("datatype", ["FP32", "FP64"])
def test_usual_requests_are_read_without_python_numbers(nested, datatype):
    rows = np.random.default_rng(0).standard_normal((3, 1280)).astype(np.float32)
    data = json.dumps((rows if nested else rows.ravel()).tolist())
    more = ', "outputs": [{"name": "scores"}], "parameters": {"top_k": 2}'
    body = request(data, datatype, rows.shape, more)
    assert is_read_fast(body)
    found = decode_request(Message(body))
    assert np.array_equal(found.inputs["x"], rows)
    assert [one.name for one in found.outputs] == ["scores"]
    assert found.parameters == {"top_k": 2}


def test_short_and_very_long_texts_are_for_the_other_reader(monkeypatch):
    def fail(text):
        raise AssertionError("simdjson was asked")

    monkeypatch.setattr(number_lists, "_read", fail)
    for body in (WHOLE.rstrip(), WHOLE + b" " * LONGEST):
        assert read_request_json(body) == orjson.loads(body)
    with pytest.raises(AssertionError, match="was asked"):
        read_request_json(WHOLE)


def test_a_long_text_leaves_nothing_in_the_parser_of_the_thread(monkeypatch):
    def fail():
        raise AssertionError("the parser of the thread was asked")

    monkeypatch.setattr(number_lists, "_parser", fail)
    assert is_read_fast(WHOLE + b" " * KEPT)
    with pytest.raises(AssertionError, match="was asked"):
        read_request_json(WHOLE)


def test_threads_do_not_meet():
    """Each thread reads its own numbers, while others read and fail."""
    wrong = []

    def read(seed):
        rng = np.random.default_rng(seed)
        for turn in range(30):
            values = rng.standard_normal(2000)
            if outcome(request(json.dumps([1.5] * 39)))[0] != 400:
                wrong.append(f"{seed}, {turn}: refused no wrong length")
            body = request(json.dumps(values.tolist()), "FP64", [2000])
            if outcome(body)[0]["x"][2] != values.tobytes():
                wrong.append(f"{seed}, {turn}: other numbers")

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
