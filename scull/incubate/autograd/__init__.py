"""Derivatives of functions: products with their Jacobians, and the matrices themselves."""

from scull.incubate.autograd.functional import Hessian, Jacobian, jvp, vjp
from scull.incubate.autograd.primapi import forward_grad, grad
from scull.incubate.autograd.primx import prim2orig
from scull.incubate.autograd.utils import disable_prim, enable_prim, prim_enabled

__all__ = [
    "Hessian",
    "Jacobian",
    "disable_prim",
    "enable_prim",
    "forward_grad",
    "grad",
    "jvp",
    "prim2orig",
    "prim_enabled",
    "vjp",
]
