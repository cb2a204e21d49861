"""Eager mode under its older names."""
# ruff: noqa: F401  what a door shows, it imports

from scull.base.dygraph import base
from scull.base.dygraph.base import (
    disable_dygraph,
    enable_dygraph,
    enabled,
    grad,
    guard,
    no_grad,
    no_grad_,
    to_variable,
)
from scull.base.framework import Tracer
