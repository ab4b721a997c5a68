"""Independent work on a Dask cluster, its results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zslearn.exceptions import EngineError, ZslearnError
from zslearn.scale.dask_engine import is_loss

# Tasks under way for each thread of the cluster, so that none waits for the next one.
_AHEAD = 3


def map_on_cluster(
    client: Any,
) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]:
    """Return a function like `map` whose calls run on a cluster, a few ahead of the reader.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster.

    Returns
    -------
    callable
        From a function and items to the results, in the order of the items. A task that is lost
        with its worker is done again.
    """

    def spread(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        pending: deque[Any] = deque()
        most = _AHEAD * max(1, sum(client.nthreads().values()))
        try:
            for item in items:
                pending.append(client.submit(function, item, pure=False))
                if len(pending) >= most:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except ZslearnError:
            raise
        except Exception as error:
            if is_loss(error):
                raise EngineError(client, error) from error
            raise
        finally:
            client.cancel(list(pending))

    return spread
