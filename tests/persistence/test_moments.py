"""Moments as files that add up, on one machine or on many."""

import re
from pathlib import Path

import numpy as np
import pytest

from zslearn.cluster import KISSME, LDAProjection
from zslearn.core.learner import gather_rows
from zslearn.datasets import make_zero_shot
from zslearn.exceptions import InvalidInputError, ModelFileError
from zslearn.persistence import container, load, load_moments, merge_moments, save, save_moments
from zslearn.scale import gather
from zslearn.zero_shot import ESZSLClassifier, PrototypeRegression, SAEClassifier

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


@pytest.fixture(scope="module")
def data():
    return make_zero_shot(n_per_class=20, n_features=24, noise=1.0, random_state=3)


@pytest.fixture(scope="module")
def seen(data):
    rows = np.random.default_rng(0).permutation(data.rows(data.split("standard").seen))
    return data.X[rows], data.y[rows]


def files_of_parts(model, X, y, folder, classes):
    """Gather three parts of the rows, one of them of few classes, to files."""
    order = np.argsort(y, kind="stable")
    parts = [order[:40], order[40:200], order[200:]]
    paths = [folder / f"moments-{number}" for number in range(3)]
    for part, path in zip(parts, paths, strict=True):
        save_moments(gather(model, X[part], y[part], classes=classes), path)
    return paths


@pytest.mark.parametrize(
    "make",
    [
        lambda table: SAEClassifier(table),
        lambda table: ESZSLClassifier(table, gamma=1.0),
        lambda table: PrototypeRegression(table, power=0.5, n_repeats=1),
        lambda table: LDAProjection(),
        lambda table: KISSME(),
    ],
)
def test_merged_files_give_the_model_of_fit(data, seen, tmp_path, make):
    model = make(data.signatures)
    classes = np.unique(seen[1])
    paths = files_of_parts(model, *seen, tmp_path, classes)
    expected = make(data.signatures).fit(*seen)
    got = model.learn(merge_moments(paths[::-1]))
    name = "dual_coef_" if hasattr(got, "dual_coef_") else "coef_"
    ours, theirs = np.abs(getattr(got, name)), np.abs(getattr(expected, name))
    np.testing.assert_allclose(ours, theirs, atol=1e-10 * theirs.max())
    np.testing.assert_array_equal(got.classes_, expected.classes_)


def test_a_file_holds_what_was_gathered(data, seen, tmp_path):
    folded = gather(SAEClassifier(data.signatures), *seen)
    save_moments(folded, tmp_path / "m")
    again = load_moments(tmp_path / "m")
    assert again.plan.facts() == folded.plan.facts()
    np.testing.assert_array_equal(again.X, folded.X)
    np.testing.assert_array_equal(again.y, folded.y)
    for a, b in zip(again.parts, folded.parts, strict=True):
        for name in ("classes", "counts", "sums", "gram", "origin"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_numbers_as_class_names_stay_numbers(tmp_path):
    X, y = np.eye(6), np.arange(6) % 3
    save_moments(gather(LDAProjection(), X, y), tmp_path / "m")
    assert load_moments(tmp_path / "m").total.classes.tolist() == [0, 1, 2]


def test_parts_of_different_plans_are_refused(data, seen, tmp_path):
    X, y = seen
    first = gather(SAEClassifier(data.signatures, lam=1.0), X[:50], y[:50])
    for other in (
        SAEClassifier(data.signatures, lam=1.0, feature_norm=None),
        PrototypeRegression(data.signatures, power=0.5, shrinkage=0.5, bandwidth=1.0, ridge=0.1),
    ):
        with pytest.raises(InvalidInputError, match="gathered by different plans"):
            first + gather(other, X[50:], y[50:])
        with pytest.raises(InvalidInputError, match="Gather them again"):
            other.learn(first)
    choosing = SAEClassifier(data.signatures)
    with pytest.raises(InvalidInputError, match="all training classes as classes="):
        gather(choosing, X[y < "seen3"], y[y < "seen3"]) + gather(choosing, X, y)
    with pytest.raises(InvalidInputError, match="no files of moments"):
        merge_moments([])
    with pytest.raises(InvalidInputError, match=r"results of zslearn\.scale\.gather"):
        save_moments(gather_rows(X, y), tmp_path / "m")


def test_other_and_damaged_files_are_refused(data, seen, tmp_path):
    path = tmp_path / "m"
    save(SAEClassifier(data.signatures, lam=1.0).fit(*seen), path)
    with pytest.raises(ModelFileError, match=r"zslearn moments: it was not written by .*moments"):
        load_moments(path)
    save_moments(gather(SAEClassifier(data.signatures), *seen), path)
    with pytest.raises(ModelFileError, match=r"it was not written by zslearn\.persistence\.save\."):
        load(path)
    document, tensors = container.read(path, container.MOMENTS)
    for change in (
        {"sums_0": tensors["sums_0"][:, :-1]},
        {"classes_1": tensors["classes_1"] + 10_000},
        {"keys": tensors["keys"][:-1]},
        {"gram_2": tensors["gram_2"][:3, :3]},
    ):
        altered = {name: np.ascontiguousarray(t) for name, t in (tensors | change).items()}
        container.write(path, document, altered, container.MOMENTS)
        with pytest.raises(ModelFileError, match="its content is not moments"):
            load_moments(path)
    container.write(path, {"plan": {}}, tensors, container.MOMENTS)
    with pytest.raises(ModelFileError, match="its content is not moments"):
        load_moments(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ModelFileError, match="cut off or damaged"):
        load_moments(path)


def test_the_recipe_of_the_page_runs_in_processes_of_its_own(data, seen, tmp_path, warm):
    recipe = PAGE.read_text("utf-8").partition("## Any other cluster")[2].partition("\n## ")[0]
    job, learn = re.findall(r"^```python\n(.*?)^```$", recipe, flags=re.S | re.M)
    assert len(job.splitlines()) + len(learn.splitlines()) <= 40
    X, y = seen
    data.signatures.to_npz(tmp_path / "signatures.npz")
    (tmp_path / "seen.txt").write_text("\n".join(np.unique(y)))
    for number, rows in enumerate(np.array_split(np.arange(len(y)), 3)):
        np.savez(tmp_path / f"part-{number}.npz", X=X[rows], y=y[rows])
        run(warm, job, tmp_path, f"part-{number}.npz", f"moments-{number}")
    run(warm, learn, tmp_path, *(f"moments-{number}" for number in range(3)))
    got, expected = load(tmp_path / "model.zsl"), SAEClassifier(data.signatures).fit(X, y)
    assert got.best_params_ == pytest.approx(expected.best_params_)
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-10 * np.abs(expected.coef_).max())


def run(warm, program, folder, *arguments):
    done = warm.python("-c", program, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
