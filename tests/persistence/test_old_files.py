"""Model files of the first release are read, and answer as they did then.

They were written by zslearn 0.1.0 before methods became scorers: calibrated prototype regression
with a learned confidence, and a mean of two methods, a class that is gone.
`answers.json` holds the samples and what that release said of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from zslearn.exceptions import ModelFileError
from zslearn.persistence import load

OLD = Path(__file__).parent / "old"
ANSWERS = json.loads((OLD / "answers.json").read_text())


def test_an_old_file_answers_as_it_did():
    model, X, then = load(OLD / "calibrated.zsl"), np.array(ANSWERS["X"]), ANSWERS["calibrated"]
    np.testing.assert_allclose(model.decision_function(X), then["scores"], atol=1e-9)
    probabilities = model.predict_proba(X, "unseen")
    np.testing.assert_allclose(probabilities, then["probabilities"], atol=1e-9)
    assert model.recognizer().rejected(X).tolist() == then["rejected"]
    assert ("?" in model.predict(X, reject=True)) == any(then["rejected"])


def test_a_class_that_is_gone_is_refused_by_its_name():
    with pytest.raises(ModelFileError, match="its AverageClassifier is of a form that is gone"):
        load(OLD / "average.zsl")


def test_old_files_of_deep_methods_are_read_with_their_parameters_as_settings():
    answers = json.loads((OLD / "deep_answers.json").read_text())
    X = np.array(answers["X"])
    for name, kept in (
        ("deep_autoencoder", {"start__direction": "both", "search__cv": 3, "n_hidden": 3}),
        ("f_clswgan", {"training__penalty": 5.0, "search__max_steps": 4, "n_hidden": 3}),
    ):
        model = load(OLD / f"{name}.zsl")
        np.testing.assert_allclose(model.decision_function(X, "all"), answers[name], atol=1e-9)
        assert kept.items() <= model.get_params().items()
