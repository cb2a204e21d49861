"""Where distributions differ from the reference on purpose, and what they refuse in which words."""

import re

import numpy as np
import pytest
from scipy import stats

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    RangeError,
    ShapeError,
    UnsupportedError,
)

D, T = paddle.distribution, paddle.to_tensor


def test_geometric_distributions_diverge_by_all_draws_not_by_one_trial():
    p, q = stats.geom(0.5, -1), stats.geom(0.1, -1)
    at = np.arange(200)
    expected = (p.pmf(at) * (p.logpmf(at) - q.logpmf(at))).sum()
    found = D.Geometric(0.5).kl_divergence(D.Geometric(0.1)).item()  # half of it in the reference
    np.testing.assert_allclose(found, expected, 1e-5)


def test_a_sure_success_has_no_entropy():
    assert D.Geometric(1.0).entropy().item() == 0  # NaN in the reference
    found = D.Geometric(1.0).kl_divergence(D.Geometric(0.25)).item()
    np.testing.assert_allclose(found, np.log(4.0), 1e-6)


def test_nothing_comes_before_no_failure():
    own = D.Geometric(0.5)  # below 0 the formulas go on in the reference
    assert (own.pmf(-1).item(), own.cdf(-1).item(), own.log_pmf(-2).item()) == (0, 0, -np.inf)


def test_categories_given_as_whole_numbers_are_as_likely_as_the_same_fractions():
    whole, real = D.Categorical(T([1, 2])), D.Categorical(T([1.0, 2.0]))
    assert whole.entropy().item() == real.entropy().item()  # rounded inside in the reference


def test_one_axis_of_categories_serves_several_distributions():
    own = D.Categorical([[1.0, 3.0], [2.0, 2.0]])
    assert own.probs(T([0, 1, 1])).tolist() == [[0.25, 0.75, 0.75], [0.5, 0.5, 0.5]]


def test_a_share_of_concentration_one_may_be_nothing():
    found = D.Dirichlet(T([1.0, 2.0])).log_prob(T([0.0, 1.0])).item()  # NaN in the reference
    np.testing.assert_allclose(found, np.log(2.0), 1e-6)


def test_uniform_numbers_have_moments_draws_with_gradients_and_divergence():
    own = D.Uniform([0.0], [3.0])
    assert (own.mean.item(), own.variance.item()) == (1.5, 0.75)
    assert own.rsample([2]).shape == [2, 1]


REFUSED = [
    (ArgumentTypeError, "`loc` is a number, a list, an array", lambda: D.Normal("a", 1.0)),
    (ArgumentError, "all arguments should be Tensor", lambda: D.Normal(T(0.0), 1.0)),
    (ArgumentError, "loc and scale are no arrays", lambda: D.Normal([1.0, 2.0], [1.0, 2.0, 3.0])),
    (ArgumentError, "low and high are no arrays", lambda: D.Uniform([[1.0], [2.0, 3.0]], 1.0)),
    (ArgumentTypeError, "`value` is a Tensor, not float", lambda: D.Normal(0.0, 1.0).prob(0.5)),
    (
        ArgumentTypeError,
        "`other` is another Normal, not Uniform",
        lambda: D.Normal(0.0, 1.0).kl_divergence(D.Uniform(0.0, 1.0)),
    ),
    (ArgumentTypeError, "`shape` is a list or a tuple", lambda: D.Normal(0.0, 1.0).sample(2)),
    (ArgumentError, "a probability in `probs` lies", lambda: D.Bernoulli(1.5)),
    (ArgumentError, "a probability in `probs` lies", lambda: D.Bernoulli([0.5, float("nan")])),
    (ArgumentTypeError, "`probs` is a float, a list", lambda: D.Bernoulli(1)),
    (DtypeError, "a parameter is int64", lambda: D.Bernoulli(T([1, 0]))),
    (ArgumentError, "is not above 0 and up to 1", lambda: D.Geometric(0.0)),
    (ArgumentTypeError, "`k` is an integer or a Tensor", lambda: D.Geometric(0.5).pmf(2.0)),
    (ArgumentTypeError, "`alpha` is a number or a Tensor", lambda: D.Beta([0.5], 1.0)),
    (ArgumentTypeError, "`concentration` is a Tensor", lambda: D.Dirichlet([0.5, 1.0])),
    (ShapeError, "`concentration` has no axis", lambda: D.Dirichlet(T(1.0))),
    (ArgumentError, "a concentration lies above 0", lambda: D.Dirichlet(T([-1.0, 2.0])).sample()),
    (ShapeError, "`logits` has no axis", lambda: D.Categorical(T(1.0))),
    (RangeError, "5", lambda: D.Categorical([1.0, 2.0]).probs(T([5]))),
    (ArgumentError, "`total_count` is an integer above 0", lambda: D.Multinomial(0, T([1.0]))),
    (ShapeError, "`probs` has no axis", lambda: D.Multinomial(1, T(1.0))),
    (ArgumentError, "Cauchy distribution has no mean", lambda: D.Cauchy(0.0, 1.0).mean),
    (UnsupportedError, "Gumbel has no `probs`", lambda: D.Gumbel(0.0, 1.0).probs(T(0.0))),
    (UnsupportedError, "Distribution has no `entropy`", lambda: D.Distribution().entropy()),
    (
        UnsupportedError,
        "Beta has no `_mean_carrier_measure`",
        lambda: D.ExponentialFamily.entropy(D.Beta(1.0, 2.0)),
    ),
    (
        ArgumentError,
        "Expected 0 < reinterpreted_batch_rank <= 1",
        lambda: D.Independent(D.Normal([0.0], 1.0), 2),
    ),
    (
        ShapeError,
        "an event of `transforms` has 1 axes",
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [D.SoftmaxTransform()]),
    ),
    (
        ArgumentTypeError,
        "`transforms[0]` is a Transform, not int",
        lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    ),
    (ArgumentTypeError, "`loc` is a Tensor", lambda: D.AffineTransform(1.0, T(2.0))),
    (
        UnsupportedError,
        "AbsTransform takes two values to the same",
        lambda: D.AbsTransform().forward_log_det_jacobian(T([1.0])),
    ),
    (UnsupportedError, "Transform has no `_forward`", lambda: D.Transform().forward(T(1.0))),
    (
        UnsupportedError,
        "does not say its Jacobian",
        lambda: D.Transform().inverse_log_det_jacobian(T(1.0)),
    ),
    (ShapeError, "an event has 1 axes", lambda: D.StickBreakingTransform().forward(T(1.0))),
    (ArgumentError, "holds 6 elements", lambda: D.ReshapeTransform((2, 3), (5,))),
    (
        ShapeError,
        "is of shape (2, 4), not (2, 3)",
        lambda: D.ReshapeTransform((2, 3), (6,)).forward_shape((7, 2, 4)),
    ),
    (
        ShapeError,
        "is not of size 2, the number of transforms",
        lambda: D.StackTransform([D.ExpTransform()] * 2).forward(T([1.0, 2.0, 3.0])),
    ),
    (ArgumentTypeError, "holds one for each place", lambda: D.StackTransform([])),
    (ArgumentError, "is 0, not above 0", lambda: D.IndependentTransform(D.ExpTransform(), 0)),
]


@pytest.mark.parametrize(("error", "words", "call"), REFUSED)
def test_what_is_refused_is_refused_in_words(error, words, call):
    with pytest.raises(error, match=re.escape(words)):
        call()
