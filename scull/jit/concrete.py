"""One recording of a function: a Program for arguments of one description."""

from collections.abc import Callable, Iterable
from typing import Any

from scull.core import session
from scull.core.interpreter import current, interpreting
from scull.core.tensor import Tensor
from scull.errors import UnsupportedError, located
from scull.framework.core import _is_fwd_prim_enabled
from scull.incubate.autograd.parting import to_prim
from scull.ir.clone import copied, for_test
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.jit.capture import Capture, Captured
from scull.jit.convert.run.journal import watched
from scull.jit.convert.run.raising import Unwinding
from scull.jit.convert.run.reads import Key, reads
from scull.jit.exits import Exits, Held, variables_in
from scull.jit.left import left_behind, restored
from scull.jit.piece import Piece
from scull.jit.signature import Given, leaves, mapped
from scull.static.input import InputSpec


class ConcreteProgram:
    """The Program of a function for arguments of one description, and what it reads and returns.

    `inputs` are the arguments with variables for tensors, `entries` these, `result` what the
    function returned, `left` what it wrote elsewhere, `parameters` the Tensors it read besides.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        main_program: Program,
        startup_program: Program,
        inputs: tuple[Any, ...],
        kwargs: dict[str, Any],
        entries: list[Variable],
        result: Any,
        left: list[Any],
        captured: Captured,
    ) -> None:
        self.function, self.main_program, self.startup_program = (
            function,
            main_program,
            startup_program,
        )
        self.inputs, self.kwargs, self.result, self.captured = inputs, kwargs, result, captured
        self.entries, self.left = entries, left
        self.parameters = list(captured.tensors.values())
        gradients = captured.gradients
        self.leaves = [captured.tensors[v] for v in gradients.totals]  # that gradients rest at
        self.trains = gradients.sent
        self.read: set[Key] = set()  # attributes that it read before it wrote them
        written = [v for place in left for v in place.variables()]
        self.exits = [*variables_in(result), *written, *gradients.totals.values()]

    @property
    def outputs(self) -> Any:
        """What the function returned, one value in a list."""
        several = isinstance(self.result, tuple | list) and len(self.result) != 1
        return self.result if several or self.result is None else [self.result]

    @property
    def single(self) -> bool:
        """Whether it returns one tensor, and leaves nothing else."""
        return isinstance(self.result, Variable) and not (self.leaves or self.left)

    def piece(self, name: str, training: bool) -> Piece:
        """The Program as a function of Tensors; operators that tell testing from training test,
        when it is not for training."""
        program = self.main_program if training else for_test(self.main_program)
        if _is_fwd_prim_enabled():
            program = copied(program)
            to_prim(program.blocks)
        block = program.global_block()
        entries, exits = ([block.find(v.name) for v in vs] for vs in (self.entries, self.exits))
        tensors = {block.find(v.name): t for v, t in self.captured.tensors.items()}
        made = Piece(name, program, entries, exits, tensors)
        made.closed = self.trains
        gradients = self.captured.gradients
        made.updated = [t for i, t in gradients.updated.items() if i not in gradients.early]
        return made

    def returned(self, found: list[Tensor], given: Given | None = None) -> Any:
        """What the function returns, made of the results of a run.

        The arguments `given` are asked for where it leaves something behind.
        """
        if self.leaves:
            cleared = self.captured.gradients.cleared
            for leaf, g in zip(self.leaves, found[-len(self.leaves) :], strict=True):
                anew = leaf.grad is None or id(leaf) in cleared
                leaf.grad = g if anew else leaf.grad + g
        results = iter(found)

        def filled(value: Any) -> Any:
            if isinstance(value, Held):
                return value.value(next(results))
            return next(results) if isinstance(value, Variable) else value

        returned = mapped(filled, self.result)
        for place in self.left:
            place.write(filled, given)
        return returned


def record(
    function: Callable[..., Any],
    converted: Callable[..., Any],
    args: list[Any],
    kwargs: dict[str, Any],
    names: list[str],
    first: tuple[Any, ...] = (),
    whole: bool = True,
    read: Iterable[Key] = (),
) -> ConcreteProgram:
    """Call `converted` on variables in the place of each InputSpec, and record what it does.

    `names` are those of the parameters; `first` comes before `args`: the owner of a method. A
    function that has to be one Program as a `whole` gets no arrays of NumPy, but variables. What
    other recordings have `read` of layers counts as read.
    """
    main, startup = Program(), Program()
    captured = Captured(main)
    mode = Capture(main, captured, lenient=whole)
    numbered = session.Names()
    guard = session.guarded(names=numbered, main=main, startup=startup)
    undone: list[Any] = []
    reads.first = set(read)
    with watched() as written:
        try:
            with guard, interpreting(current().over(mode)):
                given = described(main, args, kwargs, names)
                entries = variables_in(given)
                found = converted(*first, *given[0], **given[1])
                exits = Exits(mode)
                outputs = mapped(exits, found)
                roots = [function, *first, *leaves([args, kwargs])]
                left, undone = left_behind(list(written.values()), roots, given, whole)
                left = [p.through(exits) for p in (*left, *captured.gradients.later)]
        except BaseException as error:
            undone = list(written.values())
            if isinstance(error, Unwinding):
                raise error.error from None
            raise
        finally:
            restored(undone)
    refuse_strays(main, captured)
    inputs = (*first, *given[0])
    made = ConcreteProgram(
        function, main, startup, inputs, given[1], entries, outputs, left, captured
    )
    made.read = reads.first
    return made


def described(program: Program, args: list[Any], kwargs: dict[str, Any], names: list[str]) -> Given:
    """The arguments with a variable of `program` in the place of each InputSpec."""
    given = [
        mapped(Entries(program, i, names[min(i, len(names) - 1)] if names else "input"), value)
        for i, value in enumerate(args)
    ]
    return given, {n: mapped(Entries(program, n, n), v) for n, v in kwargs.items()}


def refuse_strays(program: Program, captured: Captured) -> None:
    """Refuse to read what has no value: parameters made within, what a block around lacks."""
    held = set(map(id, captured.tensors))
    for block in program.blocks:
        around = set(map(id, block.lineage()))
        for o in block.ops:
            for v in o.operands():
                law = ""
                if v.persistable and id(v) not in held:
                    law = f"`{v.name}` is made while the function is recorded: make it before"
                elif id(v.block) not in around:
                    law = (
                        f"`{v.name}` is computed in a branch or a loop on a Tensor and read "
                        "outside it: what kept it there is no converted code"
                    )
                if law:
                    raise located(UnsupportedError(law), f"in {o.type}\n  at {o.line}")


class Entries:
    """Makes the variables of one argument."""

    def __init__(self, program: Program, place: Any, name: str) -> None:
        self.program, self.place, self.name, self.count = program, place, name, 0

    def __call__(self, value: Any) -> Any:
        """The variable that an InputSpec describes; other values as they are."""
        if not isinstance(value, InputSpec):
            return value
        name = value.name or f"_jst.{self.place}.{self.name}.{self.count}"
        self.count += 1
        block = self.program.global_block()
        while name in block.vars:
            name = session.unique_name(name)
        shape, dtype = list(value.shape), value.dtype
        made = block.create_var(
            name=name, shape=shape, dtype=dtype, is_data=True, stop_gradient=value.stop_gradient
        )
        return made
