"""A method of a loaded model: a Program and the Tensors of its values, called like a function."""

from typing import Any

import numpy as np

from scull.autograd.interface import no_grad
from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError, DtypeError, ScullError, ShapeError, located
from scull.ir.variable import Variable
from scull.jit.inlining import inlined
from scull.jit.opened import Opened, loosened, told, training
from scull.jit.piece import Piece, Stale
from scull.nn.layer.attribute import changes
from scull.static.input import InputSpec

MOST = 64  # Pieces of one method, for different sizes


class Method:
    """What one method of a loaded model computes.

    `names` are the values it reads, as the layer calls them, by the names of their variables.
    """

    def __init__(self, name: str, program: Opened, names: dict[str, str]) -> None:
        self.name, self.testing, self.names = name, program, names
        self.takes = [(v.name, v.dtype, v.shape) for v in program.entries()]
        self.for_training: Opened | None = None
        self.pieces: dict[Any, Piece] = {}
        self.seen = -1  # how often layers had changed when `pieces` were last right

    def __deepcopy__(self, memo: dict[int, Any]) -> "Method":
        return Method(self.name, self.testing, self.names)

    def program(self, trains: bool) -> Opened:
        """The Program for testing or for training."""
        if not trains:
            return self.testing
        if self.for_training is None:
            self.for_training = self.testing.on(training(self.testing.program))
        return self.for_training

    def specs(self, outputs: bool = False) -> list[InputSpec]:
        """What it is given, or what it gives."""
        variables = self.testing.exits() if outputs else self.testing.entries()
        return [InputSpec(list(v.shape), v.dtype, v.name) for v in variables]

    def __call__(self, layer: Any, inputs: tuple[Any, ...]) -> Any:
        mode = current()
        if not mode.eager:
            found = self.recorded(mode, layer, inputs)
        else:
            tensors = self.checked(inputs)
            if layer.training:
                found = self.run(layer, tensors)
            else:
                with no_grad():
                    found = self.run(layer, tensors)
        return found[0] if len(found) == 1 else found

    # ---- running ----

    def run(self, layer: Any, tensors: list[Tensor]) -> list[Any]:
        """The results for `tensors`."""
        if self.seen != changes[0]:
            seen, held = changes[0], self.held(layer)
            self.pieces = {
                key: piece
                for key, piece in list(self.pieces.items())
                if all(piece.captured[name] is tensor for name, tensor in held.items())
            }
            self.seen = seen
        pieces = self.pieces  # another thread that sees a change puts others in their place
        shapes = self.other_shapes(tensors)
        key = (layer.training, shapes)
        piece = pieces.get(key)
        if piece is None:
            piece = self.made(layer, shapes)
            if len(pieces) >= MOST:
                pieces.clear()
            pieces[key] = piece
        try:
            return piece(tensors)
        except Stale:
            pieces.pop(key, None)
            return self.run(layer, tensors)
        except ScullError as error:
            raise self.explained(error, shapes) from None

    def held(self, layer: Any) -> dict[str, Tensor]:
        """The Tensors it reads, by the names of their variables."""
        found = {}
        for name, own in self.names.items():
            tensor = layer._parameters.get(own)
            found[name] = layer._buffers.get(own) if tensor is None else tensor
        return found

    def other_shapes(self, tensors: list[Tensor]) -> tuple[tuple[int, ...], ...]:
        """The shapes of the inputs, when they are not as declared: what differs is unknown."""
        for (_, _, shape), tensor in zip(self.takes, tensors, strict=True):
            for n, m in zip(shape, tensor.array.shape, strict=True):
                if n not in (-1, m):
                    return self.loose(tensors)
        return ()

    def loose(self, tensors: list[Tensor]) -> tuple[tuple[int, ...], ...]:
        """The declared shapes, unknown where those of `tensors` differ."""
        return tuple(
            tuple(n if n == m else -1 for n, m in zip(shape, tensor.array.shape, strict=True))
            for (_, _, shape), tensor in zip(self.takes, tensors, strict=True)
        )

    def made(self, layer: Any, shapes: tuple[tuple[int, ...], ...]) -> Piece:
        """The Program as a function of Tensors."""
        method, held = self.program(layer.training), self.held(layer)
        program = told(method.program, held)
        if shapes:
            try:
                program = loosened(program, dict(zip(method.inputs, shapes, strict=True)))
            except ScullError as error:
                raise self.explained(error, shapes) from None
        method = method.on(program)
        block = program.global_block()
        captured = {block.vars[name]: tensor for name, tensor in held.items()}
        return Piece(self.name, program, method.entries(), method.exits(), captured)

    def explained(self, error: Exception, shapes: Any) -> Exception:
        """`error`, which says what was expected when other `shapes` came."""
        return located(error, f"  in {self.signature()}, given other sizes") if shapes else error

    # ---- recording ----

    def recorded(self, mode: Any, layer: Any, inputs: tuple[Any, ...]) -> list[Any]:
        """The results as variables of the Program that is being recorded."""
        method, held = self.program(layer.training), self.held(layer)
        self.refuse_count(inputs)
        given = [mode.capture(x) if isinstance(x, Tensor) else x for x in inputs]
        for x in given:
            if not isinstance(x, Variable):
                raise ArgumentTypeError(f"{self.signature()} takes tensors, not {type(x).__name__}")
        known = dict(zip(method.entries(), given, strict=True))
        block = method.program.global_block()
        known |= {block.vars[name]: mode.capture(tensor) for name, tensor in held.items()}
        return inlined(mode, method.program, known, method.exits())

    # ---- what it is called with ----

    def signature(self) -> str:
        """The method with what it takes, for messages."""
        takes = ", ".join(f"{v.name}: {v.meta}" for v in self.testing.entries())
        return f"`{self.name}` of the loaded model ({takes})"

    def refuse_count(self, inputs: tuple[Any, ...]) -> None:
        """Refuse another number of inputs."""
        count = len(self.takes)
        if len(inputs) != count:
            raise ArgumentTypeError(
                f"{self.signature()} takes {count} tensor{'s' * (count != 1)}, and {len(inputs)} "
                f"{'was' if len(inputs) == 1 else 'were'} given"
            )

    def checked(self, inputs: tuple[Any, ...]) -> list[Tensor]:
        """The inputs as Tensors of the element types and numbers of axes that it takes."""
        self.refuse_count(inputs)
        tensors = []
        for (name, dtype, shape), x in zip(self.takes, inputs, strict=True):
            if isinstance(x, np.ndarray):
                x = Tensor(x)
            if not isinstance(x, Tensor):
                raise ArgumentTypeError(
                    "The type of input in TranslatedLayer must be numpy array or Tensor, but "
                    f"received {type(x).__name__} for `{name}` of {self.signature()}"
                )
            if x.dtype is not dtype:
                raise DtypeError(
                    f"`{name}` is of {dtype.name}, and {x.dtype.name} was given: cast it. "
                    f"{self.signature()}"
                )
            if len(x.array.shape) != len(shape):
                raise ShapeError(
                    f"`{name}` has {len(shape)} axes, and {list(x.array.shape)} was given. "
                    f"{self.signature()}"
                )
            tensors.append(x)
        return tensors
