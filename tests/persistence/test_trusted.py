"""The list of classes that model files may name, and what reading one of them imports."""

import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from zslearn import zero_shot
from zslearn.exceptions import InvalidTypeError
from zslearn.persistence import check_savable, save, trusted
from zslearn.zero_shot import (
    CalibratedStacking,
    DAPClassifier,
    SAEClassifier,
    ZeroShotClassifier,
    ZeroShotMethod,
)
from zslearn.zero_shot.registry import DEEP


def test_every_name_on_the_list_is_a_class_that_exists():
    for name in trusted.RECORDS:
        assert trusted.record_class(name).__name__ == name
    for name in trusted.FUNCTIONS:
        assert callable(trusted.function_of(name))
    names = [*trusted.ESTIMATORS, *(method.class_name for method in DEEP.values())]
    for name in names:
        assert issubclass(trusted.estimator_class(name), BaseEstimator)
    for names in trusted.SCIKIT_LEARN.values():
        for name in names:
            assert trusted.estimator_class(f"sklearn.{name}").__name__ == name


def test_every_public_classifier_is_on_the_list():
    public = [getattr(zero_shot, name) for name in zero_shot.__all__]
    for kind in public:
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            allowed = trusted.estimator_class(kind.__name__) is kind
            assert allowed or kind in (ZeroShotClassifier, ZeroShotMethod)


def test_reading_a_model_imports_its_own_method_alone(model, tmp_path):
    save(model, tmp_path / "model.zsl")
    assert isinstance(model, SAEClassifier)
    code = (
        "import sys\nfrom zslearn.persistence import load\nload(sys.argv[1])\nprint(*sys.modules)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model.zsl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "zslearn.zero_shot.linear.sae" in loaded
    others = {method.module for method in (zero_shot.METHODS | DEEP).values()}
    others |= {"zslearn.cluster.base", "zslearn.zero_shot.auto.classifier", "torch"}
    assert loaded & others == {"zslearn.zero_shot.linear.sae"}


@pytest.mark.parametrize("wrap", [CalibratedStacking, make_pipeline], ids=lambda w: w.__name__)
def test_what_cannot_be_saved_is_known_before_the_fit(wrap):
    check_savable(wrap(DAPClassifier()))
    forest = DAPClassifier(classifier=RandomForestClassifier())
    with pytest.raises(InvalidTypeError, match=r"classifier holds a sklearn.ensemble.* be saved"):
        check_savable(wrap(forest))
    with pytest.raises(InvalidTypeError, match=r"score_func is the function .*<lambda>, which"):
        check_savable(make_pipeline(SelectKBest(lambda X, y: X), SAEClassifier()))
    with pytest.raises(InvalidTypeError, match="save takes a fitted estimator of zslearn"):
        check_savable(RandomForestClassifier())
