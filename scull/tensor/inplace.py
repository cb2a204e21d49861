"""Functions that write their result into their first operand, named with an underscore."""

from typing import Any

from scull.eager.change import in_place
from scull.tensor import (
    cumulate,
    elementwise,
    function,
    join,
    linalg,
    logic,
    manipulation,
    matrix,
    reduction,
    search,
    special,
    trigonometry,
)

add_ = in_place(elementwise.add)
divide_ = in_place(elementwise.divide)
floor_divide_ = in_place(elementwise.floor_divide)
floor_mod_ = in_place(elementwise.floor_mod)
lerp_ = in_place(elementwise.lerp)
mod_ = in_place(elementwise.mod)
multiply_ = in_place(elementwise.multiply)
pow_ = in_place(elementwise.pow)
remainder_ = in_place(elementwise.remainder)
scale_ = in_place(elementwise.scale)
subtract_ = in_place(elementwise.subtract)
abs_ = in_place(function.abs)
cast_ = in_place(function.cast)
ceil_ = in_place(function.ceil)
clip_ = in_place(function.clip)
erf_ = in_place(function.erf)
exp_ = in_place(function.exp)
expm1_ = in_place(function.expm1)
floor_ = in_place(function.floor)
frac_ = in_place(function.frac)
log_ = in_place(function.log)
log10_ = in_place(function.log10)
log1p_ = in_place(function.log1p)
log2_ = in_place(function.log2)
nan_to_num_ = in_place(function.nan_to_num)
neg_ = in_place(function.neg)
reciprocal_ = in_place(function.reciprocal)
round_ = in_place(function.round)
rsqrt_ = in_place(function.rsqrt)
sigmoid_ = in_place(function.sigmoid)
sqrt_ = in_place(function.sqrt)
square_ = in_place(function.square)
tanh_ = in_place(function.tanh)
trunc_ = in_place(function.trunc)
index_add_ = in_place(join.index_add)
index_put_ = in_place(join.index_put)
masked_fill_ = in_place(join.masked_fill)
put_along_axis_ = in_place(join.put_along_axis)
scatter_ = in_place(join.scatter)
addmm_ = in_place(linalg.addmm)
bitwise_and_ = in_place(logic.bitwise_and)
bitwise_not_ = in_place(logic.bitwise_not)
bitwise_or_ = in_place(logic.bitwise_or)
bitwise_xor_ = in_place(logic.bitwise_xor)
equal_ = in_place(logic.equal)
greater_equal_ = in_place(logic.greater_equal)
greater_than_ = in_place(logic.greater_than)
less_equal_ = in_place(logic.less_equal)
less_than_ = in_place(logic.less_than)
logical_and_ = in_place(logic.logical_and)
logical_not_ = in_place(logic.logical_not)
logical_or_ = in_place(logic.logical_or)
logical_xor_ = in_place(logic.logical_xor)
not_equal_ = in_place(logic.not_equal)
flatten_ = in_place(manipulation.flatten, view=True)
reshape_ = in_place(manipulation.reshape, view=True)
squeeze_ = in_place(manipulation.squeeze, view=True)
t_ = in_place(manipulation.t, view=True)
transpose_ = in_place(manipulation.transpose, view=True)
unsqueeze_ = in_place(manipulation.unsqueeze, view=True)
tril_ = in_place(matrix.tril)
triu_ = in_place(matrix.triu)
cumsum_ = in_place(reduction.cumsum)
ldexp_ = in_place(elementwise.ldexp)
hypot_ = in_place(elementwise.hypot)
polygamma_ = in_place(special.polygamma)
logit_ = in_place(special.logit)
lgamma_ = in_place(special.lgamma)
erfinv_ = in_place(special.erfinv)
digamma_ = in_place(special.digamma)
cumprod_ = in_place(cumulate.cumprod)
tan_ = in_place(trigonometry.tan)
sinh_ = in_place(trigonometry.sinh)
sin_ = in_place(trigonometry.sin)
cosh_ = in_place(trigonometry.cosh)
cos_ = in_place(trigonometry.cos)
atanh_ = in_place(trigonometry.atanh)
atan_ = in_place(trigonometry.atan)
asinh_ = in_place(trigonometry.asinh)
asin_ = in_place(trigonometry.asin)
acosh_ = in_place(trigonometry.acosh)
acos_ = in_place(trigonometry.acos)


def where_(condition: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """As `where`, written into `x` itself.

    Args:
        condition (Tensor): truth values.
        x (Tensor): taken where it holds; it receives the result.
        y (number | Tensor): taken elsewhere.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Examples:
        >>> import scull as paddle
        >>> paddle.where_(paddle.to_tensor([True, False]), paddle.ones([2]), 0.0).tolist()
        [1.0, 0.0]
    """
    return in_place(chosen)(x, condition, y, name)


def chosen(x: Any, condition: Any, y: Any, name: str | None) -> Any:
    """`where`, with the tensor that is overwritten in front."""
    return search.where(condition, x, y, name)
