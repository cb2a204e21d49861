"""The operator set: every operator with all its rules, a family a module.

A family loads when one of its operators is first used; looking one up by its type loads them all.
"""

from functools import cache

import scull.autograd.gradient  # noqa: F401  makes the gradient operators that rules attach to
from scull.core.op import Op
from scull.deferred import load_all
from scull.ops import method, static_method  # noqa: F401  give tensors the operators of Python


@cache
def declare_all() -> None:
    """Declare every operator there is."""
    load_all(__name__)


Op.declare_all = staticmethod(declare_all)
