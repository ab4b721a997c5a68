"""Device, seed and threads of PyTorch for a block of work; everything is put back at its end."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from zslearn.core.threads import n_threads
from zslearn.exceptions import InvalidInputError

# Multiplications in a step above which threads gain something on a machine that is not busy.
WORTH_THREADS = 2e9


def torch_device(name: str) -> torch.device:
    """Return the device of that name; "auto" is CUDA where there is one, else the CPU.

    Parameters
    ----------
    name : {"auto", "cpu", "cuda"}
        What the user asked for.

    Returns
    -------
    torch.device

    Examples
    --------
    >>> torch_device("cpu")
    device(type='cpu')
    """
    available = torch.cuda.is_available()
    if name == "cuda" and not available:
        raise InvalidInputError(
            'device="cuda" was asked for, but PyTorch finds no CUDA device here; pass '
            'device="cpu" or "auto".'
        )
    return torch.device("cuda" if available and name != "cpu" else "cpu")


@contextmanager
def torch_session(
    device: str, random_state: int | None, work: float = 0.0
) -> Iterator[torch.device]:
    """Seed every generator of PyTorch inside a block, and give them back as they were.

    On the CPU two sessions with the same seed and number of threads compute the same bits. Small
    steps run in one thread, because several wait for each other longer than they work; large ones
    in as many as `zslearn.core.threads.threads` says. Gradients are on, whatever the caller has
    set.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        Where to compute.
    random_state : int or None
        Seed; None takes a fresh one.
    work : float, default=0.0
        Multiplications in one step of training.

    Yields
    ------
    torch.device

    Examples
    --------
    >>> with torch_session("cpu", 0):
    ...     first = torch.rand(3)
    >>> with torch_session("cpu", 0):
    ...     bool((torch.rand(3) == first).all())
    True
    """
    chosen = torch_device(device)
    seed = secrets.randbits(32) if random_state is None else int(random_state)
    before = torch.get_num_threads()
    with torch.random.fork_rng(devices=[chosen] if chosen.type == "cuda" else []):
        torch.manual_seed(seed)
        torch.set_num_threads(n_threads() if work > WORTH_THREADS else 1)
        try:
            with torch.enable_grad():
                yield chosen
        finally:
            torch.set_num_threads(before)
