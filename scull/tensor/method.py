"""One table: the functions that are methods of tensors too, and those that have a form in place."""

from collections.abc import Callable
from typing import Any

from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.eager.index import called_after, getitem, refuse_setitem
from scull.ir.variable import Variable
from scull.tensor import (
    attribute,
    complex_number,
    creation,
    cumulate,
    decomposition,
    elementwise,
    equation,
    function,
    inplace,
    join,
    linalg,
    logic,
    manipulation,
    matrix,
    random,
    reduction,
    search,
    special,
    stat,
    trigonometry,
)

METHODS: dict[Any, str] = {
    attribute: "is_complex is_floating_point is_integer numel rank",
    complex_number: "angle as_complex as_real conj imag real sgn",
    cumulate: "cummax cummin cumprod logcumsumexp",
    decomposition: "cholesky cond eig eigvals eigvalsh lu lu_unpack pinv qr",
    equation: "cholesky_solve inverse lstsq matrix_power multi_dot solve",
    elementwise: """add add_n divide floor_divide floor_mod fmax fmin heaviside hypot increment
        ldexp lerp maximum minimum mod multiply pow remainder scale subtract""",
    function: """abs cast ceil clip erf exp expm1 floor frac isfinite isinf isnan log log10 log1p
        log2 nan_to_num neg reciprocal round rsqrt sigmoid sign sqrt square tanh trunc""",
    join: """chunk concat gather gather_nd index_add index_put index_sample index_select masked_fill
        masked_select put_along_axis scatter scatter_nd scatter_nd_add split stack take_along_axis
        unbind unstack""",
    linalg: """addmm bincount bmm cross dist dot histogram inner kron matmul mm mv norm outer
        tensordot""",
    logic: """all allclose any bitwise_and bitwise_not bitwise_or bitwise_xor equal equal_all
        greater_equal greater_than is_empty is_tensor isclose less_equal less_than logical_and
        logical_not logical_or logical_xor not_equal""",
    manipulation: """as_strided broadcast_tensors broadcast_to expand expand_as flatten flip
        moveaxis repeat_interleave reshape reverse roll slice squeeze strided_slice t tile
        transpose unflatten unsqueeze view view_as""",
    matrix: "diag diag_embed diagflat diagonal trace tril triu",
    random: "bernoulli multinomial",
    reduction: "amax amin count_nonzero cumsum diff logsumexp max mean min nansum prod sum",
    search: """argmax argmin argsort bucketize kthvalue mode multiplex nonzero sort topk unique
        unique_consecutive where""",
    special: "digamma erfinv lgamma logit polygamma",
    stat: "median nanmean quantile std var",
    trigonometry: """acos acosh asin asinh atan atan2 atanh cos cosh deg2rad rad2deg sin sinh stanh
        tan""",
}

IN_PLACE = """abs_ acos_ acosh_ add_ addmm_ asin_ asinh_ atan_ atanh_ bitwise_and_ bitwise_not_
    bitwise_or_ bitwise_xor_ cast_ ceil_ clip_ cos_ cosh_ cumprod_ cumsum_ digamma_
    divide_ equal_ erf_ erfinv_ exp_ expm1_ flatten_ floor_ floor_divide_ floor_mod_
    frac_ greater_equal_ greater_than_ hypot_ index_add_ index_put_ ldexp_ lerp_
    less_equal_ less_than_ lgamma_ log10_ log1p_ log2_ log_ logical_and_ logical_not_
    logical_or_ logical_xor_ logit_ masked_fill_ mod_ multiply_ nan_to_num_ neg_
    not_equal_ polygamma_ pow_ put_along_axis_ reciprocal_ remainder_ reshape_ round_
    rsqrt_ scale_ scatter_ sigmoid_ sin_ sinh_ sqrt_ square_ squeeze_ subtract_ t_ tan_
    tanh_ transpose_ tril_ triu_ trunc_ unsqueeze_"""


def named(table: dict[Any, str]) -> dict[str, Callable[..., Any]]:
    """The functions of a table by their names."""
    return {
        name: getattr(module, name) for module, names in table.items() for name in names.split()
    }


def transposed(x: Any) -> Any:
    """`x` with all its axes in reverse order."""
    ndim = len(x.shape)
    name = x.name if isinstance(x, Variable) else None
    return x if ndim < 2 else manipulation.transpose(x, list(range(ndim))[::-1], name)


def cloned(x: Any) -> Any:
    """A copy of a Variable through which gradients flow."""
    return called_after(x, "clone", creation.clone(x, f"{x.name}_clone"))


def astype(x: Any, dtype: Any) -> Any:
    """A Variable as elements of another type."""
    with current().naming("tmp"):
        return function.cast(x, dtype)


for name, method in named(METHODS | {inplace: IN_PLACE}).items():
    setattr(Tensor, name, method)
    setattr(Variable, name, method)
for kind in (Tensor, Variable):
    kind.T = property(transposed)
    kind.dim = kind.ndimension = lambda self: len(self.shape)
Variable.__getitem__ = getitem
Variable.__setitem__ = refuse_setitem
Variable.astype = astype
Variable.clone = cloned
