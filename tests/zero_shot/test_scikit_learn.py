"""What of scikit-learn works with zero-shot classifiers, and what refuses and why.

The table of docs/scikit_learn.md, held here.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer, top_k_accuracy_score
from sklearn.model_selection import cross_val_predict, cross_val_score

from zslearn.datasets import make_zero_shot
from zslearn.exceptions import UnknownClassError
from zslearn.zero_shot import SAEClassifier

ENCODED = r"Class 0 \(and 7 more\) has no signature; .* look encoded: VotingClassifier"


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(
        8, 4, n_per_class=10, n_features=12, n_dimensions=6, noise=0.3, random_state=0
    )


@pytest.fixture(scope="module")
def training(data):
    rows = data.rows(data.split("standard").seen)
    return data.X[rows], data.y[rows]


def classifier(data, table):
    """One-hot, with the training classes alone in the table, or with unseen classes too."""
    tables = {"one-hot": None, "seen": data.signatures.subset(data.split("standard").seen)}
    return SAEClassifier(tables.get(table, data.signatures), lam=1.0)


@pytest.mark.parametrize("table", ["one-hot", "seen", "unseen too"])
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_scorers_of_predictions_work(data, training, table, scoring):
    scores = cross_val_score(
        classifier(data, table), *training, cv=3, scoring=scoring, error_score="raise"
    )
    assert scores.min() > 0.8


@pytest.mark.parametrize("table", ["one-hot", "seen"])
@pytest.mark.parametrize(
    ("scoring", "least"), [("top_k_accuracy", 0.99), ("roc_auc_ovr", 0.99), ("neg_log_loss", -1.5)]
)
def test_scorers_of_probabilities_work_if_every_class_is_in_y(
    data, training, table, scoring, least
):
    scores = cross_val_score(
        classifier(data, table), *training, cv=3, scoring=scoring, error_score="raise"
    )
    assert scores.min() > least


@pytest.mark.parametrize("scoring", ["top_k_accuracy", "roc_auc_ovr", "neg_log_loss"])
def test_scorers_of_probabilities_refuse_columns_without_samples(data, training, scoring):
    clf = classifier(data, "unseen too")
    with pytest.raises(ValueError, match=r"(?i)number of classes"):
        cross_val_score(clf, *training, cv=3, scoring=scoring, error_score="raise")


def test_labels_make_them_work_with_unseen_classes_too(data, training):
    clf, labels = classifier(data, "unseen too"), np.sort(data.signatures.names)
    for metric, worst in ((top_k_accuracy_score, 0.0), (log_loss, 0.0)):
        scoring = make_scorer(metric, response_method="predict_proba", labels=labels)
        scores = cross_val_score(clf, *training, cv=3, scoring=scoring, error_score="raise")
        assert scores.min() > worst


@pytest.mark.parametrize("table", ["one-hot", "seen", "unseen too"])
def test_cross_val_predict_of_labels_works(data, training, table):
    X, y = training
    assert np.mean(cross_val_predict(classifier(data, table), X, y, cv=3) == y) > 0.8


META = {
    "voting": lambda clf: VotingClassifier([("a", clf), ("b", clf)], voting="soft"),
    "stacking": lambda clf: StackingClassifier([("a", clf)], LogisticRegression(), cv=3),
    "bagging": lambda clf: BaggingClassifier(clf, 3, random_state=0),
}


@pytest.mark.parametrize("meta", META)
def test_estimators_that_encode_labels_work_with_one_hot_signatures_alone(data, training, meta):
    X, y = training
    assert META[meta](classifier(data, "one-hot")).fit(X, y).score(X, y) > 0.8
    for table in ("seen", "unseen too"):
        with pytest.raises(UnknownClassError, match=ENCODED):
            META[meta](classifier(data, table)).fit(X, y)


def test_cross_val_predict_of_probabilities_encodes_labels(data, training):
    X, y = training
    method = {"cv": 3, "method": "predict_proba"}
    columns = cross_val_predict(classifier(data, "one-hot"), X, y, **method)
    assert np.mean(np.unique(y)[columns.argmax(axis=1)] == y) > 0.8
    with pytest.raises(UnknownClassError, match=ENCODED):
        cross_val_predict(classifier(data, "seen"), X, y, **method)


@pytest.mark.parametrize("table", ["seen", "unseen too"])
def test_stacking_takes_fitted_classifiers(data, training, table):
    X, y = training
    fitted = classifier(data, table).fit(X, y)
    assert StackingClassifier([("a", fitted)], cv="prefit").fit(X, y).score(X, y) > 0.9


def test_calibration_works_if_every_class_was_trained_on(data, training):
    X, y = training
    for table in ("one-hot", "seen"):
        assert CalibratedClassifierCV(classifier(data, table), cv=3).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match=r"previously unseen labels: .*unseen0"):
        CalibratedClassifierCV(classifier(data, "unseen too"), cv=3).fit(X, y)
