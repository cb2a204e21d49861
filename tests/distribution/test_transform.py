"""Transformations: back and forth, determinants, shapes, and what is made of distributions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import scull as paddle
from scull.errors import ShapeError, UnsupportedError

D = paddle.distribution
VALUE = st.floats(-2.5, 2.5).map(lambda v: round(v, 2))


def f64(value):
    return paddle.to_tensor(np.asarray(value, "float64"))


def affine(loc, scale):
    return D.AffineTransform(f64(loc), f64(scale))


# each with the shape of an event, and whether it takes numbers above 0 alone
TRANSFORMS = {
    "affine": (lambda: affine(0.5, -2.0), (), False),
    "affine of several": (lambda: affine([0.5, 1.0], [3.0, -2.0]), (2,), False),
    "exp": (D.ExpTransform, (), False),
    "power": (lambda: D.PowerTransform(f64(2.5)), (), True),
    "sigmoid": (D.SigmoidTransform, (), False),
    "tanh": (D.TanhTransform, (), False),
    "reshape": (lambda: D.ReshapeTransform((2, 3), (3, 2)), (2, 3), False),
    "sticks": (D.StickBreakingTransform, (3,), False),
    "chain": (lambda: D.ChainTransform([affine(0.1, 0.5), D.ExpTransform()]), (), False),
    "chain to shares": (
        lambda: D.ChainTransform([affine(0.0, 0.5), D.StickBreakingTransform()]),
        (3,),
        False,
    ),
    "chain from a matrix": (
        lambda: D.ChainTransform(
            [D.TanhTransform(), D.ReshapeTransform((2, 2), (4,)), D.StickBreakingTransform()]
        ),
        (2, 2),
        False,
    ),
    "independent": (lambda: D.IndependentTransform(affine(0.0, 3.0), 1), (2,), False),
    "stack": (lambda: D.StackTransform([D.ExpTransform(), affine(1.0, 2.0)], -1), (2,), False),
}


def jacobian(transform, x):
    """The logarithm of the determinant of one event, from the tape; of shares all but the last."""
    x.stop_gradient = False
    y = transform.forward(x)
    flat = y.reshape([-1])[: x.size]
    rows = [paddle.grad(one, x, retain_graph=True)[0].numpy().reshape(-1) for one in flat]
    return np.linalg.slogdet(np.stack(rows))[1]


@pytest.mark.parametrize("name", TRANSFORMS)
@settings(max_examples=8)
@given(st.data())
def test_a_transformation_goes_back_and_tells_its_determinant(name, data):
    make, shape, above = TRANSFORMS[name]
    transform, size = make(), int(np.prod(shape))
    values = [data.draw(VALUE) for _ in range(size)]
    x = f64(values).reshape(list(shape))
    x = x.abs() + 0.1 if above else x
    y = transform.forward(x)
    np.testing.assert_allclose(transform.inverse(y).numpy(), x.numpy(), 1e-6, 1e-6)
    assert transform.forward_shape(shape) == tuple(y.shape)
    assert transform.inverse_shape(tuple(y.shape)) == shape
    expected = jacobian(transform, x)
    found = transform.forward_log_det_jacobian(x).numpy()
    back = transform.inverse_log_det_jacobian(y).numpy()
    if name in ("affine of several", "stack"):  # a number a place
        found, back = found.sum(), back.sum()
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)
    np.testing.assert_allclose(back, -expected, 1e-5, 1e-5)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_batch_is_transformed_as_its_events_are(name):
    make, shape, above = TRANSFORMS[name]
    events = np.random.default_rng(3).normal(size=(4, *shape))
    events = abs(events) + 0.1 if above else events
    transform = make()
    for way in ("forward", "forward_log_det_jacobian"):
        together = getattr(transform, way)(f64(events)).numpy()
        singly = [getattr(transform, way)(f64(event)).numpy() for event in events]
        if together.ndim == 0 or len(together) != 4:  # the same for all
            singly = singly[0]
        np.testing.assert_allclose(together, singly, 1e-9)


def test_shapes_come_as_they_are_given():
    exp = D.ExpTransform()
    assert exp.forward_shape([2]) == [2] and exp.inverse_shape((2, 3)) == (2, 3)


def test_the_determinant_of_far_numbers_is_finite():
    far = f64([-400.0, 400.0])
    np.testing.assert_allclose(D.SigmoidTransform().forward_log_det_jacobian(far).numpy(), -400.0)
    expected = 2 * np.log(2) - 800.0
    np.testing.assert_allclose(D.TanhTransform().forward_log_det_jacobian(far).numpy(), expected)
    many = f64([-400.0, 400.0, 0.0])
    assert np.isfinite(D.StickBreakingTransform().forward_log_det_jacobian(many).numpy())


def test_called_with_a_transformation_it_comes_first():
    both = affine(1.0, 2.0)(D.ExpTransform())
    assert isinstance(both, D.ChainTransform)
    assert both.forward(f64(0.0)).item() == np.exp(1.0)


def test_called_with_a_distribution_it_is_that_of_its_values():
    made = affine(1.0, 2.0)(D.Normal(f64(0.0), f64(1.0)))
    assert isinstance(made, D.TransformedDistribution)
    np.testing.assert_allclose(made.log_prob(f64(2.5)).numpy(), stats.norm(1, 2).logpdf(2.5))


def test_a_number_that_stretches_an_event_counts_for_each_of_its_places():
    base = D.Independent(D.Normal(f64([0.0, 0.0, 0.0]), f64([1.0, 1.0, 1.0])), 1)
    made = D.TransformedDistribution(base, [affine(0.0, 2.0)])
    expected = 3 * stats.norm(0, 2).logpdf(1.0)
    np.testing.assert_allclose(made.log_prob(f64([1.0, 1.0, 1.0])).numpy(), expected)


def test_shares_of_normal_numbers_have_a_density():
    base = D.Normal(f64([0.0, 0.5]), f64([1.0, 2.0]))
    made = D.TransformedDistribution(base, [D.StickBreakingTransform()])
    assert (made.batch_shape, made.event_shape) == ((), (3,))
    assert made.sample([5]).shape == [5, 3]
    grid = (np.arange(400) + 0.5) / 400
    first, second = np.meshgrid(grid, grid)
    third = 1 - first - second
    inside = third > 1e-9
    shares = np.stack([first, second, third], -1)[inside]
    assert abs(made.prob(f64(shares)).numpy().sum() / 400**2 - 1) < 0.02


def test_draws_are_stretched_by_the_parameters_of_a_transformation():
    paddle.seed(3)
    scales = [[1.0], [2.0]]
    made = D.TransformedDistribution(D.Normal(f64([0.0]), f64([1.0])), [affine([0.0] * 3, scales)])
    assert made.batch_shape == (2, 3)
    draws = made.sample([4000]).numpy()
    assert draws.shape == (4000, 2, 3)
    apart = np.corrcoef(draws.reshape(4000, 6).T) - np.eye(6)
    assert abs(apart).max() < 0.1  # none is another's
    assert stats.kstest(draws[:, 1, 2], stats.norm(0, 2).cdf).pvalue > 1e-3
    assert made.log_prob(f64(0.0)).shape == [2, 3]


def test_what_is_not_injective_has_draws_and_no_density():
    made = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AbsTransform()])
    assert (made.sample([100]).numpy() >= 0).all()
    with pytest.raises(UnsupportedError, match="AbsTransform takes two values to the same"):
        made.log_prob(paddle.to_tensor(0.5))


class Doubled(D.Transform):
    """Twice a number, with the determinant of its inverse alone."""

    def _forward(self, x):
        return x * 2.0

    def _inverse(self, y):
        return y * 0.5

    def _inverse_log_det_jacobian(self, y):
        return paddle.full_like(y, -np.log(2.0))


def test_a_class_of_users_may_say_the_determinant_of_the_inverse():
    np.testing.assert_allclose(Doubled().forward_log_det_jacobian(f64(3.0)).numpy(), np.log(2))
    made = Doubled()(D.Normal(0.0, 1.0))
    found = made.log_prob(paddle.to_tensor(1.0)).numpy()
    np.testing.assert_allclose(found, stats.norm(0, 2).logpdf(1.0), 1e-6)


def test_events_of_unknown_batches_are_reshaped_in_a_program(static_mode):
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [-1, 2, 3])
        flat = D.ReshapeTransform((2, 3), (6,))
        sticks = D.StickBreakingTransform()
        fetch = [flat.forward(x), sticks.forward(x), sticks.inverse(sticks.forward(x))]
        assert fetch[0].shape == (-1, 6)
        fed = np.random.default_rng(1).normal(size=(5, 2, 3)).astype("float32")
        results = paddle.static.Executor().run(feed={"x": fed}, fetch_list=fetch)
    np.testing.assert_array_equal(results[0], fed.reshape(5, 6))
    np.testing.assert_allclose(results[1].sum(-1), 1.0, 1e-5)
    np.testing.assert_allclose(results[2], fed, 1e-3, 1e-4)


def test_constraints_say_where_values_are_a_variables():
    within = D.variable.Independent(D.variable.Variable(False, 0, D.constraint.Range(0.0, 1.0)), 1)
    assert within.constraint(f64([[0.0, 1.0], [0.5, 1.5]])).tolist() == [True, False]
    with pytest.raises(ShapeError, match="an event has 2 axes more"):
        D.variable.Independent(D.variable.real, 2).constraint(f64([1.0]))
    pair = D.variable.Stack([D.variable.real, D.variable.positive], -1)
    assert pair.constraint(f64([[-1.0, -1.0], [-1.0, 1.0]])).tolist() == [
        [True, False],
        [True, True],
    ]
    assert (pair.event_rank, pair.is_discrete) == (1, False)
    shares = f64([[0.2, 0.8], [0.2, 0.9], [-0.2, 1.2]])
    assert D.constraint.simplex(shares).tolist() == [True, False, False]
