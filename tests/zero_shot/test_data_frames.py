"""Data frames and series go in wherever a table or a column does; names count, not positions."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from zslearn.autoencoder import SemanticAutoencoder
from zslearn.cluster import SupervisedKMeans, make_mapping
from zslearn.datasets import ZeroShotDataset, load_features, load_table, make_zero_shot
from zslearn.evaluation import GeneralizedProtocol, evaluate
from zslearn.exceptions import ZslearnWarning
from zslearn.metrics import make_zero_shot_scorer, per_class_accuracy, seen_unseen_curve
from zslearn.scale import fit_batches
from zslearn.zero_shot import (
    CalibratedStacking,
    PrototypeRegression,
    SAEClassifier,
    make_classifier,
)

DATA = make_zero_shot(8, 3, n_per_class=6, random_state=0)
SEEN = DATA.rows(DATA.split("standard").seen)
INDEX = [f"img{i}" for i in range(len(DATA.y))]
X = pd.DataFrame(DATA.X, INDEX, [f"f{i}" for i in range(DATA.X.shape[1])])
Y = pd.Series(DATA.y, INDEX)
TABLE = DATA.signatures.to_frame()


@pytest.fixture
def fitted():
    return SAEClassifier(TABLE, lam=1.0).fit(X.iloc[SEEN], Y.iloc[SEEN])


def test_everything_from_frames_is_as_from_arrays(fitted):
    arrays = SAEClassifier(DATA.signatures, lam=1.0).fit(DATA.X[SEEN], DATA.y[SEEN])
    unseen = DATA.split("standard").unseen
    for candidates in (pd.Index(unseen), pd.Series(unseen), unseen):
        expected = arrays.predict(DATA.X, list(unseen))
        np.testing.assert_array_equal(fitted.predict(X, candidates), expected)
    assert fitted.score(X, Y, "all") == arrays.score(DATA.X, DATA.y, "all")
    predicted = pd.Series(fitted.predict(X), INDEX)
    assert per_class_accuracy(Y, predicted) == per_class_accuracy(DATA.y, predicted.to_numpy())


def test_ways_to_train_take_frames(fitted):
    seen_X, seen_y = X.iloc[SEEN], Y.iloc[SEEN]
    new = [
        fit_batches(SAEClassifier(TABLE, lam=1.0), seen_X, seen_y),
        make_classifier("sae", TABLE, lam=1.0).partial_fit(seen_X, seen_y),
        SAEClassifier(TABLE, lam=1.0).fit(
            seen_X, seen_y, sample_weight=pd.Series(1.0, seen_y.index)
        ),
    ]
    for clf in new:
        np.testing.assert_allclose(clf.coef_, fitted.coef_, rtol=1e-6, atol=1e-9)


def test_a_sample_is_explained_by_its_names(fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        why = fitted.explain(X.iloc[3], "seen0")
        assert fitted.explain(X.iloc[3:4], "seen0").score == why.score
    assert why.score == pytest.approx(fitted.decision_function(X.iloc[3:4], ["seen0"])[0, 0])
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.explain(X.iloc[3, ::-1], "seen0")


def test_new_classes_come_as_a_frame(fitted):
    new = pd.DataFrame([TABLE.iloc[0], TABLE.iloc[1]], index=["okapi", "quagga"])
    assert {"okapi", "quagga"} <= set(fitted.add_classes(new).classes_)
    assert "bongo" in fitted.recognizer().replace("bongo", TABLE.iloc[2]).names
    joined = DATA.signatures.join(TABLE.add_prefix("word "))
    assert joined.dimensions[-1] == f"word {TABLE.columns[-1]}"


def test_a_data_set_of_frames_keeps_the_names_of_samples():
    data = ZeroShotDataset("own", X, Y, {"attributes": TABLE, "more": TABLE.T.to_dict()})
    assert data.signatures == DATA.signatures == data.semantics["more"]
    assert data.image_files == tuple(INDEX)
    assert load_table(X, Y, TABLE).image_files == tuple(INDEX)
    np.testing.assert_array_equal(load_features(X), DATA.X)


def test_an_index_written_to_parquet_names_classes_and_samples(tmp_path):
    X.assign(label=Y).to_parquet(tmp_path / "x.parquet")
    TABLE.to_parquet(tmp_path / "classes.parquet")
    data = load_table(tmp_path / "x.parquet", "label", tmp_path / "classes.parquet")
    assert data.image_files == tuple(INDEX)
    assert data.signatures == DATA.signatures
    np.testing.assert_array_equal(data.X, DATA.X)


def test_labels_of_a_table_follow_the_index_and_fit_warns_where_it_does_not():
    shuffled = Y.iloc[SEEN].sample(frac=1, random_state=0)
    np.testing.assert_array_equal(load_table(X.iloc[SEEN], shuffled, TABLE).y, DATA.y[SEEN])
    clf = SAEClassifier(TABLE, lam=1.0)
    with pytest.warns(ZslearnWarning, match=r"same samples in another order.*y\.loc\[X\.index\]"):
        clf.fit(X.iloc[SEEN], shuffled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.fit(X.iloc[SEEN], shuffled.reset_index(drop=True))  # another index: position pairs
        clf.fit(X.iloc[SEEN], shuffled.loc[X.index[SEEN]])


PAIRED = {
    "score": lambda clf, X, y: clf.score(X, y, "all"),
    "scorer": lambda clf, X, y: make_zero_shot_scorer("per_class")(clf, X, y),
    "teach": lambda clf, X, y: (
        PrototypeRegression(TABLE, ridge=1.0).fit(X, Y.loc[X.index]).partial_fit(X, y)
    ),
    "mapping": lambda clf, X, y: make_mapping("lda").fit(X, y),
    "clusters": lambda clf, X, y: SupervisedKMeans(make_mapping("lda")).fit(X, y),
    "autoencoder": lambda clf, X, y: SemanticAutoencoder().fit(X, TABLE.loc[y].set_index(y.index)),
}


@pytest.mark.parametrize("door", PAIRED)
def test_samples_and_labels_in_another_order_are_noticed_everywhere(door):
    clf = SAEClassifier(TABLE, lam=1.0).fit(X.iloc[SEEN], Y.iloc[SEEN])
    rows, labels = X.iloc[SEEN], Y.iloc[SEEN]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PAIRED[door](clf, rows, labels)
    with pytest.warns(ZslearnWarning, match="same samples in another order") as caught:
        PAIRED[door](clf, rows, labels.sample(frac=1, random_state=0))
    assert {warning.filename for warning in caught} == {__file__}


def test_a_curve_of_frames():
    clf = SAEClassifier(TABLE, lam=1.0).fit(X.iloc[SEEN], Y.iloc[SEEN])
    scores = pd.DataFrame(clf.decision_function(X), INDEX, clf.classes_)
    curve = seen_unseen_curve(
        Y, scores, candidates=scores.columns, seen=pd.Series(clf.seen_classes_)
    )
    again = seen_unseen_curve(
        DATA.y, scores.to_numpy(), candidates=clf.classes_, seen=clf.seen_classes_
    )
    assert curve.area == again.area


def test_pipelines_with_pandas_between_their_steps():
    steps = make_pipeline(StandardScaler(), SAEClassifier(TABLE, lam=1.0))
    arrays = CalibratedStacking(steps, cv=2).fit(DATA.X[SEEN], DATA.y[SEEN])
    expected = arrays.decision_function(DATA.X)
    protocol = GeneralizedProtocol()
    row = evaluate(DATA, steps, protocol).metrics
    with sklearn.config_context(transform_output="pandas"):
        found = CalibratedStacking(steps, cv=2).fit(X.iloc[SEEN], Y.iloc[SEEN])
        np.testing.assert_allclose(found.decision_function(X), expected)
        assert evaluate(DATA, steps, protocol).metrics == row
