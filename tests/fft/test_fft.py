"""Fourier transforms beside NumPy's; their gradients; Programs, static functions, machine code."""

import doctest
import importlib
import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull.core import session
from scull.flags import flags

MODULES = (
    *("fft.line", "fft.plane", "fft.space", "fft.frequency"),
    *("signal.framing", "signal.spectrogram"),
)
PUBLIC = [(m, n) for m in (paddle.fft, paddle.signal) for n in m.__all__]
NORMS = ("backward", "forward", "ortho")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_print_what_they_say(name):
    with session.guarded(names=session.Names()):
        results = doctest.testmod(importlib.import_module("scull." + name))
    assert results.attempted
    assert not results.failed


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[name for _, name in PUBLIC])
def test_every_parameter_is_documented_once_and_in_order(module, name):
    function = getattr(module, name)
    text = inspect.getdoc(function)
    documented = re.findall(
        r"^    (\w+) \(", text.split("Args:")[-1].split("\n\n")[0], re.MULTILINE
    )
    assert documented == list(inspect.signature(function).parameters)
    assert ">>> " in text


def numpys(name):
    """NumPy's function of a name; those of many axes that it lacks, of those it has."""
    if hasattr(np.fft, name):
        return getattr(np.fft, name)
    other = {"hfftn": np.fft.irfftn, "ihfftn": np.fft.rfftn}[name]

    def made(x, s, axes, norm):
        if name == "hfftn":
            return other(np.conj(x), s, axes, OPPOSITE[norm])
        return np.conj(other(x, s, axes, OPPOSITE[norm]))

    return made


@st.composite
def transforms(draw, names):
    """A name, an array it takes, and sizes and axes of which either may be left out."""
    name = draw(st.sampled_from(names))
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    back = name.startswith(("irfft", "hfft"))
    real = name.startswith(("rfft", "ihfft")) or draw(st.booleans())
    dtypes = ["float32", "float64"] if real else ["complex64", "complex128"]
    numbers = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(2, *shape))
    x = numbers[0] if real else numbers[0] + 1j * numbers[1]
    x = x.astype(draw(st.sampled_from(dtypes)))
    ndim = len(shape)
    axes = draw(st.permutations(range(ndim)))[: draw(st.integers(1, ndim))]
    axes = [a - ndim if draw(st.booleans()) else a for a in axes]
    sizes = [draw(st.integers(1, 7)) for _ in axes]
    given_sizes = draw(st.booleans()) or (back and shape[axes[-1]] == 1)
    return name, x, sizes if given_sizes else None, axes


def expect_close(found, expected, single):
    """Assert that a tensor has the elements of an array, in the precision of the operand."""
    names = {"c": ("complex64", "complex128"), "f": ("float32", "float64")}[expected.dtype.kind]
    assert found.dtype.name == names[not single]
    tolerance = 2e-5 if single else 1e-10
    np.testing.assert_allclose(found.numpy(), expected, rtol=tolerance, atol=tolerance)


@given(transforms(ONE), st.sampled_from(NORMS))
@settings(max_examples=100)
def test_a_transform_along_one_axis_is_numpys(case, norm):
    name, x, sizes, axes = case
    n, axis = None if sizes is None else sizes[-1], axes[-1]
    found = getattr(paddle.fft, name)(paddle.to_tensor(x), n, axis, norm)
    expected = getattr(np.fft, name)(x.astype(np.result_type(x, "float64")), n, axis, norm)
    expect_close(found, expected, x.dtype in (np.float32, np.complex64))


@given(transforms(SEVERAL), st.sampled_from(NORMS))
@settings(max_examples=100)
def test_a_transform_along_several_axes_is_numpys(case, norm):
    name, x, sizes, axes = case
    found = getattr(paddle.fft, name)(paddle.to_tensor(x), sizes, axes, norm)
    expected = numpys(name)(x.astype(np.result_type(x, "float64")), sizes, axes, norm)
    expect_close(found, expected, x.dtype in (np.float32, np.complex64))


@pytest.mark.parametrize("name", SEVERAL)
def test_a_transform_in_the_plane_is_that_along_two_axes(name):
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(2, 3, 4)))
    plane, space = getattr(paddle.fft, name[:-1] + "2"), getattr(paddle.fft, name)
    assert plane(x, (3, 5), (0, 2), "ortho").tolist() == space(x, (3, 5), (0, 2), "ortho").tolist()
    assert plane(x).tolist() == space(x, axes=(1, 2)).tolist()
    assert plane(x, axes=None).tolist() == space(x).tolist()


def test_integers_are_transformed_in_the_default_element_type():
    x = paddle.arange(4)
    with session.guarded(dtype=paddle.float64):
        assert paddle.fft.fft(x).dtype == paddle.complex128
        assert paddle.fft.irfft(x).dtype == paddle.float64
    assert paddle.fft.fft(x).dtype == paddle.complex64
    assert paddle.fft.irfft(x).tolist() == paddle.fft.irfft(x.astype("float32")).tolist()


def sum_of_squares(out, weights):
    """A real number that depends on every element of `out` in another way."""
    parts = paddle.as_real(out) if out.dtype.is_complex else out
    return (parts * parts * parts * weights).sum()


DIFFERENTIATED = {
    "cut and padded": lambda x: paddle.fft.fftn(x, (2, 5)),
    "half of it": lambda x: paddle.fft.rfft2(x, (4, 3), norm="ortho"),
    "real": lambda x: paddle.fft.hfftn(x, (2, 6), norm="forward"),
    "real and odd": lambda x: paddle.fft.irfft(x, 7, axis=0),
    "half back": lambda x: paddle.fft.ihfft(x, 5),
    "shifted": lambda x: paddle.fft.fftshift(paddle.fft.ifft(x)),
    "framed": lambda x: paddle.signal.overlap_add(paddle.signal.frame(x, 3, 2), 1),
    "seen": lambda x: paddle.signal.stft(x, 4, 2, 3),
    "seen and found": lambda x: paddle.signal.istft(paddle.signal.stft(x, 4, 1), 4, 1),
}


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_gradients_of_both_orders_are_what_small_steps_show(name):
    function = DIFFERENTIATED[name]
    generator = np.random.default_rng(3)
    x, direction = generator.normal(size=(2, 3, 6)), generator.normal(size=(3, 6))

    def gradient(array, create_graph=False):
        at = paddle.to_tensor(array, stop_gradient=False)
        out = function(at)
        parts = paddle.as_real(out) if out.dtype.is_complex else out
        weights = paddle.to_tensor(np.cos(np.arange(float(parts.size)))).reshape(parts.shape)
        value = sum_of_squares(out, weights)
        (found,) = paddle.grad(value, at, create_graph=create_graph)
        return value, found, at

    step = 1e-5 * direction
    low, high = gradient(x[0] - step), gradient(x[0] + step)
    _, first, at = gradient(x[0], create_graph=True)
    numeric = (high[0].item() - low[0].item()) / 2e-5
    np.testing.assert_allclose((first.numpy() * direction).sum(), numeric, rtol=1e-6)
    (second,) = paddle.grad((first * paddle.to_tensor(x[1])).sum(), at)
    numeric = (((high[1] - low[1]) / 2e-5).numpy() * x[1]).sum()
    np.testing.assert_allclose((second.numpy() * direction).sum(), numeric, rtol=1e-5)


@pytest.fixture
def program():
    """A Program that is recorded into."""
    made = paddle.static.Program()
    paddle.enable_static()
    try:
        with session.guarded(names=session.Names()), paddle.static.program_guard(made):
            yield made
    finally:
        paddle.disable_static()


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_program_gives_what_eager_mode_gives_with_its_gradients(name, program):
    array = np.random.default_rng(4).normal(size=(3, 6))
    x = paddle.static.data("x", [-1, -1], "float64")
    x.stop_gradient = False
    out = DIFFERENTIATED[name](x)
    (dx,) = paddle.static.gradients([paddle.real(out) if out.dtype.is_complex else out], [x])
    found = paddle.static.Executor().run(program, feed={"x": array}, fetch_list=[out, dx])
    paddle.disable_static()
    at = paddle.to_tensor(array, stop_gradient=False)
    eager = DIFFERENTIATED[name](at)
    (paddle.real(eager) if eager.dtype.is_complex else eager).sum().backward()
    np.testing.assert_allclose(found[0], eager.numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1], at.grad.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("compile_", ["off", "eager"])
def test_a_static_function_with_transforms_trains_as_eager_mode_does(compile_):
    def smoothed(x, scale):
        spectrum = paddle.fft.rfft(x * scale) * paddle.fft.rfftfreq(8)
        return (paddle.fft.irfft(spectrum) ** 2).mean()

    x = paddle.to_tensor(np.random.default_rng(5).normal(size=(3, 8)).astype("float32"))
    grads = []
    for function in (smoothed, paddle.jit.to_static(smoothed)):
        scale = paddle.to_tensor(0.5, stop_gradient=False)
        with flags(COMPILE=compile_):
            function(x, scale).backward()
        grads.append(scale.grad.item())
    assert grads[0] == pytest.approx(grads[1], rel=1e-6)
