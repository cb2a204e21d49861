"""Comparisons, logic, and choosing by a condition."""

import operator
from typing import Any

from scull import lang
from scull.core.dtype import bool_
from scull.core.eager import primitive
from scull.core.meta import Meta, broadcast
from scull.errors import DtypeError
from scull.ops.elementwise import elementwise, maximum, minimum


def ordered(compare: Any) -> Any:
    """The lowering of a comparison by size; False is less than True."""

    def lower(a: Any, b: Any) -> Any:
        if a.dtype == "bool":
            a, b = lang.cast(a, "uint8"), lang.cast(b, "uint8")
        return compare(a, b)

    return lower


equal = elementwise("equal", "equal", "equal", lambda a, b: lang.equal(a, b), bool_)
not_equal = elementwise(
    "not_equal", "not_equal", "not_equal", lambda a, b: lang.not_equal(a, b), bool_
)
less_than = elementwise("less_than", "less_than", "less", ordered(operator.lt), bool_)
less_equal = elementwise("less_equal", "less_equal", "less_equal", ordered(operator.le), bool_)
greater_than = elementwise("greater_than", "greater_than", "greater", ordered(operator.gt), bool_)
greater_equal = elementwise(
    "greater_equal", "greater_equal", "greater_equal", ordered(operator.ge), bool_
)

for comparison in (equal, not_equal, less_than, less_equal, greater_than, greater_equal):
    comparison.no_grad("a comparison is constant almost everywhere")


@primitive(broadcasts=True, infer_first=True)
def where(condition: Meta, x: Meta, y: Meta) -> Meta:
    """`x` where `condition` holds, `y` elsewhere."""
    if condition.dtype is not bool_:
        raise DtypeError(f"condition is {condition.dtype.name}, not bool")
    if x.dtype is not y.dtype:
        raise DtypeError(f"x is {x.dtype.name} and y is {y.dtype.name}; cast one")
    return Meta(broadcast(condition, x, y), x.dtype)


@where.kernel
def where_kernel(xp: Any, condition: Any, x: Any, y: Any, *, out: Any = None) -> Any:
    return xp.where(condition, x, y)


where.grad("x")(lambda condition, dout: where(condition, dout, 0.0))
where.grad("y")(lambda condition, dout: where(condition, 0.0, dout))
where.lower(
    lambda index, c, x, y: lang.select(lang.at(c, index), lang.at(x, index), lang.at(y, index))
)

maximum.grad("x")(lambda x, y, dout: where(x > y, dout, 0.0))
maximum.grad("y")(lambda x, y, dout: where(x > y, 0.0, dout))
minimum.grad("x")(lambda x, y, dout: where(x < y, dout, 0.0))
minimum.grad("y")(lambda x, y, dout: where(x < y, 0.0, dout))
