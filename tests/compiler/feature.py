"""The features that a graph is made of: each adds a few operators to a Program."""

from collections.abc import Callable
from functools import reduce
from math import prod
from operator import add
from typing import Any

import scull as paddle
from scull.nn import functional as F
from tests.compiler.graph import MOST, Build, digits_of_sum

FEATURES: dict[str, Callable[[Build], None]] = {}
SMOOTH: dict[str, Callable[[Any], Any]] = {
    "tanh": paddle.tanh,
    "sigmoid": F.sigmoid,
    "exp": lambda x: paddle.exp(paddle.tanh(x)),
    "erf": paddle.erf,
    "gelu": F.gelu,
    "softplus": F.softplus,
    "silu": F.silu,
    "sin": paddle.sin,
    "cos": paddle.cos,
    "log1p": lambda x: paddle.log1p(x * x),
    "log": lambda x: paddle.log(x * x + 1.0),
    "sqrt": lambda x: paddle.sqrt(x * x + 1.0),
    "rsqrt": lambda x: paddle.rsqrt(x * x + 0.5),
    "expm1": lambda x: paddle.expm1(paddle.tanh(x)),
    "power": lambda x: (x * x + 1.0) ** 1.25,
}
CORNERED: dict[str, Callable[[Any], Any]] = {
    "relu": F.relu,
    "abs": paddle.abs,
    "clip": lambda x: paddle.clip(x, -1.0, 1.0),
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "floor": paddle.floor,
    "ceil": paddle.ceil,
    "sign": paddle.sign,
}


def feature(make: Callable[[Build], None]) -> Callable[[Build], None]:
    """Note a feature under the name of its function."""
    FEATURES[make.__name__] = make
    return make


def digits_where(b: Build, *values: Any) -> list[tuple[int, int]] | None:
    """The digits of values, if all are exact."""
    return [b.digits[v] for v in values] if all(v in b.digits for v in values) else None


@feature
def arithmetic(b: Build) -> None:
    """A sum, difference or product of two of the same sizes."""
    x = b.pick()
    combine(b, x, b.like(x, x.shape))


@feature
def broadcast(b: Build) -> None:
    """The same with an operand that has an axis less, or one of size 1."""
    x = b.pick()
    shape = list(x.shape)
    if shape and b.chance.random() < 0.6:
        shape[b.axis(x)] = 1
    else:
        shape = shape[b.chance.randint(0, len(shape)) :]
    y = b.like(x, shape)
    combine(b, *((x, y) if b.chance.random() < 0.5 else (y, x)))


def combine(b: Build, x: Any, y: Any) -> None:
    """Two values as one."""
    known, kind = digits_where(b, x, y), b.kinds[x]
    name = b.chance.choice(["add", "subtract", "multiply", "divide", "maximum"])
    if name == "divide":
        b.keep(x / (y * y + 1.0), kind)
    elif name == "multiply":
        total = known and (sum(d[0] for d in known), sum(d[1] for d in known))
        b.keep(x * y, kind, total or None)
    elif name == "maximum" and known:
        function = b.chance.choice([paddle.maximum, paddle.minimum])
        b.keep(function(x, y), kind, digits_of_sum(known))
    else:
        found = x - y if name == "subtract" else x + y
        b.keep(found, kind, digits_of_sum(known) if known else None)


@feature
def smooth(b: Build) -> None:
    """A function without corners."""
    x = b.pick()
    b.keep(SMOOTH[b.chance.choice(list(SMOOTH))](x), b.kinds[x])


@feature
def cornered(b: Build) -> None:
    """A function with corners, of what is exact."""
    x = b.pick(exact=True)
    b.keep(CORNERED[b.chance.choice(list(CORNERED))](x), b.kinds[x], digits_of_sum([b.digits[x]]))


@feature
def total(b: Build) -> None:
    """A sum, or the mean, over some axes: of squares where rounding may cancel all that is left."""
    x = b.pick(rank=1)
    x = x if x in b.digits else b.keep(x * x, b.kinds[x])
    axes = sorted(b.chance.sample(range(len(x.shape)), b.chance.randint(1, len(x.shape))))
    count, keep = prod(x.shape[a] for a in axes), b.chance.random() < 0.5
    if b.chance.random() < 0.3 and count:
        b.keep(paddle.mean(x, axes, keep), b.kinds[x])
        return
    known = digits_where(b, x)
    digits = digits_of_sum(known, max(count, 1)) if known else None
    b.keep(paddle.sum(x, axes, keepdim=keep), b.kinds[x], digits)


@feature
def extreme(b: Build) -> None:
    """The greatest or least along an axis, or where it is."""
    x = b.pick(rank=1, exact=True, empty=False)
    name, axis = b.chance.choice(["max", "min", "argmax", "argmin"]), b.axis(x)
    if name.startswith("arg"):
        b.keep(getattr(paddle, name)(x, axis), "int64", (12, 0))
    else:
        b.keep(getattr(paddle, name)(x, axis), b.kinds[x], b.digits[x])


@feature
def product(b: Build) -> None:
    """A matrix product, either side transposed, batches broadcast."""
    x = b.pick(("float32", "float64"), rank=2)
    left, right = (b.chance.random() < 0.5 for _ in range(2))
    rows = x.shape[-2 if left else -1]
    m = x.shape[-1 if left else -2]
    n = b.chance.choice((1, 2, 3, 5, 8, 16, 17, 33))
    shape = [n, rows] if right else [rows, n]
    if len(x.shape) > 2 and b.chance.random() < 0.5:
        shape = [b.chance.choice((1, x.shape[-3])), *shape]
    if prod(x.shape[:-2]) * m * n > MOST:
        return
    y = b.like(x, shape)
    known = digits_where(b, x, y)
    exact = (
        digits_of_sum([(known[0][0] + known[1][0], known[0][1] + known[1][1])], max(rows, 1))
        if known
        else None
    )
    b.keep(paddle.matmul(x, y, left, right), b.kinds[x], exact)


@feature
def triangle(b: Build) -> None:
    """A product with a matrix that is 0 on one side of a diagonal."""
    x = b.pick(("float32", "float64"), rank=2)
    cut = b.chance.choice([paddle.tril, paddle.triu])(x, b.chance.randint(-3, 3))
    left, other = b.chance.random() < 0.5, b.chance.choice((1, 3, 8, 17, 33))
    rows = x.shape[-1 if left else -2]
    y = b.like(x, [rows, other] if left else [other, rows])
    if prod(x.shape) // max(rows, 1) * other > MOST:
        return
    known = digits_where(b, x, y)
    exact = (
        digits_of_sum([(known[0][0] + known[1][0], known[0][1] + known[1][1])], max(rows, 1))
        if known
        else None
    )
    b.keep(paddle.matmul(cut, y) if left else paddle.matmul(y, cut), b.kinds[x], exact)


@feature
def heads(b: Build) -> None:
    """Attention of heads that come before or behind positions; scores perhaps as symmetric."""
    sizes = [b.chance.choice(n) for n in ((1, 2, 3), (1, 4, 9, 17), (1, 2, 4))]
    q, k = (b.fed((*sizes, 4), "float32") for _ in range(2))
    order = b.chance.choice(["bhmn", "bmhn"])
    scores = paddle.einsum(f"bmhd,bnhd->{order}", q, b.chance.choice([q, k])) * 0.25
    if order == "bmhn":
        if b.chance.random() < 0.7:
            scores = paddle.tanh(scores) + paddle.sin(scores.transpose([0, 3, 2, 1]))
            scores = scores * paddle.tanh(paddle.mean(scores, axis=3)).unsqueeze(3)
        scores = scores.transpose([0, 2, 1, 3])
    b.keep(paddle.einsum("bhmn,bnhd->bmhd", F.softmax(scores), k), "float32")


@feature
def softmax(b: Build) -> None:
    """The softmax, or its logarithm, along an axis; perhaps the ends of rows are -infinity."""
    x = b.pick(rank=1)
    function = b.chance.choice([F.softmax, F.log_softmax])
    if len(x.shape) < 2 or b.kinds[x] == "float16" or b.chance.random() < 0.5:
        b.keep(function(x, axis=b.axis(x)), b.kinds[x])
        return
    sizes, first, low = x.shape[-2:], b.chance.randint(1, 3), -float("inf")
    if b.chance.random() < 0.5:
        seen = x + paddle.triu(paddle.full(sizes, low, x.dtype), first)
    else:
        before = paddle.tril(paddle.ones(sizes), first - 1) > 0
        seen = paddle.where(before, x, paddle.full_like(x, low))
    weights = F.softmax(seen)
    b.keep(weights, b.kinds[x])
    y = b.like(x, [sizes[-1], b.chance.choice((1, 8, 17))])
    if prod(x.shape) * y.shape[-1] <= MOST:
        b.keep(paddle.matmul(weights, y), b.kinds[x])


@feature
def normal(b: Build) -> None:
    """A layer norm of the last axes, of rows that are not of equal numbers: their mean's rounding
    would be all there is.
    """
    x = b.pick(("float32", "float64"), rank=2, empty=False)
    sizes = list(x.shape[b.chance.randrange(1, len(x.shape)) :])
    if prod(sizes) < 2:
        return
    weight = b.like(x, sizes) if len(sizes) == 1 and b.chance.random() < 0.5 else None
    slope = paddle.reshape(paddle.arange(prod(sizes), dtype=x.dtype), sizes)
    b.keep(F.layer_norm(x + slope, sizes, weight, epsilon=1e-3), b.kinds[x])


@feature
def reshape(b: Build) -> None:
    """The same elements in other sizes."""
    x = b.pick(rank=1, empty=False)
    shape = list(x.shape)
    axis = b.axis(x)
    if len(shape) > 1 and axis and b.chance.random() < 0.6:
        shape[axis - 1 : axis + 1] = [shape[axis - 1] * shape[axis]]
    else:
        parts = [k for k in range(1, shape[axis] + 1) if shape[axis] % k == 0] or [1]
        first = b.chance.choice(parts)
        shape[axis : axis + 1] = [first, shape[axis] // first]
    b.keep(paddle.reshape(x, shape), b.kinds[x], b.digits.get(x))


@feature
def transpose(b: Build) -> None:
    """The axes in another order."""
    x = b.pick(rank=2)
    order = b.chance.sample(range(len(x.shape)), len(x.shape))
    b.keep(paddle.transpose(x, order), b.kinds[x], b.digits.get(x))


@feature
def part(b: Build) -> None:
    """A slice, with steps and from behind too."""
    x = b.pick(rank=1)
    axis = b.axis(x)
    size = x.shape[axis]
    start, end = sorted((b.chance.randint(0, size), b.chance.randint(0, size)))
    step = b.chance.choice((1, 1, 2, 3))
    if start == end:
        start, end = 0, size
    place: list[Any] = [slice(None)] * len(x.shape)
    place[axis] = slice(start, end, step)
    if b.chance.random() < 0.2:
        found = paddle.flip(x, [axis])
    elif b.chance.random() < 0.2:
        found = paddle.roll(x, start, axis)
    else:
        found = x[tuple(place)]
    b.keep(found, b.kinds[x], b.digits.get(x))


@feature
def join(b: Build) -> None:
    """Several one after another, or as an axis of their own."""
    x = b.pick(rank=1)
    if prod(x.shape) * 2 > MOST:
        return
    axis = b.axis(x)
    if b.chance.random() < 0.3:
        others = [x, b.like(x, x.shape)]
        found = paddle.stack(others, axis)
    else:
        shape = list(x.shape)
        shape[axis] = b.chance.choice((1, 2, 5))
        others = [x, b.like(x, shape)]
        found = paddle.concat(others, axis)
    known = digits_where(b, *others)
    b.keep(found, b.kinds[x], digits_of_sum(known) if known else None)


@feature
def halves(b: Build) -> None:
    """Two parts of one value, and their sum where both are as large."""
    x = b.pick(rank=1)
    axis = next((a for a, n in enumerate(x.shape) if n % 2 == 0 and n), None)
    if axis is None:
        return
    for each in paddle.split(x, 2, axis):
        b.keep(each, b.kinds[x], b.digits.get(x))


@feature
def border(b: Build) -> None:
    """Numbers around it."""
    x = b.pick(rank=1)
    pairs = [(b.chance.randint(0, 2), b.chance.randint(0, 3)) for _ in x.shape]
    if prod(n + sum(p) for n, p in zip(x.shape, pairs, strict=True)) > MOST:
        return
    found = F.pad(x, reduce(add, map(list, pairs)), "constant", 0.5)
    b.keep(found, b.kinds[x], digits_of_sum([b.digits[x]]) if x in b.digits else None)


@feature
def gather(b: Build) -> None:
    """Rows by number, some several times."""
    x = b.pick(rank=1, empty=False)
    axis = b.axis(x)
    many = b.chance.choice((1, 3, 8, 17))
    if prod(x.shape) // x.shape[axis] * many > MOST:
        return
    places = b.fed([many], "int64", low=0, high=x.shape[axis])
    b.keep(paddle.gather(x, places, axis), b.kinds[x], b.digits.get(x))


@feature
def placed(b: Build) -> None:
    """Rows added to those of some numbers, or set there: of several for one the last stays."""
    x = b.pick(rank=1, empty=False)
    axis, shape = b.axis(x), list(x.shape)
    high = shape[axis]
    shape[axis] = many = b.chance.choice((1, 3, 8, 17))
    if prod(shape) > MOST:
        return
    rows, adds = b.like(x, shape), b.chance.random() < 0.6
    if b.chance.random() < 0.3:
        places = b.fed(shape, "int64", low=0, high=high)
        reduce = "add" if adds else "assign"
        found = paddle.put_along_axis(x, places, rows, axis, reduce=reduce, broadcast=False)
    elif axis:
        found = paddle.index_add(x, b.fed([many], "int64", low=0, high=high), axis, rows)
    else:
        places = b.fed([many], "int64", low=0, high=high)
        ways = [
            lambda: paddle.scatter(x, places, rows, overwrite=not adds),
            lambda: paddle.index_put(x, (places,), rows, accumulate=adds),
            lambda: paddle.scatter_nd_add(x, paddle.unsqueeze(places, -1), rows),
        ]
        found = b.chance.choice(ways)()
    known = digits_where(b, x, rows)
    b.keep(found, b.kinds[x], digits_of_sum(known, many) if known else None)


@feature
def embedding(b: Build) -> None:
    """Rows of a table."""
    rows, width = b.chance.choice((1, 5, 33)), b.chance.choice((1, 3, 8, 17))
    table = b.parameter([rows, width])
    words = b.fed([b.chance.choice((1, 4, 7)), 3], "int64", low=0, high=rows)
    b.keep(F.embedding(words, table), "float32", b.digits.get(table))


@feature
def tall(b: Build) -> None:
    """A few rows of a table with many, whose gradient may be row-sparse."""
    rows, width = 300, b.chance.choice((1, 3, 16, 17))
    table = b.parameter([rows, width])
    words = b.fed([b.chance.choice((1, 4, 11)), 5], "int64", low=0, high=b.chance.choice((9, rows)))
    padding = b.chance.choice((None, 3))
    sparse = not table.is_data and b.chance.random() < 0.7
    found = F.embedding(words, table, padding_idx=padding, sparse=sparse)
    b.keep(found, "float32", b.digits.get(table))


@feature
def draw(b: Build) -> None:
    """Random numbers, all of whose digits are known."""
    shape = b.shape()
    if b.chance.random() < 0.5:
        unit = paddle.uniform(shape, "float32", 0.0, 1.0)
        b.keep(paddle.cast(unit, b.dtype("float32")), "float32", (0, 24))
    else:
        b.keep(paddle.randint(0, 9, shape, "int64"), "int64", (4, 0))


@feature
def dropped(b: Build) -> None:
    """Some elements made 0, the others doubled."""
    x = b.pick()
    before, after = b.digits.get(x, (99, 0))
    b.keep(F.dropout(x, 0.5), b.kinds[x], (before + 1, after) if x in b.digits else None)


@feature
def choice(b: Build) -> None:
    """One or the other, by a comparison of what is exact."""
    x = b.pick(exact=True)
    test = b.chance.choice([paddle.greater_than, paddle.less_equal, paddle.equal])
    holds = test(x, paddle.zeros_like(x))
    y = b.like(x, x.shape)
    known = digits_where(b, x, y)
    b.keep(paddle.where(holds, x, y), b.kinds[x], digits_of_sum(known) if known else None)
    b.keep(holds, "bool", (1, 0))


@feature
def logic(b: Build) -> None:
    """Truth values: connected, counted, any and all."""
    x = b.pick(("bool",), rank=1)
    y = b.fed(x.shape, "bool")
    name = b.chance.choice(["logical_and", "logical_or", "logical_xor", "any", "all"])
    if name in ("any", "all"):
        b.keep(getattr(paddle, name)(x, b.axis(x)), "bool", (1, 0))
    else:
        b.keep(getattr(paddle, name)(x, y), "bool", (1, 0))


@feature
def whole(b: Build) -> None:
    """Arithmetic of whole numbers."""
    x = b.pick(("int32", "int64"))
    y = b.fed(x.shape, b.kinds[x], low=1, high=6)
    name = b.chance.choice(["add", "subtract", "multiply", "floor_divide", "mod", "maximum"])
    b.keep(getattr(paddle, name)(x, y), b.kinds[x], (12, 0))


@feature
def cast(b: Build) -> None:
    """Another element type, of what is exact and fits."""
    kinds = ("float16", "float32", "float64", "int32", "int64", "bool")
    x = b.pick(kinds, exact=True)
    wanted = b.chance.choice([k for k in kinds if k != b.kinds[x]])
    digits = b.digits[x]
    if wanted.startswith("int") and digits[0] > 20:
        return
    if wanted == "bool":
        digits = (1, 0)
    b.keep(paddle.cast(x, b.dtype(wanted)), wanted, digits)


@feature
def convolution(b: Build) -> None:
    """A convolution of a small picture."""
    channels, height = b.chance.choice((1, 2, 4)), b.chance.choice((4, 5, 7))
    size, groups = b.chance.choice((1, 2, 3)), b.chance.choice((1, 1, channels))
    filters = channels * b.chance.choice((1, 2))
    x = b.fed([b.chance.choice((1, 2)), channels, height, height + 2], "float32")
    w = b.parameter([filters, channels // groups, size, size])
    stride, padding = b.chance.choice((1, 2)), b.chance.choice((0, 1))
    found = F.conv2d(x, w, None, stride, padding, 1, groups)
    b.keep(found, "float32", (10, 4) if w in b.digits else None)


@feature
def pool(b: Build) -> None:
    """A pool of a small picture."""
    height, size = b.chance.choice((4, 5, 8)), b.chance.choice((2, 3))
    x = b.fed([2, b.chance.choice((1, 3)), height, height + 1], "float32")
    stride, padding = b.chance.choice((1, 2)), b.chance.choice((0, 1))
    if b.chance.random() < 0.5:
        b.keep(F.max_pool2d(x, size, stride, padding), "float32", (2, 2))
    else:
        b.keep(F.avg_pool2d(x, size, stride, padding), "float32")


@feature
def running(b: Build) -> None:
    """Sums so far."""
    x = b.pick(rank=1)
    axis = b.axis(x)
    known = digits_where(b, x)
    digits = digits_of_sum(known, max(x.shape[axis], 1)) if known else None
    b.keep(paddle.cumsum(x, axis), b.kinds[x], digits)


@feature
def tile(b: Build) -> None:
    """Several times the same."""
    x = b.pick(rank=1)
    times = [b.chance.choice((1, 2, 3)) for _ in x.shape]
    if prod(x.shape) * prod(times) <= MOST:
        b.keep(paddle.tile(x, times), b.kinds[x], b.digits.get(x))


@feature
def sorted_out(b: Build) -> None:
    """What is no loop over elements, so that a region ends before it."""
    x = b.pick(("float32",), rank=1, exact=True, empty=False)
    b.keep(paddle.sort(x, b.axis(x)), b.kinds[x], b.digits[x])


@feature
def written_over(b: Build) -> None:
    """A variable of the scope that an operator writes over, read before and after."""
    shape = b.shape()
    name = f"kept{b.number}"
    b.begins[name] = b.array(shape, "float32")
    block = b.main.global_block()
    kept = block.create_var(name, shape=shape, dtype=b.dtype("float32"), persistable=True)
    before = kept * 2.0
    gradient = b.fed(shape, "float32", learned=False)
    rate = paddle.full([1], 0.5, b.dtype("float32"))
    inputs = {"Param": [kept], "Grad": [gradient], "LearningRate": [rate]}
    block.append_op("sgd", inputs, {"ParamOut": [kept]}, {})
    b.keep(before, "float32", (4, 1))
    b.keep(kept + 1.0, "float32", (4, 3))
