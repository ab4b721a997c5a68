"""Names of unseen classes against those of the pretraining."""

import pytest

from zslearn.datasets import load_xlsa17
from zslearn.evaluation import imagenet_classes, leakage_report
from zslearn.exceptions import InvalidInputError

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
