"""Recording a function: Tensors that it reads beside its inputs become variables too."""

from typing import Any

from numpy import ndarray

from scull.autograd.layer import PyLayerContext
from scull.core import session
from scull.core.op import Op
from scull.core.tensor import Leaf, Parameter, Rows, Tensor
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.block import Block
from scull.ir.operator import Operator, each
from scull.ir.program import Program
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable
from scull.jit.convert.run.journal import journal
from scull.jit.convert.run.raising import Raising
from scull.jit.convert.run.reads import reads
from scull.jit.signature import leaves, mapped
from scull.jit.step import Gradients
from scull.static.nn.static_pylayer import static_pylayer
from scull.tensor.creation import assign

SIGNS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "power": ("__pow__", "__rpow__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
    "less_than": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater_than": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "negative": ("__neg__",),
}  # operators of Python with a number on the right, and on the left
SAID = ("optimize_attr", "regularizer", "do_model_average", "need_clip")  # of a parameter


class Captured:
    """The Tensors that a recorded function reads beside its inputs, and their variables."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.tensors: dict[Variable, Tensor] = {}
        self.variables: dict[int, Variable] = {}  # by the id of a Tensor that is kept above
        self.latest: dict[int, Variable] = {}  # what buffers were rewritten with, for gradients
        self.rewritten: set[int] = set()  # the ids of Tensors that the Program changes
        self.gradients = Gradients(self)
        self.raises: list[Raising] = []  # what a run may raise

    def variable(self, tensor: Tensor) -> Variable:
        """The variable that stands for `tensor`, made when it is first met."""
        found = self.variables.get(id(tensor))
        if found is None:
            found = self.variables[id(tensor)] = self.made(tensor)
            self.tensors[found] = tensor
        return found

    def made(self, tensor: Tensor) -> Variable:
        """A new persistable variable with the name and the meta of `tensor`."""
        if type(tensor.array) is Rows:
            raise UnsupportedError(f"`{tensor.name}` holds some rows of a matrix; make it dense")
        block, name = self.program.global_block(), tensor.name
        while name in block.vars:
            name = session.unique_name(tensor.name)
        silent = tensor.stop_gradient
        if isinstance(tensor, Parameter):
            said = {word: getattr(tensor, word) for word in SAID if hasattr(tensor, word)}
            return block.parameter(name, tensor.meta, trainable=not silent, **said)
        return block.variable(name, tensor.meta, persistable=True, stop_gradient=silent)


class Capture(Recorder):
    """Records what a function does into the current block of a Program."""

    captures = True

    def __init__(
        self, program: Program, captured: Captured, record: bool = True, lenient: bool = False
    ) -> None:
        super().__init__()
        self.program, self.captured_tensors, self.record = program, captured, record
        self.lenient = lenient  # whether `x.numpy()` is `x`, as Paddle has it

    @property
    def block(self) -> Block:
        return self.program.current_block()

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Record an operator; an array among its operands stays as it is now.

        A Tensor beside a number is spelt as a variable is: `w * 2` is a `scale`.
        """
        held = [type(x) is ndarray and x.ndim > 0 for x in inputs]
        if any(held):
            pairs = zip(inputs, held, strict=True)
            inputs = tuple([self.capture(Tensor(x.copy())) if is_ else x for x, is_ in pairs])
        if attrs.get("axis", -1) == -1 and not attrs.get("name"):
            sides = zip(SIGNS.get(op.name, ()), inputs, (inputs[1:], inputs[:1]), strict=False)
            for sign, x, others in sides:
                if isinstance(x, Tensor) and all(isinstance(n, int | float) for n in others):
                    return getattr(self.capture(x), sign)(*others)
        return super().apply(op, inputs, attrs)

    def capture(self, tensor: Tensor) -> Variable:
        latest = self.captured_tensors.latest.get(id(tensor))
        return self.captured_tensors.variable(tensor) if latest is None else latest

    def rewrite(self, buffer: Tensor, value: Variable) -> None:
        """Let a buffer be `value` from here on; gradients reach what `value` was computed of."""
        if type(buffer.node) is not Leaf:
            buffer.node = None  # each run computes it anew
        self.write(buffer, value)
        if not value.stop_gradient and self.record and value.block is self.program.global_block():
            self.captured_tensors.latest[id(buffer)] = value

    def overwrite(self, tensor: Tensor, value: Any) -> None:
        """Let `tensor` have the elements of `value` from here on, whenever the Program runs."""
        found = value if isinstance(value, Variable) else assign(value)
        if found.dtype is not tensor.dtype or not fits(found.shape, tensor.shape):
            raise ArgumentError(
                f"`{tensor.name}` is {tensor.meta} and cannot take the elements of {found.meta}"
            )
        self.write(tensor, found)

    def write(self, tensor: Tensor, value: Variable) -> None:
        """Record that `tensor` is overwritten."""
        held = self.captured_tensors.variable(tensor)
        for block in self.program.blocks:
            keep_before(block, held)
        self.captured_tensors.rewritten.add(id(tensor))
        self.captured_tensors.latest.pop(id(tensor), None)
        with self.into(held):
            assign(value)

    def replaces(self, layer: Any, name: str, buffer: Tensor) -> bool:
        """Whether an assignment puts another tensor there, since nothing has read `buffer`.

        It must be one of converted code, which has told of it.
        """
        key = id(layer), name
        told = any(key in written for written in journal.open)
        if not told or name not in layer._non_persistable_buffer_names_set:
            return False
        return key not in reads.first and id(buffer) not in self.captured_tensors.variables

    def knows(self, tensor: Tensor) -> bool:
        """Whether the value that `tensor` has now is the one it has here in every run."""
        return self.lenient and id(tensor) not in self.captured_tensors.rewritten

    @property
    def raises(self) -> list[Raising]:
        """What the user's own code raises when the Program runs."""
        return self.captured_tensors.raises

    @property
    def gradients(self) -> Gradients:
        """The gradients that `backward` sent to captured Tensors."""
        return self.captured_tensors.gradients

    def recording(self, record: bool) -> "Capture":
        """The interpreter within `no_grad`, or within `enable_grad` inside it."""
        return Capture(self.program, self.captured_tensors, record, self.lenient)

    def rewritten(self, x: Any, found: Any) -> Variable:
        """The variable of `x`, into which the result `found` is written."""
        held: Variable = self.capture(x) if isinstance(x, Tensor) else x
        with self.into(held):
            assign(found)
        held.meta = found.meta
        held.stop_gradient = held.stop_gradient and found.stop_gradient
        return held

    def applied(self, layer: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What a PyLayer computes, recorded; its `backward` records the gradients."""
        context = PyLayerContext()
        given = [
            self.capture(v) if isinstance(v, Tensor) else v
            for v in leaves([arguments, options])
            if isinstance(v, Tensor | Variable)
        ]

        def forward(*variables: Any) -> Any:
            place = iter(variables)

            def filled(v: Any) -> Any:
                return next(place) if isinstance(v, Tensor | Variable) else v

            args, named = mapped(filled, list(arguments)), mapped(filled, options)
            return layer.forward(context, *args, **named)

        return static_pylayer(forward, given, lambda *douts: layer.backward(context, *douts))

    def append(
        self, op: Op, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> Operator:
        """Append one operator; within `no_grad` its results stop gradients."""
        if not self.record:
            for v in (v for slot in outputs for v in each(slot)):
                v.stop_gradient = v.stop_gradient or not v.persistable
        return super().append(op, inputs, outputs, attrs)


def keep_before(block: Block, held: Variable) -> None:
    """Let what was recorded of a variable read a copy: gradients are computed when it is another.

    Those operators of a block are meant that follow the last one which writes it.
    """
    readers: list[Operator] = []
    for o in block.ops:
        if any(v is held for v in o.results()):
            readers.clear()
        elif not o.op.has_blocks and any(v is held for v in o.operands()):
            readers.append(o)
    readers = [o for o in readers if not all(v.stop_gradient for v in o.results())]
    if not readers:
        return
    place = block.ops.index(readers[0])
    copy = block.variable(
        session.unique_name(held.name), held.meta, stop_gradient=held.stop_gradient
    )
    block._insert_op(place, "assign", {"X": held}, {"Out": copy})
    copy.stop_gradient = held.stop_gradient
    for o in readers:
        o.replace(held, copy, inputs=True, outputs=False)


def fits(shape: Any, sizes: Any) -> bool:
    """Whether a shape, of which sizes may be unknown, can be `sizes`."""
    return len(shape) == len(sizes) and all(
        int(m) in (-1, n) for m, n in zip(shape, sizes, strict=True)
    )
