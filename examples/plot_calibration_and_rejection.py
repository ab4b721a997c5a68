"""Probabilities to believe, and "none of these": calibration on the bundled animals.

    python examples/plot_calibration_and_rejection.py [FILE.png]

A classifier learns 18 of the 28 animals. Six more are known by their attributes alone, and four
are unknown: no samples, no attributes, so the only right answer to their pictures is none at all.
`CalibratedStacking` learns a bias, a temperature and a threshold on folds of the 18 classes. The
picture shows what its probabilities are worth (left) and how answers get better as those of low
confidence are rejected (right). Needs matplotlib (``pip install 'zslearn[plot]'``).
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from zslearn.datasets import load_animals
from zslearn.metrics import RejectionCurveDisplay, ReliabilityDisplay
from zslearn.model_selection import stratified_holdout
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression

N_SEEN, N_UNSEEN = 18, 6


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "calibration_and_rejection.png"
    animals = load_animals()
    order = np.random.default_rng(0).permutation(np.unique(animals.y))
    seen, unseen, unknown = np.split(order, [N_SEEN, N_SEEN + N_UNSEEN])
    rows = animals.rows(seen)
    kept, held_out = stratified_holdout(animals.y[rows], share=0.25, random_state=0)
    train = rows[kept]
    test = np.concatenate([rows[held_out], animals.rows([*unseen, *unknown])])
    X, y = animals.X[test], animals.y[test]
    known = np.isin(y, [*seen, *unseen])

    table = animals.signatures.drop(unknown)
    clf = CalibratedStacking(PrototypeRegression(table), reject_label="none of these")
    clf.fit(animals.X[train], animals.y[train])
    answers = clf.predict(X, reject=True)
    rejected = answers == "none of these"
    print(f"bias {clf.bias_:.0f}, temperature {clf.temperature_['all']:.0f}")
    print(
        f"rejected: {rejected[known].mean():.0%} of the known, {rejected[~known].mean():.0%} of "
        f"the unknown samples"
    )

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    plain = ReliabilityDisplay.from_estimator(
        clf.estimator_, X[known], y[known], name="softmax of the scores", n_bins=10, ax=left
    )
    honest = ReliabilityDisplay.from_estimator(
        clf, X[known], y[known], name="calibrated", n_bins=10, ax=left
    )
    print(f"calibration error {plain.curve.error:.3f} before, {honest.curve.error:.3f} after")
    recogniser = clf.recogniser()
    scores = recogniser.scores(X)
    best = clf.classes_[scores.argmax(axis=1)]
    ways = {
        "learned: the answer is right": recogniser.confidence(X),
        "probability of the answer": recogniser.probabilities(X).max(axis=1),
        "score of the answer": scores.max(axis=1),
    }
    for name, confidence in ways.items():
        display = RejectionCurveDisplay.from_predictions(
            y, best, confidence, candidates=clf.classes_, name=name, ax=right
        )
        print(f"AUROC of known against unknown {display.curve.auroc:.3f}, {name}")
    share = 1 - rejected.mean()
    accuracy = np.mean(answers[~rejected] == y[~rejected])
    right.plot(share, accuracy, "k*", markersize=14, label="the learned threshold")
    right.legend(fontsize="small", loc="lower left")
    left.set_title("what probabilities are worth")
    right.set_title("accuracy as answers are rejected")
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main()
