"""What a request can be refused for, each with its HTTP status."""

from __future__ import annotations

from zslearn.exceptions import ZslearnError


class RequestError(ZslearnError):
    """A request that is refused.

    Parameters
    ----------
    status : int
        HTTP status.
    message : str
        What is wrong, on one line; it is sent to the client.
    retry_after : int, optional
        Seconds after which the client may try again.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


def refuse(message: str) -> RequestError:
    """Return the refusal of a request that is wrong in itself."""
    return RequestError(400, message)
