"""While a row is computed what it, and the next one, need is asked for."""

import re
from importlib.util import find_spec

import numpy as np
import pytest

import scull as paddle
from scull.compiler.affine import Positions
from scull.compiler.ahead import lines_of
from scull.compiler.kernel import prepared
from scull.compiler.target import target
from scull.flags import flags
from scull.lang.expression import Apply
from scull.lang.walk import ordered
from scull.profiler.explain.record import recorded

pytestmark = pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite has no wheel here")


def built(build, *shape):
    """An Executor, a Program of two inputs of that shape, what it is fed and fetches."""
    main = paddle.static.Program()
    paddle.enable_static()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x, y = (paddle.static.data(name, shape) for name in "xy")
        out = build(x, y)
    paddle.disable_static()
    rng = np.random.default_rng(0)
    feed = {name: rng.standard_normal(shape, np.float32) for name in "xy"}
    return paddle.static.Executor(), main, feed, out


def normalised(x, y):
    """Rows that are read, summed, and written."""
    return paddle.nn.functional.softmax(paddle.tanh(x) + y)


def folded(x, y):
    """Rows of which the greatest element comes first."""
    return paddle.nn.functional.softmax(x) + y


def kernels_of(build, *shape):
    """The kernels of a Program."""
    exe, main, feed, out = built(build, *shape)
    found = recorded(exe, main, feed, [out], paddle.static.Scope(), True)
    return [k for region in found.code.regions for k in region.kernels]


def stages_and_lines(kernel):
    """The stages of a kernel and what each asks for."""
    shared, positions = tuple(x for x in kernel.group.shared if x.size != 1), Positions()
    stages = [prepared(stage, shared, target(), positions) for stage in kernel.group.stages]
    own = frozenset(x.name for x in kernel.group.local)
    return stages, lines_of(stages, shared, own, positions)


def asked(build, *shape):
    """Of how many arrays rows are asked for, those read and those written; and the texts."""
    kernels = kernels_of(build, *shape)
    found = [line for k in kernels for lines in stages_and_lines(k)[1] for line in lines]
    written = sum(line.written for line in found)
    return len(found) - written, written, "".join(kernel.text for kernel in kernels)


@pytest.mark.parametrize("build", [normalised, folded])
def test_rows_of_large_arrays_are_asked_for(build):
    read, written, text = asked(build, 256, 1024)
    assert (read, written) == (2, 1)
    assert re.search(r"@llvm\.prefetch\.p0\(ptr \S+, i32 1, i32 3", text)


@pytest.mark.parametrize(
    "shape",
    [(16, 1024), (64, 16384), (16384, 16)],
    ids=["in a near cache", "rows of 64 kB", "rows of a line"],
)
def test_others_are_not(shape):
    read, written, text = asked(normalised, *shape)
    assert (read, written) == (0, 0)
    assert not re.search(r"@llvm\.prefetch\.p0\(ptr \S+, i32 1, i32 3", text)


@pytest.mark.parametrize("build", [normalised, folded])
@pytest.mark.parametrize("shape", [(150, 1000), (2, 130, 1001)], ids=["matrix", "batch"])
def test_what_is_asked_for_changes_no_result(build, shape):
    exe, main, feed, out = built(build, *shape)
    found = []
    for mode in ("off", "eager"):
        with flags(COMPILE=mode):
            found += exe.run(main, feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found[1], found[0], rtol=2e-6, atol=1e-7)


def test_the_stages_that_compute_most_ask_for_most():
    [kernel] = kernels_of(lambda x, y: normalised(paddle.erf(x), y), 256, 1024)
    stages, lines = stages_and_lines(kernel)
    work = [sum(isinstance(n, Apply) for n in ordered(s.bodies[0].roots)) for s in stages]
    busiest = sorted(range(len(stages)), key=work.__getitem__)[-2:]
    assert sum(map(len, lines)) == 3
    assert {n for n, each in enumerate(lines) if each} <= set(busiest)
