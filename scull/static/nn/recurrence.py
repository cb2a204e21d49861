"""A network that runs once for every step of a sequence; it is recorded as a loop."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scull.errors import ArgumentError, ShapeError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.ops.create import fill_constant_batch_size_like
from scull.static.nn.block import Within
from scull.static.nn.loop import While, carry
from scull.static.nn.operand import checked
from scull.tensor.array import array_write, create_array, tensor_array_to_tensor
from scull.tensor.attribute import shape as sizes
from scull.tensor.creation import assign, full
from scull.tensor.elementwise import increment
from scull.tensor.join import gather
from scull.tensor.logic import less_than
from scull.tensor.manipulation import squeeze


class StaticRNN:
    """What is recorded in `step` runs once for every element of the first axis of its inputs.

    It becomes a `while`, which has gradients and may be unrolled where the length is known.

    Args:
        name (str, optional): of no effect.

    Examples:
        >>> import numpy as np
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [3, 2], "float32")
        ...     nothing, rnn = paddle.zeros([2]), paddle.static.nn.StaticRNN()
        ...     with rnn.step():
        ...         now = rnn.step_input(x)
        ...         before = rnn.memory(init=nothing)
        ...         total = before + now
        ...         rnn.update_memory(before, total)
        ...         rnn.step_output(total)
        ...     feed = {"x": np.ones([3, 2], "float32")}
        ...     print(paddle.static.Executor().run(feed=feed, fetch_list=[rnn()])[0].tolist())
        [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
        >>> paddle.disable_static()
    """

    def __init__(self, name: str | None = None) -> None:
        self.within: Within | None = None  # while the step is recorded
        self.length: Variable | None = None
        self.sequences: dict[Variable, Variable] = {}  # by what a step takes of them
        self.memories: dict[Variable, Variable | None] = {}  # what each becomes
        self.lists: list[Variable] = []  # of outputs
        self.outputs: list[Variable] | None = None  # when the step is recorded

    def step(self) -> "Step":
        """What is recorded within runs once for every step.

        Raises:
            ArgumentError: the step is recorded already, takes no input, gives no output, or does
                not say what a memory becomes.
        """
        if self.within is not None or self.outputs is not None:
            raise ArgumentError("the step of a StaticRNN is recorded once")
        return Step(self)

    def step_input(self, x: Any) -> Any:
        """The part of a sequence that a step takes.

        Args:
            x (Variable): of shape [length, ...]; all sequences have one length.

        Returns:
            Variable: of shape [...].

        Raises:
            ShapeError: the sequence has no axes, or another length than one before.
        """
        self._inside("step_input")
        checked(x, "x", "step_input of StaticRNN")
        if not x.ndim:
            raise ShapeError(f"a sequence has an axis of steps; `{x.name}` is {x.meta}")
        lengths = {v.shape[0] for v in (*self.sequences.values(), x)} - {-1}
        if len(lengths) > 1:
            raise ShapeError(f"`{x.name}` is {x.meta}; a sequence before it has another length")
        if self.length is None:
            with self._around():
                self.length = length_of(x)
                assign(less_than(self.number, self.length), self.holds)
        part = squeeze(gather(x, self.number, axis=0), axis=0)
        self.sequences[part] = x
        return part

    def memory(
        self,
        init: Any = None,
        shape: Any = None,
        batch_ref: Any = None,
        init_value: float = 0.0,
        init_batch_dim_idx: int = 0,
        ref_batch_dim_idx: int = 1,
    ) -> Any:
        """What a step remembers of the one before it.

        Args:
            init (Variable, optional): what the first step finds.
            shape (list[int], optional): without `init`, the shape of it; one size may be -1.
            batch_ref (Variable, optional): without `init`, an input that tells that size. What a
                step takes of a sequence stands for the whole sequence.
            init_value (float): without `init`, the number in it.
            init_batch_dim_idx (int): the axis of `shape` whose size is that
            ref_batch_dim_idx (int): of this axis of `batch_ref`.

        Returns:
            Variable: of the shape of `init`.

        Raises:
            ArgumentError: there is neither `init` nor both of `shape` and `batch_ref`, or `init` is
                made within the step.
        """
        self._inside("memory")
        if init is None and (shape is None or batch_ref is None):
            raise ArgumentError("a memory takes `init`, or both `shape` and `batch_ref`")
        with self._around():
            if init is None:
                checked(batch_ref, "batch_ref", "memory of StaticRNN")
                init = fill_constant_batch_size_like(
                    self.sequences.get(batch_ref, batch_ref),
                    shape=tuple(shape),
                    input_dim_idx=ref_batch_dim_idx,
                    output_dim_idx=init_batch_dim_idx,
                    dtype=batch_ref.dtype,
                    value=float(init_value),
                )
            checked(init, "init", "memory of StaticRNN")
            if init.block not in main_program().current_block().lineage():
                law = f"`{init.name}` has a value within the step alone"
                raise ArgumentError(f"{law}: make what the first step finds before the step")
            held = assign(init)
            held.stop_gradient = not (held.dtype.is_float or held.dtype.is_complex)
        self.memories[held] = None
        return held

    def update_memory(self, mem: Any, var: Any) -> None:
        """Let the next step find `var` in a memory.

        Args:
            mem (Variable): the memory.
            var (Variable): what it becomes, of the same shape.

        Raises:
            ArgumentError: `mem` is no memory of this network.
        """
        self._inside("update_memory")
        checked(mem, "mem", "update_memory of StaticRNN")
        checked(var, "var", "update_memory of StaticRNN")
        if mem not in self.memories:
            raise ArgumentError(f"`{mem.name}` is no memory of this StaticRNN")
        self.memories[mem] = var

    def step_output(self, o: Any) -> None:
        """Collect a value of every step.

        Args:
            o (Variable): of shape [...].
        """
        self._inside("step_output")
        checked(o, "o", "step_output of StaticRNN")
        with self._around():
            found = create_array(o.dtype)
        array_write(o, self.number, found)
        self.lists.append(found)

    def output(self, *outputs: Any) -> None:
        """Collect several values of every step.

        Args:
            *outputs (Variable): each of shape [...].
        """
        for o in outputs:
            self.step_output(o)

    def __call__(self) -> Any:
        """What was collected.

        Returns:
            Variable | list[Variable]: of shape [length, ...]; a list where there are several.

        Raises:
            ArgumentError: the step is not recorded yet.
        """
        if self.outputs is None:
            raise ArgumentError("the step of a StaticRNN is recorded before its outputs are read")
        return self.outputs[0] if len(self.outputs) == 1 else self.outputs

    def _inside(self, name: str) -> None:
        """Refuse what belongs into the step elsewhere."""
        if self.within is None:
            raise ArgumentError(f"`{name}` of a StaticRNN is called within its step")

    @contextmanager
    def _around(self) -> Iterator[None]:
        """Record before the loop."""
        assert self.within is not None
        program = main_program()
        here = program.current_block_idx
        program.current_block_idx = self.within.before.idx
        try:
            yield
        finally:
            program.current_block_idx = here


class Step:
    """The block of a network, while it is recorded."""

    def __init__(self, network: StaticRNN) -> None:
        self.network = network

    def __enter__(self) -> None:
        rnn = self.network
        rnn.number, rnn.holds = full([1], 0, "int64"), full([1], True, "bool")
        rnn.within = Within(While(rnn.holds).complete)
        rnn.within.__enter__()

    def __exit__(self, kind: Any, *error: Any) -> None:
        rnn = self.network
        within, rnn.within = rnn.within, None
        assert within is not None
        if kind is not None:
            within.__exit__(kind, *error)
            return
        try:
            self.hand_on()
        except ArgumentError as law:
            within.__exit__(type(law), law, None)
            raise
        within.__exit__(None, None, None)
        rnn.outputs = [tensor_array_to_tensor(v, axis=0, use_stack=True)[0] for v in rnn.lists]

    def hand_on(self) -> None:
        """Hand what a step leaves to the next."""
        rnn = self.network
        if rnn.length is None:
            raise ArgumentError("the step of a StaticRNN takes no input")
        if not rnn.lists:
            raise ArgumentError("the step of a StaticRNN gives no output")
        idle = [held.name for held, found in rnn.memories.items() if found is None]
        if idle:
            raise ArgumentError(f"the step of a StaticRNN does not update memory `{idle[0]}`")
        carry(list(rnn.memories.values()), list(rnn.memories))
        increment(rnn.number)
        assign(less_than(rnn.number, rnn.length), rnn.holds)


def length_of(x: Variable) -> Variable:
    """How many steps a sequence has."""
    if x.shape[0] >= 0:
        return full([1], x.shape[0], "int64")  # type: ignore[no-any-return]
    return sizes(x)[:1].astype("int64")  # type: ignore[no-any-return]
