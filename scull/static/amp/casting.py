"""Rewriting a Program: each operator in 16 bits or in float32, with casts where they meet."""

from collections.abc import Iterator
from typing import Any

from scull.core.dtype import DType, float32
from scull.core.meta import Kind
from scull.errors import ProgramError
from scull.flags import flag
from scull.ir.block import Block
from scull.ir.operator import Operator, each
from scull.ir.program import Program
from scull.ir.variable import Variable

KINDS = {Kind.DENSE, Kind.ROWS, Kind.ARRAY}
FLOATS = {"float16", "bfloat16", "float32", "float64"}
HALF_OR_SINGLE = FLOATS - {"float64"}
READERS = {"create_py_reader", "read"}
TYPED = ("in_dtype", "out_dtype", "dtype")

# Of operators that keep float32 within: the slots that are cast, or those that are not.
NARROW_INPUTS = {
    "batch_norm": {"X"},
    "fused_bn_add_activation": {"X", "Z"},
    "instance_norm": {"X"},
    "layer_norm": {"X"},
    "resnet_unit": {"X", "FilterX", "Z", "FilterZ"},
}
WIDE_INPUTS = {
    "fused_attention": {"LnScale", "LnBias", "Ln2Scale", "Ln2Bias", "Ln1Scale", "Ln1Bias"},
    "fused_feedforward": {"LnScale", "LnBias", "Ln2Scale", "Ln2Bias", "Ln1Scale", "Ln1Bias"},
    "fused_multi_transformer": {"LnScale", "LnBias", "FFNLnScale", "FFNLnBias"},
}
NARROW_OUTPUTS = {
    "batch_norm": {"Y"},
    "fused_bn_add_activation": {"Y"},
    "layer_norm": {"Y"},
    "resnet_unit": {"Y", "ConvX", "ConvZ"},
}
MOMENTS = {"LnMean", "LnVariance", "Ln2Mean", "Ln2Variance", "Ln1Mean", "Ln1Variance"}
WIDE_OUTPUTS = {"fused_attention": MOMENTS, "fused_feedforward": MOMENTS}


def stays_wide(o: Operator, slot: str, *, output: bool = False) -> bool:
    """Whether an operator of 16 bits has float32 in a slot."""
    narrow, wide = (NARROW_OUTPUTS, WIDE_OUTPUTS) if output else (NARROW_INPUTS, WIDE_INPUTS)
    if o.type == "layer_norm" and not flag("WIDE_LAYER_NORM"):
        return False
    if o.type in narrow:
        return slot not in narrow[o.type]
    return slot in wide.get(o.type, ())


def inputs_of(o: Operator) -> Iterator[tuple[str, list[Variable]]]:
    """The input slots of an operator by their names in a Program, sorted, and what is in them."""
    pairs = zip(o.op.inputs, o.inputs, strict=True)
    yield from sorted(((o.op.slot(n), each(s)) for n, s in pairs), key=lambda pair: pair[0])


def outputs_of(o: Operator) -> Iterator[tuple[str, list[Variable]]]:
    """The same of its results."""
    for slot, names in sorted(o.output_slots().items()):
        yield slot, [v for v in o.results() if v.name in names]


def is_float(v: Variable) -> bool:
    """Whether a variable has elements with fractions that may be cast."""
    return v.kind in KINDS and v.dtype.name in FLOATS


def retyped(v: Variable, dtype: DType) -> None:
    """Let a variable have another element type."""
    v.meta = v.meta.with_dtype(dtype)


def is_typed_float(o: Operator, name: str) -> bool:
    """Whether an operator has an attribute that is an element type with fractions."""
    number = o.spelt().get(name)
    return number in (4, 5, 6, 22)


def maker_before(o: Operator, v: Variable) -> Operator | None:
    """The only operator before `o` in its block that makes `v`; None where none does."""
    before = o.block.ops[: o.block.ops.index(o)]
    makers = [m for m in before if any(r.name == v.name for r in m.results())]
    if len(makers) > 1:
        raise ProgramError(f"There must be only one previous op that outputs {v.name} variable")
    return makers[0] if makers else None


def makers_of(o: Operator) -> Iterator[Operator]:
    """Who made what an operator reads, as far as operators did."""
    for _, variables in inputs_of(o):
        for v in variables:
            found = maker_before(o, v) if v.op is o else v.op
            if found is not None:
                yield found


def names_of(o: Operator) -> set[str]:
    """The names of all that an operator reads or makes."""
    return {v.name for v in (*o.operands(), *o.results())}


def insert_casts(
    block: Block, o: Operator, source: DType, target: DType, wide: Any, suffix: str
) -> int:
    """Cast what `o` reads from one element type to the other, just before it; count the casts.

    `wide(slot)` are left as they are. What was cast before is taken from there.
    """
    place, count = block.ops.index(o), 0
    for slot, variables in inputs_of(o):
        if source is float32 and wide(slot):
            continue
        for v in variables:
            if v.kind not in KINDS or v.dtype is target:
                continue
            made = block.find(v.name + suffix)
            if made is None or made.dtype is not target:
                if v.dtype is not source:
                    continue
                made = inserted_cast(block, place, o, v, target, v.name + suffix)
                count += 1
            o.replace(v, made, inputs=True, outputs=True)
    return count


def inserted_cast(
    block: Block, place: int, o: Operator, v: Variable, target: DType, name: str
) -> Variable:
    """A new variable with what `v` is in another element type, cast for `o` at a place."""
    made = block.create_var(
        name=name, shape=list(v.shape), dtype=target, stop_gradient=v.stop_gradient
    )
    attrs = {"in_dtype": v.dtype, "out_dtype": target}
    cast = block._insert_op(place, "cast", {"X": v}, {"Out": made}, attrs)
    made.stop_gradient = v.stop_gradient
    cast.role, cast.device, cast.line = o.role, o.device, o.line
    return made


class Casting:
    """The rewriting of one Program: which operators compute in which element type."""

    def __init__(
        self, program: Program, lists: Any, dtype: DType, level: str, guard: str, promotes: bool
    ) -> None:
        self.program, self.lists, self.dtype, self.level = program, lists, dtype, level
        self.guard, self.promotes = guard, promotes  # guard: "" where all operators are meant
        self.black: set[str] = lists.black_list
        self.wide: set[Operator] = set()
        self.narrow: set[Operator] = set()
        self.names: set[str] = set()  # of variables that operators of 16 bits read

    def __call__(self) -> set[str]:
        """Rewrite the Program; return the names of what has 16 bits from now on."""
        kept = self.retype_parameters() if self.level == "O2" else set()
        for block in self.program.blocks:
            for o in block.ops:
                if takes_part(o):
                    self.place(o)
        for block in self.program.blocks:
            for o in list(block.ops):
                if o in self.narrow:
                    self.cast(block, o, float32, self.dtype, ".cast_fp16")
                elif o in self.wide:
                    self.cast(block, o, self.dtype, float32, ".cast_fp32")
        self.program.changed()
        return self.names - kept

    def keeps_wide(self, o: Operator) -> bool:
        """Whether an operator computes in float32 whatever the lists say."""
        if o.type in self.lists.unsupported_list:
            return True
        if any("learning_rate" in name for name in names_of(o)):
            return True
        return bool(self.guard) and self.guard not in o.namescope

    def retype_parameters(self) -> set[str]:
        """Give parameters 16 bits, but those that some operator wants in float32: these."""
        kept: set[str] = set()
        for block in self.program.blocks:
            for o in (o for o in block.ops if o.type not in self.black):
                whole = self.keeps_wide(o)
                for slot, variables in inputs_of(o):
                    if whole or stays_wide(o, slot):
                        kept.update(v.name for v in variables)
        for block in self.program.blocks:
            for v in block.all_parameters():
                if v.name not in kept:
                    retyped(v, self.dtype)
        return kept

    def place(self, o: Operator) -> None:
        """Decide in which element type an operator computes."""
        varnames = self.lists.black_varnames
        if self.keeps_wide(o) or (varnames and varnames & names_of(o)):
            self.settle(o, float32)
        elif o.type in self.black:
            parameters = {v.name for v in self.program.global_block().all_parameters()}
            self.names |= parameters & {v.name for v in o.operands()}
            self.settle(o, float32)
        elif o.type in self.lists.white_list:
            self.settle(o, self.dtype)
        elif o.type == "cast":
            o.set("in_dtype", o.operands()[0].dtype)
            retyped(o.results()[0], o.attrs["out_dtype"])
        else:
            self.settle(o, self.promoted(o) if self.promotes else self.followed(o))

    def settle(self, o: Operator, dtype: DType) -> None:
        """Let an operator compute in `dtype`; its results have it."""
        (self.wide if dtype is float32 else self.narrow).add(o)
        if dtype is not float32:
            for slot, variables in inputs_of(o):
                if not stays_wide(o, slot):
                    self.names |= {v.name for v in variables if is_float(v)}
        for slot, variables in outputs_of(o):
            if not stays_wide(o, slot, output=True):
                for v in filter(is_float, variables):
                    retyped(v, dtype)

    def promoted(self, o: Operator) -> DType:
        """float32 where an operand is, else 16 bits."""
        for slot, variables in inputs_of(o):
            if not stays_wide(o, slot) and any(v.dtype is float32 for v in variables):
                return float32
        return self.dtype

    def followed(self, o: Operator) -> DType:
        """What the makers of the operands compute in, the last of them, for the gray list."""
        if self.level == "O2":
            return self.dtype
        if o.type not in self.lists.gray_list:
            return float32
        found = self.dtype
        for maker in makers_of(o):
            if maker in self.wide or maker.type in self.black:
                found = float32
            elif maker in self.narrow or maker.type in self.lists.white_list:
                found = self.dtype
        return found

    def cast(self, block: Block, o: Operator, source: DType, target: DType, suffix: str) -> None:
        """Insert casts before an operator, and let its attributes say the element type."""
        insert_casts(block, o, source, target, lambda slot: stays_wide(o, slot), suffix)
        for name in TYPED:
            if is_typed_float(o, name):
                o.set(name, target)


def takes_part(o: Operator) -> bool:
    """Whether the element type of an operator is open: not what an attribute says."""
    operands = o.operands()
    if operands and not any(
        v.kind is Kind.DENSE and v.dtype.name in HALF_OR_SINGLE for v in operands
    ):
        return False
    if o.type == "set_value" or "in_dtype" in o.spelt():
        return True
    return o.type not in READERS and not any(is_typed_float(o, n) for n in ("out_dtype", "dtype"))
