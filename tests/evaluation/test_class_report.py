"""Whether samples and a class table fit together."""

import numpy as np
import pytest

from zslearn.evaluation import report_classes
from zslearn.evaluation.reports import NEAR
from zslearn.signatures import Signatures


def test_classes_are_counted_whatever_their_type():
    table = Signatures([1, 2, 3], np.eye(3))
    report = report_classes(np.array(["2", "2", "7", "1"]), table)
    assert dict(report.n_samples) == {"1": 1, "2": 2, "3": 0, "7": 1}
    assert (report.seen, report.unseen, report.without_signature) == (("1", "2"), ("3",), ("7",))


@pytest.mark.parametrize(("factor", "found"), [(0.9, True), (1.1, False)])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_pairs_are_near_by_their_relative_difference(factor, found, scale):
    base = np.array([3.0, 4.0, 0.0])
    other = np.array([3.0, 4.0, 5 * NEAR * factor])
    table = Signatures(["a", "b", "c"], scale * np.array([base, other, [0, 1, 9]]))
    pairs = report_classes(["a"], table).near_duplicates
    assert [pair[:2] for pair in pairs] == ([("a", "b")] if found else [])


def test_many_rows_are_compared_in_blocks():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((1300, 8))
    vectors[1290] = vectors[3]
    report = report_classes([0], Signatures(range(1300), vectors))
    assert report.near_duplicates == (("3", "1290", 0.0),)


def test_dimensions_that_never_vary():
    table = Signatures(["a", "b", "c"], [[1, 5, 2], [1, 6, 2], [1, 7, 3]], ["one", "two", "three"])
    report = report_classes(["a", "b"], table)
    assert (report.constant, report.constant_when_seen) == (("one",), ("three",))
    alone = report_classes(["a"], table.subset(["a"]))
    assert (alone.constant, alone.constant_when_seen) == ((), ())
    nothing_seen = report_classes([], table)
    assert (nothing_seen.seen, nothing_seen.constant_when_seen) == ((), ())


def test_leakage_is_about_unseen_classes():
    table = Signatures(["zebra", "tiger", "okapi"], np.eye(3))
    assert list(report_classes(["tiger"], table).leakage.exact) == ["zebra"]
    assert list(report_classes(["zebra", "tiger", "okapi"], table).leakage.exact) == [
        "zebra",
        "tiger",
    ]
