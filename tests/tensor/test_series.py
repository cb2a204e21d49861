"""Functions of numbers, places, windows, areas, quantiles and covariances, in both modes."""

import itertools

import numpy as np
import pytest
from scipy import special
from scipy.spatial.distance import cdist

import scull as paddle
from scull.errors import (
    ArgumentError,
    AssertError,
    DtypeError,
    RangeError,
    ResourceError,
    ShapeError,
    UnsupportedError,
)

RANDOM = np.random.default_rng(3)
A, B = RANDOM.standard_normal((2, 4, 5))
C = RANDOM.standard_normal((2, 3, 4))
GAPS = np.where(C > 1.0, np.nan, C)
WHOLE, OTHER = np.array([[12, -4, 0], [7, 0, -9]]), np.array([[18, 6, 0], [0, 5, 6]])
TWO = np.array([0, -1])
L = paddle.linalg


def filled(x, places, axis, value):
    """`x` with a number at places of an axis."""
    found = np.moveaxis(x.copy(), axis, 0)
    found[places] = value
    return np.moveaxis(found, 0, axis)


def trapezoids(y, axis=-1):
    """Running areas."""
    pairs = np.moveaxis(y, axis, -1)
    return np.moveaxis(np.cumsum((pairs[..., 1:] + pairs[..., :-1]) / 2, -1), -1, axis)


CALLS = {
    "i0": (paddle.i0, [A * 9], special.i0),
    "i0e": (paddle.i0e, [A * 9], special.i0e),
    "i1": (paddle.i1, [A * 9], special.i1),
    "i1e": (paddle.i1e, [A * 9], special.i1e),
    "multigammaln": (
        lambda x: paddle.multigammaln(x, 3),
        [abs(A) + 2],
        lambda x: np.vectorize(lambda v: special.multigammaln(v, 3))(x),
    ),
    "gcd": (paddle.gcd, [WHOLE, OTHER], np.gcd),
    "lcm": (paddle.lcm, [WHOLE, OTHER], np.lcm),
    "nextafter": (paddle.nextafter, [A, B], np.nextafter),
    "logaddexp": (paddle.logaddexp, [A * 900, B], np.logaddexp),
    "frexp": (paddle.frexp, [np.array([0.0, 1, -6, 0.5, 5e-324, -1e300])], np.frexp),
    "polar": (paddle.polar, [abs(A), B], lambda r, t: r * np.exp(1j * t)),
    "take": (paddle.take, [A, np.array([[0, -1], [5, 19]])], lambda x, i: x.ravel()[i]),
    "take clip": (
        lambda x, i: paddle.take(x, i, "clip"),
        [A, np.array([25, -25])],
        lambda x, i: np.take(x, i, mode="clip"),
    ),
    "take wrap": (
        lambda x, i: paddle.take(x, i, "wrap"),
        [A, np.array([25, -27])],
        lambda x, i: np.take(x, i, mode="wrap"),
    ),
    "index_fill": (
        lambda x, i: paddle.index_fill(x, i, -1, 2.5),
        [C, TWO],
        lambda x, i: filled(x, i, -1, 2.5),
    ),
    "select_scatter": (
        lambda x, v: paddle.select_scatter(x, v, 1, -2),
        [A, B[:, 0]],
        lambda x, v: filled(x, -2, 1, v),
    ),
    "rot90": (lambda x: paddle.rot90(x, 3, [1, 2]), [C], lambda x: np.rot90(x, 3, (1, 2))),
    "rot90 twice": (lambda x: paddle.rot90(x, -2), [A], lambda x: np.rot90(x, 2)),
    "atleast_1d": (paddle.atleast_1d, [np.array(3.0)], np.atleast_1d),
    "atleast_2d": (paddle.atleast_2d, [A[0]], np.atleast_2d),
    "atleast_3d": (paddle.atleast_3d, [A[0], A], np.atleast_3d),
    "vsplit": (lambda x: paddle.vsplit(x, 2), [A], lambda x: np.vsplit(x, 2)),
    "trapezoid": (paddle.trapezoid, [A], np.trapezoid),
    "trapezoid at": (lambda y, x: paddle.trapezoid(y, x, axis=0), [A, B[:, 0]],
                     lambda y, x: np.trapezoid(y, x, axis=0)),
    "trapezoid apart": (lambda y: paddle.trapezoid(y, dx=2.0), [A],
                        lambda y: np.trapezoid(y, dx=2.0)),
    "cumulative_trapezoid": (lambda y: paddle.cumulative_trapezoid(y, axis=1), [C],
                             lambda y: trapezoids(y, 1)),
    "vander": (paddle.vander, [A[0]], np.vander),
    "vander rising": (lambda x: paddle.vander(x, 3, True), [A[0]],
                      lambda x: np.vander(x, 3, increasing=True)),
    "combinations": (lambda x: paddle.combinations(x, 3), [A[0]],
                     lambda x: np.array(list(itertools.combinations(x, 3)))),
    "cdist": (paddle.cdist, [A, B], cdist),
    "cdist of products": (
        lambda x, y: paddle.cdist(x, y, 2.0, "use_mm_for_euclid_dist"), [A, B], cdist),
    "cdist of order 1": (
        lambda x, y: paddle.cdist(x, y, 1.0), [A, B], lambda x, y: cdist(x, y, "cityblock")),
    "cov": (L.cov, [A], np.cov),
    "cov of columns": (lambda x: L.cov(x, rowvar=False, ddof=False), [A],
                       lambda x: np.cov(x, rowvar=False, ddof=0)),
    "cov of weights": (
        lambda x, f, a: L.cov(x, fweights=f, aweights=a), [A, np.array([1, 2, 1, 3, 1]), abs(B[0])],
        lambda x, f, a: np.cov(x, fweights=f, aweights=a)),
    "corrcoef": (L.corrcoef, [A], np.corrcoef),
    "quantile": (lambda x: paddle.quantile(x, 0.3, [0, 2]), [C],
                 lambda x: np.quantile(x, 0.3, (0, 2))),
    "quantiles": (lambda x: paddle.quantile(x, [0.1, 0.9, 1], 1, True), [C],
                  lambda x: np.quantile(x, [0.1, 0.9, 1], 1, keepdims=True)),
    "quantile with gaps": (lambda x: paddle.quantile(x, 0.3, 0), [GAPS],
                           lambda x: np.quantile(x, 0.3, 0)),
    "nanquantile": (lambda x: paddle.nanquantile(x, [0.2, 0.5], -1), [GAPS],
                    lambda x: np.nanquantile(x, [0.2, 0.5], -1)),
    "nanmedian": (lambda x: paddle.nanmedian(x, [0, 1]), [GAPS],
                  lambda x: np.nanmedian(x, (0, 1))),
}  # fmt: skip


def as_list(found):
    """One result or several, as a list."""
    return list(found) if isinstance(found, list | tuple) else [found]


def in_program(function, arrays):
    """What the function gives in a Program."""
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
            feed = {f"x{i}": x for i, x in enumerate(arrays)}
            given = [paddle.static.data(n, list(x.shape), x.dtype) for n, x in feed.items()]
            return paddle.static.Executor().run(feed=feed, fetch_list=as_list(function(*given)))
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_numpy_gives_in_both_modes(name):
    function, arrays, reference = CALLS[name]
    found = [t.numpy() for t in as_list(function(*map(paddle.to_tensor, arrays)))]
    expected = reference(*arrays)
    for ours, theirs in zip(found, as_list(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)
    for ours, theirs in zip(in_program(function, arrays), found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)  # numbers are float32 there
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape


def test_reflections_are_multiplied_as_lapack_does():
    x, tau = RANDOM.standard_normal((2, 4, 3)), RANDOM.random((2, 3))
    for m, t, found in zip(
        x, tau, L.householder_product(*map(paddle.to_tensor, (x, tau))), strict=True
    ):
        q = np.eye(4)
        for i in range(3):
            v = np.concatenate([np.zeros(i), [1], m[i + 1 :, i]])
            q = q @ (np.eye(4) - t[i] * np.outer(v, v))
        np.testing.assert_allclose(found.numpy(), q[:, :3], rtol=1e-12, atol=1e-12)


def test_a_sketch_finds_the_directions_of_a_matrix_of_low_rank():
    for shape in ((8, 5), (5, 8)):
        x = RANDOM.standard_normal((shape[0], 2)) @ RANDOM.standard_normal((2, shape[1]))
        u, s, v = L.pca_lowrank(paddle.to_tensor(x), 3, center=False)
        np.testing.assert_allclose((u * s) @ v.T, x, atol=1e-10)
        np.testing.assert_allclose(s.numpy()[:2], np.linalg.svd(x)[1][:2], rtol=1e-10)


def test_windows_share_the_memory_of_the_tensor():
    x = paddle.arange(6.0)
    found = paddle.unfold(x, 0, 3, 2)
    x[2] = 9.0
    assert found.tolist() == [[0, 1, 9], [9, 3, 4]]


def test_a_form_in_place_writes_into_its_operand():
    x = paddle.to_tensor([[3.0, 4.0], [0.0, 1.0]])
    assert paddle.renorm_(x, 2.0, 0, 1.0) is x
    np.testing.assert_allclose(x.numpy(), [[0.6, 0.8], [0, 1]], rtol=1e-6)
    assert x.index_fill_(paddle.to_tensor([0]), 1, 2).tolist()[0][0] == 2.0
    assert paddle.to_tensor([4]).gcd_(paddle.to_tensor([6])).tolist() == [2]


def test_numbers_drawn_in_place_follow_their_distribution():
    paddle.seed(7)
    x = paddle.zeros([20000], "float64")
    assert abs(np.median(x.cauchy_(1.0, 2.0).numpy()) - 1) < 0.1
    assert abs(x.geometric_(0.25).numpy().mean() - 1 / -np.log(0.75)) < 0.1
    assert abs(x.exponential_(4.0).numpy().mean() - 0.25) < 0.01
    assert abs(x.normal_(3.0, 2.0).numpy().std() - 2) < 0.05
    assert abs(x.uniform_(2.0, 4.0).numpy().mean() - 3) < 0.05
    assert abs(paddle.poisson(paddle.full([20000], 3.0)).numpy().var() - 3) < 0.2


MISTAKES = [
    (DtypeError, "is not of integer elements", lambda: paddle.gcd(*map(paddle.to_tensor, (A, B)))),
    (ArgumentError, "`mode` is raise, wrap or clip", lambda: paddle.take(T(A), T(TWO), "q")),
    (RangeError, "is out of bounds|is outside", lambda: paddle.take(T(A), T(np.array([25])))),
    (ArgumentError, "is outside", lambda: paddle.index_fill(T(A), T(TWO), 2, 1.0)),
    (ShapeError, "the slice", lambda: paddle.select_scatter(T(A), T(B[0]), 1, 0)),
    (ArgumentError, "are the same", lambda: paddle.rot90(T(C), 1, [1, -2])),
    (ArgumentError, "at least 2 are needed", lambda: paddle.vsplit(T(A[0]), 2)),
    (ArgumentError, "a window of 9", lambda: paddle.unfold(T(A), 0, 9, 1)),
    (ArgumentError, "give one of them", lambda: paddle.trapezoid(T(A), T(B), 1.0)),
    (ArgumentError, "not 1", lambda: paddle.vander(T(A))),
    (ShapeError, "not 1", lambda: paddle.combinations(T(A))),
    (AssertError, "x has 5 columns and y has 4", lambda: paddle.cdist(T(A), T(C[0]))),
    (ShapeError, "one for each of 5", lambda: L.cov(T(A), fweights=T(TWO))),
    (ShapeError, "none may be more", lambda: L.householder_product(T(A), T(A[:, 0]) [:2])),
    (ArgumentError, "not between 0 and 1", lambda: paddle.quantile(T(A), [0.5, 2])),
    (ArgumentError, "outside", lambda: paddle.quantile(T(A), 0.5, 3)),
    (ArgumentError, "names no axis", lambda: paddle.nanmedian(T(A), [])),
    (ArgumentError, "not from 0 to 4", lambda: L.pca_lowrank(T(A), 5)),
    (ArgumentError, "lies between 0 and 1", lambda: T(A).geometric_(1.5)),
    (ResourceError, "choices of 20 elements", lambda: paddle.combinations(paddle.arange(40), 20)),
    (ShapeError, "does not stretch", lambda: paddle.cauchy_(T(A), T(np.zeros((9, 1, 1))))),
    (ArgumentError, r"in \[1, 10000\], not", lambda: paddle.multigammaln(T(A), 10**9)),
    (ArgumentError, "element -1 lies outside", lambda: paddle.as_strided(T(TWO), [2], [-1])),
    (ArgumentError, "element 2 lies outside", lambda: paddle.as_strided(T(TWO), [2], [1], 1)),
    (ShapeError, "do not fit", lambda: paddle.as_strided(T(TWO), [2, 2], [1])),
    (RangeError, r"outside \[0, 1\]", lambda: paddle.tensordot(T(TWO), T(TWO), 2)),
]  # fmt: skip


def T(x):
    """An array as a Tensor."""
    return paddle.to_tensor(x)


@pytest.mark.parametrize(("error", "law", "call"), MISTAKES)
def test_a_mistake_is_named(error, law, call):
    with pytest.raises(error, match=law):
        call()


def test_memory_read_with_other_steps_has_a_gradient():
    x = T(A)
    x.stop_gradient = False
    y = paddle.as_strided(x, [2, 2], [1, 2], 1)
    y.backward(paddle.to_tensor([[1.0, 2.0], [4.0, 8.0]], dtype=y.dtype))
    assert x.grad.flatten().tolist()[:6] == [0.0, 1.0, 4.0, 2.0, 8.0, 0.0]


def test_products_with_one_element_keep_its_axes():
    one, two = paddle.to_tensor([3.0]), paddle.to_tensor([[1.0, 2.0]])
    assert paddle.inner(one, one).tolist() == [9.0]
    assert paddle.inner(one, two).tolist() == [[3.0, 6.0]]


def test_whole_numbers_vary_together():
    x = np.array([[1, 2, 3], [2, 5, 9]])
    np.testing.assert_allclose(L.cov(T(x)).numpy(), np.cov(x))


def test_memory_is_read_backwards_where_it_lies_inside():
    assert paddle.as_strided(paddle.arange(4), [2, 2], [-2, 1], 2).tolist() == [[2, 3], [0, 1]]


def test_more_elements_than_there_are_cannot_be_chosen():
    assert paddle.combinations(paddle.arange(3), 5).shape == [0, 5]


def test_what_a_program_cannot_say_is_refused():
    for function in (lambda x: paddle.unfold(x, 0, 1, 1), paddle.normal_, paddle.cauchy_):
        with pytest.raises(UnsupportedError):
            in_program(function, [A])
