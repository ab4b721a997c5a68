"""Reports by class, hubs among the answers, and unseen classes that were seen in pretraining."""

import numpy as np
import pytest
from scipy.stats import skew

from zslearn.datasets import load_xlsa17
from zslearn.encoders import TextEncoder
from zslearn.evaluation import hubness_report, imagenet_classes, leakage_report, report_classes
from zslearn.evaluation.reports import NEAR
from zslearn.exceptions import InvalidInputError
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


NAMES = np.array(["d", "a", "c", "b"])


def test_warnings_name_what_is_wrong_and_nothing_else():
    rng = np.random.default_rng(0)
    names = [*"abcdefghijkl"]
    table = Signatures(names, rng.random((12, 4)), ["w", "x", "y", "z"])
    seen = names[:9]
    table = Signatures(names, table.vectors.clip(0.1, 0.9), table.dimensions)
    assert report_classes(seen, table).warnings == ()

    def warned(change):
        changed, renamed = table.vectors.copy(), list(names)
        change(changed, renamed)
        return report_classes(seen, Signatures(renamed, changed, table.dimensions)).warnings

    def far(X, _):
        X[2, 1] = 95.0

    def outside(X, _):
        X[10, 3] = 3.0

    def fixed(X, _):
        X[:9, 0] = 0.5

    def twin(_, given):
        given[10] = "B "

    def same(X, _):
        X[11] = X[0] * 1.0001

    for change, words in {
        far: "'c' has 95 in 'x', over 100 times the next largest: beside it",
        outside: "'k' has 3 in 'z', seen classes have",
        fixed: "'w' is the same for every class with samples: nothing is learned of it",
        twin: "'B ' has no samples and 'b' has: if they are one class",
        same: "'a' and 'l' have nearly the same row: which is answered is chance",
    }.items():
        (line,) = warned(change)
        assert line.startswith(words)
    (line,) = report_classes(["a", "b", "c"], table.subset([*"abc"])).warnings
    assert line.startswith("only 3 classes have samples")
    assert report_classes([*"abcd"], table.subset([*"abcd"])).warnings == ()  # four are enough
    # A trait of one class alone is not far from the others, which do not have it at all.
    alone = np.column_stack([table.vectors, np.eye(12)[3]])
    assert report_classes(seen, Signatures(names, alone, [*"vwxyz"])).warnings == ()
    words = {name: f"the letter {name}" for name in names}
    encoded = Signatures.from_texts(words, TextEncoder("minilm"))
    assert report_classes(seen, encoded).warnings == ()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_counts_are_those_of_the_k_best(k):
    scores = np.random.default_rng(0).normal(size=(50, 4)) + np.array([0, 0, 1, 0])
    report = hubness_report(scores, NAMES, k=k)
    best = np.argsort(-scores, axis=1)[:, :k]
    counts = np.array([(best == column).sum() for column in range(4)])
    np.testing.assert_array_equal(report.counts, counts)
    assert report.skewness == pytest.approx(skew(counts))
    assert (report.largest, report.largest_share) == ("c", counts[2] / 50)


def test_predictions_give_the_same_as_their_scores():
    scores = np.random.default_rng(1).normal(size=(30, 4))
    by_scores = hubness_report(scores, NAMES)
    by_names = hubness_report(NAMES[scores.argmax(axis=1)], NAMES)
    np.testing.assert_array_equal(by_scores.counts, by_names.counts)


def test_even_answers_have_no_skewness():
    report = hubness_report(NAMES, NAMES)
    assert (report.skewness, report.largest_share, report.never) == (0.0, 0.25, 0)


@pytest.mark.parametrize(
    ("given", "k", "message"),
    [
        (["z"], 1, "'z' is not among"),
        (["a"], 2, "needs scores"),
        (np.zeros((2, 3)), 1, "got shape"),
        (np.zeros((2, 4)), 5, "between 1 and 4"),
        ([], 1, "at least one"),
    ],
)
def test_refuses(given, k, message):
    with pytest.raises(InvalidInputError, match=message):
        hubness_report(given, NAMES, k=k)


STANDARD = (
    "chimpanzee giant+panda leopard persian+cat pig hippopotamus humpback+whale raccoon rat seal"
).split()
PROPOSED = "sheep dolphin bat seal blue+whale rat horse walrus giraffe bobcat".split()


def test_six_of_the_ten_standard_awa_classes_are_in_imagenet():
    # The count of Xian et al., TPAMI 2019, for the standard split.
    report = leakage_report(STANDARD)
    assert list(report.exact) == STANDARD[:6]
    assert list(report.partial) == ["humpback+whale"]
    assert any("gray whale" in match for match in report.partial["humpback+whale"])
    assert report.clean == ("raccoon", "rat", "seal")


def test_no_proposed_awa_class_is_in_imagenet():
    assert leakage_report(PROPOSED).exact == {}


@pytest.mark.parametrize(
    "spelling",
    ["polar bear", "polar+bear", "Polar_Bear", "POLAR-BEAR", "012.Polar_bear", "Polar bears"],
)
def test_spelling_does_not_matter(spelling):
    found = leakage_report([spelling]).exact[spelling]
    assert found == "ice bear, polar bear, Ursus Maritimus, Thalarctos maritimus"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("horses", "horse"),
        ("horse", "horses"),
        ("foxes", "fox"),
        ("puppies", "puppy"),
        ("tomatoes", "tomato"),
        ("a/abbey", "abbey"),
        ("walrus", "walrus"),
        ("Brewer's blackbird", "brewers_blackbird"),
    ],
)
def test_forms_of_one_name_are_equal(name, known):
    assert leakage_report([name], [known]).exact == {name: known}


@pytest.mark.parametrize(
    ("name", "known"), [("bat", "wombat"), ("horse", "horse cart"), ("seal", "Sealyham terrier")]
)
def test_parts_of_words_and_first_words_are_no_relation(name, known):
    assert leakage_report([name], [known]).clean == (name,)


def test_kinds_of_a_known_class_are_related():
    report = leakage_report(["001.Black_footed_Albatross"])
    assert report.partial == {"001.Black_footed_Albatross": ("albatross, mollymawk",)}


def test_summary_counts_and_names():
    text = str(leakage_report(STANDARD))
    assert text.startswith("6 of 10 classes are pretraining classes, 1 more")
    assert "exact    pig: hog, pig" in text


def test_the_list_is_imagenet():
    classes = imagenet_classes()
    assert len(classes) == 1000
    assert classes[0] == "tench, Tinca tinca"
    assert classes[999].startswith("toilet tissue")


def test_nothing_to_compare_is_refused():
    with pytest.raises(InvalidInputError, match="at least one class name"):
        leakage_report([])
    with pytest.raises(InvalidInputError, match="at least one class name"):
        leakage_report(["bat"], [])


@pytest.mark.data
def test_unseen_birds_of_the_proposed_split_are_not_in_imagenet(data_dir):
    cub = load_xlsa17(data_dir / "xlsa17" / "CUB", features=None)
    report = leakage_report(cub.split("proposed").unseen.tolist())
    assert report.exact == {}
