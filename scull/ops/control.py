"""Operators with blocks, and those that choose among values."""

from typing import Any

import numpy as np

from scull.autograd import block  # noqa: F401  makes gradients of operators with blocks
from scull.core.attribute import Body, Strings
from scull.core.dtype import int32
from scull.core.eager import primitive
from scull.core.meta import Meta, count
from scull.errors import DtypeError, RangeError, ShapeError

BARE = ("op_namescope", "op_role_var", "with_quant_attr")


@primitive(outputs=("out[]", "scope"))
def conditional_block(
    cond: list[Meta],
    input: list[Meta] | None,
    *,
    sub_block: Body,
    is_scalar_condition: bool = False,
) -> Any:
    """What the block makes of `input`, if `cond` holds; `scope` keeps it for the gradient."""
    return None, None


@primitive(
    type="while",
    slots={"cond": "Condition"},
    outputs=("out[]", "step_scopes"),
)
def while_block(
    x: list[Meta] | None, cond: list[Meta], *, sub_block: Body, is_test: bool = False
) -> Any:
    """What the block makes of `x` as long as `cond` holds; `step_scopes` keep each round."""
    return None, None


@primitive(
    outputs=("dinput[]",), slots={"dout": "Out@GRAD", "dinput": "Input@GRAD"}, unprinted=BARE
)
def conditional_block_grad(
    cond: list[Meta],
    input: list[Meta] | None,
    out: list[Meta] | None,
    dout: list[Meta] | None,
    scope: Meta | None,
    *,
    sub_block: Body,
    is_scalar_condition: bool = False,
) -> Any:
    """The gradients of `input`, as the block computes them of what `scope` kept; else zeros."""
    return (None,)


@primitive(
    outputs=("dx[]",),
    slots={"dout": "Out@GRAD", "dx": "X@GRAD"},
)
def while_grad(
    x: list[Meta] | None,
    out: list[Meta] | None,
    dout: list[Meta] | None,
    step_scopes: Meta | None,
    *,
    sub_block: Body,
    is_test: bool = False,
    original_output_grad: Strings = (),
) -> Any:
    """The gradients of `x`: the block runs once for each round, the last first."""
    return (None,)


@primitive(prefix="select_input")
def select_input(x: list[Meta], mask: Meta) -> Meta:
    """That of `x` whose number `mask` holds, in memory of its own."""
    one_number(mask)
    if len({len(m.shape) for m in x}) > 1:
        return x[-1]
    sizes = zip(*[m.shape for m in x], strict=True)
    return x[-1].with_shape(n[0] if len(set(n)) == 1 else -1 for n in sizes)


@select_input.kernel
def select_input_kernel(xp: Any, x: Any, mask: Any, *, out: Any = None) -> Any:
    chosen = x[number(mask, len(x))]
    if out is None:
        return list(chosen) if isinstance(chosen, list) else chosen.copy()
    out[...] = chosen
    return out


@primitive(outputs=("out[]",), views={"out": "x"})
def select_output(x: Meta, mask: Meta) -> Any:
    """`x` as the result whose number `mask` holds; the others stay as they are."""
    one_number(mask)
    return None


@select_output.kernel
def select_output_kernel(xp: Any, x: Any, mask: Any, *, out: Any = None, several: int = 2) -> Any:
    chosen = number(mask, several)
    return [x if i == chosen else None for i in range(several)]


def one_number(mask: Meta) -> None:
    """Refuse what is not one int32."""
    if mask.dtype is not int32:
        raise DtypeError(f"mask is {mask.dtype.name}, not int32")
    if count(mask.shape) not in (1, -1):
        raise ShapeError(f"{mask} has not one element")


def number(mask: Any, several: int) -> int:
    """The number `mask` holds, of so many that there are."""
    if mask.size != 1:
        raise ShapeError(f"mask has {mask.size} elements, not one")
    found = int(np.asarray(mask).item())
    if not 0 <= found < several:
        raise RangeError(f"mask is {found}, and there are {several} to choose from")
    return found


for operator in (conditional_block, while_block):
    operator.no_grad("its block has a gradient block of its own")
for operator in (conditional_block_grad, while_grad):
    operator.no_grad("it becomes a plain block where it is differentiated")
for operator in (conditional_block, while_block, conditional_block_grad, while_grad):
    operator.no_lowering("its block runs in a Program")
select_input.no_grad("its gradient is a select_output")
select_output.no_grad("its gradient is a select_input")
for operator in (select_input, select_output):
    operator.no_lowering("which of them is meant depends on values")
