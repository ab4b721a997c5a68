"""Memory of large requests is kept for the next ones, instead of fetching it page by page again."""

from __future__ import annotations

import ctypes

# What glibc calls the two settings; blocks below the first size are kept, up to the second in all.
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
LARGEST_BLOCK, MOST_KEPT = 2**24, 2**27


def keep_memory() -> bool:
    """Let this process keep freed memory, within bounds; return whether its C library can."""
    try:
        change = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc
        return False
    return bool(change(_MMAP_THRESHOLD, LARGEST_BLOCK) and change(_TRIM_THRESHOLD, MOST_KEPT))
