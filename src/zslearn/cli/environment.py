"""What a report of a fault needs to say about the machine: `zslearn --version --verbose`."""

from __future__ import annotations

import importlib
import platform
import re
from importlib.metadata import PackageNotFoundError, distribution, version

from threadpoolctl import threadpool_info

# A requirement: its name, and the extra that asks for it.
_REQUIREMENT = re.compile(r"""^([A-Za-z0-9._-]+).*?(?:extra == ['"]([^'"]+)['"])?\s*$""")


def describe_environment() -> str:
    """Return versions of Python and of every package the library may use, and its BLAS."""
    lines = [
        f"zslearn {version('zslearn')}",
        f"python {platform.python_version()}, {platform.platform()}, {platform.machine()}",
    ]
    wanted: dict[str, list[str]] = {}
    for requirement in distribution("zslearn").requires or ():
        found = _REQUIREMENT.match(requirement)
        if found is not None:
            wanted.setdefault(found[2] or "", []).append(found[1])
    for extra in sorted(wanted):
        if extra in ("test", "lint", "docs"):
            continue
        title = f"extra {extra}" if extra else "core"
        lines.append(f"{title}: " + ", ".join(map(_installed, dict.fromkeys(wanted[extra]))))
    # Looked at last: it shows the libraries that are loaded.
    importlib.import_module("scipy.linalg")

    lines += [
        f"{pool['user_api']}: {pool['internal_api']} {pool['version']}, {pool['num_threads']} "
        f"threads, {pool.get('architecture', 'unknown')} ({pool['prefix']})"
        for pool in threadpool_info()
    ]
    return "\n".join(lines)


def _installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name} not installed"
