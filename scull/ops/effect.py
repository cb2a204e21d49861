"""Operators that reach outside a Program: what is fed, fetched, printed and reported."""

from typing import Any

import numpy as np

from scull.core.check import examine, statistics
from scull.core.dtype import float32, int64
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.core.op import meta_of
from scull.errors import DtypeError
from scull.runtime.cell import in_six_digits


@primitive(views={"out": "x"}, effects=("reads",))
def feed(x: Meta, *, col: int = 0) -> Meta:
    """Column `col` of what is fed."""
    return x


@primitive(effects=("writes",))
def fetch_v2(x: Meta, *, col: int = 0, deepcopy: bool = True) -> Meta:
    """`x` handed out as column `col`."""
    return x


@primitive(effects=("writes",))
def fetch(x: Meta, *, col: int = 0) -> Meta:
    """`x` handed out as column `col`, as saved models spell it."""
    return x


feed.kernel(lambda xp, x, *, out=None, col: x[col] if isinstance(x, list) else x)
fetch_v2.kernel(lambda xp, x, *, out=None, col, deepcopy: x.copy() if deepcopy else x)
fetch.kernel(lambda xp, x, *, out=None, col: x.copy())

for operator in (feed, fetch, fetch_v2):
    operator.no_grad("it stands at the edge of a Program")
    operator.no_lowering("the executor does it")


@primitive(
    type="print",
    slots={"x": "In"},
    views={"out": "x"},
    effects=("python", "writes"),
    inline_gradient=True,
)
def print_tensor(
    x: Meta,
    *,
    first_n: int = -1,
    message: str = "",
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "BOTH",
    is_forward: bool = True,
) -> Meta:
    """`x` itself, once it is printed."""
    return x


@print_tensor.kernel
def print_kernel(
    xp: Any, x: Any, *, out: Any = None, variable: str = "", calls: int = 0, **attrs: Any
) -> Any:
    """`variable` is the name that is printed, `calls` how often this operator ran before."""
    wanted = attrs["print_phase"].upper() in ("BOTH", phase(attrs["is_forward"]))
    if wanted and (attrs["first_n"] < 0 or calls < attrs["first_n"]):
        print("\n".join(described(x, variable, attrs)), flush=True)
    return x


def phase(is_forward: bool) -> str:
    """The word for one direction."""
    return "FORWARD" if is_forward else "BACKWARD"


def described(x: Any, variable: str, attrs: dict[str, Any]) -> list[str]:
    """The lines that say what `x` holds."""
    count = attrs["summarize"]
    values = x.reshape(-1)[: count if count >= 0 else None].tolist()
    lines = (
        (attrs["print_tensor_name"] and variable, f"Variable: {variable}"),
        (attrs["message"], f"  - message: {attrs['message']}"),
        (attrs["print_tensor_lod"], "  - lod: {}"),
        (True, "  - place: Place(cpu)"),
        (attrs["print_tensor_shape"], f"  - shape: {list(x.shape)}"),
        (attrs["print_tensor_layout"], "  - layout: NCHW"),
        (attrs["print_tensor_type"], f"  - dtype: {x.dtype.name}"),
        (True, f"  - data: [{' '.join(map(in_six_digits, values))}]"),
    )
    return [line for said, line in lines if said]


@print_tensor.grad
def print_grad(
    dout: Any,
    first_n: int,
    message: str,
    summarize: int,
    print_tensor_name: bool,
    print_tensor_type: bool,
    print_tensor_shape: bool,
    print_tensor_layout: bool,
    print_tensor_lod: bool,
    print_phase: str,
) -> Any:
    return print_tensor(
        dout,
        first_n=first_n,
        message=message,
        summarize=summarize,
        print_tensor_name=print_tensor_name,
        print_tensor_type=print_tensor_type,
        print_tensor_shape=print_tensor_shape,
        print_tensor_layout=print_tensor_layout,
        print_tensor_lod=print_tensor_lod,
        print_phase=print_phase,
        is_forward=False,
    )


print_tensor.no_lowering("printing is Python's")


@primitive(outputs=("stats", "values"), effects=("writes",))
def check_numerics(
    tensor: Meta,
    *,
    op_type: str = "",
    var_name: str = "",
    check_nan_inf_level: int = 0,
    stack_height_limit: int = -1,
    output_dir: str = "",
) -> tuple[Meta, Meta]:
    """How many elements are NaN, infinite and zero; the largest, the least and the mean."""
    refuse_integers(tensor)
    return Meta((3,), int64), Meta((3,), float32)


def refuse_integers(tensor: Meta) -> None:
    """Refuse what cannot hold NaN."""
    if not (tensor.dtype.is_float or tensor.dtype.is_complex):
        raise DtypeError(f"tensor is {tensor}; only floating-point numbers are checked")


@check_numerics.kernel
def check_numerics_kernel(
    xp: Any,
    tensor: Any,
    *,
    out: Any = None,
    op_type: str,
    var_name: str,
    check_nan_inf_level: int,
    **rest: Any,
) -> Any:
    refuse_integers(meta_of(tensor))
    examine(tensor, op_type, var_name, check_nan_inf_level)
    found = statistics(tensor)
    counts = np.array([found.nans, found.infinities, found.zeros], np.int64)
    return counts, np.array([found.largest, found.least, found.mean], np.float32)


check_numerics.no_grad("counts have no slope")
check_numerics.no_lowering("it reports what it finds")
