"""One program in every form: what each gives, and where two of them differ."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import scull as paddle
from scull.files.program import bytes_of, program_of
from scull.flags import flags
from scull.ir.verify import verify
from scull.passes.dataflow import lowered
from scull.passes.unroll import unrolled
from tests.control import graph
from tests.control.source import model_of
from tests.control.tree import RESULTS, Tree

OPERANDS = ("x", "y", "weight", "scale")
STEP = 1e-6


@dataclass(frozen=True)
class Found:
    """What a form gives: results, their loss, and its gradients by the operands."""

    results: list[Any]
    gradients: list[Any]


class Difference(Exception):
    """Two forms do not agree."""


class Trial:
    """A program and the values of its operands."""

    def __init__(self, tree: Tree, seed: int, exact: bool = False) -> None:
        self.tree, self.seed, self.exact = tree, seed, exact
        chance = np.random.default_rng(seed)
        shapes = {"x": (3,), "y": (2, 3), "weight": (3, 3), "scale": (3,)}
        self.values = {n: drawn(chance, shape, exact) for n, shape in shapes.items()}
        self.n = np.array(chance.integers(0, 4))

    @cached_property
    def model(self) -> Any:
        """The Layer that the source declares."""
        return model_of(self.tree)

    def eager(self, values: dict[str, Any], backward: bool = True, static: bool = False) -> Found:
        """What Python gives, or the model made `static`, whose gradients are asked for outside."""
        paddle.disable_static()
        model = paddle.jit.to_static(self.model()) if static else self.model()
        model.weight.set_value(values["weight"])
        model.scale.set_value(values["scale"])
        x, y = (paddle.to_tensor(values[n], stop_gradient=False) for n in ("x", "y"))
        paddle.seed(self.seed)
        results = model(x, y, paddle.to_tensor(self.n))
        loss = graph.loss_of(results)
        given = [x, y, model.weight, model.scale]
        if backward:
            loss.backward()
        grads = [None if v.grad is None else v.grad.numpy() for v in given] if backward else []
        return Found([v.numpy() for v in (*results, loss)], self.filled(grads))

    def filled(self, gradients: list[Any]) -> list[Any]:
        """Gradients, zeros in place of none."""
        pairs = zip(OPERANDS, gradients, strict=False)
        return [np.zeros_like(self.values[n]) if g is None else g for n, g in pairs]

    def program(self) -> "Form":
        """The Program without gradients; static mode stays on."""
        found = graph.program_of(self.tree, lambda tree: self.model)
        names = [tuple(v.name for v in side) for side in (found.results, found.operands)]
        return Form(found.program, *names)

    def run(self, form: "Form", place: Any = None, **settings: Any) -> Found:
        """What a Program gives."""
        exe, scope = paddle.static.Executor(place), paddle.static.Scope()
        feed = {"x": self.values["x"], "y": self.values["y"], "n": self.n}
        for name, value in zip(form.operands, self.values.values(), strict=True):
            if name not in feed:
                scope.var(name).value = value.copy()
        fetches = [*form.results, *(n for n in form.gradients if n is not None)]
        paddle.seed(self.seed)
        with flags(**settings), paddle.static.scope_guard(scope):
            found = exe.run(form.program, feed=feed, fetch_list=fetches)
        nothing = [v for v, value in zip(fetches, found, strict=True) if value is None]
        if nothing:
            raise Difference(f"nothing is fetched of {', '.join(nothing)}")
        count = len(form.results)
        rest = iter(found[count:])
        grads = [None if n is None else next(rest) for n in form.gradients]
        return Found(found[:count], self.filled(grads))

    def check(self) -> None:
        """Every form agrees; else a Difference says which does not."""
        eager = self.eager(self.values)
        try:
            self.check_programs(eager)
        finally:
            paddle.disable_static()
        if not self.exact:
            self.check_steps(eager)

    def check_programs(self, eager: Found) -> None:
        """Each form of the Program against eager Python, and primitives against blocks."""
        plain = self.program()
        written_out = plain.of(unrolled(plain.program).program)
        verify(written_out.program)
        EXTRAS[self.seed % len(EXTRAS)](self, plain, written_out, eager)
        form = plain.with_gradients()
        in_graph = self.compared("the Program", form, eager)
        flat = self.run(form.lowered(), SCHEDULE_SEED=self.order)
        same("primitives", flat, in_graph)
        same_bits("primitives: the gradient of", OPERANDS, flat.gradients, in_graph.gradients)
        self.compared("what is unrolled", written_out.with_gradients(), eager)

    @property
    def order(self) -> int:
        """Which legal order the operators of primitives run in."""
        return self.seed if self.seed % 2 else -1

    def compared(self, name: str, form: "Form", eager: Found) -> Found:
        """What a Program with gradients gives, which is what eager Python does.

        Results have the same bits. Gradients have them where every sum is exact; a Program adds
        the parts of a gradient in another order.
        """
        verify(form.program)
        found = self.run(form)
        same(name, found, eager)
        self.near(f"{name}: the gradient of", OPERANDS, found.gradients, eager.gradients)
        return found

    def near(self, name: str, words: Any, found: list[Any], expected: list[Any]) -> None:
        """Each value is that of eager Python, but for the order of its sums."""
        for word, a, b in zip(words, found, expected, strict=True):
            if not (np.array_equal(a, b) if self.exact else np.allclose(a, b, 1e-9, 1e-11)):
                raise Difference(f"{name} {word} is\n{a}\nand in eager\n{b}")

    def check_saved(self, plain: "Form", written_out: "Form", eager: Found) -> None:
        """A Program that was saved and loaded."""
        same("saved", self.run(plain.of(program_of(bytes_of(plain.program)))), eager)

    def check_both(self, plain: "Form", written_out: "Form", eager: Found) -> None:
        """What is unrolled first and then lowered to primitives."""
        found = self.run(written_out.lowered(), SCHEDULE_SEED=self.order)
        same("primitives of what is unrolled", found, eager)

    def check_copy(self, plain: "Form", written_out: "Form", eager: Found) -> None:
        """A copy of the Program, in memory that is poisoned where it is freed."""
        same("a copy", self.run(plain.of(plain.program.clone()), POISON=True), eager)

    def check_device(self, plain: "Form", written_out: "Form", eager: Found) -> None:
        """The Program on a device, whose streams do their work when they like."""
        place, settings = paddle.CustomPlace("sim", 0), {"DEVICE_STREAMS": 1 + self.seed % 3}
        same("on a device", self.run(plain, place, SIM_SEED=self.seed, **settings), eager)

    def check_code(self, plain: "Form", written_out: "Form", eager: Found) -> None:
        """The Program as machine code, what is written out, too."""
        for name, form in (("machine code", plain), ("unrolled machine code", written_out)):
            found = self.run(form, COMPILE="eager")
            self.near(f"{name}:", (*RESULTS, "loss"), found.results, eager.results)
        if self.seed // len(EXTRAS) % 4 == 0:
            self.check_outside(eager)

    def check_outside(self, eager: Found) -> None:
        """The model made static, as machine code, its gradients in other code."""
        with flags(COMPILE="eager"):
            found = self.eager(self.values, static=True)
        paddle.enable_static()
        self.near("static machine code:", (*RESULTS, "loss"), found.results, eager.results)
        name = "static machine code: the gradient of"
        self.near(name, OPERANDS, found.gradients, eager.gradients)

    def check_steps(self, eager: Found) -> None:
        """The gradients are those that small steps show along one random direction."""
        chance = np.random.default_rng(self.seed + 1)
        along = {n: chance.standard_normal(v.shape) for n, v in self.values.items()}
        up, down = ({n: v + s * along[n] for n, v in self.values.items()} for s in (STEP, -STEP))
        shown = (self.loss_at(up) - self.loss_at(down)) / (2 * STEP)
        parts = [along[n] * g for n, g in zip(OPERANDS, eager.gradients, strict=True)]
        given, size = (sum(float(np.sum(f(p))) for p in parts) for f in (np.asarray, np.abs))
        if abs(shown - given) > 1e-6 * max(1.0, size, abs(float(eager.results[-1]))):
            raise Difference(f"small steps show a slope of {shown}, gradients one of {given}")

    def loss_at(self, values: dict[str, Any]) -> float:
        """The loss of other operands."""
        return float(self.eager(values, backward=False).results[-1])


EXTRAS = (  # by turns
    Trial.check_saved,
    Trial.check_both,
    Trial.check_copy,
    Trial.check_device,
    Trial.check_code,
)


def drawn(chance: Any, shape: tuple[int, ...], exact: bool) -> Any:
    """Operands: whole numbers where results are to be exact."""
    if exact:
        return chance.integers(-2, 3, shape).astype("float64")
    return chance.uniform(-1.0, 1.0, shape)


@dataclass(frozen=True)
class Form:
    """A Program, and the names of its results, operands and gradients."""

    program: Any
    results: tuple[str, ...]
    operands: tuple[str, ...]
    gradients: tuple[str | None, ...] = ()

    def of(self, program: Any) -> "Form":
        """The same of another Program with these names."""
        return Form(program, self.results, self.operands, self.gradients)

    def lowered(self) -> "Form":
        """The Program as primitives of dataflow."""
        flat = lowered(self.program)
        verify(flat)
        return self.of(flat)

    def with_gradients(self) -> "Form":
        """The Program with the gradients of its loss."""
        block = self.program.global_block()
        with paddle.static.program_guard(self.program), paddle.utils.unique_name.guard("back_"):
            given = [block.var(n) for n in self.operands]
            found = paddle.static.gradients([block.var(self.results[-1])], given)
        names = tuple(None if v is None else v.name for v in found)
        return Form(self.program, self.results, self.operands, names)


def same(name: str, found: Found, expected: Found) -> None:
    """The results have the same bits."""
    same_bits(name, (*RESULTS, "loss"), found.results, expected.results)


def same_bits(name: str, words: Any, found: list[Any], expected: list[Any]) -> None:
    """Each value has the same bits as another."""
    for word, a, b in zip(words, found, expected, strict=True):
        if (a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()):
            raise Difference(f"{name}: {word} is\n{a!r}\ninstead of\n{b!r}")
