"""What every benchmark reports about the machine, and how it writes its result."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from threadpoolctl import threadpool_info

from zslearn.reproduce.runner import cpu_name

RESULTS = Path(__file__).parent / "results"


def facts() -> dict[str, Any]:
    """Return the facts a figure depends on; the load shows whether it can be trusted."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load_average": round(os.getloadavg()[0], 2),
        "blas_threads": max(lib["num_threads"] for lib in threadpool_info()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def write(name: str, before: dict[str, Any], rows: Any, *, small: bool) -> None:
    """Write a result; a trial at small size does not take the place of a real one."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}{'-small' if small else ''}.json"
    document = {"machine": before, "load_after": round(os.getloadavg()[0], 2), "rows": rows}
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\nwritten to {path}")


def timed(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Median wall time of a call, and its last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result
