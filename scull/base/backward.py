"""Gradients of Programs under their older names."""

from scull.core.dtype import float32
from scull.core.meta import Meta
from scull.ir.block import Block
from scull.static.backward import (
    _append_grad_suffix_,
    _as_list,
    append_backward,
    calc_gradient,
    gradients,
)


def _infer_var_data_type_shape_(grad_var_name: str, block: Block) -> None:
    """Give a gradient the shape and element type of what it is the gradient of."""
    made, of = block.var(grad_var_name), block.find(grad_var_name.removesuffix("@GRAD"))
    made.meta = Meta(made.meta.shape, float32) if of is None else of.meta


__all__ = ["_append_grad_suffix_", "_as_list", "append_backward", "calc_gradient", "gradients"]
