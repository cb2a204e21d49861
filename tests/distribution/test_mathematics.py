"""Densities, moments, entropies and divergences against closed forms and sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import scull as paddle
from scull.errors import ArgumentTypeError, UnsupportedError

D = paddle.distribution
LINE, UNIT = np.linspace(-4, 6, 11), np.linspace(0.05, 0.95, 7)
ABOVE, COUNTS = np.linspace(0.1, 8, 9), np.arange(6.0)
LOC = st.floats(-3, 3).map(lambda v: round(v, 2))
SCALE = st.floats(0.3, 4).map(lambda v: round(v, 2))
CHANCE = st.floats(0.05, 0.95).map(lambda v: round(v, 2))


def f64(value):
    return paddle.to_tensor(np.asarray(value, "float64"))


def number(tensor):
    return float(tensor.numpy().reshape(-1)[0])


# each with its parameters, SciPy's and where it is compared; the last are the bounds of its draws
KINDS = {
    "Normal": ((LOC, SCALE), stats.norm, LINE, (-np.inf, np.inf)),
    "Cauchy": ((LOC, SCALE), stats.cauchy, LINE, (-np.inf, np.inf)),
    "Laplace": ((LOC, SCALE), stats.laplace, LINE, (-np.inf, np.inf)),
    "Gumbel": ((LOC, SCALE), stats.gumbel_r, LINE, (-np.inf, np.inf)),
    "Uniform": (
        (LOC, SCALE.map(lambda v: v + 3)),
        lambda a, b: stats.uniform(a, b - a),
        LINE,
        None,
    ),
    "LogNormal": ((LOC, SCALE), lambda m, s: stats.lognorm(s, 0, np.exp(m)), ABOVE, (0, np.inf)),
    "Beta": ((SCALE, SCALE), stats.beta, UNIT, (0, 1)),
    "Bernoulli": ((CHANCE,), stats.bernoulli, np.array([0.0, 1.0]), None),
    "Geometric": ((CHANCE,), lambda p: stats.geom(p, -1), COUNTS, None),
}


def made(kind, parameters):
    """A distribution in float64, and SciPy's."""
    held = [f64(p) for p in parameters]
    return getattr(D, kind)(*held), KINDS[kind][1](*parameters)


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=10)
@given(st.data())
def test_probabilities_and_moments_are_those_of_the_formulas(kind, data):
    own, other = made(kind, [data.draw(one) for one in KINDS[kind][0]])
    at = KINDS[kind][2]
    whole = kind in ("Bernoulli", "Geometric")
    expected = other.logpmf(at) if whole else other.logpdf(at)
    found = own.log_pmf(f64(at)) if kind == "Geometric" else own.log_prob(f64(at))
    if kind == "Uniform":  # nothing is on the bounds
        at_bound = np.isclose(at, other.ppf(0)) | np.isclose(at, other.ppf(1))
        expected = np.where(at_bound, found.numpy(), expected)
    np.testing.assert_allclose(found.numpy(), expected, 1e-9, 1e-9)
    np.testing.assert_allclose(number(own.entropy()), other.entropy(), 1e-7, 1e-7)
    if kind != "Cauchy":
        np.testing.assert_allclose(number(own.mean), other.mean(), 1e-9, 1e-12)
        np.testing.assert_allclose(number(own.variance), other.var(), 1e-9)
    if hasattr(own, "cdf"):
        np.testing.assert_allclose(own.cdf(f64(at)).numpy(), other.cdf(at), 1e-9, 1e-12)
    if hasattr(own, "icdf"):
        np.testing.assert_allclose(own.icdf(f64(UNIT)).numpy(), other.ppf(UNIT), 1e-9, 1e-9)
    if kind in ("Laplace", "Gumbel", "Geometric"):
        np.testing.assert_allclose(number(own.stddev), other.std(), 1e-9)


def test_a_mixture_of_shares_has_the_density_of_the_formula():
    alpha = np.array([0.7, 1.0, 2.5])
    own, other = D.Dirichlet(f64(alpha)), stats.dirichlet(alpha)
    shares = np.array([[0.2, 0.3, 0.5], [0.1, 0.0, 0.9], [0.6, 0.3, 0.1]])
    found = own.log_prob(f64(shares)).numpy()
    np.testing.assert_allclose(found, [other.logpdf(row) for row in shares], 1e-9)
    np.testing.assert_allclose(own.mean.numpy(), other.mean())
    np.testing.assert_allclose(own.variance.numpy(), other.var())
    np.testing.assert_allclose(number(own.entropy()), other.entropy())


@pytest.mark.parametrize("weights", [[0.2, 0.3, 0.5], [1.0, 3.0], [0.0, 1.0, 1.0]])
def test_probabilities_of_counts_add_up_to_one(weights):
    draws = 4
    own = D.Multinomial(draws, f64(weights))
    grid = np.stack(np.meshgrid(*[np.arange(draws + 1.0)] * len(weights)), -1)
    counts = grid.reshape(-1, len(weights))
    counts = counts[counts.sum(-1) == draws]
    chances = own.prob(f64(counts)).numpy()
    np.testing.assert_allclose(chances.sum(), 1.0)
    np.testing.assert_allclose((chances[:, None] * counts).sum(0), own.mean.numpy())
    positive = chances[chances > 0]
    np.testing.assert_allclose(number(own.entropy()), -(positive * np.log(positive)).sum())


def test_categories_have_probabilities_as_weights_and_as_logarithms():
    own = D.Categorical(f64([[1.0, 3.0], [2.0, 2.0]]))
    np.testing.assert_allclose(own.probs(paddle.to_tensor([0, 1])).sum(-1).numpy(), 1.0)
    soft = np.exp([[1, 3], [2, 2]]) / np.exp([[1, 3], [2, 2]]).sum(-1, keepdims=True)
    np.testing.assert_allclose(own.entropy().numpy(), stats.entropy(soft, axis=-1))
    other = D.Categorical(f64([[0.5, 0.1], [1.0, 2.0]]))
    believed = np.exp(other.logits.numpy())
    believed /= believed.sum(-1, keepdims=True)
    found = own.kl_divergence(other).numpy()[:, 0]
    np.testing.assert_allclose(found, stats.entropy(soft, believed, axis=-1))


DIVERGENT = ("Normal", "Cauchy", "Laplace", "LogNormal", "Beta", "Bernoulli", "Geometric")


@pytest.mark.parametrize("kind", DIVERGENT)
@settings(max_examples=5)
@given(st.data())
def test_a_divergence_is_the_mean_difference_of_logarithms(kind, data):
    strategies, _, _, bounds = KINDS[kind]
    first, second = ([data.draw(one) for one in strategies] for _ in range(2))
    (p, ps), (q, qs) = made(kind, first), made(kind, second)
    if bounds is None:
        at = np.arange(0, 2 if kind == "Bernoulli" else 1000)
        own, other = ps.logpmf(at), qs.logpmf(at)
        expected = (np.exp(own) * (own - other)).sum()
    else:
        expected = integrate.quad(  # over the chances of p: no tail is far away
            lambda u: ps.logpdf(ps.ppf(u)) - qs.logpdf(ps.ppf(u)), 0, 1, limit=400
        )[0]
    np.testing.assert_allclose(number(D.kl_divergence(p, q)), expected, 2e-4, 1e-6)
    np.testing.assert_allclose(number(D.kl_divergence(p, p)), 0.0, atol=1e-9)


def test_the_divergence_of_uniform_numbers_is_infinite_where_some_cannot_be_drawn():
    own = D.Uniform([0.0, 0.0], [1.0, 3.0])
    found = D.kl_divergence(own, D.Uniform(0.0, 2.0)).numpy()
    np.testing.assert_allclose(found, [np.log(2), np.inf])


def test_shares_diverge_as_their_densities_do():
    p, q = (D.Dirichlet(f64(a)) for a in ([1.5, 2.0, 3.0], [2.0, 1.0, 1.0]))
    shares = stats.dirichlet([1.5, 2.0, 3.0]).rvs(200_000, random_state=3)
    shares /= shares.sum(-1, keepdims=True)
    logs = p.log_prob(f64(shares)) - q.log_prob(f64(shares))
    assert abs(number(D.kl_divergence(p, q)) - number(logs.mean())) < 0.02


class Exponential(D.ExponentialFamily):
    """The exponential distribution as a member of its family."""

    _mean_carrier_measure = 0.0

    def __init__(self, rate):
        self.rate = rate
        super().__init__(rate.shape)

    @property
    def _natural_parameters(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -paddle.log(-x)


def test_entropy_and_divergence_of_a_family_follow_from_its_normalizer():
    rates, others = f64([1.0, 2.0]), f64([2.0, 0.5])
    p, q = Exponential(rates), Exponential(others)
    np.testing.assert_allclose(p.entropy().numpy(), 1 - np.log([1.0, 2.0]))
    ratio = others.numpy() / rates.numpy()
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), ratio - 1 - np.log(ratio))
    rates.stop_gradient = False
    Exponential(rates).entropy().sum().backward()
    np.testing.assert_allclose(rates.grad.numpy(), -1 / rates.numpy())


def test_a_family_has_its_entropy_in_a_program(static_mode):
    with paddle.static.program_guard(paddle.static.Program()):
        rate, other = (paddle.static.data(n, [2], "float64") for n in "ab")
        p, q = Exponential(rate), Exponential(other)
        feed = {"a": np.array([1.0, 2.0]), "b": np.array([2.0, 0.5])}
        fetch = [p.entropy(), D.kl_divergence(p, q)]
        entropy, divergence = paddle.static.Executor().run(feed=feed, fetch_list=fetch)
    np.testing.assert_allclose(entropy, 1 - np.log(feed["a"]))
    ratio = feed["b"] / feed["a"]
    np.testing.assert_allclose(divergence, ratio - 1 - np.log(ratio))


def test_the_rule_of_the_nearest_classes_is_taken(monkeypatch):
    monkeypatch.setattr(D.kl, "_REGISTER_TABLE", dict(D.kl._REGISTER_TABLE))

    class Ours(D.Beta):
        pass

    class Theirs(D.Normal):
        pass

    ours, theirs = Ours(1.0, 2.0), Theirs(0.0, 1.0)
    with pytest.raises(UnsupportedError, match="no rule is registered for a Ours and a Theirs"):
        D.kl_divergence(ours, theirs)
    D.register_kl(D.Beta, Theirs)(lambda p, q: "a Beta")
    assert D.kl_divergence(ours, theirs) == "a Beta"
    D.register_kl(Ours, D.Normal)(lambda p, q: "ours")
    assert D.kl_divergence(ours, theirs) == "ours"
    assert D.kl_divergence(ours, Ours(1.0, 2.0)).item() == 0
    with pytest.raises(ArgumentTypeError, match="is no class of distributions"):
        D.register_kl(D.Beta, 3)


def test_gradients_of_a_log_probability_are_those_of_small_steps():
    loc, scale, step = f64(0.3), f64(1.4), 1e-6
    for kind in ("Normal", "Cauchy", "Laplace", "Gumbel", "LogNormal"):
        for held in (loc, scale):
            held.stop_gradient = False
        slopes = paddle.grad(getattr(D, kind)(loc, scale).log_prob(f64(2.0)), [loc, scale])
        for i, slope in enumerate(slopes):
            ends = []
            for sign in (step, -step):
                moved = [0.3, 1.4]
                moved[i] += sign
                ends.append(number(getattr(D, kind)(*map(f64, moved)).log_prob(f64(2.0))))
            np.testing.assert_allclose(number(slope), (ends[0] - ends[1]) / (2 * step), 1e-6)


def test_a_concentration_of_one_has_gradients():
    alpha = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
    D.Dirichlet(alpha).log_prob(paddle.to_tensor([0.25, 0.75])).backward()
    np.testing.assert_allclose(alpha.grad.numpy(), np.log([0.25, 0.75]) + 1.0, 1e-5)


def test_a_chance_of_bfloat16_has_likelihoods():
    coin = D.Bernoulli(paddle.to_tensor(0.25, dtype="bfloat16"))
    found = coin.log_prob(paddle.to_tensor(1.0, dtype="bfloat16"))
    assert found.dtype is paddle.bfloat16
    np.testing.assert_allclose(number(found.astype("float64")), np.log(0.25), 1e-2)
