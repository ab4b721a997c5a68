import os
import re
import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest

pytest.importorskip("dask.array", reason="dask is not installed")
pytest.importorskip("distributed", reason="dask.distributed is not installed")

import dask.array as da
import psutil
from distributed import Client, LocalCluster
from sklearn.base import clone

from zslearn.cluster import KISSME, LDAProjection
from zslearn.encoders import write_store
from zslearn.exceptions import EngineError, InvalidInputError
from zslearn.scale import dask as dask_engine
from zslearn.scale import fit_dask, predict_dask
from zslearn.zero_shot import ESZSLClassifier, LegacyCUB, PrototypeRegression, SAEClassifier

# Sockets of a closed cluster may be collected by the garbage collector after the test.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes, each watched by a nanny that starts it again when it dies."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as local:
        yield local


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as one:
        yield one


def started_scheduler():
    """A scheduler of its own, and its address."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    process = subprocess.Popen(
        [*command, "--port", "0", "--no-dashboard"], stderr=subprocess.PIPE, text=True
    )
    found = (re.search(r"Scheduler at:\s+(tcp://\S+)", line) for line in process.stderr)
    return process, next(match.group(1) for match in found if match)


def chunked(X, y):
    return da.from_array(X, chunks=(170, -1)), da.from_array(y, chunks=300)


@pytest.mark.parametrize("one_process", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda table: SAEClassifier(table),
        lambda table: ESZSLClassifier(table, gamma=1.0, lam=1.0),
        lambda table: LDAProjection(),
        lambda table: KISSME(),
    ],
)
def test_a_cluster_gives_the_model_of_fit(data, seen, make, one_process, request):
    model = make(data.signatures)
    expected = clone(model).fit(*seen)
    where = None if one_process else request.getfixturevalue("client")
    got = fit_dask(model, *chunked(*seen), cluster=where, validation_rows=10**6)
    scale = np.abs(expected.coef_).max()
    np.testing.assert_allclose(np.abs(got.coef_), np.abs(expected.coef_), atol=1e-10 * scale)


def test_a_cluster_leaves_what_samples_after_the_fit_need(data, seen):
    model = PrototypeRegression(data.signatures, power=0.5, n_repeats=1)
    expected = clone(model).fit(*seen)
    got = fit_dask(model, *chunked(*seen), validation_rows=10**6)
    assert got.kappa_ == pytest.approx(expected.kappa_)
    new = ~np.isin(data.y, seen[1])
    X, y = data.X[new], data.y[new]
    for clf in (expected, got):
        clf.partial_fit(X[::9], y[::9])
    moved = [clf.adapt(X, "unseen") for clf in (expected, got)]
    for one, other in ((expected, got), moved):
        scores = one.decision_function(X)
        np.testing.assert_allclose(other.decision_function(X), scores, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(other.novelty(X), one.novelty(X), rtol=1e-6, atol=1e-8)


def test_files_are_read_by_the_workers(data, seen, client, tmp_path):
    X, y = seen
    # Sorted by class, so that the files number different classes.
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    rows = [slice(0, 300), slice(300, 800)]
    files = [
        write_store(tmp_path / str(i), [(X[part], y[part])], dtype="float64")
        for i, part in enumerate(rows)
    ]
    expected = SAEClassifier(data.signatures).fit(X, y)
    got = fit_dask(SAEClassifier(data.signatures), files, cluster=client, validation_rows=10**6)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10 * np.abs(got.coef_).max())
    np.testing.assert_array_equal(got.classes_, expected.classes_)


def test_a_worker_killed_in_the_middle_does_not_change_the_result(data, seen, client, tmp_path):
    X, y = seen
    flag = tmp_path / "killed"

    def deadly(block):
        """Kill the process that works on this block, once."""
        if block[0, 0] == X[340, 0] and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return block

    features, labels = chunked(X, y)
    risky = features.map_blocks(deadly, dtype=X.dtype, meta=np.empty((0, 0)))
    got = fit_dask(SAEClassifier(data.signatures, lam=1.0), risky, labels, cluster=client)
    assert flag.exists()
    expected = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10 * np.abs(got.coef_).max())


def test_a_scheduler_that_is_not_there_is_named(data, seen, monkeypatch):
    monkeypatch.setattr(dask_engine, "_CONNECT_SECONDS", 0.5)
    model = SAEClassifier(data.signatures, lam=1.0)
    with pytest.raises(EngineError, match=r"tcp://127.0.0.1:9 cannot be reached"):
        fit_dask(model, *chunked(*seen), cluster="tcp://127.0.0.1:9")
    assert not hasattr(model, "coef_decode_")


def test_a_scheduler_lost_in_the_middle_is_an_error_and_nothing_is_fitted(data, seen, tmp_path):
    model = SAEClassifier(data.signatures, lam=1.0)
    features, labels = chunked(*seen)

    begun = tmp_path / "begun"

    def endless(block):
        begun.touch()
        time.sleep(600)  # its worker is killed at the end of the test
        return block

    def kill_when_begun():
        while not begun.exists():
            time.sleep(0.01)
        scheduler.kill()

    endlessly = features.map_blocks(endless, dtype=features.dtype, meta=np.empty((0, 0)))
    scheduler, address = started_scheduler()
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"],
        stderr=subprocess.DEVNULL,
    )
    try:
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=30)
            Thread(target=kill_when_begun, daemon=True).start()
            with pytest.raises(EngineError, match=r"was lost .*Nothing was fitted"):
                fit_dask(model, endlessly, labels, cluster=client)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
        scheduler.stderr.close()
    assert not hasattr(model, "coef_decode_")


def test_a_bad_row_is_named_across_chunks(data, seen):
    X, y = seen
    X = X.copy()
    X[417, 3] = np.nan
    with pytest.raises(InvalidInputError, match="row 417 of X holds NaN in column 3"):
        fit_dask(SAEClassifier(data.signatures, lam=1.0), *chunked(X, y))


def test_prediction_over_a_dask_array_is_lazy_and_the_same(data, seen, client):
    model = SAEClassifier(data.signatures, lam=1.0).fit(*seen)
    X = da.from_array(data.X, chunks=(130, 10))
    names = data.split("standard").unseen
    best = predict_dask(model, X, candidates=names)
    assert isinstance(best, da.Array)
    assert best.shape == (len(data.X),)
    np.testing.assert_array_equal(client.compute(best).result(), model.predict(data.X, names))
    top = predict_dask(model, X, 3)
    assert top.shape == (len(data.X), 3)
    np.testing.assert_array_equal(top.compute(), model.predict_top_k(data.X, 3))


def test_what_cannot_be_used_is_named(data, seen):
    model = SAEClassifier(data.signatures, lam=1.0)
    X, y = chunked(*seen)
    with pytest.raises(InvalidInputError, match="one label per row"):
        fit_dask(model, X, y[:10])
    with pytest.raises(InvalidInputError, match="a list of files; got ndarray"):
        fit_dask(model, *seen)
    with pytest.raises(InvalidInputError, match="chunks of unknown size"):
        fit_dask(model, X[X[:, 0] > 0], y[X[:, 0] > 0])
    with pytest.raises(InvalidInputError, match="takes a two-dimensional dask array"):
        predict_dask(model.fit(*seen), seen[0])
    with pytest.raises(InvalidInputError, match="looks at the whole batch"):
        predict_dask(LegacyCUB(data.signatures).fit(*seen), X)


def test_a_local_cluster_listens_on_loopback_only():
    def listening():
        me = psutil.Process()
        sockets = [s for p in (me, *me.children(recursive=True)) for s in p.net_connections()]
        return {s.laddr for s in sockets if s.status == psutil.CONN_LISTEN}

    before = listening()  # other clusters of this process
    with dask_engine.connected("local"):
        opened = listening() - before
    assert {address.ip for address in opened} == {"127.0.0.1"}
