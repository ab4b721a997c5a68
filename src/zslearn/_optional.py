"""What is imported when it is needed: packages of an extra, and the public names of a room."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zslearn.exceptions import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path


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


def axes_for(ax: Any, purpose: str, **options: Any) -> Any:
    """Return the axes that are given, or those of a new figure made with these options.

    Parameters
    ----------
    ax : matplotlib Axes or None
        What the caller passed.
    purpose : str
        As in :func:`require`.
    **options
        For ``pyplot.subplots``, for example ``figsize``.

    Returns
    -------
    matplotlib Axes
    """
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plot", purpose=purpose)
    return pyplot.subplots(**options)[1]


def find_in_package(package: str, place: str, *, extra: str, purpose: str) -> Path:
    """Return where a file or folder of an installed package is, without importing the package.

    Parameters
    ----------
    package : str
        Name of the distribution, as pip knows it.
    place : str
        Path inside the folder the package is installed in.
    extra : str
        The extra of zslearn that installs it.
    purpose : str
        What it is needed for; starts the sentence of the error.

    Returns
    -------
    Path
    """
    # Both cost more than importing the rest of the package, and few calls need them.
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path

    try:
        return Path(str(distribution(package).locate_file(place)))
    except PackageNotFoundError as error:
        raise MissingExtraError(package, extra, purpose) from error


def lazy_names(
    package: str, places: Mapping[str, str], *, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports a public name on first use.

    Parameters
    ----------
    package : str
        The package, its ``__name__``.
    places : mapping of str to str
        Every public name and the module inside the package that holds it; a name that is its own
        place is a module.
    renamed : mapping of str to str, optional
        Old public names and what they are called now, with their package where it is another one;
        each use of one warns.

    Returns
    -------
    getattr, dir : callable
        As PEP 562 wants them; a name once imported is an ordinary attribute.
    """

    def get(name: str) -> Any:
        if renamed and name in renamed:
            room, _, new = renamed[name].rpartition(".")
            room = room or package
            warn_renamed(f"{package}.{name}", f"{room}.{new}")
            return getattr(importlib.import_module(room), new)
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{places[name]}")
        value = module if places[name] == name else getattr(module, name)
        vars(importlib.import_module(package))[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(importlib.import_module(package)), *places})

    return get, names


def moved_names(
    package: str,
    places: Mapping[str, str],
    changed: Mapping[str, tuple[str, Any]] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package whose public names are elsewhere now.

    Parameters
    ----------
    package : str
        The old package, its ``__name__``.
    places : mapping of str to str
        Every old name and what to write in its place, such as ``"zslearn.encoders.Store"``.
    changed : mapping of str to (str, object), optional
        Old names whose form has changed: what to write now, and what does for the old name.

    Returns
    -------
    getattr, dir : callable
        As PEP 562 wants them; each use of a name warns.
    """

    def get(name: str) -> Any:
        if changed and name in changed:
            warn_renamed(f"{package}.{name}", changed[name][0])
            return changed[name][1]
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn_renamed(f"{package}.{name}", places[name])
        room, _, new = places[name].rpartition(".")
        return getattr(importlib.import_module(room), new)

    return get, lambda: sorted([*places, *(changed or ())])


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that a public name has another one now and is kept for one release.

    Parameters
    ----------
    old, new : str
        What was used, and what to write in its place.
    stacklevel : int, default=3
        Where the warning points to; 3 is the caller of the function that calls this one.
    """
    # Most programs never use an old name, and importing the package should cost next to nothing.
    import warnings

    warnings.warn(
        f"{old} is called {new} now; the old name goes with version 1.1.",
        FutureWarning,
        stacklevel=stacklevel,
    )
