"""A pass that was interrupted goes on where it stopped."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zslearn._files import first_line, replacing
from zslearn._parameters import Whole, check_value
from zslearn.exceptions import InvalidInputError, ZslearnWarning
from zslearn.signatures.files import ARRAY_DAMAGE

State = Mapping[str, NDArray]


@dataclass(frozen=True)
class Checkpoint:
    """File in which a pass notes what it has added up so far.

    Parameters
    ----------
    path : path-like
        The file. It is written whole or not at all, and removed when the pass is complete.
    every : int, default=64
        Blocks between two notes.
    """

    path: str | os.PathLike[str]
    every: int = 64

    def __post_init__(self) -> None:
        check_value("every", self.every, Whole(1))

    def read(self, identity: str) -> dict[str, NDArray] | None:
        """Return the state noted for the pass of this identity, or None if there is none."""
        path = Path(self.path)
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                state = {key: archive[key] for key in archive.files}
            noted = str(state.pop("identity"))
        except ARRAY_DAMAGE as error:
            raise InvalidInputError(
                f"{path} is no readable checkpoint ({first_line(error)}). Remove it to start over."
            ) from error
        if noted != identity:
            raise InvalidInputError(
                f"{path} was written by a pass over other data, with other blocks or for another "
                "method, or the data changed since. Remove it to start over, or name another file."
            )
        return state

    def write(self, identity: str, state: State) -> None:
        """Note a state; a disk that is full costs a warning and leaves the last note in place."""
        try:
            with replacing(self.path) as file:
                np.savez(file, allow_pickle=False, identity=np.array(identity), **state)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            warnings.warn(
                f"the checkpoint {os.fspath(self.path)} could not be written ({error}); the pass "
                "goes on without it.",
                ZslearnWarning,
                stacklevel=3,
            )

    def remove(self) -> None:
        """Remove the file of a complete pass."""
        Path(self.path).unlink(missing_ok=True)
