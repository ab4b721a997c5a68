"""Model files of the first release are read, and answer as they did then.

They were written by zslearn 0.1.0 before methods became scorers: a mean of an autoencoder and an
absorbing Markov chain, and calibrated prototype regression with a learned confidence.
`answers.json` holds the samples and what that release said of them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from zslearn.persistence import load

OLD = Path(__file__).parent / "old"
ANSWERS = json.loads((OLD / "answers.json").read_text())


@pytest.mark.parametrize("name", ["average", "calibrated"])
def test_an_old_file_answers_as_it_did(name):
    model, X, then = load(OLD / f"{name}.zsl"), np.array(ANSWERS["X"]), ANSWERS[name]
    np.testing.assert_allclose(model.decision_function(X), then["scores"], atol=1e-9)
    probabilities = model.predict_proba(X, "unseen")
    np.testing.assert_allclose(probabilities, then["probabilities"], atol=1e-9)
    if "rejected" in then:
        assert model.recognizer().rejected(X).tolist() == then["rejected"]
        assert ("?" in model.predict(X, reject=True)) == any(then["rejected"])


def test_an_old_mean_over_a_chain_takes_other_candidates_as_a_whole():
    """The release that wrote the file left the chain of before where a class was taken away."""
    model, X = load(OLD / "average.zsl"), np.array(ANSWERS["X"])
    recognizer = model.recognizer()
    fewer = [name for name in recognizer.names if name != "unseen1"]
    np.testing.assert_allclose(
        recognizer.without("unseen1").scores(X), model.decision_function(X, fewer), atol=1e-12
    )
