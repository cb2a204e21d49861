"""One recording of a function: a Program for arguments of one description."""

from collections.abc import Callable
from typing import Any

from scull.core import session
from scull.core.interpreter import current, interpreting
from scull.core.tensor import Tensor
from scull.framework.core import _is_fwd_prim_enabled
from scull.incubate.autograd.parting import to_prim
from scull.ir.clone import copied, for_test
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.jit.capture import Capture, Captured
from scull.jit.piece import Piece
from scull.jit.signature import leaves, mapped
from scull.static.input import InputSpec
from scull.tensor.creation import assign


class ConcreteProgram:
    """The Program of a function for arguments of one description, and what it reads and returns.

    `inputs` are the arguments with variables for tensors, `outputs` what the function returned,
    `parameters` the Tensors it read besides.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        main_program: Program,
        startup_program: Program,
        inputs: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: Any,
        captured: Captured,
    ) -> None:
        self.function, self.main_program, self.startup_program = (
            function,
            main_program,
            startup_program,
        )
        self.inputs, self.kwargs, self.outputs, self.captured = inputs, kwargs, outputs, captured
        self.entries = variables_in([list(inputs), kwargs])
        self.parameters = list(captured.tensors.values())
        gradients = captured.gradients
        self.leaves = [captured.tensors[v] for v in gradients.totals]  # that gradients rest at
        self.trains = gradients.sent
        self.exits = [*variables_in(outputs), *gradients.totals.values()]

    @property
    def single(self) -> bool:
        """Whether it returns one tensor, and leaves no gradients."""
        return isinstance(self.outputs, Variable) and not self.leaves

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

    def returned(self, found: list[Tensor]) -> Any:
        """What the function returns, made of the results of a run."""
        if self.leaves:
            cleared = self.captured.gradients.cleared
            for leaf, g in zip(self.leaves, found[-len(self.leaves) :], strict=True):
                anew = leaf.grad is None or id(leaf) in cleared
                leaf.grad = g if anew else leaf.grad + g
        given = iter(found)
        return mapped(lambda v: next(given) if isinstance(v, Variable) else v, self.outputs)


def record(
    function: Callable[..., Any],
    converted: Callable[..., Any],
    args: list[Any],
    kwargs: dict[str, Any],
    names: list[str],
    first: tuple[Any, ...] = (),
    whole: bool = True,
) -> ConcreteProgram:
    """Call `converted` on variables in the place of each InputSpec, and record what it does.

    `names` are those of the parameters; `first` comes before `args`: the owner of a method. A
    function that has to be one Program as a `whole` gets no arrays of NumPy, but variables.
    """
    main, startup = Program(), Program()
    captured = Captured(main)
    mode = Capture(main, captured, lenient=whole)
    numbered = session.Names()
    guard = session.guarded(names=numbered, main=main, startup=startup)
    with guard, interpreting(current().over(mode)):
        given = [
            mapped(Entries(main, i, names[min(i, len(names) - 1)] if names else "input"), value)
            for i, value in enumerate(args)
        ]
        named = {n: mapped(Entries(main, n, n), v) for n, v in kwargs.items()}
        found = converted(*first, *given, **named)
        outputs = mapped(Exits(mode), found)
    return ConcreteProgram(function, main, startup, (*first, *given), named, outputs, captured)


class Exits:
    """Makes the variables of what a function returns: one for each place, for gradients come in
    for each."""

    def __init__(self, mode: Capture) -> None:
        self.mode, self.seen = mode, set[int]()

    def __call__(self, value: Any) -> Any:
        """The variable of a tensor; other values as they are."""
        found = self.mode.capture(value) if isinstance(value, Tensor) else value
        if not isinstance(found, Variable):
            return found
        if id(found) in self.seen:
            return assign(found)
        self.seen.add(id(found))
        return found


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


def variables_in(value: Any) -> list[Variable]:
    """The variables in nested containers, in order."""
    return [v for v in leaves(value) if isinstance(v, Variable)]
