import pytest

from zslearn.reproduce import DataSource, Run, find_data


@pytest.fixture(scope="session")
def animals() -> DataSource:
    """The bundled data set, which is always found first."""
    return find_data()[0][0]


@pytest.fixture
def clustering_run():
    """A run that takes milliseconds and needs no data."""

    def make(method: str = "lda", draws: int = 1, **options: object) -> Run:
        parameters = {"sizes": "equal", "scaling": "raw", "draws": draws}
        return Run("clustering", method, parameters=parameters, **options)

    return make


@pytest.fixture
def rows() -> list[dict]:
    """A tiny results file: two methods on AwA's standard split, one failed."""
    place = {
        "kind": "zero-shot",
        "dataset": "AWA1",
        "features": "hist5",
        "split": "standard",
        "semantics": "attributes",
        "protocol": "conventional",
        "seed": 0,
    }
    measured = {
        "status": "ok",
        "feature_title": "histograms",
        "uses_test_batch": False,
        "n_train": 24295,
        "n_test": 6180,
        "n_candidates": 10,
        "chance": 0.1,
        "hit_at_5": 0.9,
        "peak_memory_mb": 512.0,
        "seconds": 2.0,
    }
    first = {"per_class_accuracy": 0.5123, "per_sample_accuracy": 0.4, "fit_seconds": 1.26}
    second = {"per_class_accuracy": 0.25, "per_sample_accuracy": 0.45, "fit_seconds": 0.0123}
    return [
        {"key": "b", "method": "eszsl", **place, **measured, **second},
        {"key": "a", "method": "sae-encode", **place, **measured, **first},
        {"key": "c", "method": "dap", **place, "status": "failed", "error": "no luck"},
    ]
