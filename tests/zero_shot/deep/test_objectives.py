"""Losses of the generators: closed forms, and gradients by finite differences."""

import numpy as np
import pytest
from scipy.stats import norm

torch = pytest.importorskip("torch", reason="the extra deep (PyTorch) is not installed")

from zslearn.zero_shot.deep.generator_training import (  # noqa: E402  # noqa: E402  # noqa: E402  # noqa: E402
    ALIGNMENT,
    CROSSING,
    DIVERGENCE,
    N_CODE,
    AlignedGame,
    FeedbackGame,
    Rules,
    VariationalGame,
    critic_loss,
    kl_divergence,
    leaky,
    normal,
    start,
    wasserstein_distance,
    weighted_l1,
    xavier,
)


def double(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


def test_kl_divergence_equals_its_integral():
    mean, log_variance = 0.7, -0.4
    scale = np.exp(log_variance / 2)
    x = np.linspace(-12, 12, 200_001)
    p = norm.pdf(x, mean, scale)
    integral = np.trapezoid(p * (norm.logpdf(x, mean, scale) - norm.logpdf(x)), x)
    got = kl_divergence(torch.tensor([[mean, mean]]), torch.tensor([[log_variance] * 2]))
    assert got.item() == pytest.approx(2 * integral, rel=1e-5)


def test_wasserstein_distance_equals_that_of_quantile_functions():
    # On the line W₂² = ∫ (F⁻¹(q) − G⁻¹(q))² dq, and squares add up over independent dimensions.
    q = (np.arange(400_000) + 0.5) / 400_000
    sides = [((0.5, 0.3), (-1.0, 1.2)), ((2.0, 0.8), (0.4, 0.1))]
    square = sum(
        np.mean((norm.ppf(q, *first) - norm.ppf(q, *second)) ** 2) for first, second in sides
    )
    (m, s), (n, t) = (
        torch.tensor([[side[i] for side in sides]]).permute(2, 0, 1) for i in range(2)
    )
    got = wasserstein_distance(m, 2 * s.log(), n, 2 * t.log())
    assert got.item() == pytest.approx(np.sqrt(square), rel=1e-4)


def test_equal_posteriors_have_no_distance_and_a_finite_gradient():
    mean = torch.zeros(2, 3, requires_grad=True)
    flat = torch.zeros(2, 3)
    wasserstein_distance(mean, flat, flat, flat).sum().backward()
    assert torch.isfinite(mean.grad).all()


def critic(d, k, h, seed=0):
    shapes = {"critic_W0": (d + k, h), "critic_b0": (h,), "critic_W1": (h, 1), "critic_b1": (1,)}
    made = {name: double(*shape, seed=seed + i) for i, (name, shape) in enumerate(shapes.items())}
    return {name: tensor.requires_grad_() for name, tensor in made.items()}


def by_double_backward(weights, real, fake, A, mix, penalty):
    """The critic's loss as it is usually written, with a gradient of a gradient."""

    def value(X):
        H = torch.cat([X, A], dim=1) @ weights["critic_W0"] + weights["critic_b0"]
        return leaky(H) @ weights["critic_W1"] + weights["critic_b1"]

    between = (mix * real + (1 - mix) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(value(between).sum(), between, create_graph=True)
    gap = value(fake).mean() - value(real).mean()
    return gap + penalty * ((slope.norm(dim=1) - 1) ** 2).mean()


def test_critic_loss_equals_the_one_with_a_second_derivative():
    weights, A, mix = critic(5, 3, 7), double(6, 3, seed=7), torch.rand(6, 1, dtype=torch.double)
    real, fake = double(6, 5, seed=8), double(6, 5, seed=9)
    names = ["critic_W0", "critic_b0", "critic_W1"]
    got, wanted = (
        loss(weights, real, fake, A, mix, 10.0) for loss in (critic_loss, by_double_backward)
    )
    assert got.item() == pytest.approx(wanted.item(), rel=1e-12)
    for g, w in zip(
        torch.autograd.grad(got, [weights[n] for n in names]),
        torch.autograd.grad(wanted, [weights[n] for n in names]),
        strict=True,
    ):
        torch.testing.assert_close(g, w, rtol=1e-10, atol=1e-12)


def test_penalty_of_a_linear_critic_is_that_of_its_length():
    # φ(t) − φ(−t) = 1.2 t, so the critic is 1.2 vᵀx.
    v = torch.tensor([[3.0], [4.0]], dtype=torch.double)
    weights = {
        "critic_W0": torch.cat([v, -v], dim=1),
        "critic_b0": torch.zeros(2, dtype=torch.double),
        "critic_W1": torch.tensor([[1.0], [-1.0]], dtype=torch.double),
        "critic_b1": torch.zeros(1, dtype=torch.double),
    }
    X = double(4, 2)
    got = critic_loss(weights, X, X, torch.zeros(4, 0, dtype=torch.double), torch.ones(4, 1), 10.0)
    assert got.item() == pytest.approx(10.0 * (1.2 * 5.0 - 1.0) ** 2)


def test_gradients_agree_with_finite_differences():
    A, mix = double(4, 2, seed=3), torch.full((4, 1), 0.3, dtype=torch.double)
    real, fake = double(4, 3, seed=4), double(4, 3, seed=5)
    weights = critic(3, 2, 4)

    def of_critic(*tensors):
        return critic_loss(dict(zip(weights, tensors, strict=True)), real, fake, A, mix, 10.0)

    assert torch.autograd.gradcheck(of_critic, tuple(weights.values()), fast_mode=True)
    four = tuple(double(3, 2, seed=i).requires_grad_() for i in range(4))
    assert torch.autograd.gradcheck(wasserstein_distance, four)
    assert torch.autograd.gradcheck(kl_divergence, four[:2])


def test_ramps_are_the_published_ones():
    # At epoch e of 100: β reaches .25 at 93, δ 8.13 between 6 and 22, γ 2.37 between 21 and 75.
    assert [DIVERGENCE.at(e / 100) for e in (0, 93, 99)] == [0.0, 0.25, 0.25]
    assert [ALIGNMENT.at(e / 100) for e in (6, 22, 60)] == [0.0, 8.13, 8.13]
    assert [CROSSING.at(e / 100) for e in (21, 75)] == [0.0, 2.37]
    assert CROSSING.at(0.48) == pytest.approx(2.37 / 2)


def aligned(textbook_noise=True):
    X, S = np.random.default_rng(0).random((6, 4)), np.random.default_rng(1).random((3, 2))
    torch.manual_seed(0)
    game = AlignedGame(
        X,
        np.arange(6) % 3,
        S,
        n_epochs=10,
        batch_size=3,
        learning_rate=1e-3,
        textbook_noise=textbook_noise,
        width=0.002,
        device=None,
    )
    game.networks = {
        name: tensor.detach().double().requires_grad_() for name, tensor in game.networks.items()
    }
    return game


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_aligned_loss_has_the_gradient_of_finite_differences(share):
    game = aligned()
    names = list(game.networks)

    def loss(*tensors):
        torch.manual_seed(3)
        game.networks = dict(zip(names, tensors, strict=True))
        return game.loss(game.X, game.S[game.y], share)

    assert torch.autograd.gradcheck(loss, tuple(game.networks.values()), fast_mode=True)


def test_aligned_loss_without_noise_is_the_formula():
    game = aligned()
    game.drawn = lambda mean, log_variance: mean
    X, A = game.X, game.S[game.y]

    def run(name, inputs):
        network = {key: tensor.detach() for key, tensor in game.networks.items()}
        H = torch.relu(inputs @ network[f"{name}_W0"] + network[f"{name}_b0"])
        return H @ network[f"{name}_W1"] + network[f"{name}_b1"]

    x, a = run("feature_encoder", X), run("signature_encoder", A)
    (m, u), (n, v) = ((side[:, :N_CODE], side[:, N_CODE:]) for side in (x, a))
    wanted = sum(
        weight * float((run(f"{side}_decoder", code) - target).abs().sum())
        for side, target, code, weight in (
            ("feature", X, m, 1.0),
            ("feature", X, n, 2.37),
            ("signature", A, n, 1.0),
            ("signature", A, m, 2.37),
        )
    )
    wanted += 0.25 * 0.5 * float((m**2 + u.exp() - 1 - u + n**2 + v.exp() - 1 - v).sum())
    spread = ((u / 2).exp() - (v / 2).exp()) ** 2
    wanted += 8.13 * float(((m - n) ** 2 + spread).sum(dim=1).sqrt().sum())
    assert game.loss(X, A, 1.0).item() == pytest.approx(wanted, rel=1e-6)


def test_released_noise_moves_all_dimensions_of_a_sample_together():
    game = aligned(textbook_noise=False)
    mean, log_variance = torch.zeros(5, 3), torch.log(torch.tensor([[1.0, 4.0, 9.0]])).repeat(5, 1)
    drawn = game.drawn(mean, log_variance)
    torch.testing.assert_close(drawn / drawn[:, :1], torch.tensor([[1.0, 4.0, 9.0]]).repeat(5, 1))


def test_networks_start_as_published():
    torch.manual_seed(0)
    weights = start("critic", (400, 300, 1), normal)
    assert float(weights["critic_W0"].detach().std()) == pytest.approx(0.02, rel=0.02)
    assert not weights["critic_b0"].any()
    edge = 0.5 * np.sqrt(6 / 700)
    drawn = xavier(400, 300)
    assert float(drawn.abs().max()) == pytest.approx(edge, rel=1e-3)
    assert float(drawn.std()) == pytest.approx(edge / np.sqrt(3), rel=0.02)


def test_variational_loss_has_the_gradient_of_finite_differences_and_its_closed_form():
    X, S = np.random.default_rng(0).random((4, 3)), np.random.default_rng(1).random((2, 2))
    game = VariationalGame(X, np.arange(4) % 2, S, Rules(5, 1e-3), None, None)
    game.generator, game.encoder = (
        {name: 30 * tensor.detach().double() for name, tensor in part.items()}
        for part in (game.generator, game.encoder)
    )
    names = [*game.generator, *game.encoder]

    def loss(*tensors):
        torch.manual_seed(3)
        given = dict(zip(names, tensors, strict=True))
        game.generator = {name: given[name] for name in game.generator}
        game.encoder = {name: given[name] for name in game.encoder}
        return game.variational_loss(game.X, game.S[game.y])

    tensors = [*game.generator.values(), *game.encoder.values()]
    at = tuple(tensor.requires_grad_() for tensor in tensors)
    assert torch.autograd.gradcheck(loss, at, fast_mode=True)
    # With an encoder of zeros the code is noise, without divergence; a generator of zeros answers
    # ½ for every feature, whatever it should be.
    nothing = tuple(torch.zeros_like(tensor) for tensor in at)
    assert loss(*nothing).item() == pytest.approx(3 * np.log(2))


def test_weighted_error_is_the_released_one_and_has_the_gradient_of_finite_differences():
    found, wanted = double(4, 3), double(4, 3, seed=1)
    gaps = (found - wanted).numpy()
    weights = gaps**2 / np.sqrt((gaps**2).sum(axis=1, keepdims=True))
    assert weighted_l1(found, wanted).item() == pytest.approx((weights * np.abs(gaps)).sum() / 4)
    assert torch.autograd.gradcheck(lambda M: weighted_l1(M, wanted), found.requires_grad_())
    equal = wanted.clone().requires_grad_()
    weighted_l1(equal, wanted).backward()
    assert not equal.grad.any()


def feedback_game(feedback):
    X, S = np.random.default_rng(0).random((4, 3)), np.random.default_rng(1).random((2, 2))
    torch.manual_seed(0)
    rules = Rules(5, 1e-3, adversarial=2.0, decoding=0.5, feedback=feedback)
    game = FeedbackGame(X, np.arange(4) % 2, S, rules, None, None)
    for name in PARTS:
        weights = getattr(game, name)
        setattr(game, name, {key: 30 * one.detach().double() for key, one in weights.items()})
    return game


PARTS = ("generator", "encoder", "decoder", "feedback", "critic")


def at_weights(game, tensors, loss):
    """The loss with other weights and the same noise."""
    torch.manual_seed(3)
    given = iter(tensors)
    for name in PARTS[:-1]:
        setattr(game, name, {key: next(given) for key in getattr(game, name)})
    return loss(torch.arange(4))


def weights_of(game):
    return [one for name in PARTS[:-1] for one in getattr(game, name).values()]


def test_loss_with_feedback_has_the_gradient_of_finite_differences():
    # No gradient goes through what is fed back: h is held, as the generator's input is.
    game = feedback_game(0.7)
    game.with_feedback = True
    tensors = [one.requires_grad_() for one in weights_of(game)]
    noticed = game.noticed
    held: list[torch.Tensor] = []

    def remembered(X):
        if torch.is_grad_enabled():
            return noticed(X)
        held.append(noticed(X))
        return held[-1]

    game.noticed = remembered
    at_weights(game, tensors, game.whole_loss)
    first = list(held)
    assert len(first) == 2  # of the noise and of the codes

    def loss(*given):
        now = iter(first)
        game.noticed = lambda X: noticed(X) if torch.is_grad_enabled() else next(now)
        return at_weights(game, given, game.whole_loss)

    assert torch.autograd.gradcheck(loss, tuple(tensors), fast_mode=True)


def test_without_weight_the_feedback_changes_nothing():
    game = feedback_game(0.0)
    losses = []
    for game.with_feedback in (False, True):
        torch.manual_seed(3)
        losses.append(game.whole_loss(torch.arange(4)).item())
    assert losses[0] == losses[1]
    # Without a weight of the decoder either, the loss is that of the variational game.
    game.rules = Rules(5, 1e-3, adversarial=2.0)
    torch.manual_seed(3)
    got = game.whole_loss(torch.arange(4)).item()
    torch.manual_seed(3)
    wanted = 2.0 * game.generator_loss(game.y) + game.variational_loss(game.X, game.S[game.y])
    assert got == pytest.approx(wanted.item())
