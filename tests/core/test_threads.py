import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from zslearn.core.threads import (
    ForkSafeLock,
    limit_blas,
    limit_blas_for,
    map_blocks,
    map_in_order,
    n_threads,
    threads,
)
from zslearn.exceptions import InvalidInputError


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_results_come_in_the_order_of_items_whatever_the_time_they_take():
    def work(i):
        time.sleep(0.01 * (i % 3))
        return i

    assert list(map_in_order(work, range(20), 4)) == list(range(20))


def test_items_are_taken_only_a_little_ahead():
    taken = []
    results = map_in_order(lambda i: i, (taken.append(i) or i for i in range(100)), 2)
    next(results)
    assert len(taken) <= 4
    results.close()


def test_an_error_in_an_item_or_in_the_work_reaches_the_caller():
    def broken():
        yield 1
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(map_in_order(lambda i: i, broken(), 2))
    with pytest.raises(ZeroDivisionError, match="division"):
        list(map_in_order(lambda i: 1 / i, [1, 0, 1], 2))


def test_blas_keeps_to_one_thread_until_the_last_user_is_done():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with limit_blas(1):
            inside.set()
            leave.wait(5)

    other = threading.Thread(target=hold)
    with limit_blas(1):
        other.start()
        inside.wait(5)
    assert set(blas_threads()) == {1}
    leave.set()
    other.join()
    assert blas_threads() == before


def test_the_knob(monkeypatch):
    monkeypatch.setenv("ZSLEARN_THREADS", "5")
    assert n_threads() == 5
    with threads(2):
        assert n_threads() == 2
    monkeypatch.setenv("ZSLEARN_THREADS", "many")
    with pytest.raises(InvalidInputError, match=r"ZSLEARN_THREADS must be .* got 'many'"):
        n_threads()
    monkeypatch.delenv("ZSLEARN_THREADS")
    assert 1 <= n_threads() <= 16
    with pytest.raises(InvalidInputError, match="at least 1; got 0"), threads(0):
        pass


def test_the_smallest_wish_is_in_force_and_no_limit_is_ever_raised():
    before = blas_threads()
    with limit_blas(1):
        with limit_blas(1000):
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    with limit_blas(1000):
        assert blas_threads() == before
    assert blas_threads() == before


@pytest.fixture
def two_blas_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_small_work_gets_one_blas_thread_and_large_work_what_the_knob_says(two_blas_threads):
    with limit_blas_for(1e6):
        assert set(blas_threads()) == {1}
    with threads(2), limit_blas_for(1e12):
        assert set(blas_threads()) == {2}
    with threads(1), limit_blas_for(1e12):
        assert set(blas_threads()) == {1}
    assert set(blas_threads()) == {2}


def test_the_knob_reaches_blas_in_a_prediction(two_blas_threads):
    found = []
    with threads(1):
        list(map_blocks(lambda i: found.extend(blas_threads()), [0], 1e5))
    assert set(found) == {1}


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
