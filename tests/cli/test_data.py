import json

import pytest


def test_info_of_the_bundled_animals(run):
    facts = json.loads(run("data", "info", "animals", "--json").stdout)
    assert (facts["samples"], facts["features"], facts["classes"]) == (1680, 1280, 28)
    assert [space["dimensions"] for space in facts["semantics"]] == [85, 85]
    standard = facts["splits"][0]
    assert (standard["seen"], standard["unseen"]) == (20, 8)
    assert (standard["train"], standard["test_unseen"]) == (1200, 480)


def test_info_as_text(run):
    text = run("data", "info", "animals").stdout
    assert text.startswith("animals28: 1680 samples, 1280 features, 28 classes")
    assert "Please cite:" in text


def test_info_of_a_folder_of_ones_own(run, own):
    for old, new in {"X.csv": "features.csv", "y.csv": "labels.csv"}.items():
        (own / old).rename(own / new)
    (own / "classes.csv").rename(own / "signatures.csv")
    facts = json.loads(run("data", "info", own, "--json").stdout)
    assert (facts["samples"], facts["classes"]) == (48, 11)


def test_what_is_no_data_set_is_refused(refused, own):
    assert "There is no data set at" in refused("data", "info", own / "nowhere")
    assert "is not a data set" in refused("data", "info", own)
    assert "is not a data set" in refused("data", "info", own / "X.csv")


@pytest.mark.data
def test_a_folder_without_features_is_described_without_them(run, data_dir):
    result = run("data", "info", data_dir / "xlsa17" / "SUN", "--json")
    facts = json.loads(result.stdout)
    assert (facts["samples"], facts["classes"]) == (0, 717)
    assert result.stderr.startswith("Without features: ")
