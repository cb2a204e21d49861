"""Every declared operator by its functional name: `_C_ops.matmul(x, y, False, True)`.

Inputs and attributes are given by position.
"""

from functools import cache
from typing import Any

from scull.core.attribute import normalised
from scull.core.op import Op, as_outputs, by_name, by_type
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError
from scull.optimizer.overwrite import overwrite

# Functional names that are neither the name of an operator here nor its type.
TYPES = {
    "all": "reduce_all",
    "amax": "reduce_amax",
    "amin": "reduce_amin",
    "any": "reduce_any",
    "cross_entropy_with_softmax": "softmax_with_cross_entropy",
    "expand_as": "expand_as_v2",
    "full": "fill_constant",
    "full_batch_size_like": "fill_constant_batch_size_like",
    "hardsigmoid": "hard_sigmoid",
    "hardswish": "hard_swish",
    "matmul_with_flatten": "mul",
    "max": "reduce_max",
    "mean": "reduce_mean",
    "mean_all": "mean",
    "min": "reduce_min",
    "one_hot": "one_hot_v2",
    "prod": "reduce_prod",
    "split_with_num": "split",
    "sum": "reduce_sum",
}

# The order of arguments where it is not inputs, then attributes, as declared; `_` is passed over.
ORDERS = {
    "all": "x axis keepdim",
    "allclose": "x y rtol atol equal_nan",
    "amax": "x axis keepdim",
    "amin": "x axis keepdim",
    "any": "x axis keepdim",
    "arange": "start end step _ _",
    "argsort": "x axis descending _",
    "cast": "x out_dtype",
    "clip": "x min max",
    "concat": "x axis",
    "depthwise_conv2d": (
        "input filter strides paddings padding_algorithm groups dilations data_format"
    ),
    "dropout": "x seed_tensor dropout_prob is_test dropout_implementation seed fix_seed",
    "expand": "x shape",
    "expand_as": "x y target_shape",
    "full": "shape value dtype _",
    "full_batch_size_like": "x shape dtype value input_dim_idx output_dim_idx _",
    "full_like": "like value dtype _",
    "gather": "x index axis",
    "gaussian": "shape mean std seed dtype _",
    "isclose": "x y rtol atol equal_nan",
    "linspace": "start stop num dtype _",
    "one_hot": "x depth",
    "pow": "x factor",
    "randint": "low high shape dtype _",
    "reshape": "x shape",
    "scale": "x scale bias bias_after_scale",
    "set_value": "x starts ends steps axes decrease_axes none_axes shape values",
    "slice": "x axes starts ends infer_flags decrease_axis",
    "split": "x sections axis",
    "split_with_num": "x num axis",
    "strided_slice": "x axes starts ends strides",
    "sum": "x axis out_dtype keepdim",
    "tile": "x repeat_times",
    "topk": "x k axis largest sorted",
    "truncated_gaussian_random": "shape mean std seed dtype _",
    "uniform": "shape dtype min max seed _",
}


def operator(name: str) -> Op:
    """The operator behind a functional name."""
    types = by_type()
    found = types.get(TYPES.get(name, "")) or by_name().get(name) or types.get(name)
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return found


def plain(value: Any) -> Any:
    """An attribute given as a Tensor, or in one of a list, as numbers."""
    if isinstance(value, Tensor):
        return value.array.tolist()
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


@cache
def function(name: str) -> Any:
    """The function of a functional name."""
    if name.endswith("_") and not name.endswith("__"):
        return in_place(name)
    op = operator(name)
    order = tuple(ORDERS[name].split()) if name in ORDERS else (*op.inputs, *op.kinds)
    shown = [i for i, n in enumerate(op.outputs) if n not in op.hidden]

    def call(*arguments: Any, **options: Any) -> Any:
        if len(arguments) > len(order):
            raise ArgumentTypeError(
                f"{name}() takes {len(order)} arguments, {len(arguments)} were given"
            )
        given = dict(zip(order, arguments, strict=False)) | options
        given.pop("_", None)
        inputs = [given.get(n) for n in op.inputs]
        attrs = {
            n: normalised(op.kinds[n], n, plain(v))
            for n, v in given.items()
            if n in op.kinds and v is not None
        }
        results = as_outputs(op, op.call(*inputs, **attrs))
        kept = tuple(results[i] for i in shown)
        return kept if len(kept) > 1 else kept[0]

    call.__name__ = call.__qualname__ = name
    call.__doc__ = op.body.__doc__
    return call


def in_place(name: str) -> Any:
    """The function of a method that changes its first operand."""
    if not hasattr(Tensor, name):
        found = by_name().get(name[:-1])
        if found is not None and "param" in found.in_place.values():
            return update(name, found)
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def call(x: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(x, name)(*arguments, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = getattr(Tensor, name).__doc__
    return call


def update(name: str, op: Op) -> Any:
    """The function of an operator that updates a parameter."""
    order = (*(n for n in op.inputs if not n.endswith("_tensor")), *op.kinds)

    def call(*arguments: Any, **options: Any) -> Any:
        given = dict(zip(order, arguments, strict=False)) | options
        values = {n: getattr(given.get(n), "array", None) for n in op.inputs}
        said = {n: given[n] for n in op.kinds if given.get(n) is not None}
        attrs = {n: normalised(op.kinds[n], n, v) for n, v in said.items()}
        overwrite(op, values, op.attrs | attrs)
        return tuple([given.get(op.in_place[n]) for n in op.outputs])

    call.__name__ = call.__qualname__ = name
    call.__doc__ = op.body.__doc__
    return call


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return function(name)


def __dir__() -> list[str]:
    return sorted({*by_name(), *TYPES})
