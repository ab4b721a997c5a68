"""Facts about the machine and the versions a row was measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from zslearn import __version__
from zslearn.core.threads import cores

PACKAGES = ("numpy", "scipy", "scikit-learn")


def machine_facts() -> dict[str, Any]:
    """Return versions, processor, cores and memory as flat entries."""
    facts: dict[str, Any] = {
        "version_zslearn": __version__,
        "version_python": platform.python_version(),
    }
    facts |= {f"version_{name}": _version(name) for name in PACKAGES}
    facts |= {
        "machine_system": f"{platform.system()} {platform.machine()}",
        "machine_cpu": cpu_name(),
        "machine_cores": cores(),
        "machine_memory_gb": _memory_gb(),
    }
    return facts


def threads_for(jobs: int) -> int:
    """Return each process's share of the cores, within what the user allows."""
    allowed = [os.environ.get(name, "") for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")]
    limits = [int(text) for text in allowed if text.isdigit() and int(text) > 0]
    return max(1, min([cores() // max(1, jobs), *limits]))


def load_average() -> float | None:
    """Return how many processes wanted a core over the last minute."""
    try:
        return round(os.getloadavg()[0], 1)
    except OSError:
        return None


def reset_peak_memory() -> None:
    """Reset the memory peak of this process, where the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory_mb() -> float | None:
    """Return the peak of resident memory of this process in MB."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        return None
    return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def cpu_name() -> str:
    """Return what the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):
        return None
