"""Parameters of deep methods that belong together are one; none of this needs PyTorch."""

import inspect
import warnings
from dataclasses import FrozenInstanceError

import pytest
from sklearn.base import clone

from zslearn.exceptions import InvalidInputError
from zslearn.zero_shot import deep
from zslearn.zero_shot.deep.base import DeepClassifier, Settings

METHODS = [
    kind
    for kind in (getattr(deep, name) for name in deep.__all__)
    if isinstance(kind, type) and issubclass(kind, DeepClassifier)
]
every_method = pytest.mark.parametrize("kind", METHODS)


@every_method
def test_a_method_has_eight_parameters_at_most(kind):
    assert len(inspect.signature(kind).parameters) <= 8


@every_method
def test_one_setting_is_set_by_two_underscores_and_a_copy_keeps_it(kind):
    clf = kind()
    before = clf.training
    clf.set_params(training__batch_size=7, random_state=3)
    assert (clf.training.batch_size, clf.random_state) == (7, 3)
    assert before == kind().training != clf.training
    twin = clone(clf)
    assert twin.get_params() == clf.get_params()
    assert twin.get_params()["training__batch_size"] == 7
    assert repr(clf.training) == f"{type(clf.training).__name__}(batch_size=7)"


@every_method
def test_the_names_of_before_are_taken_with_a_warning(kind):
    wanted = kind().set_params(training__learning_rate=0.5)
    with pytest.warns(FutureWarning, match="is called training__learning_rate now"):
        given = kind(learning_rate=0.5)
    with pytest.warns(FutureWarning, match="learning_rate is called training__learning_rate now"):
        later = kind().set_params(learning_rate=0.5)
    assert given.get_params() == later.get_params() == wanted.get_params()
    with pytest.warns(FutureWarning, match=r"learning_rate is called training\.learning_rate now"):
        assert given.learning_rate == 0.5


def test_no_name_of_before_is_lost():
    # What the constructors took in the release before.
    adversarial = {
        *("learning_rate", "n_checkpoints", "n_synthetic", "softmax_epochs", "batch_size"),
        *("keep_stages", "feature_norm", "signature_norm", "n_steps", "max_steps", "cv"),
        *("n_folds", "n_critic", "penalty"),
    }
    before = {
        deep.DeepSemanticAutoencoder: {
            *("hidden", "tied", "direction", "metric", "lam", "power", "shrinkage", "n_steps"),
            *("max_steps", "decode_weight", "encode_weight", "classify_weight", "softness"),
            *("reconstruct_weight", "learning_rate", "weight_decay", "batch_size", "cv"),
            *("feature_norm", "signature_norm"),
        },
        deep.ConvSemanticAutoencoder: {
            *("n_free", "n_epochs", "classify_weight", "reconstruct_weight", "learning_rate"),
            *("weight_decay", "batch_size", "signature_norm", "cv"),
        },
        deep.CADAVAEClassifier: {
            *("epochs", "n_real", "n_synthetic", "softmax_epochs", "noise", "width"),
            *("learning_rate", "batch_size", "n_checkpoints", "keep_stages", "feature_norm"),
            "signature_norm",
        },
        deep.FCLSWGANClassifier: adversarial | {"classification"},
        deep.FVAEGANClassifier: adversarial | {"adversarial"},
        deep.TFVAEGANClassifier: adversarial
        | {"adversarial", "decoding", "feedback", "synthesis_feedback"},
    }
    assert {kind: set(kind.older_names()) for kind in before} == before


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError, match="n_steps"):
        deep.FCLSWGANClassifier().training.n_steps = 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"training__penalti": 1}, "no parameter 'training__penalti'. Did you mean 'training__pen"),
        ({"trainin__penalty": 1}, "no parameter 'trainin__penalty'"),
        (
            {"training__n_steps": 0.5},
            r"training\.n_steps must be 'cv' or a whole number of at least",
        ),
        ({"training": None}, "training must be a FCLSWGANTraining; got None"),
        ({"search": deep.Checkpoints()}, r"search must be a GeneratorSearch; got Checkpoints\(\)"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(wrong, says):
    with pytest.raises(InvalidInputError, match=says):
        deep.FCLSWGANClassifier().set_params(**wrong).fit([[0.0], [1.0]], ["a", "b"])


def test_a_word_that_was_never_a_parameter_is_no_attribute():
    clf = deep.CADAVAEClassifier()
    with pytest.raises(TypeError, match="unexpected keyword argument 'penalty'"):
        deep.CADAVAEClassifier(penalty=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hasattr(clf, "penalty")
    assert isinstance(clf.training, Settings)
