"""The one place that turns a missing extra into a clear message."""

from __future__ import annotations

import importlib
from types import ModuleType

from zslearn.exceptions import MissingExtraError


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra brings it.

    Parameters
    ----------
    module : str
        Module to import, for example ``"matplotlib.pyplot"``.
    extra : str
        The extra of zslearn that installs it.
    purpose : str
        What it is needed for; starts the sentence of the error.

    Returns
    -------
    module
        The imported module.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        if missing != module.partition(".")[0]:
            raise
        raise MissingExtraError(missing, extra, purpose) from error
