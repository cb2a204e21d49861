"""Functions on tensors against NumPy: values, and gradients against differences."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertError,
    DtypeError,
    ScullError,
    ShapeError,
)

X = np.array([[0.3, -1.2, 2.6], [1.7, -0.4, 0.9]])
P = np.abs(X)
T = paddle.to_tensor

# name: the function, NumPy's, the operand
UNARY = {
    "abs": (paddle.abs, np.abs, X),
    "ceil": (paddle.ceil, np.ceil, X),
    "erf": (paddle.erf, None, X),
    "exp": (paddle.exp, np.exp, X),
    "expm1": (paddle.expm1, np.expm1, X),
    "floor": (paddle.floor, np.floor, X),
    "frac": (paddle.frac, lambda x: x - np.trunc(x), X),
    "log": (paddle.log, np.log, P),
    "log10": (paddle.log10, np.log10, P),
    "log1p": (paddle.log1p, np.log1p, P),
    "log2": (paddle.log2, np.log2, P),
    "neg": (paddle.neg, np.negative, X),
    "reciprocal": (paddle.reciprocal, np.reciprocal, X),
    "round": (paddle.round, np.round, X),
    "sign": (paddle.sign, np.sign, X),
    "square": (paddle.square, np.square, X),
    "stanh": (lambda x: paddle.stanh(x, 0.5, 1.75), lambda x: 1.75 * np.tanh(0.5 * x), X),
    "trunc": (paddle.trunc, np.trunc, X),
    "clip": (lambda x: paddle.clip(x, -1.0, 1.0), lambda x: np.clip(x, -1.0, 1.0), X),
    "clip above": (lambda x: paddle.clip(x, max=1.0), lambda x: np.minimum(x, 1.0), X),
    "pow": (lambda x: paddle.pow(x, 2.5), lambda x: x**2.5, P),
    "pow of two": (lambda x: x**2, lambda x: x**2, X),
    "power of a number": (lambda x: 2.0**x, lambda x: 2.0**x, X),
    "sum": (lambda x: paddle.sum(x, 1, keepdim=True), lambda x: x.sum(1, keepdims=True), X),
    "mean": (lambda x: paddle.mean(x, [0, 1]), np.mean, X),
    "max": (lambda x: paddle.max(x, 0), lambda x: x.max(0), X),
    "min": (lambda x: paddle.min(x, -1), lambda x: x.min(-1), X),
    "amax": (lambda x: paddle.amax(x, 0), lambda x: x.max(0), X),
    "amin": (paddle.amin, np.min, X),
    "prod": (paddle.prod, np.prod, X),
    "prod of rows": (lambda x: paddle.prod(x, 1), lambda x: x.prod(1), X),
    "logsumexp": (lambda x: paddle.logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1)), X),
    "cumsum": (lambda x: paddle.cumsum(x, 1), lambda x: x.cumsum(1), X),
    "cumsum of all": (paddle.cumsum, np.cumsum, X),
    "var": (lambda x: paddle.var(x, 1), lambda x: x.var(1, ddof=1), X),
    "std": (lambda x: paddle.std(x, unbiased=False), np.std, X),
    "median": (paddle.median, np.median, X),
    "median of rows": (lambda x: paddle.median(x, 1), lambda x: np.median(x, 1), X),
    "quantile": (lambda x: paddle.quantile(x, 0.3, 1), lambda x: np.quantile(x, 0.3, 1), X),
    "norm": (paddle.norm, np.linalg.norm, X),
    "norm of order 1": (lambda x: paddle.norm(x, 1, 0), lambda x: np.abs(x).sum(0), X),
    "norm of order 3": (lambda x: paddle.norm(x, 3, 1), lambda x: (P**3).sum(1) ** (1 / 3), X),
    "norm without end": (lambda x: paddle.norm(x, np.inf), lambda x: np.abs(x).max(), X),
    "trace": (paddle.trace, np.trace, X),
    "diagonal": (lambda x: paddle.diagonal(x, 1), lambda x: np.diagonal(x, 1), X),
    "diag": (lambda x: paddle.diag(x[0], 1), lambda x: np.diag(x[0], 1), X),
    "tril": (paddle.tril, np.tril, X),
    "triu": (lambda x: paddle.triu(x, 1), lambda x: np.triu(x, 1), X),
    "reshape": (lambda x: paddle.reshape(x, [3, -1]), lambda x: x.reshape(3, 2), X),
    "flatten": (paddle.flatten, np.ravel, X),
    "unflatten": (lambda x: paddle.unflatten(x, 1, [3, 1]), lambda x: x[..., None], X),
    "squeeze": (lambda x: paddle.squeeze(x[:1]), lambda x: x[0], X),
    "unsqueeze": (lambda x: paddle.unsqueeze(x, [0, 2]), lambda x: x[None, :, None], X),
    "transpose": (lambda x: paddle.transpose(x, [1, 0]), np.transpose, X),
    "transposed": (lambda x: x.T, np.transpose, X),
    "moveaxis": (lambda x: paddle.moveaxis(x, 0, 1), np.transpose, X),
    "expand": (lambda x: paddle.expand(x, [2, -1, 3]), lambda x: np.stack([x, x]), X),
    "tile": (lambda x: paddle.tile(x, [2, 1, 2]), lambda x: np.tile(x, (2, 1, 2)), X),
    "flip": (lambda x: paddle.flip(x, [0, 1]), lambda x: x[::-1, ::-1], X),
    "roll": (lambda x: paddle.roll(x, 2), lambda x: np.roll(x, 2), X),
    "roll of axes": (
        lambda x: paddle.roll(x, [1, -1], [0, 1]),
        lambda x: np.roll(x, [1, -1], [0, 1]),
        X,
    ),
    "repeat": (
        lambda x: paddle.repeat_interleave(x, 2, 1),
        lambda x: np.repeat(x, 2, 1),
        X,
    ),
    "slice": (lambda x: paddle.slice(x, [1], [0], [2]), lambda x: x[:, :2], X),
    "strided slice": (
        lambda x: paddle.strided_slice(x, [1], [2], [-4], [-1]),
        lambda x: x[:, ::-1],
        X,
    ),
    "crop": (lambda x: paddle.crop(x, [1, -1], [1, 1]), lambda x: x[1:, 1:], X),
    "concat": (lambda x: paddle.concat([x, x], -1), lambda x: np.concatenate([x, x], -1), X),
    "stack": (lambda x: paddle.stack([x, x], 1), lambda x: np.stack([x, x], 1), X),
    "split": (lambda x: paddle.split(x, [1, -1], 1)[1], lambda x: x[:, 1:], X),
    "unbind": (lambda x: paddle.unbind(x, 1)[2], lambda x: x[:, 2], X),
    "gather": (lambda x: paddle.gather(x, T([1, 1]), 1), lambda x: x[:, [1, 1]], X),
    "gather_nd": (lambda x: paddle.gather_nd(x, T([[1, 2]])), lambda x: x[[1], [2]], X),
    "index_select": (lambda x: paddle.index_select(x, T([1])), lambda x: x[[1]], X),
    "index_sample": (
        lambda x: paddle.index_sample(x, T([[2], [0]])),
        lambda x: np.array([[x[0, 2]], [x[1, 0]]]),
        X,
    ),
    "take_along_axis": (
        lambda x: paddle.take_along_axis(x, T([[1, 0, 1]]), 0),
        lambda x: np.take_along_axis(x, np.array([[1, 0, 1]]), 0),
        X,
    ),
    "masked_select": (lambda x: paddle.masked_select(x, x > 0), lambda x: x[x > 0], X),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 0.0), lambda x: np.minimum(x, 0), X),
    "where": (lambda x: paddle.where(x > 0, x, x * 2.0), lambda x: np.where(x > 0, x, 2 * x), X),
    "sort": (lambda x: paddle.sort(x, 1, True), lambda x: np.sort(x, 1)[:, ::-1], X),
    "topk": (lambda x: paddle.topk(x, 2)[0], lambda x: np.sort(x, 1)[:, :0:-1], X),
    "kthvalue": (lambda x: paddle.kthvalue(x, 2)[0], lambda x: np.sort(x, 1)[:, 1], X),
    "unique": (paddle.unique, np.unique, X),
    "diff": (paddle.diff, np.diff, X),
    "matmul": (lambda x: paddle.matmul(x, x, transpose_y=True), lambda x: x @ x.T, X),
    "mm": (lambda x: paddle.mm(x, x.t()), lambda x: x @ x.T, X),
    "dot": (lambda x: paddle.dot(x[0], x[1]), lambda x: x[0] @ x[1], X),
    "inner": (lambda x: paddle.inner(x, x), lambda x: np.inner(x, x), X),
    "outer": (lambda x: paddle.outer(x[0], x[1]), lambda x: np.outer(x[0], x[1]), X),
    "kron": (lambda x: paddle.kron(x, x), lambda x: np.kron(x, x), X),
    "dist": (lambda x: paddle.dist(x[0], x[1], 1), lambda x: np.abs(x[0] - x[1]).sum(), X),
    "lerp": (lambda x: paddle.lerp(x, x * 3.0, 0.25), lambda x: 1.5 * x, X),
    "add_n": (lambda x: paddle.add_n([x, x, x]), lambda x: 3 * x, X),
    "addmm": (
        lambda x: paddle.addmm(x[:, :2], x, x.t(), 2.0, 3.0),
        lambda x: 2 * x[:, :2] + 3 * x @ x.T,
        X,
    ),
    "tensordot": (
        lambda x: paddle.tensordot(x, x, [[0, 1], [0, 1]]),
        lambda x: np.tensordot(x, x, [[0, 1], [0, 1]]),
        X,
    ),
    "index_add": (
        lambda x: paddle.index_add(x, T([1]), 1, x[:, :1]),
        lambda x: x + np.stack([0 * x[:, 0], x[:, 0], 0 * x[:, 0]], 1),
        X,
    ),
    "put_along_axis": (
        lambda x: paddle.put_along_axis(x, T([[1]]), x[:1] * 2.0, 0),
        lambda x: np.stack([x[0], 2 * x[0]]),
        X,
    ),
    "multiplex": (
        lambda x: paddle.multiplex([x, x * 2.0], T([[1], [0]])),
        lambda x: np.stack([2 * x[0], x[1]]),
        X,
    ),
}
CONSTANT = ("ceil", "floor", "round", "sign", "trunc")  # almost everywhere
WITHOUT = ("unique",)  # Paddle has no gradient of it


@pytest.mark.parametrize("name", [n for n in UNARY if UNARY[n][1] is not None])
def test_values_are_those_of_numpy(name):
    function, reference, array = UNARY[name]
    found = function(T(array))
    np.testing.assert_allclose(found.numpy(), reference(array), rtol=1e-12, atol=1e-12)
    assert tuple(found.shape) == np.shape(reference(array))


@pytest.mark.parametrize("name", [n for n in UNARY if n not in (*CONSTANT, *WITHOUT, "frac")])
def test_gradients_are_those_of_differences(name):
    function, _, array = UNARY[name]
    x = T(array, stop_gradient=False)
    out = function(x)
    weights = np.linspace(0.5, 1.5, out.size).reshape(out.shape)
    (out * T(weights)).sum().backward()
    numeric = np.empty_like(array)
    for place in np.ndindex(array.shape):
        step = np.zeros_like(array)
        step[place] = 1e-6
        above, below = (function(T(array + d)).numpy() * weights for d in (step, -step))
        numeric[place] = (above.sum() - below.sum()) / 2e-6
    np.testing.assert_allclose(x.grad.numpy(), numeric, rtol=1e-5, atol=1e-7)


TESTS = {
    "all": (lambda x: paddle.all(x > -2, 1), lambda x: (x > -2).all(1)),
    "any": (lambda x: paddle.any(x > 2, 0, True), lambda x: (x > 2).any(0, keepdims=True)),
    "isnan": (paddle.isnan, np.isnan),
    "isinf": (paddle.isinf, np.isinf),
    "isfinite": (paddle.isfinite, np.isfinite),
    "count_nonzero": (paddle.count_nonzero, np.count_nonzero),
    "nonzero": (paddle.nonzero, np.argwhere),
    "argmax": (paddle.argmax, np.argmax),
    "argmin": (lambda x: paddle.argmin(x, 1, True), lambda x: x.argmin(1, keepdims=True)),
    "argsort": (lambda x: paddle.argsort(x, 0), lambda x: x.argsort(0)),
    "searchsorted": (
        lambda x: paddle.searchsorted(T([-1.0, 0.0, 1.0]), x[0], right=True),
        lambda x: np.searchsorted([-1, 0, 1], x[0], "right"),
    ),
    "histogram": (lambda x: paddle.histogram(x, 4), lambda x: np.histogram(x, 4)[0]),
}


@pytest.mark.parametrize("name", TESTS)
def test_predicates_and_places_are_those_of_numpy(name):
    function, reference = TESTS[name]
    np.testing.assert_array_equal(function(T(X)).numpy(), reference(X))


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("i,i", (3,), (3,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("...i->...", (2, 3)),
    ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 2)),
    ("ijk,jil->kl", (2, 3, 4), (3, 2, 5)),
    ("ij,ij->i", (2, 3), (2, 3)),
]


@pytest.mark.parametrize(("equation", *"s"), [(e, shapes) for e, *shapes in EQUATIONS])
def test_an_equation_of_indices_gives_what_numpy_gives(equation, s):
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape) for shape in s]
    found = paddle.einsum(equation, *map(T, arrays))
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12)


def test_what_is_not_finite_is_recognised_and_replaced():
    x = T([1.0, np.nan, np.inf, -np.inf])
    assert paddle.isnan(x).tolist() == [False, True, False, False]
    assert paddle.isinf(x).tolist() == [False, False, True, True]
    assert paddle.isfinite(x).tolist() == [True, False, False, False]
    assert paddle.nan_to_num(x, 0.0, 5.0, -5.0).tolist() == [1.0, 0.0, 5.0, -5.0]
    assert paddle.fmax(x[:2], T([0.0, 2.0])).tolist() == [1.0, 2.0]
    assert paddle.fmin(x[:2], T([0.0, 2.0])).tolist() == [0.0, 2.0]
    assert paddle.nansum(x[:2]).item() == 1.0
    assert paddle.nanmean(x[:2]).item() == 1.0
    assert np.isnan(paddle.median(x[:2]).item())
    assert paddle.isclose(x, x, equal_nan=True).all().item()


def test_equal_extremes_share_a_gradient_or_get_it_whole():
    x = T([1.0, 1.0], stop_gradient=False)
    paddle.max(x).backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x.clear_grad()
    paddle.amax(x).backward()
    assert x.grad.tolist() == [0.5, 0.5]


def test_sums_of_small_types_are_wide():
    assert paddle.sum(T([True, True])).dtype is paddle.int64
    assert paddle.sum(T([1], dtype="int32")).dtype is paddle.int64
    assert paddle.sum(T([1.0]), dtype="float64").dtype is paddle.float64
    assert paddle.divide(T([7, -7]), T([2, 2])).tolist() == [3, -3]


def test_unique_says_where_what_and_how_often():
    values, first, inverse, counts = paddle.unique(T([3, 1, 1]), True, True, True)
    assert values.tolist() == [1, 3]
    assert (first.tolist(), inverse.tolist(), counts.tolist()) == ([1, 0], [1, 0, 0], [2, 1])


def test_sizes_may_be_tensors():
    assert paddle.zeros([T(2), 3]).shape == [2, 3]
    assert paddle.reshape(paddle.ones([4]), T([2, 2])).shape == [2, 2]
    assert paddle.expand(paddle.ones([1]), [T(3)]).shape == [3]


def test_creation_follows_the_default_element_type():
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    try:
        for x in (T(1.0), T([1.0]), paddle.ones([1]), paddle.rand([1]), paddle.arange(1.0)):
            assert x.dtype is paddle.float64
        assert T(1j).dtype is paddle.complex128
    finally:
        paddle.set_default_dtype(before)


def test_random_functions_repeat_from_a_seed_and_a_state():
    paddle.seed(11)
    first = paddle.randn([4]).tolist()
    state = paddle.get_rng_state()
    second = paddle.randint(0, 100, [8]).tolist()
    paddle.set_rng_state(state)
    assert paddle.randint(0, 100, [8]).tolist() == second
    paddle.seed(11)
    assert paddle.randn([4]).tolist() == first


def test_drawn_places_follow_their_weights():
    paddle.seed(5)
    drawn = paddle.multinomial(T([1.0, 0.0, 3.0]), 4000, replacement=True)
    assert abs(float((drawn == 2).sum()) / 4000 - 0.75) < 0.05
    assert not (drawn == 1).any()
    assert sorted(paddle.multinomial(T([1.0, 0.0, 3.0]), 2).tolist()) == [0, 2]
    with pytest.raises(ArgumentError, match="only 2 places"):
        paddle.multinomial(T([1.0, 0.0, 3.0]), 3)


def test_places_drawn_one_after_the_other_follow_what_weights_are_left():
    paddle.seed(9)
    drawn = paddle.multinomial(T(np.tile([1.0, 2.0, 0.0, 5.0], (8000, 1))), 2).numpy()
    for first, second, chance in ((0, 1, 2 / 56), (1, 0, 2 / 48), (3, 0, 5 / 24), (3, 1, 5 / 12)):
        found = ((drawn[:, 0] == first) & (drawn[:, 1] == second)).mean()
        assert abs(found - chance) < 0.03
    assert not (drawn == 2).any()


def test_a_single_place_is_drawn_by_one_number_a_row():
    weights = T(np.tile([1.0, 0.0, 3.0], (4000, 1)))
    paddle.seed(7)
    drawn = paddle.multinomial(weights, 1)
    paddle.seed(7)
    assert np.array_equal(drawn, paddle.multinomial(weights, 1, replacement=True))
    assert set(drawn.numpy().ravel()) == {0, 2}
    assert abs((drawn == 2).astype("float64").mean().item() - 0.75) < 0.03


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (ArgumentTypeError, lambda: T("text")),
        (ArgumentTypeError, lambda: T(object())),
        (ArgumentTypeError, lambda: T(1.0, dtype="nothing")),
        (ArgumentError, lambda: T(1.0, place="nowhere")),
        (ValueError, lambda: T([[1, 2], [3]])),
        (ArgumentError, lambda: paddle.zeros([-1, 2])),
        (ArgumentTypeError, lambda: paddle.zeros([1.5])),
        (ArgumentTypeError, lambda: paddle.zeros("a")),
        (ArgumentError, lambda: paddle.arange(0, 5, 0)),
        (ArgumentError, lambda: paddle.concat([])),
        (ArgumentTypeError, lambda: paddle.concat([1.0])),
        (ShapeError, lambda: paddle.bmm(paddle.ones([2, 2]), paddle.ones([2, 2]))),
        (ShapeError, lambda: paddle.t(paddle.ones([1, 1, 1]))),
        (ArgumentError, lambda: paddle.flatten(paddle.ones([2, 2]), 1, 0)),
        (ArgumentTypeError, lambda: paddle.exp("a")),
        (ArgumentTypeError, lambda: paddle.tanh(None)),
        (ArgumentError, lambda: paddle.where(T([True]), 1.0)),
        (ArgumentError, lambda: paddle.norm(T([1.0]), "nuc")),
        (ArgumentError, lambda: paddle.randint(0)),
        (ArgumentError, lambda: paddle.randperm(-1)),
        (ArgumentTypeError, lambda: paddle.set_printoptions(precision="a")),
        (ArgumentError, lambda: paddle.einsum("ij,jk", paddle.ones([2, 2]))),
        (ArgumentError, lambda: paddle.einsum("ij->k", paddle.ones([2, 2]))),
        (AssertError, lambda: paddle.einsum("ijk->i", paddle.ones([2, 2]))),
        (ScullError, lambda: paddle.split(paddle.ones([3]), 2)),
    ],
)
def test_a_mistake_is_refused(error, call):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (paddle.prod, [0.0, 90.0, 0.0, 0.0]),
        (lambda x: paddle.cumprod(x, 0), [1.0, 98.0, 0.0, 0.0]),
    ],
    ids=["product", "running product"],
)
def test_a_product_has_a_gradient_where_a_factor_is_zero(function, expected):
    x = T([2.0, 0.0, 3.0, 15.0], stop_gradient=False)
    function(x).sum().backward()
    assert x.grad.tolist() == expected


def test_a_power_of_integers_has_a_whole_exponent():
    assert paddle.pow(T([2, 3]), 2.9).tolist() == [4, 9]


def test_a_norm_of_order_0_is_taken_over_one_axis():
    with pytest.raises(ArgumentError, match="over one axis"):
        paddle.norm(T(X), 0, [0, 1])


def test_running_extremes_of_a_0_d_tensor_are_a_line():
    values, places = paddle.cummax(T(2.0))
    assert (values.tolist(), places.tolist()) == ([2.0], [0])


@pytest.mark.parametrize("function", [paddle.median, paddle.nanmedian])
def test_the_median_of_a_0_d_tensor_is_itself_along_axis_0_and_minus_1(function):
    for axis in (None, 0, -1):
        assert function(T(2.5), axis, keepdim=True).tolist() == 2.5
    with pytest.raises(AssertError, match="has axis 0, -1 or None, not 1"):
        function(T(2.5), 1)


def test_the_trace_of_integers_keeps_their_width():
    assert paddle.trace(T([[1, 2], [3, 4]], dtype="int32")).dtype == paddle.int32


def test_a_choice_between_two_numbers_is_as_wide_as_they_are():
    assert paddle.where(T([True, False]), 1.5, 2.5).dtype == paddle.float64
    assert paddle.where(T([True, False]), 1, 2).dtype == paddle.int64


def test_a_fraction_of_python_makes_a_choice_float64_and_a_whole_number_does_not():
    x, picks = paddle.ones([2]), T([True, False])
    assert paddle.where(picks, x, 0.5).dtype == paddle.where(picks, 0.5, x).dtype == paddle.float64
    assert paddle.where(picks, x, 0).dtype == paddle.float32
    assert paddle.where_(picks, x, 0.5).tolist() == [1.0, 0.5] and x.dtype == paddle.float32


@pytest.mark.parametrize("one", [np.int64(1), np.array([1]), T(1), T([1])])
def test_a_number_may_be_an_array_or_a_tensor_of_one_element(one):
    x = T([[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]])
    assert paddle.stack([x, x], axis=one).shape == [2, 2, 3]
    assert paddle.topk(x, 1, axis=one)[1].tolist() == [[1], [2]]
    assert paddle.diagonal(x, one).tolist() == [2.0, 5.0]
    assert paddle.trace(x, one).item() == 7.0
    assert paddle.tril(x, one).tolist() == [[1.0, 2.0, 0.0], [3.0, 4.0, 5.0]]
    assert paddle.linalg.matrix_power(x[:, :2], one).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert paddle.cdist(x, x, p=one).tolist() == [[0.0, 9.0], [9.0, 0.0]]


def test_numbers_of_numpy_say_how_many_axes_meet():
    assert paddle.tensordot(T([1.0, 2.0]), T([3.0, 4.0]), np.int64(1)).item() == 11.0


def test_powers_of_whole_numbers_are_added_as_float32():
    found = paddle.logaddexp(T([2, 0]), T([2, 1]))
    assert found.dtype == paddle.float32
    np.testing.assert_allclose(found.numpy(), np.log([2 * np.e**2, 1 + np.e]), rtol=1e-6)


def test_of_no_number_there_is_one_order():
    assert paddle.randperm(0).tolist() == []


def test_means_of_truths_and_whole_numbers_keep_their_type():
    found = paddle.mean(T([[False, True], [False, False]]), axis=1)
    assert (found.dtype, found.tolist()) == (paddle.bool, [True, False])
    found = paddle.nanmean(T([-7, 2, 1]))
    assert (found.dtype, found.item()) == (paddle.int64, -1)


def test_numbers_between_tensors_of_integers_are_of_the_default_type():
    assert paddle.linspace(T(0), 5, 3).tolist() == [0.0, 2.5, 5.0]


def test_normal_numbers_around_a_tensor_are_of_its_shape():
    assert paddle.normal(T([1.0, 2.0]), 1.0, [3]).shape == [2]


def test_images_are_resized_by_a_size_or_by_a_factor():
    with pytest.raises(ArgumentError, match="Only one of size or scale_factor"):
        paddle.nn.functional.interpolate(paddle.ones([1, 1, 2, 2]), [4, 4], scale_factor=2)


def test_numbers_are_added_to_tensors_of_one_element():
    number, single = paddle.to_tensor(1.0, stop_gradient=False), paddle.to_tensor([2.0])
    total = paddle.add_n([number, single, single])
    assert (total.shape, total.tolist()) == ([1], [5.0])
    total.backward()
    assert number.grad.tolist() == 1.0
    with pytest.raises(ValueError, match="not of one shape"):
        paddle.add_n([number, paddle.ones([1, 1])])


def test_where_takes_numbers_for_truth_beside_another_shape():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    for condition in ([[0.0, 0.5], [2.0, 0.0]], [[0, 256], [1, 0]]):
        found = paddle.where(paddle.to_tensor(condition), x, paddle.to_tensor(-1.0))
        assert found.tolist() == [[-1.0, 2.0], [3.0, -1.0]]
    assert paddle.where(paddle.to_tensor([0, 1]), x, x + 4).tolist() == [[5.0, 2.0], [7.0, 4.0]]
    with pytest.raises(DtypeError, match="condition is float32, not bool"):
        paddle.where(x, x, x)


def test_a_state_of_the_generator_tells_its_seed():
    paddle.seed(12)
    paddle.rand([2])
    (state,) = paddle.get_rng_state()
    cpu = paddle.framework.core.default_cpu_generator()
    assert state.current_seed() == cpu.get_state().current_seed() == 12
    assert state == (12, 1)
