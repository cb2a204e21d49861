"""Gradients of Programs under their older names."""

from scull.static.backward import (
    _append_grad_suffix_,
    _as_list,
    append_backward,
    calc_gradient,
    gradients,
)

__all__ = ["_append_grad_suffix_", "_as_list", "append_backward", "calc_gradient", "gradients"]
