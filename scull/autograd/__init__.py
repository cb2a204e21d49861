"""Derivatives: the gradient of an operator, the tape of eager mode, append_backward of Programs."""

from scull.autograd.interface import (
    backward,
    enable_grad,
    grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    tape_text,
)
from scull.autograd.layer import PyLayer, PyLayerContext

__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
    "tape_text",
]
