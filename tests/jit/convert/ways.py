"""One function run in each way: as written, converted, and recorded into a Program."""

import numpy as np
import pytest

import scull as paddle
from scull.jit.convert import converted


def leaves(value):
    """The numbers and arrays of a result."""
    if isinstance(value, dict):
        return [v for n in value for v in leaves(value[n])]
    if isinstance(value, list | tuple):
        return [v for part in value for v in leaves(part)]
    return [value]


def array(value):
    """A leaf of a result as an array."""
    return np.asarray(value.numpy() if isinstance(value, paddle.Tensor) else value)


def eager(function, arrays):
    """The result, and the gradients of its floating-point leaves by the arrays."""
    inputs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
    return differentiated(function(*inputs), inputs)


def differentiated(result, inputs):
    """Results and gradients as arrays."""
    found = leaves(result)
    outputs = [v for v in found if isinstance(v, paddle.Tensor) and not v.stop_gradient]
    wanted = [x for x in inputs if not x.stop_gradient]
    gradients = []
    if outputs and wanted:
        total = sum([v.sum() for v in outputs])
        gradients = paddle.grad(total, wanted, allow_unused=True)
    return [array(v) for v in found], [None if g is None else array(g) for g in gradients]


def recorded(function, arrays, unknown=False):
    """The same of a Program that calls `function` on its inputs."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            inputs = []
            for i, a in enumerate(arrays):
                shape = [None] * a.ndim if unknown else list(a.shape)
                inputs.append(paddle.static.data(f"x{i}", shape, a.dtype.name))
                inputs[-1].stop_gradient = a.dtype.kind != "f"
            found = leaves(function(*inputs))
            variables = [v for v in found if is_variable(v)]
            outputs = [v for v in variables if not v.stop_gradient]
            wanted = [x for x in inputs if not x.stop_gradient]
            gradients = []
            if outputs and wanted:
                total = sum([v.sum() for v in outputs])
                gradients = paddle.static.gradients([total], wanted)
            fetched = [*variables, *[g for g in gradients if g is not None]]
            feed = {f"x{i}": a for i, a in enumerate(arrays)}
            run = paddle.static.Executor().run(program, feed=feed, fetch_list=fetched)
            values = iter(run)
            results = [np.asarray(next(values)) if is_variable(v) else np.asarray(v) for v in found]
            return results, [None if g is None else next(values) for g in gradients], program
    finally:
        paddle.disable_static()


def is_variable(value):
    """Whether it is of a Program."""
    return isinstance(value, paddle.static.Variable)


def agree(function, *arrays, unknown=(False, True), gradients=True, kinds=True):
    """Check that all ways to run `function` give the same; the Programs are returned."""
    arrays = [np.asarray(a, None if kinds_of(a) != "f" else "float32") for a in arrays]
    wanted, slopes = eager(function, arrays)
    compare("converted", wanted, slopes, *eager(converted(function), arrays))
    programs = []
    for open_ in unknown:
        found, got, program = recorded(converted(function), arrays, open_)
        if not gradients:
            got = slopes
        compare(f"recorded, unknown sizes: {open_}", wanted, slopes, found, got)
        programs.append(program)
    return programs


def kinds_of(a):
    """The kind of the elements of an array."""
    return np.asarray(a).dtype.kind


def compare(way, wanted, slopes, found, got):
    """Check results and gradients against those of the function as written."""
    assert len(found) == len(wanted), f"{way}: {found} instead of {wanted}"
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_allclose(b.reshape(a.shape), a, rtol=1e-6, atol=1e-7, err_msg=way)
    for a, b in zip(slopes, got, strict=True):
        zero = np.zeros(1, "float32")
        left, right = (zero if v is None else v for v in (a, b))
        np.testing.assert_allclose(right, left + 0 * right, rtol=1e-6, atol=1e-7, err_msg=way)


def alike(*given, **options):
    """A test that runs the function it decorates in all ways, for each of several arguments."""

    def decorate(function):
        @pytest.mark.parametrize("arrays", given, ids=str)
        def test(arrays):
            agree(function, *arrays, **options)

        test.__module__, test.__name__ = function.__module__, function.__name__
        return test

    return decorate
