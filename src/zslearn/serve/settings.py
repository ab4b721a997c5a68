"""The settings of a server; everything has a default but the models."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from zslearn._parameters import Constraint, Number, Whole, check_parameters
from zslearn.exceptions import InvalidInputError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Limits:
    """What one request, and all of them together, may cost.

    Attributes
    ----------
    body : int
        Bytes of a request as it is sent.
    decompressed : int
        Bytes of a request after decompression.
    pixels : int
        Pixels of a picture.
    rows : int
        Samples of a request.
    concurrency : int
        Requests computed at the same time.
    queue : int
        Requests that wait for their turn; any more are answered with 503.
    seconds : float
        Time for one request, from its first byte to its answer.
    connections : int
        Open connections; any more are answered with 503.
    classes : int
        Classes that may be added to a model.
    examples : int
        Examples of classes that may be added to a model.

    Examples
    --------
    >>> from zslearn.serve import Limits
    >>> Limits(rows=100).rows
    100
    """

    body: int = 64 * 2**20
    decompressed: int = 256 * 2**20
    pixels: int = 2**25
    rows: int = 65_536
    concurrency: int = 2
    queue: int = 64
    seconds: float = 30.0
    connections: int = 512
    classes: int = 10_000
    examples: int = 10_000

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "body": Whole(1),
        "decompressed": Whole(1),
        "pixels": Whole(1),
        "rows": Whole(1),
        "concurrency": Whole(1),
        "queue": Whole(0),
        "seconds": Number(above=0),
        "connections": Whole(1),
        "classes": Whole(0),
        "examples": Whole(0),
    }

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True)
class ServerSettings:
    """What a server serves, where, and to whom.

    Attributes
    ----------
    models : mapping of str to Path
        Model files by the name they are served under.
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 takes a free one.
    api_key : str or None
        Key that every request must bring; needed on any address but loopback.
    allowed_hosts : tuple of str
        Names by which clients may call the server besides its own address; "*" allows all.
    origins : tuple of str
        Web pages, such as "https://example.org", that may call the server from a browser.
    read_only : bool
        Whether classes cannot be changed.
    classes_folder : Path or None
        Where changes of classes are kept; None for the folder of each model.
    workers : int
        Processes that answer.
    limits : Limits
        What a request may cost.

    Examples
    --------
    >>> from zslearn.serve import ServerSettings
    >>> ServerSettings({"animals": "animals.zsl"}).port
    8080
    >>> ServerSettings({"animals": "animals.zsl"}, host="0.0.0.0")
    Traceback (most recent call last):
    zslearn.exceptions.InvalidInputError: 0.0.0.0 can be reached from other machines, so an API key
    is needed: put one into a file and pass --api-key-file, or set ZSLEARN_API_KEY.
    """

    models: Mapping[str, Path]
    host: str = "127.0.0.1"
    port: int = 8080
    api_key: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    read_only: bool = False
    classes_folder: Path | None = None
    workers: int = 1
    limits: Limits = Limits()

    needs_models: ClassVar[bool] = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "port": Whole(0, 65_535),
        "workers": Whole(1, 256),
    }

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.needs_models and not self.models:
            raise InvalidInputError("there is no model to serve; give at least one file.")
        for name in self.models:
            check_model_name(name)
        if self.api_key is not None:
            check_api_key(self.api_key)
        elif not is_loopback(self.host):
            raise InvalidInputError(
                f"{self.host} can be reached from other machines, so an API key is needed: put "
                "one into a file and pass --api-key-file, or set ZSLEARN_API_KEY."
            )


def changes_path(settings: ServerSettings, name: str) -> Path:
    """Return the file that keeps the changes of the classes of a model."""
    if settings.classes_folder is not None:
        return Path(settings.classes_folder, f"{name}.classes")
    model = Path(settings.models[name])
    return model.with_name(f"{model.name}.classes")


def check_model_name(name: str) -> None:
    """Refuse a name that cannot be part of an address."""
    if not name or not all(letter.isalnum() or letter in "-_." for letter in name):
        raise InvalidInputError(
            f"a model is served under a name of letters, digits, '-', '_' and '.'; got {name!r}. "
            "Write NAME=FILE."
        )


def check_api_key(key: str) -> None:
    """Refuse a key that is short, or that no header can hold."""
    if len(key) < 16 or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInputError(
            "an API key needs at least 16 letters, digits or signs of ASCII, without blanks. Make "
            "one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )


def is_loopback(host: str) -> bool:
    """Say whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
