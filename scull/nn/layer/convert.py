"""Layers in another element type or place."""

from typing import Any

from scull.core.dtype import BY_NAME, DType, bfloat16, dtype_of, float16, float32
from scull.core.place import Place
from scull.errors import ArgumentError, ArgumentTypeError

NAMES = (
    "'bfloat16', 'float16', 'float32', 'float64', 'int8', 'int16', 'int32', 'int64', 'uint8', "
    "'complex64', 'complex128', 'bool', or paddle.dtype, numpy.dtype"
)


def to(self: Any, device: Any = None, dtype: Any = None, blocking: bool | None = None) -> Any:
    """Move and cast all parameters and buffers of a layer, those of its sublayers too.

    Args:
        device (str | Place, optional): where to; only the cpu exists so far.
        dtype (str | DType, optional): the element type.
        blocking (bool, optional): not used.

    Returns:
        Layer: the layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Linear(2, 3).to(dtype="float64").weight.dtype
        paddle.float64
    """
    if blocking is not None and not isinstance(blocking, bool):
        raise AssertionError("blocking value error, must be the True, False or None")
    if not isinstance(device, str | Place | None):
        raise ArgumentError(f"device value error, must be a name or a place, not {device!r}")
    for layer in self.sublayers(include_self=True):
        for tensor in tensors_of(layer):
            move(tensor, device, None if dtype is None else dtype_of(dtype))
        if dtype is not None:
            layer._dtype = dtype
    return self


def move(tensor: Any, device: Any, dtype: DType | None) -> None:
    """Move and cast one tensor; it stays the same object."""
    if device is not None:
        tensor.array = tensor.to(device).array
    if dtype is not None and tensor.array.dtype != dtype.array:
        tensor.array = tensor.array.astype(dtype.array)
        if tensor.node is not None:
            tensor.node.grad = None


def astype(self: Any, dtype: Any = None) -> Any:
    """Cast all parameters and buffers of a layer to `dtype`.

    Args:
        dtype (str | DType): the element type.

    Returns:
        Layer: the layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Linear(2, 3).astype("float64").bias.dtype
        paddle.float64
    """
    if isinstance(dtype, str) and dtype not in BY_NAME:
        raise ArgumentError(f"dtype value error, must be {NAMES}, but recieve {dtype}")
    return to(self, dtype=dtype_of(dtype))


def to_float32(self: Any, excluded_layers: Any = None) -> Any:
    """Cast all floating-point parameters and buffers to float32.

    Args:
        excluded_layers (type | list[type], optional): kinds of layers that stay as they are.

    Returns:
        Layer: the layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Linear(2, 3).bfloat16().float().weight.dtype
        paddle.float32
    """
    return cast_floats(self, float32, excluded_layers)


def to_float16(self: Any, excluded_layers: Any = None) -> Any:
    """Cast all floating-point parameters and buffers to float16.

    Args:
        excluded_layers (type | list[type], optional): kinds of layers that stay as they are.

    Returns:
        Layer: the layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Linear(2, 3).float16().weight.dtype
        paddle.float16
    """
    return cast_floats(self, float16, excluded_layers)


def to_bfloat16(self: Any, excluded_layers: Any = None) -> Any:
    """Cast all floating-point parameters and buffers to bfloat16.

    Args:
        excluded_layers (type | list[type], optional): kinds of layers that stay as they are.

    Returns:
        Layer: the layer.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Linear(2, 3).bfloat16().weight.dtype
        paddle.bfloat16
    """
    return cast_floats(self, bfloat16, excluded_layers)


def cast_floats(self: Any, dtype: DType, excluded_layers: Any) -> Any:
    """Cast what is of floating-point elements, in layers of all kinds but those excluded."""
    excluded = [excluded_layers] if isinstance(excluded_layers, type) else excluded_layers or []
    if not isinstance(excluded, list | tuple):
        raise ArgumentTypeError(
            "excluded_layers should be type nn.Layer or list, "
            f"but got {type(excluded_layers).__name__}."
        )
    for layer in self.sublayers(include_self=True):
        if not isinstance(layer, tuple(excluded)):
            for tensor in tensors_of(layer):
                if tensor.dtype.is_float:
                    move(tensor, None, dtype)
            layer._dtype = dtype
    return self


def tensors_of(layer: Any) -> list[Any]:
    """The parameters and buffers of one layer, without its sublayers."""
    return [t for t in (*layer._parameters.values(), *layer._buffers.values()) if t is not None]
