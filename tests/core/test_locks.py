import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from zslearn.core.threads import ForkSafeLock


def test_one_thread_at_a_time():
    lock, total = ForkSafeLock(), [0]

    def add(_):
        with lock:
            before = total[0]
            sum(range(200))
            total[0] = before + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(2000)))
    assert total == [2000]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_finds_the_lock_open():
    lock = ForkSafeLock()
    with lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            with lock:
                os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
