"""Random expressions as trees: built in the loop language, or computed by NumPy."""

from types import SimpleNamespace

import numpy as np
from hypothesis import strategies as st

from scull import lang
from scull.lang.arithmetic import cast, numpy_dtype
from scull.lang.dtype import HALF, element
from scull.lang.expression import apply

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
SHAPES = ((), (0,), (1,), (3, 0), (1, 5), (4,), (2, 3, 4))

PAIRS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
}
FLOAT_PAIRS = {**PAIRS, "divide": np.divide}
FLOAT_SINGLES = {
    "negative": np.negative,
    "absolute": np.absolute,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
}
INTEGER_PAIRS = {
    **PAIRS,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
}
INTEGER_SINGLES = {"negative": np.negative, "absolute": np.absolute, "not": np.invert}
COMPARISONS = {
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}


def meta(*shape, dtype="float32"):
    """What `trace` asks of an operand."""
    return SimpleNamespace(shape=shape, dtype=dtype)


def trees(dtype, inputs, depth):
    """Trees whose value has this dtype; those below 0 are the numbers of inputs."""
    kind = element(dtype).kind
    leaf = st.sampled_from([("load", i) for i, d in enumerate(inputs) if d == dtype])
    if depth == 0:
        return leaf
    same = trees(dtype, inputs, depth - 1)
    pairs = sorted(FLOAT_PAIRS if kind == "float" else INTEGER_PAIRS)
    singles = sorted(FLOAT_SINGLES if kind == "float" else INTEGER_SINGLES)
    condition = st.tuples(st.sampled_from(sorted(COMPARISONS)), same, same)
    other = st.sampled_from(sorted(set(inputs)))
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(pairs), same, same),
        st.tuples(st.sampled_from(singles), same),
        st.tuples(st.just("select"), condition, same, same),
        other.flatmap(
            lambda d: st.tuples(st.just("cast"), st.just(dtype), trees(d, inputs, depth - 1))
        ),
    )


def built(tree, arrays, index):
    """The tree in the loop language."""
    name, *rest = tree
    if name == "load":
        return arrays[rest[0]][index]
    if name == "cast":
        return lang.cast(built(rest[1], arrays, index), rest[0])
    return apply(name, *(built(each, arrays, index) for each in rest))


def direct(tree, arrays):
    """The tree by NumPy's own functions, half floats by way of float32."""
    name, *rest = tree
    if name == "load":
        return arrays[rest[0]]
    if name == "cast":
        return cast(direct(rest[1], arrays), rest[0])
    values = [direct(each, arrays) for each in rest]
    if name == "select":
        return np.where(*values)
    dtype = values[0].dtype
    if dtype.name in HALF:
        values = [value.astype(np.float32) for value in values]
    table = {**FLOAT_PAIRS, **FLOAT_SINGLES, **INTEGER_PAIRS, **INTEGER_SINGLES, **COMPARISONS}
    result = table[name](*values)
    return result if name in COMPARISONS else result.astype(dtype)


def kernel_of(tree, inputs, shape, dtype):
    """A kernel with the tree for each element."""
    return lang.trace(
        lambda index, *arrays: built(tree, arrays, index),
        [meta(*shape, dtype=each) for each in inputs],
        [meta(*shape, dtype=dtype)],
        name="tree",
    )


def values_of(generator, shape, dtype):
    """Numbers of all sizes, with the special ones among them."""
    facts = element(dtype)
    size = int(np.prod(shape, dtype=int))
    if facts.kind == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    bits = np.frombuffer(generator.bytes(size * facts.itemsize), numpy_dtype(dtype)).copy()
    if facts.kind == "integer":
        special = [0, 1, facts.lowest, facts.highest, facts.bits, facts.bits - 1]
    else:
        small = (generator.normal(0, 3, size)).astype(numpy_dtype(dtype))
        bits = np.where(generator.random(size) < 0.6, small, bits)
        special = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 2.0**-130]
    with np.errstate(over="ignore"):
        chosen = np.array(special, numpy_dtype(dtype))[generator.integers(0, len(special), size)]
    return np.where(generator.random(size) < 0.3, chosen, bits).reshape(shape)


@st.composite
def programs(draw, dtypes=FLOATS + INTEGERS):
    """A tree, its dtype, its inputs' dtypes and arrays of them."""
    dtype = draw(st.sampled_from(dtypes))
    other = draw(st.sampled_from(dtypes))
    inputs = [dtype, dtype, other]
    shape = draw(st.sampled_from(SHAPES))
    tree = draw(trees(dtype, inputs, draw(st.integers(0, 4))))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    return tree, dtype, inputs, [values_of(generator, shape, each) for each in inputs]


def same_values(x, y):
    """Equal, NaN to NaN and a zero to a zero."""
    assert x.shape == y.shape
    assert x.dtype == y.dtype
    with np.errstate(invalid="ignore"):
        return bool(np.all((x == y) | ((x != x) & (y != y))))


def same_bits(x, y):
    """Equal to the bit; a NaN is any NaN."""
    if not same_values(x, y):
        return False
    if element(x.dtype.name).kind != "float":
        return True
    with np.errstate(invalid="ignore"):
        return bool(np.all((np.signbit(x) == np.signbit(y)) | (x != x)))


def units(got, exact):
    """The largest error in units in the last place; `exact` has more digits."""
    facts = np.finfo(got.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        near = exact.astype(got.dtype)
        distance = np.abs(got.astype(np.longdouble) - exact)
    _, exponent = np.frexp(np.where(np.isfinite(near), near, facts.max))
    lowest = np.maximum(exponent, facts.minexp + 1) - facts.nmant - 1
    unit = np.ldexp(np.longdouble(1), lowest)
    matches = (got == near) | (np.isnan(got) & np.isnan(near))
    distance = np.where(matches & ~np.isfinite(near), 0, distance / unit)
    return float(np.max(np.where(np.isnan(distance), np.inf, distance), initial=0))
