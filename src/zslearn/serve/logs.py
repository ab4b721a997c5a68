"""Log lines, for people or as JSON; bodies and queries are never in them."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from starlette.types import Scope

from zslearn._files import first_line

KINDS = ("text", "json", "errors")
requests = logging.getLogger("zslearn.serve.requests")


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as JSON."""
        facts: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03}",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        facts |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = (
                f"{type(record.exc_info[1]).__name__}: {first_line(record.exc_info[1])}"
            )
            facts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(facts)


def set_up_logs(kind: str) -> None:
    """Send the log to standard error.

    Parameters
    ----------
    kind : {"text", "json", "errors"}
        Lines for people, JSON, or lines for people without those of requests.
    """
    handler = logging.StreamHandler(sys.stderr)
    plain = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if kind == "json" else plain)
    for name, level in (("zslearn.serve", logging.INFO), ("uvicorn", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    requests.setLevel(logging.WARNING if kind == "errors" else logging.INFO)


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Write the line of one request."""
    if not requests.isEnabledFor(logging.INFO):
        return
    path = scope.get("raw_path", b"").decode("latin-1")
    client = (scope.get("client") or ("",))[0]
    facts = {
        "client": client,
        "method": scope["method"],
        "path": path,
        "status": status,
        "seconds": round(seconds, 6),
    }
    requests.info(
        "%s %s %.500s %d %.1f ms",
        client,
        scope["method"],
        path,
        status,
        seconds * 1e3,
        extra={"facts": facts},
    )
