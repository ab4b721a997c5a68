"""Figures for Prometheus: requests by route and status, their seconds, what waits, the classes."""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.types import Scope

from zslearn._files import first_line

if TYPE_CHECKING:
    from zslearn.serve.state import ModelShelf

# Where worker processes put their figures, so that each can answer for all.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")


class ServerMetrics:
    """The figures of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._found: dict[tuple[str, str, int], tuple[Any, Any]] = {}
        labels = ("method", "route", "status")
        self._requests = Counter(
            "zslearn_requests", "Requests answered.", labels, registry=self.registry
        )
        self._seconds = Histogram(
            "zslearn_request_seconds",
            "Seconds from the first byte of a request to its answer.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._pending = Gauge(
            "zslearn_pending_requests",
            "Requests that wait or are computed.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self._classes = Gauge(
            "zslearn_classes",
            "Classes that can be answered.",
            ("model",),
            registry=self.registry,
            multiprocess_mode="max",
        )

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Note one request; addresses that lead nowhere are counted together."""
        route = scope.get("route")
        path = getattr(route, "path", "other") if status != 404 or route else "other"
        method = scope["method"] if scope["method"] in METHODS else "other"
        key = method, path, status
        if key not in self._found:  # few: addresses that lead nowhere and odd methods are one each
            counter = self._requests.labels(method, path, str(status))
            self._found[key] = counter.inc, self._seconds.labels(path).observe
        count, time = self._found[key]
        count()
        time(seconds)

    def text(self, shelf: ModelShelf, pending: int) -> bytes:
        """Return the figures as Prometheus reads them."""
        self._pending.set(pending)
        for slot in shelf.slots.values():
            self._classes.labels(slot.name).set(
                len(slot.model().recognizer) if slot.is_ready else 0
            )
        return generate_latest(_shared_registry() or self.registry)


@contextmanager
def shared_figures() -> Iterator[None]:
    """Let the worker processes that are started inside count together, in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="zslearn-metrics-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]


def _shared_registry() -> Any:
    """Return the figures of all worker processes, if there are several."""
    if not os.environ.get(FOLDER):
        return None
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def forget_dead() -> None:
    """Drop what only living processes can count of workers that are dead."""
    for file in Path(os.environ.get(FOLDER, "/nowhere")).glob("gauge_live*_*.db"):
        child = int(file.stem.rpartition("_")[2])
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            mark_process_dead(child)  # type: ignore[no-untyped-call]


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
    # What the reader of forms warns of is answered to the client.
    levels = {"zslearn.serve": "INFO", "uvicorn": "ERROR", "python_multipart": "ERROR"}
    for name, level in levels.items():
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
