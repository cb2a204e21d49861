"""Samples of updates of many parameters at once."""

from scull.errors import ArgumentError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, samples
from tests.ops.samples.update import adapted, moved


def in_lists(one, *options):
    """The reference for many, from that for one; `options` have an entry for each."""

    def reference(*lists, **attrs):
        size = len(lists[0])
        own = {name: attrs.pop(name) for name in options}
        rows = zip(*[values or [None] * size for values in lists], strict=True)
        found = []
        for i, row in enumerate(rows):
            found.append(one(*row, **attrs, **{n: v[i] for n, v in own.items() if v}))
        columns = zip(*found, strict=True)
        return tuple([v for v in column if v is not None] for column in columns)

    return reference


def adam_of_one(*row, **attrs):
    param, grad, rate, first, second, *rest = row
    return adapted(param, grad, rate, first, second, *rest, lazy_mode=False, **attrs)


def states(*shapes, make=f32):
    """The rates, the moments and the powers of parameters."""
    rates = [array([0.1]) for _ in shapes]
    moments = [make(*s) for s in shapes], [make(*s, low=0.1, high=2.0) for s in shapes]
    return rates, *moments, [array([0.729]) for _ in shapes], [array([0.997]) for _ in shapes]


def several(*shapes, make=f32):
    """Values of several shapes."""
    return [make(*shape) for shape in shapes]


@samples("merged_adam", reference=in_lists(adam_of_one))
def merged_adam_samples():
    pair = (2, 3), (4,)
    yield call(several(*pair), several(*pair), *states(*pair))
    yield call(several(()), several(()), *states(()), beta1=0.5, epsilon=0.1)
    yield call(several((0, 3)), several((0, 3)), *states((0, 3)), use_global_beta_pow=True)
    half = several(*pair, make=f16), several(*pair, make=f16)
    yield call(*half, *states(*pair), several(*pair), multi_precision=True)
    yield fails(
        ArgumentError, "2 of param, 1 of grad", several(*pair), several((4,)), *states(*pair)
    )
    yield fails(ShapeError, "moment1 is float32[4]", several((3,)), several((3,)), *states((4,)))


MANY = ("regularization_method", "regularization_coeff")


@samples("merged_momentum", reference=in_lists(moved, *MANY))
def merged_momentum_samples():
    pair = (2, 3), (4,)
    rates = [array([0.1]), array([0.1])]
    decay = {"regularization_method": ["l2_decay", ""], "regularization_coeff": [0.02, 0.0]}
    given = several(*pair), several(*pair), several(*pair), rates
    yield call(*given, mu=0.9)
    yield call(*given, mu=0.9, use_nesterov=True, **decay, rescale_grad=0.5)
    yield call([f64(3)], [f64(3)], [f64(3)], [array([0.1], "float64")], mu=0.5)
    half = several(*pair, make=f16), several(*pair, make=f16), several(*pair), rates
    yield call(*half, several(*pair), mu=0.9, multi_precision=True)
    yield fails(ArgumentError, "2 of velocity, 1 of learning_rate", *given[:3], rates[:1], mu=0.9)
    yield fails(ArgumentError, "has 1 entries for 2", *given, mu=0.9, regularization_coeff=[0.1])
