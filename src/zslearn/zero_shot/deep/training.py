"""The training loop of all deep methods: shuffled mini-batches, a bar, looks on the way."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from zslearn._progress import progress_bar
from zslearn.core.threads import n_threads
from zslearn.exceptions import InvalidInputError


@dataclass(frozen=True)
class Course:
    """How long to train, and when to look.

    Attributes
    ----------
    n_steps : int
        Number of mini-batches in all.
    batch_size : int
        Rows in a batch; all rows if there are fewer.
    looks : collection of int
        Numbers of steps after which `look` is called; 0 is before the first.
    label : str
        Name on the progress bar.
    show : bool
        Whether there is a bar.
    """

    n_steps: int
    batch_size: int = 256
    looks: Collection[int] = ()
    label: str = "training"
    show: bool = False


def steps_of(epochs: int, n_rows: int, batch_size: int) -> int:
    """Return the number of steps of some passes over the rows."""
    return epochs * -(-n_rows // batch_size)


def train(
    step: Callable[[torch.Tensor], Any],
    n_rows: int,
    course: Course,
    rng: np.random.RandomState,
    *,
    look: Callable[[int], None] | None = None,
    device: torch.device | None = None,
) -> list[float]:
    """Call `step` on shuffled mini-batches.

    `step` does everything that is special: the losses, the optimizers, the several updates of
    an adversarial game. It gets the rows of its batch and returns a loss to be shown. A loss that
    is not finite ends the training with one clear line; an interruption (Ctrl-C) closes the bar
    and passes on, and `fit` puts the estimator back as it was.

    Parameters
    ----------
    step : callable
        ``step(rows)`` with rows a tensor of int64 on `device`; returns a float or a tensor.
    n_rows : int
        Number of rows to shuffle.
    course : Course
        How long, in which batches, when to look.
    rng : RandomState
        Shuffles the rows, once per pass.
    look : callable, optional
        ``look(n_steps)`` after each number of steps in ``course.looks``, without gradients.
    device : torch.device, optional
        Where the rows are wanted.

    Returns
    -------
    list of float
        Loss of each step.

    Examples
    --------
    >>> import numpy as np
    >>> seen = []
    >>> def step(rows):
    ...     seen.extend(rows.tolist())
    ...     return 1.0
    >>> losses = train(step, 5, Course(3, batch_size=2), np.random.RandomState(0))
    >>> sorted(seen), losses
    ([0, 1, 2, 3, 4], [1.0, 1.0, 1.0])
    """
    losses: list[float] = []
    batches = _batches(n_rows, course.batch_size, rng)
    with progress_bar(course.n_steps, course.label, "step", show=course.show) as bar:
        _look(look, 0, course)
        for number in range(1, course.n_steps + 1):
            rows = torch.from_numpy(next(batches))
            losses.append(_checked(step(rows if device is None else rows.to(device)), number))
            bar.update(1)
            _look(look, number, course)
    return losses


def _look(look: Callable[[int], None] | None, number: int, course: Course) -> None:
    if look is not None and number in course.looks:
        with torch.no_grad():
            look(number)


def _checked(loss: Any, number: int) -> float:
    value = float(loss.detach()) if isinstance(loss, torch.Tensor) else float(loss)
    if not np.isfinite(value):
        raise InvalidInputError(
            f"the training diverged: the loss of step {number} is {value}. Take a smaller "
            "learning_rate, or scale the features (feature_norm='l2')."
        )
    return value


def _batches(n_rows: int, size: int, rng: np.random.RandomState) -> Iterator[NDArray[np.int64]]:
    """Yield rows without end; every pass is shuffled anew."""
    while True:
        order = rng.permutation(n_rows).astype(np.int64)
        for start in range(0, n_rows, size):
            yield order[start : start + size]


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


Arrays = dict[str, NDArray]


def to_arrays(tensors: Mapping[str, torch.Tensor]) -> Arrays:
    """Return copies of named tensors (such as a `state_dict`) as numpy arrays.

    Examples
    --------
    >>> to_arrays({"w": torch.ones(2)})
    {'w': array([1., 1.], dtype=float32)}
    """
    return {
        name: np.ascontiguousarray(one.detach().cpu().numpy().copy())
        for name, one in tensors.items()
    }


def to_tensors(
    arrays: Mapping[str, NDArray],
    device: torch.device | None = None,
    dtype: torch.dtype | None = None,
    *,
    trained: bool = False,
) -> dict[str, torch.Tensor]:
    """Return copies of named arrays as tensors.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Weights.
    device : torch.device, optional
        Where to put them.
    dtype : torch.dtype, optional
        Precision; by default that of the arrays.
    trained : bool, default=False
        Whether they are leaves that gather gradients.

    Returns
    -------
    dict of str to Tensor
    """
    made = {name: torch.tensor(one, dtype=dtype, device=device) for name, one in arrays.items()}
    for one in made.values():
        one.requires_grad_(trained)
    return made
