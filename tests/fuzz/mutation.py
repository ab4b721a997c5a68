"""Seeded damage to bytes: flips, cuts, repetitions, sizes at the edge, pieces moved about."""

import json

import numpy as np

EDGES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1]
TOKENS = [b"nan", b"-1", b"1e999", b'"', b",", b";", b"\n", b"\0", b"\xff", b"{}", b"[", b"null"]


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with one to four changes."""
    for _ in range(rng.integers(1, 5)):
        change = CHANGES[rng.integers(len(CHANGES))]
        content = change(content, rng) if content else bytes(rng.bytes(8))
    return content


def flip_bit(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    return content[:at] + bytes([content[at] ^ (1 << int(rng.integers(8)))]) + content[at + 1 :]


def replace_byte(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    return content[:at] + rng.bytes(1) + content[at + 1 :]


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def drop(content: bytes, rng: np.random.Generator) -> bytes:
    start, size = piece(content, rng)
    return content[:start] + content[start + size :]


def repeat(content: bytes, rng: np.random.Generator) -> bytes:
    start, size = piece(content, rng)
    return content[: start + size] + content[start : start + size] + content[start + size :]


def move(content: bytes, rng: np.random.Generator) -> bytes:
    start, size = piece(content, rng)
    at = int(rng.integers(len(content)))
    return (content[:at] + content[start : start + size] + content[at + size :])[: len(content)]


def set_number(content: bytes, rng: np.random.Generator) -> bytes:
    """Write a size at the edge over 1 to 8 bytes."""
    width = int(rng.choice([1, 2, 4, 8]))
    at = int(rng.integers(len(content)))
    order = "little" if rng.random() < 0.8 else "big"
    number = int(rng.choice(EDGES)) % 256**width
    return content[:at] + number.to_bytes(width, order) + content[at + width :]


def insert_token(content: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(content)))
    return content[:at] + TOKENS[rng.integers(len(TOKENS))] + content[at:]


def piece(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(content)))
    return start, int(rng.integers(1, min(64, len(content) - start) + 1))


CHANGES = [flip_bit, flip_bit, replace_byte, cut, drop, repeat, move, set_number, insert_token]


VALUES = [None, True, -1, 0, 3, 10**12, 1e300, -0.5, "", "lam", "../x", [], {}, [[]], {"a": 1}]


def changed_json(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a JSON document with one value in it changed."""
    document = [json.loads(content)]
    holder, key = spots(document)[rng.integers(len(spots(document)))]
    holder[key] = VALUES[rng.integers(len(VALUES))]
    return json.dumps(document[0]).encode()


def changed_model(document, tensors, rng):
    """Return the parts of a model file with one value or one array changed."""
    if rng.random() < 0.5:
        holder, key = spots(document)[rng.integers(len(spots(document)))]
        holder[key] = VALUES[rng.integers(len(VALUES))]
        return document, tensors
    name = sorted(tensors)[rng.integers(len(tensors))]
    tensor = tensors[name].copy()
    change = rng.integers(6)
    if change == 0:
        return document, {other: tensors[other] for other in tensors if other != name}
    if change == 1:
        tensor = tensor[:-1] if tensor.ndim else tensor[None]
    elif change == 2:
        tensor = np.ascontiguousarray(tensor.T.reshape(-1))
    elif change == 3:
        tensor = tensor.astype(rng.choice(["u1", "i8", "f4"]))
    elif tensor.size and tensor.dtype.kind == "f":
        tensor.flat[rng.integers(tensor.size)] = rng.choice([np.nan, np.inf, 1e308, -1.0])
    else:
        tensor = tensor[..., None]
    return document, tensors | {name: tensor}


def spots(document):
    """List every place in a JSON document that a value can be put in."""
    keys = document.keys() if isinstance(document, dict) else range(len(document))
    found = [(document, key) for key in keys]
    for key in keys:
        if isinstance(document[key], dict | list):
            found += spots(document[key])
    return found
