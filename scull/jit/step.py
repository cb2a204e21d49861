"""Training within a recorded function: `backward`, `grad`, and updates as operators."""

from typing import Any

import numpy as np

from scull.autograd.program import append_backward, gradients
from scull.autograd.tape import Arrived
from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, UnsupportedError
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.jit.convert.run.tree import tree_of
from scull.jit.left import Called
from scull.jit.scaling import Scaling
from scull.ops.transfer import share_data
from scull.optimizer.static_update import apply_statically

FORWARD = 0  # the role of operators that testing keeps


class Rate(Tensor):
    """The learning rate of an optimizer at the moment it is looked at."""

    __slots__ = ()

    def __init__(self, optimizer: Any) -> None:
        super().__init__(np.zeros((), "float32"))
        self.__dict__["optimizer"] = optimizer

    @property
    def array(self) -> Any:  # type: ignore[override]
        return np.array(self.__dict__["optimizer"].get_lr(), "float32")

    @array.setter
    def array(self, value: Any) -> None:
        pass


class Gradients:
    """The gradients that reached captured Tensors while a function was recorded."""

    def __init__(self, captured: Any) -> None:
        self.captured = captured
        self.totals: dict[Variable, Variable] = {}
        self.rates: dict[int, Rate] = {}  # by the id of the optimizer, which the rate keeps
        self.sent = False  # whether a backward pass was recorded
        self.cleared: dict[int, Tensor] = {}  # whose gradients from before are forgotten, by id
        self.early: dict[int, Tensor] = {}  # those of them before any backward pass
        self.updated: dict[int, Tensor] = {}  # what optimizers update, by id
        self.scalings: dict[int, Scaling] = {}  # by the id of a scaler, which it keeps
        self.later: list[Called] = []  # steps of learning-rate schedules

    def send(self, loss: Variable, seed: Any = None) -> None:
        """Record the backward pass of `loss`; what arrives adds up."""
        self.sent = True
        for variable, tensor in self.captured.tensors.items():
            hooks = getattr(tensor.node, "hooks", None) or {}
            called = any(not isinstance(h, Arrived) for h in hooks.values())
            if called and not variable.stop_gradient:
                raise UnsupportedError(
                    f"a hook of `{tensor.name}` is called with values, and `backward` is recorded"
                )
        if seed is None:
            pairs = append_backward(loss, self.leaves())
        else:
            leaves = self.leaves()
            pairs = list(zip(leaves, gradients([loss], leaves, [seed]), strict=True))
        for variable, g in pairs:
            if g is not None:
                if getattr(self.captured.tensors[variable], "_master_grad", False):
                    g = g.astype("float32")
                old = self.totals.get(variable)
                self.totals[variable] = g if old is None else old + g

    def leaves(self) -> list[Variable]:
        """The variables of captured Tensors that want gradients."""
        return [v for v in self.captured.tensors if not v.stop_gradient]

    def scaling(self, scaler: Any) -> Scaling:
        """What records the work of a GradScaler."""
        return self.scalings.setdefault(id(scaler), Scaling(self, scaler))

    def of(self, tensor: Tensor) -> Variable | None:
        """The gradient that reached `tensor`."""
        variable = self.captured.variables.get(id(tensor))
        return None if variable is None else self.totals.get(variable)

    def replace(self, tensor: Tensor, value: Any) -> None:
        """Let `value` be the gradient of `tensor` from here on; None for none."""
        if value is None:
            self.clear([tensor])
        else:
            self.totals[self.captured.variable(tensor)] = captured_in(value)[0]

    def clear(self, tensors: list[Tensor]) -> None:
        """Forget the gradients of `tensors`, those from before the call too."""
        for tensor in tensors:
            self.cleared[id(tensor)] = tensor
            if not self.sent:
                self.early[id(tensor)] = tensor
            variable = self.captured.variables.get(id(tensor))
            self.totals.pop(variable, None)

    def schedule(self, step: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Let a schedule of learning rates go on behind every run."""
        program = main_program()
        if program.current_block() is not program.global_block():
            raise UnsupportedError(
                "a Tensor decides whether a schedule of learning rates goes on, and only Python can"
            )
        self.later.append(Called(step, tree_of((list(args), options))))

    def derivative(
        self, outputs: Any, inputs: Any, seeds: Any, create_graph: bool, allow_unused: bool
    ) -> list[Any]:
        """What `paddle.grad` gives."""
        targets, sources = captured_in(outputs), captured_in(inputs)
        program = main_program()
        before = {o for b in program.blocks for o in b.ops}
        found = gradients(targets, sources, None if seeds is None else captured_in(seeds))
        for o in (o for b in program.blocks for o in b.ops if o not in before):
            o.role, o.role_var = FORWARD, ()  # what the function computes, also when it tests
        if not allow_unused and any(g is None for g in found):
            raise ArgumentError(
                "an input is not on the path to `outputs`, or needs no gradient "
                "(stop_gradient=True); pass allow_unused=True to get None for it"
            )
        return [g if g is None or create_graph else share_data(g) for g in found]

    def update(self, optimizer: Any) -> None:
        """Record one update of each parameter that a gradient reached."""
        program, capture = main_program(), self.captured.variable
        if any(c.function.__self__ is optimizer._learning_rate for c in self.later):
            raise UnsupportedError(
                "a schedule of learning rates goes on before the update that reads it: call its "
                "`step` behind that of the optimizer"
            )
        rate = self.rates.setdefault(id(optimizer), Rate(optimizer))
        rates = optimizer._rates
        rates[id(program)] = capture(rate)
        try:
            for group in optimizer._param_groups:
                reached = [p for p in group["params"] if self.of(p) is not None]
                self.updated.update({id(p): p for p in reached})
                optimizer._create_accumulators(None, reached)
                for p in reached:
                    if optimizer._multi_precision and p.dtype.name in ("float16", "bfloat16"):
                        optimizer.master(p)
                pairs = [(capture(p), self.of(p)) for p in reached]
                apply_statically(optimizer, pairs, group)
        finally:
            del rates[id(program)]
        if not self.updated:
            raise UnsupportedError(
                "no gradient reached a parameter while this was recorded: `backward` was called "
                "elsewhere, and its gradients are values"
            )


def captured_in(values: Any) -> list[Any]:
    """The variables that one value or a list stands for."""
    mode: Any = current()
    line = values if isinstance(values, list | tuple) else [values]
    return [mode.capture(v) if isinstance(v, Tensor) else v for v in line]
