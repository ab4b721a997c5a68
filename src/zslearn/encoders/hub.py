"""Models of the Hugging Face hub; without a network from the cache, with no long wait."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from zslearn._files import first_line
from zslearn._optional import require
from zslearn.exceptions import InvalidInputError

_SECONDS = 3.0


def load_from_hub(name: str, load: Callable[[], Any]) -> Any:
    """Return what `load` returns; without a network only the cache is used.

    Parameters
    ----------
    name : str
        The model as the user named it, for the error message.
    load : callable
        Loads the model.
    """
    online = _is_reachable()
    try:
        with _offline(not online):
            return load()
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = "" if online else " There is no network, and the model is not in the cache."
        raise InvalidInputError(
            f"The model {name!r} cannot be loaded.{reason} ({first_line(error)})"
        ) from error


def split_open_clip(name: str) -> tuple[str, str]:
    """Return architecture and tag of a model of open_clip, named as ``NAME/TAG``."""
    architecture, _, tag = name.partition("/")
    if not architecture or not tag:
        raise InvalidInputError(
            f"'open_clip:{name}' must be 'open_clip:NAME/TAG', for example "
            "'open_clip:ViT-B-32/laion2b_s34b_b79k'."
        )
    return architecture, tag


def hash_weights(model: Any) -> str:
    """Return the SHA-256 of the names and numbers of all weights of a torch module."""
    torch = require("torch", extra="hub", purpose="The identity of a model")
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _is_reachable() -> bool:
    """Say whether the hub answers; a proxy is assumed to reach it."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return True
    address = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    try:
        port = address.port or 443
        socket.create_connection((address.hostname or "", port), timeout=_SECONDS).close()
    except OSError:
        return False
    return True


@contextmanager
def _offline(wanted: bool) -> Iterator[None]:
    """Let the hub's client use its cache only, for as long as the block runs."""
    constants = require("huggingface_hub", extra="hub", purpose="A model of the hub").constants
    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or wanted
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before
