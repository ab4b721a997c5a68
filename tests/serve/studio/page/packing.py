"""Packed answers, written a second time: what the page reads must not depend on one encoder."""

import json
import struct

import numpy as np


def pack(head, arrays):
    listed = [
        {"name": name, "dtype": array.dtype.str[1:], "shape": list(array.shape)}
        for name, array in arrays.items()
    ]
    text = json.dumps({**head, "arrays": listed}).encode()
    text += b" " * (-(len(text) + 4) % 8)
    raw = [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    return struct.pack("<I", len(text)) + text + b"".join(p + bytes(-len(p) % 8) for p in raw)
