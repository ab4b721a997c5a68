"""The port of a project: the same at the next start, so that an open tab finds it again."""

from __future__ import annotations

import socket
from pathlib import Path

HOST = "127.0.0.1"
LOWEST = 1024  # ports below belong to the system


def kept_port(project: Path) -> int:
    """Return the port of the last start; 0, any free one, if there is none or it is taken."""
    try:
        port = int(_file(project).read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return port if LOWEST <= port <= 65_535 and _is_free(port) else 0


def keep_port(project: Path, port: int) -> None:
    """Note the port for the next start; without a note that start takes another one."""
    try:
        _file(project).write_text(f"{port}\n", "ascii")
    except OSError:
        return


def _file(project: Path) -> Path:
    return project.with_name(f"{project.name}.port")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
