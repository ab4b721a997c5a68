"""What goes wrong on the way: a clear error or a right result, and nothing half-written."""

import errno
import os

import numpy as np
import pytest
from sklearn.base import clone

from zslearn.encoders import write_store
from zslearn.exceptions import InvalidInputError, MissingFileError, ZslearnWarning
from zslearn.scale import Checkpoint, fit_batches, open_source
from zslearn.scale import fitting as checkpoint_module
from zslearn.zero_shot import SAEClassifier


@pytest.fixture
def store(tmp_path, seen):
    return write_store(tmp_path / "store", [seen], dtype="float64", shard_rows=100)


def fitted(data, store, **options):
    return fit_batches(SAEClassifier(data.signatures), store, block_rows=20, **options)


def same_bits(a, b):
    names = ("coef_encode_", "coef_decode_")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


class Interrupted(Exception):
    pass


def stopping_after(source, n_blocks, error):
    """Make a source that fails after some blocks, once."""
    read, left = source.blocks, [n_blocks]

    def blocks(block_rows, skip=0):
        for block in read(block_rows, skip):
            if left[0] == 0:
                left[0] = -1
                raise error
            left[0] -= 1
            yield block

    source.blocks = blocks
    return source


@pytest.mark.parametrize("n_blocks", [4, 13, 26])
def test_a_continued_pass_has_the_bits_of_an_unbroken_one(data, store, tmp_path, n_blocks):
    unbroken = fitted(data, store)
    path = tmp_path / "pass.npz"
    source = stopping_after(open_source(store), n_blocks, Interrupted("stop"))
    with pytest.raises(Interrupted, match="stop"):
        fitted(data, source, checkpoint=path)
    assert path.exists()
    assert same_bits(fitted(data, source, checkpoint=path), unbroken)
    assert not path.exists()


def test_batches_of_an_iterator_continue_too(data, seen, tmp_path):
    X, y = seen
    model = SAEClassifier(data.signatures, lam=1.0)

    def batches(stop=None):
        for number, start in enumerate(range(0, len(y), 25)):
            if number == stop:
                raise Interrupted("stop")
            yield X[start : start + 25], y[start : start + 25]

    unbroken = fit_batches(SAEClassifier(data.signatures, lam=1.0), batches())
    checkpoint = Checkpoint(tmp_path / "c", every=4)
    with pytest.raises(Interrupted, match="stop"):
        fit_batches(model, batches(17), checkpoint=checkpoint)
    assert same_bits(fit_batches(model, batches(), checkpoint=checkpoint), unbroken)


def test_a_killed_process_continues_from_the_last_note(data, store, tmp_path, monkeypatch):
    """Without the note that is made on errors, as after a power cut."""
    unbroken = fitted(data, store)
    checkpoint = Checkpoint(tmp_path / "c", every=5)
    source = stopping_after(open_source(store), 13, Interrupted("stop"))
    notes = []
    write = Checkpoint.write
    monkeypatch.setattr(
        Checkpoint,
        "write",
        lambda self, identity, state: (
            notes.append(state["progress"][0]),
            None if state["progress"][0] % 5 else write(self, identity, state),
        ),
    )
    with pytest.raises(Interrupted, match="stop"):
        fitted(data, source, checkpoint=checkpoint)
    assert notes[-1] % 5
    assert same_bits(fitted(data, source, checkpoint=checkpoint), unbroken)


def test_a_checkpoint_of_another_pass_is_refused(data, store, tmp_path):
    path = tmp_path / "c"
    source = stopping_after(open_source(store), 3, Interrupted("stop"))
    with pytest.raises(Interrupted, match="stop"):
        fitted(data, source, checkpoint=path)
    with pytest.raises(InvalidInputError, match="other data, with other blocks"):
        fit_batches(SAEClassifier(data.signatures), store, block_rows=21, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InvalidInputError, match="not a readable checkpoint"):
        fitted(data, store, checkpoint=path)


def test_a_checkpoint_of_data_changed_since_is_refused(data, store, tmp_path):
    path, shard = tmp_path / "c", store / "X-00001.npy"
    source = stopping_after(open_source(store), 3, Interrupted("stop"))
    with pytest.raises(Interrupted, match="stop"):
        fitted(data, source, checkpoint=path)
    before = shard.stat()
    np.save(shard, np.load(shard)[::-1])
    with pytest.raises(InvalidInputError, match="or the data changed since"):
        fitted(data, store, checkpoint=path)
    os.utime(shard, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(InvalidInputError, match="or the data changed since"):
        fitted(data, store, checkpoint=path)


def test_a_full_disk_costs_the_checkpoint_only(data, store, tmp_path, monkeypatch):
    unbroken = fitted(data, store)

    def full(file, *arrays, **named):
        file.write(b"half a file")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoint_module.np, "savez", full)
    with pytest.warns(ZslearnWarning, match=r"could not be written .*No space left"):
        got = fitted(data, store, checkpoint=Checkpoint(tmp_path / "c", every=10))
    assert same_bits(got, unbroken)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_shard_that_vanishes_is_named_and_the_pass_goes_on_when_it_is_back(data, store, tmp_path):
    unbroken = fitted(data, store)
    source = open_source(store)
    shard = store / "X-00003.npy"
    shard.rename(tmp_path / "elsewhere")
    with pytest.raises(MissingFileError, match=r"no file '.*X-00003.npy'"):
        fitted(data, source, checkpoint=tmp_path / "c")
    with pytest.raises(MissingFileError, match=r"no file '.*X-00003.npy'"):
        open_source(store)
    (tmp_path / "elsewhere").rename(shard)
    assert same_bits(fitted(data, source, checkpoint=tmp_path / "c"), unbroken)


def test_a_file_cut_short_is_found_at_the_start_and_in_the_middle(data, store):
    source = open_source(store)
    shard = store / "X-00002.npy"
    os.truncate(shard, shard.stat().st_size - 1000)
    with pytest.raises(InvalidInputError, match=r"X-00002.npy is cut short: it ended in row"):
        fitted(data, source)
    with pytest.raises(InvalidInputError, match=r"claims 100 rows and holds 94"):
        open_source(store)


def test_not_a_number_in_block_731_is_named_by_its_row(data):
    X = np.random.default_rng(0).standard_normal((8000, 24)).astype(np.float32)
    y = data.y[np.arange(8000) % len(data.y)]
    X[731 * 10 + 4, 17] = np.nan
    with pytest.raises(InvalidInputError, match="row 7314 of X holds NaN in column 17"):
        fit_batches(SAEClassifier(data.signatures, lam=1.0), X, y, block_rows=10)


def test_rows_that_cannot_be_used_are_named(data, seen):
    model = SAEClassifier(data.signatures, lam=1.0)
    X, y = seen[0].astype(np.float32), seen[1]
    X[333] = 0
    with pytest.raises(InvalidInputError, match="row 333 of X holds only zeros"):
        fit_batches(model, X, y, block_rows=64)
    X[333] = 1e30
    plain = SAEClassifier(data.signatures, lam=1.0, feature_norm=None)
    with pytest.raises(InvalidInputError, match=r"row 333 of X .* overflow in float32"):
        fit_batches(plain, X, y, block_rows=64)
    huge = fit_batches(clone(model), X, y, block_rows=64)  # scaled to unit length, it is fine
    X[333] = 1
    np.testing.assert_allclose(huge.coef_, fit_batches(model, X, y, block_rows=64).coef_, atol=1e-5)
    with pytest.raises(InvalidInputError, match="features must be numbers"):
        fit_batches(model, np.full(X.shape, "a"), y)


def test_an_error_leaves_the_estimator_unfitted(data, seen):
    model = SAEClassifier(data.signatures, lam=1.0)
    X = seen[0].copy()
    X[-1, 0] = np.inf
    with pytest.raises(InvalidInputError, match="holds inf"):
        fit_batches(model, X, seen[1])
    assert not hasattr(model, "coef_decode_")


def test_text_held_as_objects_is_known_again_elsewhere(seen):
    """As pandas holds text: the same labels have other addresses in every process."""
    X, y = seen
    one, other = (np.array(["".join(list(name)) for name in y], dtype=object) for _ in range(2))
    assert one[0] is not other[0]
    assert open_source(X, one).identity() == open_source(X, other).identity()
    other[0] = "other"
    assert open_source(X, one).identity() != open_source(X, other).identity()


def broken_off(X, y):
    """Yield two batches, then fail."""
    yield X[:150], y[:150]
    yield X[150:300], y[150:300]
    raise Interrupted("stop")


def test_a_store_whose_writing_was_broken_off_is_refused_and_written_anew(data, tmp_path):
    folder = tmp_path / "s"
    with pytest.raises(Interrupted, match="stop"):
        write_store(folder, broken_off(data.X, data.y), shard_rows=50)
    with pytest.raises(InvalidInputError, match="is not complete: its writing was broken off"):
        open_source(folder)
    write_store(folder, [(data.X[:70], data.y[:70])], shard_rows=50)
    assert open_source(folder).n_rows == 70
    assert sorted(path.name for path in folder.iterdir()) == [
        "X-00000.npy",
        "X-00001.npy",
        "meta.json",
        "y.npy",
    ]


def test_shards_without_a_description_are_refused(store):
    (store / "meta.json").unlink()
    with pytest.raises(InvalidInputError, match="is not complete"):
        open_source(store)
    with pytest.raises(InvalidInputError, match="holds features already"):
        write_store(store, [(np.eye(3), [0, 1, 1])])
