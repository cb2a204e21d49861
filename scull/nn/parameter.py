"""Where every parameter is made, eagerly or in a Program, named and drawn alike."""

from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import interpreting
from scull.core.meta import Meta
from scull.core.op import op_of
from scull.core.tensor import Parameter
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program, startup_program
from scull.ir.recorder import Recorder
from scull.nn.initializer.constant import Constant
from scull.nn.initializer.initializer import global_initializers
from scull.nn.initializer.xavier import XavierUniform
from scull.nn.param_attr import ParamAttr, WeightNormParamAttr


def create_parameter(
    owner: str,
    shape: Any,
    attr: Any = None,
    dtype: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A parameter of layer `owner`, such as `linear_0.w_0`; None when `attr` is False."""
    attr = ParamAttr._to_attr(attr)
    if attr is False:
        return None
    dtype = dtype_of(session.default_dtype() if dtype is None else dtype)
    sizes = positive_sizes(shape)
    initializer = chosen_initializer(attr, dtype, is_bias, default_initializer)
    name = attr.name or session.unique_name(f"{owner}.{'b' if is_bias else 'w'}")
    options = {k: v for k, v in attr._to_kwargs().items() if k != "name"}
    if isinstance(attr, WeightNormParamAttr):
        return normalized(attr, name, Meta(sizes, dtype), initializer, options)
    if in_dynamic_mode():
        return eager_parameter(name, sizes, dtype, initializer, options)
    return recorded_parameter(name, Meta(sizes, dtype), initializer, options)


def positive_sizes(shape: Any) -> tuple[int, ...]:
    """`shape` as a tuple of sizes, each above 0."""
    sizes = tuple(shape)
    for axis, n in enumerate(sizes):
        if n <= 0:
            raise ArgumentError(
                "Expected every dim's size to be larger than 0, "
                f"but the size of the {axis}-th dim is {n}"
            )
    return tuple([int(n) for n in sizes])


def chosen_initializer(attr: ParamAttr, dtype: DType, is_bias: bool, default: Any) -> Any:
    """Whose first value a parameter gets: its own, the global one, its layer's, or that of all."""
    if attr.initializer is not None:
        return attr.initializer
    default = global_initializers()[is_bias] or default
    if default is None and not dtype.is_float:
        raise ArgumentTypeError(
            "Can not create parameter with default initializer when dtype is not "
            f"a floating-point one but {dtype.name}. "
            "Set default_initializer to fit the parameter dtype!"
        )
    return default or (Constant(0.0) if is_bias else XavierUniform())


def eager_parameter(
    name: str, shape: tuple[int, ...], dtype: DType, initializer: Any, options: dict[str, Any]
) -> Parameter:
    """A parameter that has its value at once."""
    used = session.get("names").taken
    if name in used:
        raise ArgumentError(
            f"parameter name [{name}] have be been used. In dygraph mode, the name of parameter "
            "can't be same. Please check the parameter attr value passed to self.create_parameter "
            "or constructor of dygraph Layers"
        )
    used.add(name)
    lazy = session.get("lazy")
    array = blank(shape, dtype) if lazy else np.empty(shape, dtype.array)
    param = Parameter(array, stop_gradient=not options["trainable"])
    describe(param, name, options)
    if lazy:
        param.__dict__["_awaited"] = array, initializer
    else:
        initializer(param)
    return param


def blank(shape: tuple[int, ...], dtype: DType) -> Any:
    """An array of one element that stands for all: NaN, where the element type has it."""
    return np.broadcast_to(np.array(np.nan if dtype.is_float else 0, dtype.array), shape)


def describe(param: Parameter, name: str, options: dict[str, Any]) -> None:
    """Attach what optimizers ask a parameter for."""
    param.name, param.persistable, param.is_distributed = name, True, False
    for key, value in options.items():
        setattr(param, key, value)


def recorded_parameter(name: str, meta: Meta, initializer: Any, options: dict[str, Any]) -> Any:
    """A parameter of the main Program; its twin in the startup Program gets one initialiser."""
    block = startup_program().global_block()
    twin = block.vars.get(name)
    if twin is None or twin.op is None:
        initializer(block.parameter(name, meta, **options), block)
    return main_program().global_block().parameter(name, meta, **options)


def normalized(
    attr: WeightNormParamAttr, name: str, meta: Meta, initializer: Any, options: dict[str, Any]
) -> Any:
    """A weight of a Program that is computed from its direction and its lengths."""
    if in_dynamic_mode():
        raise ArgumentError(
            "a weight is normalised by WeightNormParamAttr in static mode; in eager mode call "
            "paddle.nn.utils.weight_norm"
        )
    dim = None if attr.dim is None else attr.dim % len(meta.shape)
    sizes = tuple([n if i == dim else 1 for i, n in enumerate(meta.shape)])

    def first_lengths(g: Any, block: Any) -> None:
        with interpreting(Recorder(block)) as recorder:
            squares = lengths_squared(block.var(f"{name}_v"), dim)
            with recorder.into(g):
                op_of("pow").call(squares, factor=0.5)

    v = recorded_parameter(f"{name}_v", meta, initializer, options)
    g = recorded_parameter(f"{name}_g", Meta(sizes, meta.dtype), first_lengths, options)
    norm = op_of("pow").call(lengths_squared(v, dim), factor=0.5)
    scale = op_of("elementwise_div").call(g, norm)
    weight = op_of("elementwise_mul").call(v, scale)
    attr.params_with_weight_norm.append(weight)
    return weight


def lengths_squared(x: Any, dim: int | None) -> Any:
    """The sums of squares over all axes but `dim`, which stay with size 1."""
    axes = tuple([i for i in range(len(x.shape)) if i != dim])
    squares = op_of("pow").call(op_of("abs").call(x), factor=2.0)
    return op_of("reduce_sum").call(squares, axis=axes, keepdim=True)


def free_parameter(
    shape: Any,
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A parameter of no layer, as `paddle.create_parameter` makes it.

    Args:
        shape (list[int]): its sizes.
        dtype (str | DType): its element type.
        name (str, optional): its name, when `attr` is None; else what it is called after.
        attr (ParamAttr, optional): what else is said of it.
        is_bias (bool): whether its first value is that of biases.
        default_initializer (Initializer, optional): its first value where `attr` names none.

    Returns:
        Tensor: the parameter; a variable of the default main Program in static mode.

    Examples:
        >>> import scull as paddle
        >>> paddle.create_parameter([2], "float32", is_bias=True).tolist()
        [0.0, 0.0]
    """
    attr = ParamAttr(name=name) if attr is None else attr
    owner = session.unique_name("create_parameter") if name is None else name
    return create_parameter(owner, shape, attr, dtype, is_bias, default_initializer)
