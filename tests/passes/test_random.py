"""Programs made at random keep every bit, whatever passes they go through, in any order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import scull as paddle
from scull.passes.catalogue import PASSES
from scull.passes.selection import PLANNED
from tests.passes.check import Recorded, same_values

EXACT = [n for n, p in PASSES.items() if p.exact and n not in PLANNED and "test" not in n]
F = paddle.nn.functional
UNARY = (
    *(F.relu, paddle.tanh, F.sigmoid, F.gelu, paddle.abs, paddle.floor, paddle.assign),
    *(lambda x: x * 1.0, lambda x: x * 2.0, lambda x: x + 0.5, lambda x: paddle.cast(x, "float32")),
    *(lambda x: paddle.transpose(x, [1, 0]), lambda x: paddle.reshape(x, [3, 3])),
    lambda x: paddle.reshape(paddle.reshape(x, [9]), [3, 3]),
)
BINARY = (
    *(paddle.add, paddle.multiply, paddle.subtract, paddle.matmul, paddle.maximum),
    lambda x, y: x + paddle.ones([3]),
    lambda x, y: x * paddle.ones([1]),
)
STEPS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=12
)


def network(steps, kept):
    """A Program of steps, each of which reads values made before; some are results."""

    def make(x, w, b):
        values = [x, w, b, paddle.exp(x)]
        for choice, first, second in steps:
            one, other = values[first % len(values)], values[second % len(values)]
            if choice % 2 and one.ndim == 2:
                values.append(UNARY[choice % len(UNARY)](one))
            elif one.ndim == 2:
                values.append(BINARY[choice % len(BINARY)](one, other))
            if choice == 98:
                paddle.increment(values[-1].sum())
        return [values[-1], *(values[3 + k % (len(values) - 3)] for k in kept)]

    return make


@settings(max_examples=30)
@given(STEPS, st.lists(st.integers(0, 20), max_size=3), st.permutations(EXACT), st.integers(0, 2))
def test_a_program_made_at_random_keeps_every_bit(steps, kept, passes, weights):
    rng = np.random.default_rng(len(steps))
    arrays = [rng.standard_normal(s).astype("float32") for s in ((3, 3), (3, 3), (3,))]
    frozen = tuple(range(1, weights + 1))
    recorded = Recorded(network(steps, kept), *arrays, weights=frozen)
    outcome = recorded.through(*passes, frozen=bool(frozen))
    same_values(recorded, outcome)
