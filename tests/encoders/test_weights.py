"""Weights are read out of PyTorch files without running anything in them."""

import collections
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from zslearn.encoders.efficientnet import read_state_dict
from zslearn.exceptions import ModelFileError

PATH = Path("net.pth")
MAGIC = 0x1950A86A20F9469CFC6C
MACHINE = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"int": 4}}


class Global:
    """Pickled as a name of a module, whether or not the module is there."""

    def __init__(self, module, name):
        self.name = f"c{module}\n{name}\n".encode()


def pickled(value):
    """Pickle by hand what PyTorch writes: dictionaries, tuples, numbers, texts, tensors."""
    if isinstance(value, Global):
        return value.name
    if isinstance(value, dict):
        items = b"".join(pickled(key) + pickled(item) for key, item in value.items())
        return b"}(" + items + b"u"
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    return pickle.dumps(value, 2)[2:-1].replace(b"q\x00", b"")


def tensor(key, length, offset, shape, strides, kind="FloatStorage", rebuild=None):
    """Return the pickle of one tensor."""
    storage = ("storage", Global("torch", kind), key, "cpu", length, None)
    function = rebuild or Global("torch._utils", "_rebuild_tensor_v2")
    arguments = b"(" + pickled(storage) + b"Q"
    arguments += b"".join(pickled(value) for value in (offset, shape, strides, False)) + b"}t"
    return function.name + arguments + b"R"


def state_dict(tensors, storages, magic=MAGIC, machine=MACHINE):
    """Return a file in the layout of PyTorch before 1.6."""
    body = b"".join(pickled(name) + content for name, content in tensors.items())
    parts = [pickle.dumps(magic, 2), pickle.dumps(1001, 2), pickle.dumps(machine, 2)]
    parts.append(b"\x80\x02}(" + body + b"u.")
    parts.append(pickle.dumps(list(storages), 2))
    for values in storages.values():
        parts += [np.int64(len(values)).tobytes(), values.tobytes()]
    return b"".join(parts)


NUMBERS = np.arange(6, dtype=np.float32)


def test_arrays_come_back_in_their_shape():
    content = state_dict(
        {
            "rows": tensor("a", 6, 0, (2, 3), (3, 1)),
            "columns": tensor("a", 6, 0, (2, 3), (1, 2)),
            "tail": tensor("a", 6, 4, (2,), (1,)),
            "count": tensor("b", 1, 0, (), (), "LongStorage"),
        },
        {"a": NUMBERS, "b": np.array([7])},
    )
    arrays = read_state_dict(content, PATH)
    assert arrays["rows"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert arrays["columns"].tolist() == [[0, 2, 4], [1, 3, 5]]
    assert arrays["tail"].tolist() == [4, 5]
    assert arrays["count"] == 7
    assert not any(array.flags.writeable for array in arrays.values())


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (Global("os", "system"), "os.system"),
        (Global("builtins", "eval"), "builtins.eval"),
        (Global("torch", "load"), "torch.load"),
        (Global("collections", "namedtuple"), "collections.namedtuple"),
        (Global("zslearn.encoders.efficientnet", "_note_tensor"), "_note_tensor"),
    ],
)
def test_nothing_but_arrays_is_built(asked, name):
    content = state_dict({"w": tensor("a", 6, 0, (6,), (1,), rebuild=asked)}, {"a": NUMBERS})
    with pytest.raises(ModelFileError, match=rf"asks for .*{name}, which is not allowed"):
        read_state_dict(content, PATH)


def test_a_pickle_that_would_run_a_program_runs_none(tmp_path):
    class Hostile:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'ran'}",)

    for content in (pickle.dumps(Hostile()), pickle.dumps(MAGIC, 2) + pickle.dumps(Hostile())):
        with pytest.raises(ModelFileError, match=r"system, which is not allowed"):
            read_state_dict(content, PATH)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("offset", "shape", "strides"),
    [
        (0, (7,), (1,)),
        (5, (2,), (1,)),
        (-1, (2,), (1,)),
        (0, (2,), (-1,)),
        (0, (2, 3), (1,)),
        (0, (2,), (100,)),
    ],
)
def test_no_tensor_reaches_beyond_its_storage(offset, shape, strides):
    content = state_dict({"w": tensor("a", 6, offset, shape, strides)}, {"a": NUMBERS})
    with pytest.raises(ModelFileError, match=r"a tensor (reaches beyond|has a negative)"):
        read_state_dict(content, PATH)


def test_damaged_files_are_refused_in_one_line():
    whole = state_dict({"w": tensor("a", 6, 0, (6,), (1,))}, {"a": NUMBERS})
    cut = [whole[:length] for length in range(0, len(whole), 3)]
    other = [
        state_dict({}, {}, magic=1),
        state_dict({}, {}, machine=MACHINE | {"little_endian": False}),
        state_dict({"w": tensor("a", 5, 0, (5,), (1,))}, {"a": NUMBERS}),
        state_dict({"w": tensor("a", 6, 0, (6,), (1,), "QInt8Storage")}, {"a": NUMBERS}),
        pickle.dumps(collections.OrderedDict()),
        b"PK\x03\x04 a zip of PyTorch 1.6",
    ]
    for content in cut + other:
        with pytest.raises(ModelFileError, match=r"net\.pth cannot be loaded as a network") as told:
            read_state_dict(content, PATH)
        assert "\n" not in str(told.value)
