"""Device, seed and threads of PyTorch for a block of work."""

import pytest

from zslearn.core.threads import threads
from zslearn.exceptions import InvalidInputError

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep.training import torch_device, torch_session  # noqa: E402


def test_a_session_leaves_the_callers_generator_threads_and_gradients_alone():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    before = torch.get_num_threads()
    with torch.no_grad():
        with threads(3), torch_session("cpu", 0, work=1e10):
            torch.rand(7)
            assert torch.get_num_threads() == 3
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.get_num_threads() == before
    assert torch.equal(torch.rand(4), expected)


def test_small_steps_run_in_one_thread():
    with threads(3), torch_session("cpu", 0):
        assert torch.get_num_threads() == 1


def test_a_session_that_fails_puts_everything_back():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    before = torch.get_num_threads()

    def interrupted():
        with threads(1), torch_session("cpu", 5):
            torch.rand(1)
            raise KeyboardInterrupt("now")

    with pytest.raises(KeyboardInterrupt, match="now"):
        interrupted()
    assert torch.get_num_threads() == before
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_a_seed_fixes_what_is_drawn_whatever_was_drawn_before(seed):
    drawn = []
    for waste in (0, 5):
        torch.rand(waste)
        with torch_session("cpu", seed):
            drawn.append(torch.rand(6))
    assert torch.equal(*drawn)


def test_without_a_seed_every_session_draws_anew():
    with torch_session("cpu", None):
        first = torch.rand(6)
    with torch_session("cpu", None):
        assert not torch.equal(torch.rand(6), first)


def test_devices(monkeypatch):
    assert torch_device("cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("auto").type == "cpu"
    with pytest.raises(InvalidInputError, match='device="cuda" was asked for, but PyTorch finds'):
        torch_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [torch_device(name).type for name in ("auto", "cuda", "cpu")] == ["cuda", "cuda", "cpu"]
