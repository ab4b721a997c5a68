"""The training loop: what the batches are, when it looks, how it ends."""

import numpy as np
import pytest

from zslearn.exceptions import InvalidInputError

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep.training import Course, steps_of, to_arrays, to_tensors, train  # noqa: E402  # noqa: E402


def batches_of(n_rows, course, seed=0):
    got = []

    def step(rows):
        assert rows.dtype == torch.int64
        got.append(rows.tolist())
        return 0.0

    train(step, n_rows, course, np.random.RandomState(seed))
    return got


def test_every_pass_takes_every_row_once_in_another_order():
    got = batches_of(7, Course(n_steps=6, batch_size=3))
    assert [len(rows) for rows in got] == [3, 3, 1, 3, 3, 1]
    first, second = ([row for rows in half for row in rows] for half in (got[:3], got[3:]))
    assert sorted(first) == sorted(second) == list(range(7))
    assert first != second
    assert got == batches_of(7, Course(n_steps=6, batch_size=3))
    assert got != batches_of(7, Course(n_steps=6, batch_size=3), seed=1)


def test_steps_of_epochs():
    assert steps_of(2, 7, 3) == 6
    assert steps_of(1, 6, 3) == 2


def test_looks_come_after_their_steps_and_without_gradients():
    told = []

    def look(number):
        assert not torch.is_grad_enabled()
        told.append(("look", number))

    def step(rows):
        told.append("step")
        return torch.tensor(2.5)

    course = Course(n_steps=3, batch_size=2, looks=(0, 2, 9))
    losses = train(step, 4, course, np.random.RandomState(0), look=look)
    assert told == [("look", 0), "step", "step", ("look", 2), "step"]
    assert losses == [2.5, 2.5, 2.5]


def test_a_loss_that_is_not_finite_ends_the_training_in_one_line():
    losses = iter([1.0, float("nan")])
    with pytest.raises(InvalidInputError, match=r"the loss of step 2 is nan.*smaller") as caught:
        train(lambda rows: next(losses), 4, Course(5), np.random.RandomState(0))
    assert "\n" not in str(caught.value)


def test_an_interruption_passes_on_and_closes_the_bar(capsys):
    def step(rows):
        raise KeyboardInterrupt("now")

    with pytest.raises(KeyboardInterrupt, match="now"):
        train(step, 4, Course(5, label="deep", show=True), np.random.RandomState(0))
    told = capsys.readouterr().err
    assert "deep" in told
    assert told.endswith("\n")


def test_least_squares_are_found():
    rng = np.random.RandomState(0)
    X, w = rng.standard_normal((60, 3)), np.array([1.0, -2.0, 0.5])
    tensors = to_tensors({"w": np.zeros(3)}, trained=True)
    rows_of_X, y = torch.from_numpy(X), torch.from_numpy(X @ w)
    optimizer = torch.optim.SGD([tensors["w"]], lr=0.1)

    def step(rows):
        loss = ((rows_of_X[rows] @ tensors["w"] - y[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    losses = train(step, 60, Course(200, batch_size=20), rng)
    assert losses[-1] < 1e-8 * losses[0]
    np.testing.assert_allclose(to_arrays(tensors)["w"], w, atol=1e-4)


def test_arrays_are_copies():
    tensors = to_tensors({"w": np.ones(2, dtype=np.float32)})
    arrays = to_arrays(tensors)
    tensors["w"] += 1.0
    assert arrays["w"].tolist() == [1.0, 1.0]
    assert to_tensors(arrays, dtype=torch.float64)["w"].dtype == torch.float64
