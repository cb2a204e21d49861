"""In which element types the operators of a Program compute."""

from scull.errors import ArgumentTypeError
from scull.ir.calls import counts_of, table
from scull.ir.program import Program, main_program


def collect_operator_stats(program: Program | None = None, print_subblocks: bool = False) -> None:
    """Print how many operators a Program has of each name in float16, bfloat16, float32 and others.

    An operator counts for the first of these types among its inputs, or its results where it has no
    inputs.

    Args:
        program (Program, optional): the default main Program when None.
        print_subblocks (bool): whether each block has a table of its own before that of all.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.tanh(paddle.static.data("x", [2], "float32"))
        >>> paddle.static.amp.debugging.collect_operator_stats(main)  # doctest: +ELLIPSIS
        <----...
          tanh                                    |  0                |  0                |  1 ...
        <BLANKLINE>
        >>> paddle.disable_static()
    """
    program = main_program() if program is None else program
    if not isinstance(program, Program):
        raise ArgumentTypeError(f"`program` is a Program, not a {type(program).__name__}")
    groups = [("all blocks", program.blocks)]
    if print_subblocks:
        groups = [(f"block {block.idx}", [block]) for block in program.blocks] + groups
    for name, blocks in groups:
        title = f" op list of {name} "
        print(f"<{title:-^120}>", table(counts_of(blocks)), sep="\n")


__all__ = ["collect_operator_stats"]
