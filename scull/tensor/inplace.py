"""Functions that write their result into their first operand, named with an underscore."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from scull.deferred import load
from scull.eager.change import in_place
from scull.errors import ArgumentError
from scull.tensor.size import needs_tensor, tensor_like

WRITTEN = {  # the functions that have such a form, by module
    "cumulate": "cumprod",
    "elementwise": """
        add divide floor_divide floor_mod hypot ldexp lerp mod multiply pow remainder scale
        subtract""",
    "function": """
        abs cast ceil clip erf exp expm1 floor frac log log10 log1p log2 nan_to_num neg reciprocal
        round rsqrt sigmoid sqrt square tanh trunc""",
    "join": "index_add index_put masked_fill put_along_axis scatter",
    "linalg": "addmm",
    "logic": """
        bitwise_and bitwise_not bitwise_or bitwise_xor equal greater_equal greater_than less_equal
        less_than logical_and logical_not logical_or logical_xor not_equal""",
    "manipulation": "flatten reshape squeeze t transpose unsqueeze",
    "matrix": "tril triu",
    "number": "gcd lcm",
    "place": "index_fill renorm",
    "reduction": "cumsum",
    "special": "digamma erfinv i0 lgamma logit multigammaln polygamma",
    "trigonometry": "acos acosh asin asinh atan atanh cos cosh sin sinh tan",
}
WRITES = {"hypot": 3, "ldexp": 2, "masked_fill": 2, "nan_to_num": 3}  # what takes several steps
VIEWS = "flatten reshape squeeze t transpose unsqueeze"
MODULES = {name: module for module, names in WRITTEN.items() for name in names.split()}
NAMES = " ".join(name + "_" for name in sorted(MODULES))


def __getattr__(name: str) -> Any:
    plain = name.removesuffix("_")
    if plain == name or plain not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = load("scull.tensor." + MODULES[plain], plain)
    if MODULES[plain] == "logic":
        function = without_out(function)
    made = in_place(function, plain in VIEWS.split(), WRITES.get(plain, 1))
    globals()[name] = made
    return made


def without_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` without its parameter `out`, where it has one: the first operand is that."""
    parameters = inspect.signature(function).parameters
    if "out" not in parameters:
        return function

    def of_one(x: Any, name: str | None = None) -> Any:
        return function(x, None, name)

    def of_two(x: Any, y: Any, name: str | None = None) -> Any:
        return function(x, y, None, name)

    found = functools.wraps(function)(of_two if "y" in parameters else of_one)
    del found.__wrapped__  # whose signature is another
    return found


def where_(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """As `where`, written into `x` itself.

    Args:
        condition (Tensor): truth values.
        x (Tensor): taken where it holds; it receives the result.
        y (number | Tensor): taken elsewhere.
        name (str, optional): of no effect.

    Returns:
        Tensor: `x`.

    Raises:
        ArgumentError: neither or one of `x` and `y` is given.

    Examples:
        >>> import scull as paddle
        >>> paddle.where_(paddle.to_tensor([True, False]), paddle.ones([2]), 0.0).tolist()
        [1.0, 0.0]
    """
    if x is None or y is None:
        raise ArgumentError("either both or neither of x and y should be given")
    needs_tensor(x, "where_")
    broadcast = any(list(getattr(v, "shape", x.shape)) != list(x.shape) for v in (condition, y))

    def where(x: Any, condition: Any, y: Any, name: str | None) -> Any:
        return load("scull.tensor.search", "where")(condition, x, tensor_like(y, x), name)

    return in_place(where, writes=2 if broadcast else 1)(x, condition, y, name)
