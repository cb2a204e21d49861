"""The elementwise operations: how many operands, of which kinds, and what dtype comes out.

What each computes, to the bit, is in `arithmetic.py`; those in `EXPANSIONS` (`expand.py`) are
defined by expressions in the others.
"""

from dataclasses import dataclass
from functools import lru_cache

from scull.errors import DtypeError
from scull.lang.dtype import Kind, element

NUMBER: tuple[Kind, ...] = ("integer", "float")
BITS: tuple[Kind, ...] = ("bool", "integer")
ANY: tuple[Kind, ...] = ("bool", "integer", "float")
INTEGER: tuple[Kind, ...] = ("integer",)
FLOAT: tuple[Kind, ...] = ("float",)
PRODUCTS = ("multiply", "pair_dot")  # whose sums need not round them
RANDOM = {"random_bits": "uint64", "random_half": "uint32"}  # what they are
OF_PAIRS = {"pair": "uint32", "pair_dot": "float32"}  # their results


@dataclass(frozen=True)
class Operation:
    """`kinds` are the operands taken; `logical`: the result is bool; `symbol`: how it prints."""

    name: str
    arity: int
    kinds: tuple[Kind, ...]
    logical: bool = False
    symbol: str = ""
    dtypes: tuple[str, ...] = ()


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("add", 2, NUMBER, symbol="+"),
        Operation("subtract", 2, NUMBER, symbol="-"),
        Operation("multiply", 2, NUMBER, symbol="*"),
        Operation("divide", 2, FLOAT, symbol="/"),
        Operation("floor_divide", 2, NUMBER, symbol="//"),
        Operation("remainder", 2, NUMBER, symbol="%"),
        Operation("truncated_remainder", 2, FLOAT),
        Operation("power", 2, NUMBER, symbol="**"),
        Operation("minimum", 2, NUMBER),
        Operation("maximum", 2, NUMBER),
        Operation("multiply_add", 3, FLOAT, dtypes=("float32", "float64")),
        Operation("scale", 2, FLOAT, dtypes=("float32", "float64")),
        Operation("multiply_high", 2, INTEGER, dtypes=("uint32", "uint64")),
        Operation("pair", 2, FLOAT, dtypes=("bfloat16",)),
        Operation("pair_dot", 2, INTEGER, dtypes=("uint32",)),
        Operation("negative", 1, NUMBER),
        Operation("absolute", 1, NUMBER),
        Operation("less", 2, NUMBER, logical=True, symbol="<"),
        Operation("less_equal", 2, NUMBER, logical=True, symbol="<="),
        Operation("equal", 2, ANY, logical=True, symbol="=="),
        Operation("not_equal", 2, ANY, logical=True, symbol="!="),
        Operation("and", 2, BITS, symbol="&"),
        Operation("or", 2, BITS, symbol="|"),
        Operation("xor", 2, BITS, symbol="^"),
        Operation("not", 1, BITS),
        Operation("shift_left", 2, INTEGER, symbol="<<"),
        Operation("shift_right", 2, INTEGER, symbol=">>"),
        Operation("within", 2, INTEGER, dtypes=("int64",)),
        Operation("select", 3, ANY),
        Operation("pick", 9, ("float",), dtypes=("float32",)),
        Operation("cast", 1, ANY),
        Operation("bitcast", 1, NUMBER),
        Operation("floor", 1, FLOAT),
        Operation("ceil", 1, FLOAT),
        Operation("round", 1, FLOAT),
        Operation("trunc", 1, FLOAT),
        Operation("sqrt", 1, FLOAT),
        Operation("rsqrt", 1, FLOAT),
        Operation("exp", 1, FLOAT),
        Operation("expm1", 1, FLOAT),
        Operation("log", 1, FLOAT),
        Operation("log1p", 1, FLOAT),
        Operation("tanh", 1, FLOAT),
        Operation("erf", 1, FLOAT),
        Operation("normal_cdf", 1, FLOAT),
        Operation("sin", 1, FLOAT),
        Operation("cos", 1, FLOAT),
        Operation("random_bits", 3, INTEGER),
        Operation("random_half", 3, INTEGER),
    )
}


@lru_cache(maxsize=1024)
def result_dtype(name: str, dtypes: tuple[str, ...]) -> str:
    """The dtype of a result; operands must agree, for nothing is converted silently."""
    operation = OPERATIONS[name]
    assert len(dtypes) == operation.arity, f"{name} takes {operation.arity} operands"
    if name == "select":
        if dtypes[0] != "bool":
            raise DtypeError(f"select chooses by a bool, not by {dtypes[0]}")
        dtypes = dtypes[1:]
    if name == "pick":
        if dtypes[0] != "int32":
            raise DtypeError(f"pick chooses by an int32, not by {dtypes[0]}")
        dtypes = dtypes[1:]
    if name in RANDOM:
        if dtypes != ("uint64", "uint64", "int64"):
            raise DtypeError(f"{name} takes two uint64 and a place, not {', '.join(dtypes)}")
        return RANDOM[name]
    if len(set(dtypes)) > 1:
        raise DtypeError(f"{name} of {' and '.join(dtypes)}: `cast` one of them")
    kind = element(dtypes[0]).kind
    if kind not in operation.kinds:
        raise DtypeError(f"{name} takes {' or '.join(operation.kinds)} operands, not {dtypes[0]}")
    if operation.dtypes and dtypes[0] not in operation.dtypes:
        raise DtypeError(f"{name} takes {' or '.join(operation.dtypes)}, not {dtypes[0]}")
    return "bool" if operation.logical else OF_PAIRS.get(name, dtypes[0])
