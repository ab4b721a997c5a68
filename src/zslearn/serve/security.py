"""Who may ask: the name called, the page of origin, the key; what browsers may do with answers."""

from __future__ import annotations

import hmac
import socket

from starlette.types import ASGIApp, Receive, Scope, Send

from zslearn.serve.responses import RequestError
from zslearn.serve.settings import LOOPBACK, ServerSettings

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# Probes of an orchestrator bring no key; they learn nothing but whether the server is up.
OPEN_PATHS = ("/v2/health/live", "/v2/health/ready")
# Pages come with the program and load nothing else; pictures may also be made by their scripts.
_POLICY = b"default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'"
DECIDING = (b"host", b"origin", b"sec-fetch-site", b"authorization", b"x-api-key")
HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    # Pages of other ports of this machine are of the same site, so they could embed pictures.
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class SecurityMiddleware:
    """Refuses a request before it is routed: 421 for its host, 403 for its origin, 401 for its key.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    settings : ServerSettings
        `allowed_hosts`, `origins` and `api_key`.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._hosts = allowed_hosts(settings)
        self._key = None if settings.api_key is None else settings.api_key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        if len(headers) < len(scope["headers"]):
            _check_single(scope["headers"])
        self._check_host(headers)
        self._check_origin(headers, scope["method"])
        self._check_key(headers, scope["path"])
        await self._app(scope, receive, send)

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Refuse a foreign name: a page whose name leads here must not act for the user."""
        if "*" in self._hosts:
            return
        host = host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            raise RequestError(
                421, f"this server does not answer to the name {host!r:.80}; see --allow-host."
            )

    def _check_origin(self, headers: dict[bytes, bytes], method: str) -> None:
        """Refuse requests that pages of others make, if they can change anything."""
        if method in SAFE_METHODS:
            return
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin in self._settings.origins:
            return
        site = headers.get(b"sec-fetch-site", b"none")
        host = headers.get(b"host", b"").decode("latin-1")
        same = not origin or (host and origin.partition("://")[2] == host)
        if not same or site not in (b"none", b"same-origin"):
            raise RequestError(
                403,
                f"pages of {origin or 'another site'!r:.80} may not do this; see --allow-origin.",
            )

    def _check_key(self, headers: dict[bytes, bytes], path: str) -> None:
        if self._key is None or path in OPEN_PATHS:
            return
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        key = given.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
        if not hmac.compare_digest(key, self._key):
            raise RequestError(401, "an API key is needed: send it as 'Authorization: Bearer KEY'.")


def _check_single(headers: list[tuple[bytes, bytes]]) -> None:
    """Refuse a header that comes twice, of those that decide; others could read the other one."""
    names = [name for name, _ in headers if name in DECIDING]
    if len(set(names)) < len(names):
        raise RequestError(400, "a header that may come once comes twice, such as Host.")


def allowed_hosts(settings: ServerSettings) -> frozenset[str]:
    """Return the names by which the server may be called; ports do not matter."""
    own = {*LOOPBACK, settings.host, socket.gethostname()} - {"0.0.0.0", "::"}
    return frozenset(name.lower().strip("[]") for name in (*own, *settings.allowed_hosts))


def host_name(header: str) -> str:
    """Return the name in a Host header, without its port and in small letters.

    Examples
    --------
    >>> host_name("LocalHost:8080"), host_name("[::1]:80"), host_name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].rstrip(".")
