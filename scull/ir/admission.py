"""What element types operators are recorded with: Paddle refuses the others where a Program is
built, though eager mode takes some of them."""

from typing import Any

from scull.core.op import Op
from scull.core.refusal import noted, user_line
from scull.errors import DtypeError
from scull.ir.variable import Variable

WHOLE = ["bool", "uint8", "int8", "int16", "int32", "int64"]
# Of floating-point or complex elements only.
FRACTIONS = """
    acos acosh allclose angle asin asinh atan atanh bernoulli brelu ceil celu cholesky
    cholesky_solve cos cosh determinant digamma dist dropout eig eigh eigvals eigvalsh elu erfinv
    floor frobenius_norm gelu gumbel_softmax hard_shrink hard_sigmoid hard_swish i0 i0e i1 i1e
    instance_norm inverse isclose label_smooth leaky_relu lgamma log_softmax logcumsumexp logit
    logsigmoid logsumexp lu matrix_power matrix_rank mish multi_dot multinomial nextafter p_norm
    poisson polygamma qr reciprocal reduce_mean relu relu6 round rrelu rsqrt selu sigmoid silu sin
    sinh slogdeterminant softmax softplus softshrink softsign solve sqrt stanh svd swish tan tanh
    tanh_shrink thresholded_relu triangular_solve"""
SMALL = {  # not of these, by type
    "broadcast_tensors": "uint8 int8 int16",
    "gather": "bool int8",
    "histogram": "bool uint8 int8 int16",
    "multiplex": "bool uint8 int8 int16",
    "reduce_max": "bool uint8 int8 int16",
    "reduce_min": "bool uint8 int8 int16",
    "reduce_prod": "bool uint8 int8 int16",
    "transpose2": "uint8 int8 int16",
}
SINGLE = """
    cholesky cholesky_solve eig eigh eigvals eigvalsh inverse lu matrix_power matrix_rank qr
    slogdeterminant solve svd triangular_solve"""  # of single or double precision only
REFUSED = {type: frozenset(names.split()) for type, names in SMALL.items()}
REFUSED |= dict.fromkeys(FRACTIONS.split(), frozenset(WHOLE))
REFUSED |= dict.fromkeys(SINGLE.split(), frozenset([*WHOLE, "float16", "bfloat16"]))


def refuse_unrecorded(op: Op, inputs: tuple[Any, ...]) -> None:
    """Refuse a first operand of an element type that Paddle does not record `op` with."""
    refused = REFUSED.get(op.type)
    if refused is None or not inputs:
        return
    for x in inputs[0] if isinstance(inputs[0], list) else inputs[:1]:
        if isinstance(x, Variable) and x.dtype.name in refused:
            error = DtypeError(
                f"`{x.name}` is {x.meta}; in a Program `{op.type}` takes none of "
                f"{', '.join(sorted(refused))}"
            )
            raise noted(error, f"in {op.name}\n  at {user_line()}")
