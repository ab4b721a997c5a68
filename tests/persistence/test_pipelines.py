import json

import numpy as np
import pytest
import sklearn
from sklearn import (
    decomposition,
    discriminant_analysis,
    feature_selection,
    impute,
    kernel_approximation,
    linear_model,
    naive_bayes,
    neighbors,
    preprocessing,
    random_projection,
)
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import make_pipeline, make_union

from zslearn.exceptions import InvalidTypeError, ModelFileError
from zslearn.persistence import load, save
from zslearn.persistence.container import read, write
from zslearn.zero_shot import CalibratedStacking, PrototypeRegression, SAEClassifier

STEPS = [
    decomposition.FactorAnalysis(3, random_state=0),
    decomposition.PCA(5),
    decomposition.TruncatedSVD(4, random_state=0),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    feature_selection.SelectKBest(k=6),
    feature_selection.SelectPercentile(feature_selection.mutual_info_classif, percentile=60),
    feature_selection.VarianceThreshold(0.01),
    impute.SimpleImputer(add_indicator=True),
    impute.SimpleImputer(strategy="constant", fill_value=1),
    impute.SimpleImputer(strategy="median"),
    kernel_approximation.Nystroem(n_components=9, random_state=0),
    kernel_approximation.RBFSampler(n_components=9, random_state=0),
    make_union(preprocessing.StandardScaler(), decomposition.PCA(2)),
    preprocessing.Binarizer(),
    preprocessing.KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    preprocessing.KBinsDiscretizer(3, encode="ordinal", strategy="uniform"),
    preprocessing.MaxAbsScaler(),
    preprocessing.MinMaxScaler(),
    preprocessing.Normalizer(),
    preprocessing.PolynomialFeatures(2),
    preprocessing.PowerTransformer(),
    preprocessing.QuantileTransformer(n_quantiles=20, random_state=0),
    preprocessing.RobustScaler(),
    preprocessing.StandardScaler(),
    random_projection.GaussianRandomProjection(6, random_state=0),
    random_projection.SparseRandomProjection(6, random_state=0),
    "passthrough",
]


def loaded_again(model, tmp_path):
    save(model, tmp_path / "m.zsl")
    return load(tmp_path / "m.zsl")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step)[:30])
def test_a_pipeline_answers_the_same_after_save_and_load(step, data, tmp_path):
    last = SAEClassifier(data.signatures, lam=1.0, feature_norm=None)
    model = make_pipeline(step, last).fit(data.X, data.y)
    again = loaded_again(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(data.X), model.decision_function(data.X))
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))


@pytest.mark.parametrize(
    "step",
    [
        kernel_approximation.Nystroem(n_components=9, random_state=0),
        preprocessing.KBinsDiscretizer(
            3, encode="ordinal", quantile_method="averaged_inverted_cdf"
        ),
    ],
    ids=lambda step: type(step).__name__,
)
def test_whole_numbers_far_from_those_of_the_trial(step, data, tmp_path):
    X = np.abs(data.X * 10).astype(int)
    last = SAEClassifier(data.signatures, lam=1.0)
    model = make_pipeline(step, last).fit(X, data.y)
    again = loaded_again(model, tmp_path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_pipeline_around_a_calibrated_classifier(data, tmp_path):
    rows = data.rows(data.split("standard").seen)
    calibrated = CalibratedStacking(PrototypeRegression(data.signatures, n_repeats=1), cv=2)
    model = make_pipeline(preprocessing.StandardScaler(), calibrated).fit(
        data.X[rows], data.y[rows]
    )
    again = loaded_again(model, tmp_path)
    assert again[-1].gamma_ == model[-1].gamma_
    np.testing.assert_array_equal(again.decision_function(data.X), model.decision_function(data.X))


@pytest.mark.parametrize(
    "steps",
    [
        [preprocessing.StandardScaler()],
        [impute.SimpleImputer(), decomposition.PCA(6), preprocessing.Normalizer()],
        [feature_selection.SelectKBest(k=6)],
        ["passthrough"],
    ],
    ids=str,
)
def test_a_pipeline_inside_a_calibrated_classifier(steps, data, tmp_path):
    rows = data.rows(data.split("standard").seen)
    piped = make_pipeline(*steps, PrototypeRegression(data.signatures, n_repeats=1))
    model = CalibratedStacking(piped, cv=2).fit(data.X[rows], data.y[rows])
    again = loaded_again(model, tmp_path)
    assert again.gamma_ == model.gamma_
    assert again.estimator_[0] == "passthrough" or type(again.estimator_[0]) is type(steps[0])
    np.testing.assert_array_equal(again.decision_function(data.X), model.decision_function(data.X))
    again.add_classes({"new": data.signatures.vectors[0]})
    assert "new" in again.predict(data.X, ["new", data.y[0]])


CLASSIFIERS = [
    discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.5),
    linear_model.LogisticRegression(),
    naive_bayes.GaussianNB(),
    neighbors.KNeighborsClassifier(3),
    neighbors.KNeighborsClassifier(3, algorithm="ball_tree", weights="distance"),
    neighbors.KNeighborsClassifier(3, algorithm="brute"),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=str)
def test_classifiers_of_scikit_learn_inside_a_model(classifier, data, tmp_path):
    model = make_pipeline(preprocessing.StandardScaler(), SAEClassifier(data.signatures, lam=1.0))
    model.fit(data.X, data.y)
    # Whatever an estimator holds is saved with it.
    X = data.X[:, :8]
    model[-1].inner_ = [classifier.fit(X, data.y)]
    (inner,) = loaded_again(model, tmp_path)[-1].inner_
    np.testing.assert_array_equal(inner.predict_proba(X), classifier.predict_proba(X))
    np.testing.assert_array_equal(inner.classes_, classifier.classes_)


def best_of(X, y):
    return X.var(axis=0)


def test_only_functions_of_the_list_are_saved(data, tmp_path):
    chosen = feature_selection.SelectKBest(best_of, k=5)
    model = make_pipeline(chosen, SAEClassifier(data.signatures, lam=1.0)).fit(data.X, data.y)
    with pytest.raises(InvalidTypeError, match=r"score_func is the function best_of.*f_classif"):
        save(model, tmp_path / "m.zsl")


def test_estimators_of_scikit_learn_are_no_models_by_themselves(data, tmp_path):
    scaler = preprocessing.StandardScaler().fit(data.X)
    with pytest.raises(InvalidTypeError, match="ends in one; got a StandardScaler"):
        save(scaler, tmp_path / "m.zsl")
    with pytest.raises(InvalidTypeError, match="ends in one; got a StandardScaler"):
        save(make_pipeline(preprocessing.Normalizer(), scaler).fit(data.X), tmp_path / "m.zsl")


@pytest.fixture
def document_of(data, tmp_path):
    """Document of a pipeline's file, and a function that writes it changed."""
    model = make_pipeline(preprocessing.StandardScaler(), SAEClassifier(data.signatures, lam=1.0))
    save(model.fit(data.X, data.y), tmp_path / "m.zsl")
    document, tensors = read(tmp_path / "m.zsl")
    return json.dumps(document), lambda text: write(tmp_path / "m.zsl", json.loads(text), tensors)


def test_another_version_of_scikit_learn_is_told(document_of, tmp_path):
    text, rewrite = document_of
    rewrite(text.replace(f'"version": "{sklearn.__version__}"', '"version": "0.9"'))
    with pytest.warns(InconsistentVersionWarning, match=r"from version 0\.9 when using"):
        load(tmp_path / "m.zsl")


def test_a_version_with_other_parameters_is_refused(data, tmp_path):
    model = SAEClassifier(data.signatures, lam=1.0).fit(data.X, data.y)
    model.inner_ = preprocessing.StandardScaler().fit(data.X)
    save(model, tmp_path / "m.zsl")
    document, tensors = read(tmp_path / "m.zsl")
    scaler = document["state"]["inner_"]
    scaler["version"] = "0.9"
    scaler["parameters"]["ddof"] = 1
    write(tmp_path / "m.zsl", document, tensors)
    with pytest.raises(ModelFileError, match=r"0\.9 and of .* differ in the parameter 'ddof'"):
        load(tmp_path / "m.zsl")


def test_an_unknown_function_or_class_is_refused(document_of, tmp_path):
    text, rewrite = document_of
    rewrite(text.replace('"sklearn.StandardScaler"', '"sklearn.FunctionTransformer"'))
    with pytest.raises(ModelFileError, match=r"needs the class 'sklearn\.FunctionTransformer'"):
        load(tmp_path / "m.zsl")
