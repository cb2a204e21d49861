"""Derivatives: the gradient of an operator, the tape of eager mode, append_backward of Programs."""

import importlib
from typing import Any

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
from scull.autograd.saving import saved_tensors_hooks

__all__ = [
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
    "tape_text",
]


def __getattr__(name: str) -> Any:
    if name not in ("hessian", "jacobian"):
        raise AttributeError(f"module 'scull.autograd' has no attribute {name!r}")
    value = getattr(importlib.import_module("scull.autograd.matrix"), name)
    globals()[name] = value
    return value
