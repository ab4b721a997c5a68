import threading
import time

import pytest
from threadpoolctl import threadpool_info

from zslearn.core.threads import map_in_order, n_threads, one_blas_thread, threads
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
        with one_blas_thread():
            inside.set()
            leave.wait(5)

    other = threading.Thread(target=hold)
    with one_blas_thread():
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
