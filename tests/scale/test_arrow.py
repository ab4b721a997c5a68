"""Anything with __arrow_c_stream__ is a source."""

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError
from zslearn.scale import fit_batches, open_source
from zslearn.zero_shot import SAEClassifier

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


class Foreign:
    """A relation of some other library: the protocol and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def with_lists(X, y):
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    return pa.table({"features": lists, "animal": pa.array(y).dictionary_encode()})


def with_columns(X, y):
    return pa.table({"animal": y, **{f"f{i}": X[:, i] for i in range(X.shape[1])}})


def as_frame(X, y):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).assign(animal=y)


@pytest.mark.parametrize("make", [with_lists, with_columns, as_frame])
def test_a_table_gives_the_model_of_fit_with_its_choices(data, seen, make):
    X, y = seen
    expected = SAEClassifier(data.signatures).fit(X, y)
    table = make(X, y)
    got = fit_batches(SAEClassifier(data.signatures), table, "animal", block_rows=97)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10)


@pytest.mark.parametrize("stream", [lambda table: table.to_reader(100), Foreign])
def test_a_stream_serves_one_pass(data, seen, stream):
    X, y = seen
    expected = SAEClassifier(data.signatures, lam=1.0).fit(X, y)
    source = open_source(stream(with_lists(X, y)), "animal")
    model = SAEClassifier(data.signatures, lam=1.0)
    np.testing.assert_allclose(fit_batches(model, source).coef_, expected.coef_, atol=1e-10)
    with pytest.raises(InvalidInputError, match="can be read only once"):
        fit_batches(model, source)
    with pytest.raises(InvalidInputError, match="Pass classes="):
        fit_batches(SAEClassifier(data.signatures), stream(with_lists(X, y)), "animal")


def test_blocks_are_cut_and_skipped(seen):
    X, y = seen[0][:250].astype(np.float32), seen[1][:250]
    source = open_source(with_columns(X, y), "animal")
    blocks = list(source.blocks(64))
    assert [block.first for block in blocks] == [0, 64, 128, 192]
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
    assert blocks[0].X.dtype == np.float32
    assert [block.first for block in source.blocks(64, skip=2)] == [128, 192]
    np.testing.assert_array_equal(source.labels(), y)


def test_what_cannot_be_used_is_named(seen):
    X, y = seen
    table = with_lists(X, y)
    with pytest.raises(InvalidInputError, match=r"has no 'species'; it holds features, animal"):
        open_source(table, "species")
    with pytest.raises(InvalidInputError, match="has no labels under y"):
        open_source(Foreign(table))
    with pytest.raises(InvalidInputError, match=r"columns of numbers; got name \(string\)"):
        open_source(pa.table({"name": ["a"], "y": [1]}), "y")
    with pytest.raises(InvalidInputError, match="'f' has missing values"):
        open_source(pa.table({"f": [1.0, None], "y": [1, 2]}), "y")
    with pytest.raises(InvalidInputError, match="holds no rows"):
        open_source(table.slice(0, 0), "animal")


def test_labels_that_are_no_text_are_refused_in_one_line(tmp_path):
    offsets = pa.py_buffer(np.array([0, 1, 2], np.int32).tobytes())
    labels = pa.StringArray.from_buffers(2, offsets, pa.py_buffer(b"a\xff"))
    table = pa.table({"features": [[1.0, 2.0], [3.0, 4.0]], "labels": labels})
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "x.parquet")
    for source in (open_source(tmp_path / "x.parquet"), open_source(table, "labels")):
        for read in (source.labels, lambda source=source: list(source.blocks(2))):
            with pytest.raises(InvalidInputError, match="is not a readable source of labels") as no:
                read()
            assert str(no.value).isprintable()
