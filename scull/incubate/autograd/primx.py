"""Primitive operators, of which Programs hold none."""

from typing import Any

from scull.errors import ArgumentTypeError
from scull.ir.block import Block


def prim2orig(block: Any = None, blacklist: Any = None) -> None:
    """Lower the primitive operators of a block; there are none, as every operator has derivatives.

    Args:
        block (Block, optional): the block; that of the main Program when None.
        blacklist (list, optional): what is not lowered.
    """
    if block is not None and not isinstance(block, Block):
        raise ArgumentTypeError(f"prim2orig takes a Block, not a {type(block).__name__}")
