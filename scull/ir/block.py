"""Blocks: variables and operators in order; look-up goes to the parents."""

from collections.abc import Iterator
from typing import Any

from scull.core import session
from scull.core.attribute import normalised
from scull.core.dtype import dtype_of, float32
from scull.core.meta import Kind, Meta
from scull.core.op import op_of
from scull.core.operand import refuse_strangers
from scull.core.refusal import lawful, noted, user_line
from scull.errors import (
    ArgumentTypeError,
    ProgramError,
    ScullError,
    ShapeError,
    SlotError,
    is_located,
)
from scull.ir.operator import Operator, filled_slots, program_outputs
from scull.ir.text import block_text
from scull.ir.variable import ParameterVariable, Variable, with_batch

ALIKE = ("meta", "persistable", "is_data", "stop_gradient", "lod_level", "need_check_feed")


def is_alike(known: Variable, made: Variable) -> bool:
    """Whether a variable is what a new one of its name is."""
    return all(getattr(known, name) == getattr(made, name) for name in ALIKE)


class Block:
    """A list of operators over named variables."""

    def __init__(self, program: Any, index: int, parent: int = -1, forward: int = -1) -> None:
        self.program, self.idx, self.parent_idx, self.forward_block_idx = (
            program,
            index,
            parent,
            forward,
        )
        self.backward_block_idx = -1
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        self.wire: Any = None

    @property
    def parent(self) -> "Block | None":
        return None if self.parent_idx < 0 else self.program.blocks[self.parent_idx]

    def lineage(self) -> Iterator["Block"]:
        """This block and those it sees: around it, and the one whose gradient it computes."""
        waiting = [self.idx]
        seen = {self.idx}
        for index in waiting:  # which grows
            block: Block = self.program.blocks[index]
            yield block
            for near in (block.parent_idx, block.forward_block_idx):
                if near >= 0 and near not in seen:
                    seen.add(near)
                    waiting.append(near)

    def find(self, name: str) -> Variable | None:
        """The variable `name` here or in the nearest block around."""
        nearest = self
        while name not in nearest.vars and nearest.forward_block_idx < 0:
            if nearest.parent_idx < 0:
                return None
            nearest = self.program.blocks[nearest.parent_idx]
        for block in nearest.lineage():
            if name in block.vars:
                return block.vars[name]
        return None

    def add(self, variable: Variable) -> Variable:
        """Put `variable` into this block; one of the same name gives way."""
        self.vars[variable.name] = variable
        self.program.changed()
        return variable

    def variable(self, name: str, meta: Meta, **options: Any) -> Variable:
        """A variable of this block: the one of this name that is alike, or a new one."""
        known = self.vars.get(name)
        made = Variable(name, meta, self, **options)
        if known is not None and type(known) is Variable and is_alike(known, made):
            return known
        return self.add(made)

    def parameter(self, name: str, meta: Meta, **options: Any) -> ParameterVariable:
        """A parameter of this block: the one of this name, or a new one."""
        known = self.vars.get(name)
        if isinstance(known, ParameterVariable):
            if known.meta != meta:
                raise ShapeError(
                    f"Variable '{name}' has been created before: it is {known.meta}, and here "
                    f"{meta} is asked for"
                )
            return known
        made = ParameterVariable(name, meta, self, **options)
        self.add(made)
        return made

    def append(self, operator: Operator) -> Operator:
        """Add `operator` at the end."""
        return self.insert(len(self.ops), operator)

    def insert(self, place: int, operator: Operator) -> Operator:
        """Add `operator` before the one at `place`."""
        operator.block = self
        self.ops.insert(place, operator)
        for v in operator.results():
            v.op = operator
        self.program.changed()
        return operator

    def remove(self, operator: Operator) -> None:
        """Take `operator` out."""
        self.ops.remove(operator)
        self.program.changed()

    def made(
        self,
        type: str,
        inputs: dict[str, Any] | None,
        outputs: dict[str, Any] | None,
        attrs: dict[str, Any] | None,
    ) -> Operator:
        """A new operator, not appended; slots and attributes are as Programs spell them."""
        op = op_of(type)
        ins = filled_slots(op, op.inputs, self.resolved(inputs), "input", op.lists)
        outs = filled_slots(
            op, program_outputs(op), self.resolved(outputs), "output", op.output_lists
        )
        for n, slot in zip(op.inputs, ins, strict=True):
            empty = isinstance(slot, list) and not slot and "python" not in op.effects
            lacks = slot is None or empty  # a function of Python is called with nothing, too
            if n in op.needed and lacks and op.forward is None:
                raise SlotError(
                    f"`{type}` needs its input `{op.slot(n)}`, and nothing stands there"
                )
        operator = Operator(self, op, ins, outs, dict(op.attrs))
        for name, value in (attrs or {}).items():
            if value is not None:
                operator.set(name, value)
        for name in op.kinds:
            if name not in operator.attrs:
                raise SlotError(f"`{type}` needs the attribute `{op.attribute(name)}`")
            if name not in operator.told:
                operator.attrs[name] = normalised(op.kinds[name], name, operator.attrs[name])
        return operator

    def resolved(self, slots: dict[str, Any] | None) -> dict[str, Any]:
        """`slots` with names replaced by the variables they mean."""
        return {s: self.meant(v) for s, v in (slots or {}).items()}

    def meant(self, value: Any) -> Any:
        """The variable a name means; lists of them too."""
        if isinstance(value, str):
            found = self.find(value)
            if found is None:
                raise SlotError(f"there is no variable `{value}` in this block or around it")
            return found
        if isinstance(value, list | tuple):
            return [self.meant(v) for v in value]
        return value

    def metas(self, operator: Operator) -> None:
        """Give the results of `operator` the metas its type rule infers."""
        op = operator.op
        refuse_strangers(op, operator.inputs)
        metas = [
            [v.meta for v in s] if isinstance(s, list) else s if s is None else s.meta
            for s in operator.inputs
        ]
        for slot, meta in zip(
            operator.outputs, op.noted(op.infer(tuple(metas), operator.attrs)), strict=False
        ):
            pairs: Any = [(slot, meta)]
            if isinstance(slot, list) and isinstance(meta, list):
                if len(slot) != len(meta):
                    raise SlotError(
                        f"`{op.type}` has {len(meta)} results for {len(slot)} variables"
                    )
                pairs = zip(slot, meta, strict=True)
            for v, m in pairs:
                if isinstance(v, Variable) and isinstance(m, Meta):
                    v.meta = m

    # ---- the names Paddle's users know ----

    def append_op(
        self, type: Any = None, inputs: Any = None, outputs: Any = None, attrs: Any = None, **_: Any
    ) -> Operator:
        """Append an operator of a type, slots and attributes; infer the metas of its results."""
        return self.placed(len(self.ops), type, inputs, outputs, attrs)

    def _prepend_op(
        self, type: Any = None, inputs: Any = None, outputs: Any = None, attrs: Any = None, **_: Any
    ) -> Operator:
        return self.placed(0, type, inputs, outputs, attrs)

    def _insert_op(
        self,
        index: int,
        type: Any = None,
        inputs: Any = None,
        outputs: Any = None,
        attrs: Any = None,
        **_: Any,
    ) -> Operator:
        return self.placed(index, type, inputs, outputs, attrs)

    _insert_op_without_sync = _insert_op

    def placed(self, place: int, type: Any, inputs: Any, outputs: Any, attrs: Any) -> Operator:
        """Make an operator, infer its results, insert it."""
        if not isinstance(type, str):
            raise SlotError("`type` to initialize an Operator can not be None.")
        operator = self.described(type, inputs, outputs, attrs)
        if (
            outputs is not None
            and operator.inputs
            and not operator.op.has_blocks
            and all(v.stop_gradient for v in operator.operands())
        ):
            for v in operator.results():
                if not v.is_parameter and not v.persistable and v.op is None:
                    v.stop_gradient = True
        return self.insert(place, operator)

    def described(self, type: str, inputs: Any, outputs: Any, attrs: Any) -> Operator:
        """A new operator with its results inferred; errors name it and the user's line."""
        try:
            operator = self.made(type, inputs, outputs, attrs)
            operator.says_inputs = inputs is not None
            stamp(operator, self.program)
            self.metas(operator)
        except Exception as error:
            law = error if isinstance(error, ScullError) else lawful(error, op_of(type))
            if not is_located(law):
                noted(law, f"in {type}\n  at {user_line()}")
            raise law from None
        return operator

    def _remove_op(self, index: int, sync: bool = True) -> None:
        self.remove(self.ops[index])

    def create_var(self, name: str | None = None, **options: Any) -> Variable:
        """A new variable by Paddle's keywords: shape, dtype, persistable, stop_gradient, ..."""
        if name is None:
            name = session.unique_name("_generated_var")
        if name in self.vars:
            return self.vars[name]
        meta, kept = described(options)
        return self.variable(name, meta, **kept)

    def create_parameter(self, name: str | None = None, **options: Any) -> ParameterVariable:
        """A new parameter by Paddle's keywords."""
        name = name or session.unique_name("parameter")
        initializer = options.pop("initializer", None)
        meta = described(options)[0]
        kept = {k: options[k] for k in PARAMETER_OPTIONS if k in options}
        made: ParameterVariable = self.program.global_block().parameter(name, meta, **kept)
        if initializer is not None and not self.program.global_block().writes(name):
            initializer(made, self)
        return made

    def writes(self, name: str) -> bool:
        """Whether an operator of this block fills the variable `name`."""
        return any(v.name == name for o in self.ops for v in o.results())

    def var(self, name: str) -> Variable:
        """The variable `name` of this block; ValueError when there is none."""
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"var require string as parameter, but get {type(name).__name__} instead."
            )
        if name not in self.vars:
            raise ProgramError(f"var {name} not in this block")
        return self.vars[name]

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def _find_var_recursive(self, name: str) -> Variable | None:
        return self.find(name)

    def has_var_recursive(self, name: str) -> bool:
        return self.find(name) is not None

    def _var_recursive(self, name: str) -> Variable:
        found = self.find(name)
        if found is None:
            raise ProgramError(f"Var {name} is not found recursively")
        return found

    def all_parameters(self) -> list[ParameterVariable]:
        return [v for v in self.vars.values() if isinstance(v, ParameterVariable)]

    iter_parameters = all_parameters

    def _remove_var(self, name: str, sync: bool = True) -> None:
        del self.vars[name]
        self.program.changed()

    def _rename_var(self, name: str, new_name: str) -> Variable:
        """Call the variable `name` by `new_name` from now on."""
        old = self.var(name)
        self.vars = {new_name if n == name else n: v for n, v in self.vars.items()}
        old.name = new_name
        self.program.changed()
        return old

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        return block_text(self)

    def __str__(self) -> str:
        return block_text(self)

    __repr__ = __str__


def is_undeclared(name: str, block: Block) -> bool:
    """Whether it is a gradient that no block has: Programs name such beside those of blocks."""
    return name.endswith("@GRAD") and block.find(name) is None


def stamp(operator: Operator, program: Any) -> None:
    """Note what the operator is for and the user's line that made it."""
    if not operator.role:
        operator.role, operator.role_var = program.role, program.role_var
    operator.namescope = program.namescope
    operator.line = user_line()


PARAMETER_OPTIONS = (
    "trainable",
    "optimize_attr",
    "regularizer",
    "do_model_average",
    "need_clip",
    "stop_gradient",
    "persistable",
)
VARIABLE_OPTIONS = (
    "persistable",
    "stop_gradient",
    "is_data",
    "need_check_feed",
    "lod_level",
    "belong_to_optimizer",
)


def described(options: dict[str, Any]) -> tuple[Meta, dict[str, Any]]:
    """A meta and the options of a Variable, from Paddle's keywords."""
    kind = options.get("type") or Kind.DENSE
    shape, dtype = options.get("shape"), options.get("dtype")
    meta = Meta(
        with_batch(() if shape is None else shape),
        float32 if dtype is None else dtype_of("bfloat16" if dtype == "uint16" else dtype),
        kind,
    )
    kept = {k: options[k] for k in VARIABLE_OPTIONS if options.get(k) is not None}
    return meta, kept
