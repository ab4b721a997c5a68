"""Who may use the studio: whoever opened the address that the program printed, once."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from zslearn.serve.errors import RequestError

SHORTEST = 43
CLOSED = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>zslearn studio</title>"
    "<p>Open the address that <code>zslearn studio</code> printed; it works once. "
    "Start the program again for a new one.</p></html>"
)


class Entrance:
    """A token that works once, and the cookie that it is exchanged for.

    Parameters
    ----------
    kept : Path or None
        File of the cookie's secret, so that an open tab stays in when the program starts again.

    Attributes
    ----------
    token : str
        Part of the address that the program prints.
    """

    def __init__(self, kept: Path | None = None) -> None:
        self.token = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32) if kept is None else _kept_secret(kept)
        # Cookies do not distinguish ports, so each studio has a name of its own.
        mark = hashlib.sha256(self._secret.encode()).hexdigest()[:12]
        self.cookie = f"zslearn_studio_{mark}"
        self._used = False

    def admits(self, request: Request) -> bool:
        """Say whether a request brings the cookie."""
        given = request.cookies.get(self.cookie, "")
        return hmac.compare_digest(given.encode(), self._secret.encode())

    def check(self, request: Request) -> None:
        """Refuse a request without the cookie."""
        if not self.admits(request):
            raise RequestError(401, "open the address that zslearn studio printed first.")

    def enter(self, request: Request) -> Response:
        """Exchange the token for the cookie."""
        if not self.admits(request):
            given = request.query_params.get("token", "")
            right = hmac.compare_digest(given.encode(), self.token.encode())
            if self._used or not right:
                return closed()
            self._used = True
        response = RedirectResponse("/studio/", status_code=303)
        settings: dict[str, Any] = {"path": "/studio", "httponly": True, "samesite": "strict"}
        response.set_cookie(self.cookie, self._secret, **settings)
        return response


def _kept_secret(path: Path) -> str:
    """Return the secret in a file that only its owner can read; made if it is not there."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = path.read_text("ascii", errors="replace").strip()
        if len(kept) >= SHORTEST and path.stat().st_mode & 0o077 == 0:
            return kept
        path.unlink()  # damaged, or others could have read it
        return _kept_secret(path)
    secret = secrets.token_urlsafe(32)
    with os.fdopen(descriptor, "w") as file:
        file.write(secret)
    return secret


def closed() -> Response:
    """Return the page for visitors without the cookie."""
    return HTMLResponse(CLOSED, status_code=401)
