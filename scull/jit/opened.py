"""The Program of a loaded method, made ready: without edges, for testing, training, other sizes."""

from typing import Any, NamedTuple

from scull.core import session
from scull.core.meta import Kind, Meta
from scull.core.refusal import lawful
from scull.files.model import edges
from scull.ir.block import Block
from scull.ir.clone import copied
from scull.ir.operator import ForeignOp, Operator, program_outputs
from scull.ir.program import Program
from scull.ir.variable import ParameterVariable, Variable

TARGET = "save_infer_model/scale_"  # results of operators that saving puts behind the others
EDGES = ("feed", "fetch", "fetch_v2")


class Opened(NamedTuple):
    """A Program without feed and fetch operators: the names of its inputs and of its outputs."""

    program: Program
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def entries(self) -> list[Variable]:
        """The variables it is given."""
        block = self.program.global_block()
        return [block.vars[name] for name in self.inputs]

    def exits(self) -> list[Variable]:
        """The variables it gives."""
        block = self.program.global_block()
        return [block.vars[name] for name in self.outputs]

    def on(self, program: Program) -> "Opened":
        """The same for another Program with these names."""
        return Opened(program, self.inputs, self.outputs)


def opened(program: Program) -> Opened:
    """`program` as it was before it was saved; each result is that of an operator of its own."""
    block = program.global_block()
    inputs, fetched = edges(program)
    outputs = []
    for v in fetched:
        maker = made_for_saving(program, v)
        if maker is not None:
            block.remove(maker)
            del block.vars[v.name]
            v = maker.operands()[0]
        outputs.append(v)
    block.ops = [o for o in block.ops if o.type not in EDGES]
    block.vars = {n: v for n, v in block.vars.items() if v.kind not in (Kind.FEED, Kind.FETCH)}
    for o in (o for b in program.blocks for o in b.ops):
        o.extra.pop("op_callstack", None)
    program.changed()
    wake(program, inputs)
    names = [ending(block, v, i) for i, v in enumerate(outputs)]
    return Opened(program, tuple(inputs), tuple(names))


def made_for_saving(program: Program, v: Variable) -> Operator | None:
    """The operator that saving put there to make `v`; None when it was there before."""
    block = program.global_block()
    if not v.name.startswith(TARGET) or block.vars.get(v.name) is not v:
        return None
    users = [o for b in program.blocks for o in b.ops if v in {*o.operands(), *o.results()}]
    maker, *rest = users or [None]
    if maker not in block.ops or maker.type not in ("scale", "assign"):
        return None
    own = v not in set(maker.operands()) and [o.type in EDGES for o in rest] == [True]
    return maker if own else None


def ending(block: Block, v: Variable, i: int) -> str:
    """The name of a result: that of an operator that copies it, unless it is of truth values."""
    if v.dtype.name == "bool":
        return v.name
    name = session.unique_name(f"translated_layer/scale_{i}.tmp")
    out = block.variable(name, v.meta, stop_gradient=v.stop_gradient)
    attrs = {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}
    block.append_op("scale", {"X": [v]}, {"Out": [out]}, attrs)
    return name


def wake(program: Program, inputs: Any) -> None:
    """Let gradients pass what stopped them only because all that it was computed of did."""
    block = program.global_block()
    silent = {v for v in program.variables() if v.stop_gradient}
    for o in (o for b in program.blocks for o in b.ops):
        if o.operands() and not o.op.has_blocks and silent.issuperset(o.operands()):
            for v in o.results():
                v.stop_gradient = v.stop_gradient and v.dtype.array.kind in "iub"
    for name in inputs:
        block.vars[name].stop_gradient = block.vars[name].dtype.array.kind in "iub"


def told(program: Program, tensors: dict[str, Any]) -> Program:
    """A copy in which the variables of `tensors` stop gradients where these do."""
    made = copied(program)
    for v in made.variables():
        if v.name in tensors:
            v.stop_gradient = tensors[v.name].stop_gradient
            if isinstance(v, ParameterVariable):
                v.trainable = not v.stop_gradient
    return made


def training(program: Program) -> Program:
    """A copy in which operators train, with the results that only gradients read."""
    made = copied(program)
    for block in made.blocks:
        for o in block.ops:
            if "is_test" in o.op.kinds:
                o.attrs["is_test"] = False
            elif "is_test" in o.op.fixed:
                o.extra["is_test"] = False
            lacks = any(s is None for s in o.outputs)
            if lacks and not isinstance(o.op, ForeignOp) and not o.op.has_blocks:
                complete(block, o)
    made.changed()
    return made


def complete(block: Block, o: Operator) -> None:
    """Give `o` a variable for each result it has none for."""
    outputs: list[Any] = []
    for name, slot, meta in zip(program_outputs(o.op), o.outputs, inferred(o), strict=True):
        if slot is None and isinstance(meta, Meta):
            own = session.unique_name(f"{o.type}.{name}.tmp")
            slot = block.variable(own, meta, stop_gradient=True)
            slot.op = o
        outputs.append(slot)
    o.outputs = tuple(outputs)


def inferred(o: Operator) -> list[Any]:
    """The metas of the results of `o`, in the order of its slots; None where there is none."""
    metas = tuple(
        [v.meta for v in s] if isinstance(s, list) else s if s is None else s.meta for s in o.inputs
    )
    try:
        found = list(o.op.noted(o.op.infer(metas, o.attrs)))
    except Exception as error:
        raise lawful(error, o.op) from None
    if o.op.xshape:
        source: Any = metas[o.op.inputs.index(o.op.xshape)]
        found.append(Meta((0, *source.shape), source.dtype))
    return found + [None] * (len(o.outputs) - len(found))


def loosened(program: Program, shapes: dict[str, tuple[int, ...]]) -> Program:
    """A copy for inputs of other shapes: what follows from these is found anew."""
    made = copied(program)
    block = made.global_block()
    for name, shape in shapes.items():
        block.vars[name].meta = block.vars[name].meta.with_shape(shape)
    infer(block)
    made.changed()
    return made


def infer(block: Block) -> None:
    """Infer the metas of what the operators of `block` and of the blocks in it compute."""
    for o in block.ops:
        for inner in o.blocks():
            infer(inner)
        if not o.op.has_blocks and all(v.kind is Kind.DENSE for v in o.results()):
            block.metas(o)
