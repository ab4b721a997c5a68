"""True and False are the only flags, and arguments of another kind end in one line, everywhere."""

import importlib
import inspect

import numpy as np
import pytest

from zslearn import cluster, datasets, encoders, evaluation, metrics, persistence, reproduce, scale
from zslearn.evaluation import ConventionalProtocol, GeneralizedProtocol, evaluate
from zslearn.exceptions import InvalidInputError, InvalidTypeError, UnknownClassError
from zslearn.reproduce import ResultsFile
from zslearn.signatures import Signatures
from zslearn.zero_shot import CalibratedStacking, SAEClassifier

DATA = datasets.make_zero_shot(8, 3, n_per_class=6, n_features=6, n_dimensions=4, random_state=0)
X, Y, TABLE = DATA.X, DATA.y, DATA.signatures
SEEN = DATA.rows(DATA.split("standard").seen)
SPLIT = DATA.split("standard")
ROOMS = (
    "autoencoder cluster datasets encoders evaluation metrics model_selection persistence "
    "reproduce scale signatures zero_shot"
).split()


def sae():
    return SAEClassifier(TABLE, lam=1.0)


def calibrated():
    return CalibratedStacking(sae()).fit(X[SEEN], Y[SEEN])


#: Every flag of a public function, and how it is called with "no".
FLAGS = {
    "Answers.accuracy unseen": lambda no, _: answers().accuracy(unseen=no),
    "Answers.side unseen": lambda no, _: answers().side(unseen=no),
    "NewClasses.from_texts names": lambda no, _: Signatures.from_texts({}, None, names=no),
    "Recognizer.predict reject": lambda no, _: sae().fit(X, Y).recognizer().predict(X, reject=no),
    "Signatures.from_csv int_names": lambda no, _: Signatures.from_csv("x", int_names=no),
    "Statistics.of by_class": lambda no, _: cluster.Statistics.of(X, Y, by_class=no),
    "Table.markdown bare": lambda no, _: reproduce.Table("t", "", ("a",), ()).markdown(bare=no),
    "ZeroShotClassifier.predict reject": lambda no, _: calibrated().predict(X, reject=no),
    "build_store forget": lambda no, to: encoders.build_store([], to, None, forget=no),
    "build_store progress": lambda no, to: encoders.build_store([], to, None, progress=no),
    "build_store strict": lambda no, to: encoders.build_store([], to, None, strict=no),
    "choose_experiments quick": lambda no, _: reproduce.choose_experiments(["zsl"], quick=no),
    "clustering_loss normalize": lambda no, _: metrics.clustering_loss(Y, Y, normalize=no),
    "extract_pixel_features progress": lambda no, to: cluster.extract_pixel_features(
        [], to, progress=no
    ),
    "fetch_archive progress": lambda no, to: datasets.fetch_archive("awa2-base", to, progress=no),
    "fetch_awa2 progress": lambda no, to: datasets.fetch_awa2(data_home=to, progress=no),
    "fetch_xlsa17 progress": lambda no, to: datasets.fetch_xlsa17("CUB", data_home=to, progress=no),
    "fit_batches progress": lambda no, _: scale.fit_batches(sae(), X, Y, progress=no),
    "gather progress": lambda no, _: scale.gather(sae(), X, Y, progress=no),
    "load_experiments quick": lambda no, _: reproduce.load_experiments(quick=no),
    "load_features mmap": lambda no, _: datasets.load_features("x.npy", mmap=no),
    "load_xlsa17 repair": lambda no, to: datasets.load_xlsa17(to, repair=no),
    "make_imagenet_like progress": lambda no, to: datasets.make_imagenet_like(to, progress=no),
    "read_phrase suggest": lambda no, _: encoders.read_phrase("seen0", TABLE, suggest=no),
    "run_experiments repeat_failed": lambda no, to: reproduce.run_experiments(
        [], ResultsFile(to / "rows.jsonl"), repeat_failed=no
    ),
}


def answers():
    return evaluation.answer_samples(sae().fit(X[SEEN], Y[SEEN]), X, Y)


def flags():
    """Name every parameter that is annotated as a bool, of public functions and methods."""
    found = set()
    for room in ROOMS:
        module = importlib.import_module(f"zslearn.{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            methods = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
            for method in [thing, *(m for key, m in methods if key[0] != "_")]:
                ours = (getattr(method, "__module__", None) or "").startswith("zslearn")
                if not ours or inspect.isclass(method) or not inspect.isroutine(method):
                    continue
                parameters = inspect.signature(method).parameters.values()
                wanted = [p.name for p in parameters if p.annotation in (bool, "bool")]
                found |= {f"{method.__qualname__} {name}" for name in wanted}
    return found


def test_every_flag_is_tried():
    assert flags() == set(FLAGS)


@pytest.mark.parametrize("no", ["no", 0, None])
@pytest.mark.parametrize("flag", FLAGS)
def test_nothing_but_true_and_false_is_a_flag(flag, no, tmp_path):
    name = flag.split()[1]
    with pytest.raises(InvalidInputError, match=f"^{name} must be True or False; got {no!r}"):
        FLAGS[flag](no, tmp_path)


def test_the_booleans_of_numpy_are_flags():
    assert metrics.clustering_loss(Y, Y, normalize=np.True_) == 0.0


WRONG_KINDS = {
    "swapped": (lambda: evaluate("sae", DATA), "dataset must be a ZeroShotDataset; got str"),
    "arrays": (lambda: evaluate(X, "sae"), "dataset must be a ZeroShotDataset; got ndarray"),
    "protocol for method": (
        lambda: evaluate(DATA, GeneralizedProtocol()),
        "method must be a name, .* got GeneralizedProtocol",
    ),
    "class for method": (lambda: evaluate(DATA, SAEClassifier), "method must be a name"),
    "word for protocol": (
        lambda: evaluate(DATA, "sae", "generalized"),
        r"protocol must be one of ConventionalProtocol\(\), .* got 'generalized'",
    ),
    "class for protocol": (
        lambda: evaluate(DATA, "sae", ConventionalProtocol),
        "protocol must be one of",
    ),
    "number for semantics": (
        lambda: evaluate(DATA, "sae", semantics=3),
        "semantics must be the name of a semantic space, .* got int",
    ),
    "splits": (
        lambda: evaluation.evaluate_splits(DATA, "sae", {"a": SPLIT}, "generalized"),
        "protocol must be one of",
    ),
    "splits swapped": (
        lambda: evaluation.evaluate_splits("sae", DATA, ["standard"]),
        "dataset must be a ZeroShotDataset",
    ),
    "model for path": (lambda: persistence.load(sae()), "load takes the path of a file; got SAE"),
}


@pytest.mark.parametrize("case", WRONG_KINDS)
def test_arguments_of_another_kind_end_in_one_line(case):
    call, message = WRONG_KINDS[case]
    with pytest.raises(InvalidTypeError, match=message):
        call()


@pytest.mark.filterwarnings("ignore:seen classes are too few to promise")
@pytest.mark.parametrize("label", [[1], 2.5, True, b"none", np.array(["a"])])
def test_a_reject_label_is_a_text_or_a_whole_number(label):
    with pytest.raises(InvalidInputError, match="reject_label must be None, a text or a whole"):
        calibrated().predict(X, reject=True, reject_label=label)


def test_a_list_is_no_name_of_a_candidate():
    recognizer = sae().fit(X, Y).recognizer()
    with pytest.raises(UnknownClassError, match=r"\['seen0'\]"):
        recognizer.without(["seen0"])
