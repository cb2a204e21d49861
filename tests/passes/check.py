"""What tests of passes share: Programs of functions, their values, and what a rewrite does."""

import warnings

import numpy as np

import scull as paddle
from scull.ir.verify import verify
from scull.passes.graph import IrGraph
from scull.passes.isomorphism import isomorphic
from scull.passes.pipeline import Pipeline

RNG = np.random.default_rng(3)


def f32(*shape):
    """Random numbers."""
    return RNG.standard_normal(shape).astype("float32")


class Recorded:
    """The Program of a function of some arrays; those named in `weights` are persistable."""

    def __init__(self, function, *arrays, weights=(), unknown=False):
        self.scope, self.feeds = paddle.static.Scope(), {}
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        paddle.enable_static()
        try:
            with paddle.static.program_guard(self.main, startup), paddle.utils.unique_name.guard():
                given = [self.operand(i, x, weights, unknown) for i, x in enumerate(arrays)]
                found = function(*given)
            with paddle.static.scope_guard(self.scope):
                paddle.seed(1)
                paddle.static.Executor().run(startup)
        finally:
            paddle.disable_static()
        results = found if isinstance(found, tuple | list) else (found,)
        self.names = [v.name for v in results]

    def operand(self, place, array, weights, unknown):
        """The variable of an array."""
        name, dtype = f"x{place}", array.dtype.name
        if place in weights:
            self.scope.var(name).value = array
            block = self.main.global_block()
            return block.create_var(name, shape=array.shape, dtype=dtype, persistable=True)
        self.feeds[name] = array
        shape = [None, *array.shape[1:]] if unknown and array.ndim else array.shape
        return paddle.static.data(name, shape, dtype)

    def run(self, program=None, scope=None):
        """What a Program gives for the arrays, its own when None; the scope is as at the start."""
        inner = paddle.static.Scope()
        source = scope or self.scope
        while source is not None:
            for name, cell in source.cells.items():
                if cell.value is not None and inner.find_var(name) is None:
                    inner.var(name).value = cell.value.copy()
            source = source.parent
        paddle.seed(1)
        exe = paddle.static.Executor()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = exe.run(
                program or self.main, feed=self.feeds, fetch_list=self.names, scope=inner
            )
        kept = {name: cell.value for name, cell in inner.cells.items() if name in self.start()}
        return found, kept

    def start(self):
        """The names in the scope."""
        return set(self.scope.cells)

    def graph(self):
        """The graph of its Program."""
        return IrGraph(self.main, fetched=self.names)

    def through(self, *passes, frozen=False):
        """What a pipeline makes of it."""
        scope = self.scope if frozen else None
        return Pipeline(passes).run(self.main, self.feeds, self.names, scope)


def types(program, block=0):
    """The operators of a block, in order."""
    return [o.type for o in program.block(block).ops]


def same_values(recorded, outcome, exact=True):
    """The values before a pipeline are those behind it: to the bit, or within a few roundings."""
    first, kept = recorded.run()
    second, left = recorded.run(outcome.program, outcome.scope)
    assert kept.keys() <= left.keys()
    pairs = [*zip(first, second, strict=True), *((kept[name], left[name]) for name in kept)]
    for a, b in pairs:
        a, b = np.asarray(a), np.asarray(b)
        if exact:
            assert a.dtype == b.dtype and a.tobytes() == b.tobytes()
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def check_rewrite(rewrite, before, after, *arrays, weights=(), exact=True):
    """A rewrite makes of `before` the graph of `after`, which gives the same; no more is found."""
    first, goal = (Recorded(make, *arrays, weights=weights) for make in (before, after))
    graph = first.graph()
    events = rewrite.apply(graph)
    made = graph.to_program()
    verify(made)
    edges = (list(first.feeds), first.names), (list(goal.feeds), goal.names)
    assert isomorphic(made, goal.main, *edges).differences == []
    for a, b in zip(first.run()[0], first.run(made)[0], strict=True):
        if exact:
            assert a.tobytes() == b.tobytes()
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
    again = IrGraph(made, fetched=first.names)
    assert not any(event.fired for event in rewrite.apply(again))
    return [str(event) for event in events]
