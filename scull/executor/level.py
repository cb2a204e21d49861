"""Levels of detail: which of what is fetched has those of what was fed.

Arrays carry none while a Program runs. Which result takes those of which operand follows from the
operators alone, so it is told after the run, from the levels of what was fed.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from scull.errors import RunError
from scull.ir.operator import Operator
from scull.runtime.scope import ScopeTensor

Levels = list[list[int]]  # where sequences begin and the last ends, the outer level first

# By slots, "operand result": the types of operators whose result takes the operand's levels.
TYPES = {
    "X Out": """
        acos acosh affine_channel argsort asin asinh assign atan atanh bce_loss bernoulli
        bilinear_tensor_product bitwise_and bitwise_not bitwise_or bitwise_xor bmm brelu
        broadcast_tensors cast ceil celu clip clip_by_norm concat cos cosh cross cumprod cumsum
        dropout elementwise_add elementwise_div elementwise_floordiv elementwise_fmax
        elementwise_fmin elementwise_max elementwise_min elementwise_mod elementwise_mul
        elementwise_pow elementwise_sub elu equal erf erfinv exp expand_v2 expm1 fill_any
        fill_any_like flatten_contiguous_range flip floor gather gather_nd gelu greater_equal
        greater_than gumbel_softmax hard_shrink hard_sigmoid hard_swish hierarchical_sigmoid
        huber_loss increment index_add index_select kthvalue label_smooth leaky_relu less_equal
        less_than log log10 log1p log2 log_softmax logcumsumexp logical_and logical_not
        logical_or logical_xor logsigmoid lrn matmul matrix_power minus mish mode mul mv
        not_equal one_hot_v2 pad2d pad3d poisson pool2d pool3d pow prelu reciprocal relu relu6
        renorm repeat_interleave reshape2 reverse roll round row_conv rrelu rsqrt scale scatter
        scatter_nd_add selu shard_index sigmoid sigmoid_cross_entropy_with_logits sign silu sin
        sinh soft_relu softmax softplus softshrink softsign solve split sqrt square squeeze2 sum
        swish tan tanh tanh_shrink temporal_shift thresholded_relu top_k top_k_v2 tril_triu trunc
        unbind unsqueeze2 where""",
    "X Y": """
        batch_norm bpr_loss cross_entropy cross_entropy2 data_norm group_norm instance_norm
        layer_norm stack""",
    "X Indices": "argsort kthvalue mode top_k top_k_v2",
    "x out": "i0 i0e i1 i1e nextafter",
    "Input Out": "addmm determinant slice strided_slice",
    "Logits Loss": "hinge_loss margin_cross_entropy softmax_with_cross_entropy",
    "Logits Softmax": "margin_cross_entropy softmax_with_cross_entropy",
    "Ids Out": "lookup_table lookup_table_v2",
    "Theta Output": "affine_grid",
    "X1 Out": "atan2",
    "TargetBox OutputBox": "box_coder",
    "X Output": "grid_sampler",
    "Index Out": "index_sample",
    "Input Output": "inverse",
    "Predicted Loss": "log_loss",
    "In Out": "print",
    "Input Result": "put_along_axis",
    "X Q": "qr",
    "X R": "qr",
    "Weight Out": "spectral_norm",
    "X S": "svd",
    "X U": "svd",
    "X VH": "svd",
    "Y Out": "triangular_solve",
}


@cache
def passed_on() -> dict[str, list[tuple[str, str]]]:
    """By type of operator the slots (operand, result) of which one gives the other its levels."""
    found: dict[str, list[tuple[str, str]]] = {}
    for slots, types in TYPES.items():
        operand, result = slots.split()
        for name in types.split():
            found.setdefault(name, []).append((operand, result))
    return found


def levels_after(operators: Iterable[Operator], fed: Mapping[str, Levels]) -> dict[str, Levels]:
    """By name the levels that variables have after `operators` ran on what was fed."""
    known = dict(fed)
    for o in operators:
        for operand, result in passed_on().get(o.type, ()):
            found = [known.get(name, []) for name in o.input(operand)]
            if o.type == "concat":
                taken = joined(found) if o.attr("axis") == 0 else found[0]
            elif o.type in ("slice", "strided_slice") and 0 in o.attr("axes"):
                taken = []
            else:
                taken = found[0] if found else []
            known.update(dict.fromkeys(o.output(result), taken))
    return known


def joined(parts: list[Levels]) -> Levels:
    """The levels of arrays put one after the other; none where they differ in number."""
    if len(set(map(len, parts))) != 1:
        return []
    found: Levels = []
    for levels in zip(*parts, strict=True):
        offsets = [0]
        for level in levels:
            offsets += [offsets[-1] + n for n in level[1:]]
        found.append(offsets)
    return found


def levelled(bound: Any, feed: Mapping[str, Any], values: list[Any], return_numpy: bool) -> Any:
    """The fetched `values` with their levels; RuntimeError where an array would lose them."""
    fed = {name: v.cell.lod for name, v in feed.items() if type(v) is ScopeTensor and v.cell.lod}
    if not fed:
        return values
    plan = bound.plan
    known = levels_after([step.operator for step in plan.instructions], fed)
    for (slot, _), value in zip(plan.fetches, values, strict=True):
        levels = known.get(plan.variables[slot].name, [])
        if levels and return_numpy:
            raise RunError(
                "Some of your fetched tensors hold LoD information. They can not be completely "
                f"cast to Python ndarray: `{plan.variables[slot].name}` has the levels {levels}. "
                "Please set the parameter 'return_numpy' as 'False' to return LoDTensor itself "
                "directly"
            )
        if type(value) is ScopeTensor:
            value.set_lod(levels)
    return values
