import json

import pytest


@pytest.fixture(scope="module")
def demo():
    from tests.streams import SeparateRunner
    from zslearn.cli import cli

    return SeparateRunner().invoke(cli, ["demo", "--json", "--samples", "6"])


def test_demo_recognizes_unseen_animals_far_better_than_chance(demo):
    assert demo.exit_code == 0, demo.stderr
    accuracy = {
        (row["split"], row["method"][:11]): row["accuracy"]
        for row in json.loads(demo.stdout)["rows"]
    }
    assert accuracy["standard", "chance"] == 1 / 8
    assert accuracy["proposed", "chance"] == pytest.approx(1 / 6)
    # Measured .842 and .533 with the best λ for the test classes; λ is chosen on seen ones here.
    assert accuracy["standard", "SAE decoder"] > 0.8
    assert accuracy["proposed", "SAE decoder"] > 0.5
    for split in ("standard", "proposed"):
        assert accuracy[split, "SAE encoder"] > 2.5 * accuracy[split, "chance"]


def test_demo_explains_one_photograph_of_each_unseen_class(demo):
    samples = json.loads(demo.stdout)["samples"]
    assert len({sample["photograph"] for sample in samples}) == 6
    assert all(len(sample["attributes"]) == 4 for sample in samples)
    assert all(sample["predicted"] != sample["rather_than"] for sample in samples)


def test_demo_tells_its_progress_on_standard_error_only(demo):
    assert "Learning from the seen classes of the standard split" in demo.stderr
    assert "Learning" not in demo.stdout
