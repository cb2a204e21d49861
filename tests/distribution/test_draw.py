"""Draws: of the distribution they are said to be of, with gradients, in Programs, of any shape."""

import numpy as np
import pytest
from scipy import stats

import scull as paddle

D = paddle.distribution
MANY = [20_000]


def t(value, **options):
    return paddle.to_tensor(np.asarray(value, "float64"), **options)


DRAWN = {
    "Normal": (lambda: D.Normal(t(1.0), t(2.0)), stats.norm(1, 2)),
    "Uniform": (lambda: D.Uniform(t(1.0), t(3.0)), stats.uniform(1, 2)),
    "Beta": (lambda: D.Beta(t(0.7), t(2.0)), stats.beta(0.7, 2.0)),
    "Cauchy": (lambda: D.Cauchy(t(1.0), t(2.0)), stats.cauchy(1, 2)),
    "Laplace": (lambda: D.Laplace(t(1.0), t(2.0)), stats.laplace(1, 2)),
    "Gumbel": (lambda: D.Gumbel(t(1.0), t(2.0)), stats.gumbel_r(1, 2)),
    "LogNormal": (lambda: D.LogNormal(t(0.5), t(0.7)), stats.lognorm(0.7, 0, np.exp(0.5))),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_draws_are_of_the_distribution(kind):
    make, other = DRAWN[kind]
    paddle.seed(7)
    assert stats.kstest(make().sample(MANY).numpy(), other.cdf).pvalue > 1e-3


COUNTED = {
    "Bernoulli": (lambda: D.Bernoulli(0.3), [0.7, 0.3]),
    "Categorical": (lambda: D.Categorical([0.0, float(np.log(3.0))]), [0.25, 0.75]),
    "Geometric": (lambda: D.Geometric(0.5), stats.geom(0.5, -1).pmf(np.arange(6))),
    "a sure success": (lambda: D.Geometric(1.0), [1.0]),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_draws_come_up_as_often_as_their_probabilities_say(kind):
    make, chances = COUNTED[kind]
    paddle.seed(7)
    counts = np.bincount(make().sample(MANY).numpy().astype("int64"), minlength=len(chances))
    shares = counts[: len(chances)] / MANY[0]
    np.testing.assert_allclose(shares, chances, atol=4 * np.sqrt(0.25 / MANY[0]))


def test_counts_have_the_moments_of_the_multinomial():
    paddle.seed(7)
    weights = np.array([[1.0, 3.0, 4.0], [1.0, 0.0, 1.0]])
    own = D.Multinomial(6, t(weights))
    draws = own.sample(MANY).numpy()
    assert (draws.sum(-1) == 6).all()
    np.testing.assert_allclose(draws.mean(0), own.mean.numpy(), atol=0.05)
    np.testing.assert_allclose(draws.var(0), own.variance.numpy(), atol=0.08)
    assert draws[:, 1, 1].max() == 0


def test_shares_have_the_moments_of_their_concentrations():
    paddle.seed(7)
    own = D.Dirichlet(t([[1.0, 3.0], [5.0, 5.0]]))
    draws = own.sample(MANY).numpy()
    np.testing.assert_allclose(draws.mean(0), own.mean.numpy(), atol=0.01)
    np.testing.assert_allclose(draws.var(0), own.variance.numpy(), atol=0.005)


@pytest.mark.parametrize("kind", ["Normal", "Uniform", "Cauchy", "Laplace", "Gumbel", "LogNormal"])
def test_gradients_of_draws_are_those_of_small_steps(kind):
    def drawn(first, second):
        paddle.seed(5)
        return getattr(D, kind)(first, second).rsample([50])

    parameters, step = [t(0.5, stop_gradient=False), t(2.0, stop_gradient=False)], 1e-6
    slopes = paddle.grad(drawn(*parameters).sum(), parameters)
    for i, slope in enumerate(slopes):
        moved = [[p.item() + sign * step * (i == j) for j, p in enumerate(parameters)]
                 for sign in (1, -1)]  # fmt: skip
        ends = [drawn(*map(t, each)).numpy().sum() for each in moved]
        np.testing.assert_allclose(slope.item(), (ends[0] - ends[1]) / (2 * step), 1e-4)


def test_relaxed_draws_of_a_coin_have_its_gradients():
    probs = t(0.3, stop_gradient=False)
    coin = D.Bernoulli(probs)
    paddle.seed(5)
    relaxed = coin.rsample(MANY, temperature=0.1)
    assert abs(paddle.nn.functional.sigmoid(relaxed).mean().item() - 0.3) < 0.02
    relaxed.sum().backward()
    np.testing.assert_allclose(probs.grad.item(), MANY[0] * 10 / (0.3 * 0.7))


@pytest.mark.parametrize(
    "make",
    [
        lambda p: D.Bernoulli(p),
        lambda p: D.Beta(p, p),
        lambda p: D.Categorical(p),
        lambda p: D.Cauchy(p, p),
        lambda p: D.Dirichlet(p),
        lambda p: D.Geometric(p),
        lambda p: D.Gumbel(p, p),
        lambda p: D.Laplace(p, p),
        lambda p: D.Multinomial(3, p),
    ],
)
def test_plain_draws_have_no_gradient(make):
    assert make(t([0.3, 0.7], stop_gradient=False)).sample([2]).stop_gradient


def test_a_seed_repeats_the_draws_of_one_call():
    for own in (D.Normal(0.0, [1.0, 2.0]), D.Uniform(0.0, [1.0, 2.0])):
        first, other = own.sample([3], seed=5), own.sample([3])
        np.testing.assert_array_equal(own.sample([3], seed=5).numpy(), first.numpy())
        assert (other.numpy() != first.numpy()).any()


MAKERS = {
    "Normal": lambda p: D.Normal(p, p),
    "Uniform": lambda p: D.Uniform(p, p + 1.0),
    "Bernoulli": lambda p: D.Bernoulli(p),
    "Beta": lambda p: D.Beta(p, p),
    "Cauchy": lambda p: D.Cauchy(p, p),
    "Dirichlet": lambda p: D.Dirichlet(p),
    "Geometric": lambda p: D.Geometric(p),
    "Gumbel": lambda p: D.Gumbel(p, p),
    "Laplace": lambda p: D.Laplace(p, p),
    "LogNormal": lambda p: D.LogNormal(p, p),
    "Categorical": lambda p: D.Categorical(p),
    "Multinomial": lambda p: D.Multinomial(3, p),
    "Independent": lambda p: D.Independent(D.Normal(p, p), 1),
}
PARAMETER = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], "float32")


@pytest.mark.parametrize("kind", MAKERS)
def test_a_program_draws_what_eager_mode_draws_for_a_batch_known_late(kind):
    paddle.seed(3)
    own = MAKERS[kind](paddle.to_tensor(PARAMETER))
    eager = own.sample([2, 4])
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            p = paddle.static.data("p", [-1, 2])
            drawn = MAKERS[kind](p).sample([2, 4])
            sizes = [2, 4, -1, 2] if kind != "Categorical" else [2, 4, -1]
            assert list(drawn.shape) == sizes
            paddle.seed(3)
            (found,) = paddle.static.Executor().run(feed={"p": PARAMETER}, fetch_list=[drawn])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, eager.numpy(), 1e-6)


def test_a_function_made_static_draws_and_has_gradients():
    def surprise(loc, scale):
        normal = D.Normal(loc, scale)
        draws = normal.rsample([8])
        return (normal.log_prob(draws) - D.Normal(0.0, 1.0).log_prob(draws)).mean()

    slopes = []
    for function in (surprise, paddle.jit.to_static(surprise)):
        paddle.seed(3)
        parameters = [t([0.3, 0.5], stop_gradient=False), t([1.5, 0.7], stop_gradient=False)]
        value = function(*parameters)
        value.backward()
        slopes.append([value.item(), *(p.grad.numpy() for p in parameters)])
    for eager, static in zip(*slopes, strict=True):
        np.testing.assert_allclose(static, eager, 1e-6)


def test_a_sample_shape_holds_numbers_and_tensors():
    own = D.Laplace(0.0, paddle.to_tensor([1.0, 2.0]))
    for shape in ([3], (3,), np.array([3]), paddle.to_tensor([3]), [paddle.to_tensor(3)]):
        assert own.sample(shape).shape == [3, 2]
    assert own.sample([0]).shape == [0, 2]


def test_results_in_a_program_are_called_after_the_distribution(static_mode):
    with paddle.static.program_guard(paddle.static.Program()):
        main = paddle.static.default_main_program()
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        own = D.Normal(x, x + 1.0, name="beliefs")
        found = {"sample": own.sample([3]), "entropy": own.entropy(), "log_prob": own.log_prob(x)}
        found |= {"probs": own.probs(x), "kl_divergence": own.kl_divergence(D.Normal(x, x))}
        for method, variable in found.items():
            assert variable.name.partition(".")[0] == f"beliefs_{method}"
        (slope,) = paddle.static.gradients(found["log_prob"], x)
        copy = paddle.static.Program.parse_from_string(main.desc.serialize_to_string())
        feed, names = {"x": np.array([1.0, 2.0], "float32")}, [found["log_prob"].name, slope.name]
        for program in (main, copy):
            value, gradient = paddle.static.Executor().run(program, feed=feed, fetch_list=names)
            np.testing.assert_allclose(value, stats.norm([1, 2], [2, 3]).logpdf([1, 2]), 1e-6)
            np.testing.assert_allclose(gradient, [-1 / 2, -1 / 3], 1e-6)
