"""Rows, candidates and measures of the two settings. Splits from lists of unseen classes."""

import numpy as np
import pytest

from zslearn.datasets import ClassSplit, ZeroShotDataset, load_animals, make_zero_shot
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, Task, read_class_splits
from zslearn.exceptions import InvalidInputError, MissingFileError, UnknownClassError
from zslearn.metrics import harmonic_mean, hit_at_k
from zslearn.signatures import Signatures


def small(split=None, **splits):
    """Four seen-or-unseen classes, rows 0-4 of a, 5-9 of b, and so on."""
    return ZeroShotDataset(
        name="small",
        X=np.arange(40.0).reshape(20, 2) + 1,
        y=np.repeat(list("abcd"), 5),
        semantics={"attributes": Signatures(list("abcd"), np.eye(4))},
        splits={"s": split} if split else splits,
    )


def test_conventional_trains_on_seen_and_answers_unseen():
    task = ConventionalProtocol().task(small(ClassSplit(["a", "c"], ["d", "b"])))
    assert task.train.tolist() == [*range(5), *range(10, 15)]
    assert task.test.tolist() == [*range(5, 10), *range(15, 20)]
    assert task.candidates.tolist() == ["d", "b"]
    assert task.seed is None


def test_conventional_leaves_the_held_out_rows_of_seen_classes_alone():
    split = ClassSplit(["a", "c"], ["d"], train=[0, 1, 10], test_seen=[2, 11])
    task = ConventionalProtocol("s").task(small(split))
    assert task.train.tolist() == [0, 1, 10]
    assert task.test.tolist() == [15, 16, 17, 18, 19]


def test_generalized_uses_the_rows_of_the_split():
    split = ClassSplit(["a", "c"], ["d"], train=[0, 1, 10], test_seen=[2, 11])
    task = GeneralizedProtocol().task(small(split))
    assert task.train.tolist() == [0, 1, 10]
    assert task.test.tolist() == [2, 11, 15, 16, 17, 18, 19]
    assert task.candidates.tolist() == ["a", "c", "d"]
    assert task.seed is None


def test_generalized_draws_a_fifth_of_every_seen_class():
    data = small(ClassSplit(["a", "b", "c"], ["d"]))
    task = GeneralizedProtocol(random_state=3).task(data)
    held_out = task.test[np.isin(data.y[task.test], ["a", "b", "c"])]
    assert sorted(data.y[held_out].tolist()) == ["a", "b", "c"]
    assert len(task.train) == 12
    assert task.seed == 3
    assert not np.intersect1d(task.train, task.test).size


def test_default_split_is_the_proposed_one():
    assert ConventionalProtocol().task(load_animals()).split == "proposed"
    assert ConventionalProtocol().task(make_zero_shot(random_state=0)).split == "standard"
    own = ClassSplit(["a", "b"], ["c", "d"])
    assert ConventionalProtocol(own).task(small(own)).split == "s"
    assert ConventionalProtocol(own).task(small()).split == "custom"


def test_overlapping_rows_cannot_be_a_task():
    with pytest.raises(InvalidInputError, match=r"row 2 .* both fitted and tested"):
        Task("s", np.array([1, 2]), np.array([2, 3]), *[np.array(["a"])] * 3)


@pytest.mark.parametrize(
    ("protocol", "split", "message"),
    [
        (ConventionalProtocol(), ClassSplit(["a"], ["b", "e"]), "'e'.*no test row"),
        (GeneralizedProtocol(), ClassSplit(["a", "e"], ["b"]), "'e'.*no test row"),
        (
            GeneralizedProtocol(),
            ClassSplit(["a", "c"], ["b"], train=[0, 10], test_seen=[1]),
            "held-out part.*'c'",
        ),
    ],
)
def test_a_class_without_rows_is_refused_not_counted_as_zero(protocol, split, message):
    data = ZeroShotDataset(
        name="small",
        X=np.ones((20, 2)),
        y=np.repeat(list("abcd"), 5),
        semantics={"attributes": Signatures(list("abcde"), np.eye(5))},
        splits={"s": split},
    )
    with pytest.raises(InvalidInputError, match=message):
        protocol.task(data)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (ClassSplit(["a", "c"], ["b"], train=[0, 5]), "train row 5 is of class 'b'.*seen classes"),
        (ClassSplit(["a"], ["b"], train=[0], test_seen=[6]), "test_seen row 6 is of class 'b'"),
        (ClassSplit(["a"], ["b"], test_unseen=[1]), "test_unseen row 1 is of class 'a'"),
        (ClassSplit(["a"], ["b"], train=[99]), "go up to 99; there are 20"),
    ],
)
def test_rows_of_a_split_of_ones_own_are_checked_against_the_labels(split, message):
    with pytest.raises(InvalidInputError, match=message):
        GeneralizedProtocol(split).task(small())


def test_test_rows_of_unseen_classes_may_be_chosen():
    split = ClassSplit(["a", "c"], ["d"], test_unseen=[16, 18])
    assert ConventionalProtocol(split).task(small()).test.tolist() == [16, 18]


def test_refuses_a_data_set_without_features():
    empty = ZeroShotDataset(
        name="empty",
        X=np.empty((0, 0)),
        y=np.empty(0, dtype="U1"),
        semantics={"attributes": Signatures(list("ab"), np.eye(2))},
    )
    with pytest.raises(InvalidInputError, match="without features"):
        ConventionalProtocol(ClassSplit(["a"], ["b"])).task(empty)


def test_refuses_a_data_set_without_split_and_a_split_of_another_kind():
    with pytest.raises(InvalidInputError, match="has no split"):
        ConventionalProtocol().task(small())
    with pytest.raises(InvalidInputError, match="a name or a ClassSplit; got 3"):
        ConventionalProtocol(3).task(small(ClassSplit(["a"], ["b"])))


def test_conventional_measures_both_averages_and_names_them():
    data = ZeroShotDataset(
        name="unequal",
        X=np.ones((8, 1)),
        y=np.array(["s", "s", "u", "u", "u", "v", "w", "w"]),
        semantics={"attributes": Signatures(list("suvw"), np.eye(4))},
        splits={"s": ClassSplit(["s"], ["u", "v", "w"])},
    )
    protocol = ConventionalProtocol(hits=(1, 2))
    task = protocol.task(data)
    scores = np.array([[3, 2, 1], [3, 2, 1], [1, 3, 2], [3, 2, 1], [1, 2, 3], [1, 3, 2]], float)
    measures = protocol.measure(task, data.y[task.test], scores)
    assert measures["per_class_accuracy"] == pytest.approx((2 / 3 + 0 + 1 / 2) / 3)
    assert measures["per_sample_accuracy"] == measures["hit_at_1"] == 0.5
    assert measures["hit_at_1_per_class"] == measures["per_class_accuracy"]
    assert measures["hit_at_2"] == hit_at_k(
        data.y[task.test], scores, candidates=task.candidates, k=2
    )


def test_hits_beyond_the_candidates_are_refused():
    data = make_zero_shot(4, 3, n_per_class=2, random_state=0)
    protocol = ConventionalProtocol(hits=(4,))
    task = protocol.task(data)
    with pytest.raises(InvalidInputError, match="from 1 to 3, the number of candidates"):
        protocol.measure(task, data.y[task.test], np.zeros((6, 3)))


def test_harmonic_mean_is_that_of_the_two_accuracies_at_full_precision():
    data = make_zero_shot(6, 3, n_per_class=10, random_state=0)
    protocol = GeneralizedProtocol()
    task = protocol.task(data)
    y = data.y[task.test]
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(len(y), 9)) + 2.0 * (y[:, None] == task.candidates)
    measures = protocol.measure(task, y, scores, gamma=0.4)
    for prefix in ("", "calibrated_"):
        for suffix in ("", "_per_sample"):
            sides = [measures[f"{prefix}{side}_accuracy{suffix}"] for side in ("seen", "unseen")]
            assert measures[f"{prefix}harmonic_mean{suffix}"] == harmonic_mean(*sides)
    assert measures["oracle_harmonic_mean"] >= measures["calibrated_harmonic_mean"]


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_one_split_a_file(tmp_path):
    first = write(tmp_path, "split1.txt", "# unseen\nfox\n\n  bat \n")
    second = write(tmp_path, "split2.txt", "\ufeffcow\r\n")
    splits = read_class_splits([first, second], ["bat", "cow", "fox", "yak"])
    assert list(splits) == ["split1", "split2"]
    assert splits["split1"].unseen.tolist() == ["fox", "bat"]
    assert splits["split1"].seen.tolist() == ["cow", "yak"]
    assert splits["split2"].unseen.tolist() == ["cow"]


def test_numbers_stay_numbers(tmp_path):
    path = write(tmp_path, "s.txt", "3\n1\n")
    split = read_class_splits([path], [1, 2, 3])["s"]
    assert split.unseen.tolist() == [3, 1]
    assert split.seen.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("fux\n", UnknownClassError, "'fux'.*closest is 'fox'.*s.txt"),
        ("", InvalidInputError, "lists 0 of 2"),
        ("fox\nbat\n", InvalidInputError, "lists 2 of 2"),
        ("fox\nfox\n", InvalidInputError, "'fox' twice"),
    ],
)
def test_refuses_lists_that_are_no_split(tmp_path, text, error, message):
    with pytest.raises(error, match=message):
        read_class_splits([write(tmp_path, "s.txt", text)], ["bat", "fox"])


def test_refuses_missing_files_and_equal_names(tmp_path):
    with pytest.raises(MissingFileError, match=r"no file .*gone"):
        read_class_splits([tmp_path / "gone.txt"], ["bat", "fox"])
    path = write(tmp_path, "s.txt", "fox")
    with pytest.raises(InvalidInputError, match="two files are called 's'"):
        read_class_splits([path, path], ["bat", "fox"])
    with pytest.raises(InvalidInputError, match="paths is empty"):
        read_class_splits([], ["bat", "fox"])
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInputError, match="not UTF-8"):
        read_class_splits([tmp_path / "b.txt"], ["bat", "fox"])
