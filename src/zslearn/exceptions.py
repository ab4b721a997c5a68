"""The errors zslearn raises; each kind builds its own message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class ZslearnError(Exception):
    """Base of every error the library raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes send errors back whole; kinds that build their own message take other
        # arguments than the message, so they are restored without calling __init__ again.
        return _restored, (type(self), self.args)


class ZslearnWarning(UserWarning):
    """A result that is computed but should not be trusted as it is."""


class UncalibratedWarning(ZslearnWarning):
    """Seen and unseen classes compete, and nothing keeps the seen ones from winning."""


class InvalidInputError(ZslearnError, ValueError):
    """A value, shape or file content that cannot be used."""


class InvalidTypeError(ZslearnError, TypeError):
    """An argument of a kind that cannot be used."""


class ImmutableError(ZslearnError, AttributeError):
    """An attempt to change something that is fixed for life."""


class MissingFileError(ZslearnError, FileNotFoundError):
    """A file or folder that is not there."""


class WriteError(ZslearnError, OSError):
    """A file that could not be written; what was there before is unchanged."""

    def __init__(self, path: object, reason: OSError) -> None:
        super().__init__(
            f"{path!s} could not be written ({reason.strerror or reason}); nothing was changed. "
            "Make room, or choose another place."
        )


class UnknownClassError(InvalidInputError):
    """Class names that have no signature.

    Parameters
    ----------
    unknown : sequence of labels
        The names that were not found.
    known : sequence of labels
        The names that exist.
    remedy : str
        What the user can do.
    """

    def __init__(
        self,
        unknown: Sequence[object],
        known: Sequence[object],
        remedy: str = "Add a row for it or correct the name.",
    ) -> None:
        first = unknown[0]
        more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        hint = did_you_mean(first, known, ", the closest is {!r}")
        super().__init__(
            f"Class {_plain(first)!r}{more} has no signature; {len(known)} classes have one{hint}. "
            f"{remedy}"
        )


class TransductiveBatchError(InvalidInputError):
    """A batch too small for a method that standardizes over the batch."""

    def __init__(self, method: str, n_samples: int, needed: int) -> None:
        super().__init__(
            f"{method} uses the whole test batch and cannot do that honestly with {n_samples} "
            f"sample(s); it needs at least {needed}. Predict a larger batch at once or use an "
            "inductive method such as SAEClassifier."
        )


class MissingExtraError(ZslearnError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'zslearn[{extra}]'"
        )


class ModelFileError(InvalidInputError):
    """A file of a model or of moments that is damaged, foreign, too new or not allowed."""

    def __init__(self, path: object, reason: str, kind: str = "zslearn model") -> None:
        super().__init__(f"{path!s} cannot be loaded as a {kind}: {reason}.")


class DownloadError(ZslearnError, OSError):
    """A download that did not succeed; nothing of it is kept."""

    def __init__(self, url: str, size: str, target: str, reason: object) -> None:
        super().__init__(
            f"Could not download {url} ({size}): {reason}. Without a network, download it "
            f"elsewhere, put it at {target} and call again; it will be found there."
        )


class EngineError(ZslearnError, ConnectionError):
    """Computers that work together and cannot be reached, or were lost while they worked."""

    def __init__(self, engine: object, reason: object) -> None:
        first = str(reason).partition("\n")[0]
        super().__init__(
            f"{engine!s} cannot be reached or was lost ({type(reason).__name__}: {first}). Nothing "
            "was fitted; start the scheduler and its workers, check the address, and fit again."
        )


@contextmanager
def user_data() -> Iterator[None]:
    """Turn scikit-learn's refusal of features or labels into an error of the library."""
    try:
        yield
    except ZslearnError:
        raise
    except ValueError as error:
        raise refused_data(error) from error


def refused_data(error: ValueError) -> InvalidInputError:
    """Return scikit-learn's refusal of features or labels as an error of the library."""
    # The lines below the first advise on scikit-learn.
    reason = str(error).strip().splitlines() or ["the data was refused"]
    return InvalidInputError(reason[0])


def closest_name(name: object, known: Iterable[object]) -> object | None:
    """Return the known name most like `name`, capitals aside, or None if nothing is near.

    The same number written in another way, such as 3.0 and 3, is nearest.
    """
    spelled = {str(_plain(other)).casefold(): _plain(other) for other in known}
    import difflib  # costs more than the rest of this module, for errors alone

    number = _number(name)
    same = next((one for one in spelled.values() if number == _number(one) is not None), None)
    near = difflib.get_close_matches(str(_plain(name)).casefold(), spelled, n=1, cutoff=0.6)
    return same if same is not None or not near else spelled[near[0]]


def did_you_mean(name: object, known: Iterable[object], words: str = " Did you mean {!r}?") -> str:
    """Return words that name the closest known name, to end a refusal with, or nothing.

    Examples
    --------
    >>> "there is no method 'esszl'." + did_you_mean("esszl", ["sae", "eszsl"])
    "there is no method 'esszl'. Did you mean 'eszsl'?"
    """
    near = closest_name(name, known)
    return "" if near is None else words.format(near)


def _number(name: object) -> float | None:
    """Return the number that a name writes, as '3.0' and '3' do, or None."""
    try:
        return float(str(name))
    except ValueError:
        return None


def _plain(name: object) -> object:
    """Turn a numpy scalar into the Python value it holds, for readable messages."""
    return name.item() if hasattr(name, "item") else name


def _restored(kind: type[ZslearnError], args: tuple[Any, ...]) -> ZslearnError:
    """Rebuild an error that came from another process."""
    error = kind.__new__(kind, *args)
    error.args = args
    return error
