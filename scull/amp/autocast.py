"""The interpreter of mixed precision: it casts the operands, and hands the call on."""

from typing import Any, NamedTuple

from scull.core.dtype import DType, float32
from scull.core.interpreter import Interpreter, interpreting
from scull.core.meta import Kind
from scull.core.op import Op
from scull.core.refusal import explained
from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.ops.create import cast

FLOATS = {"float32", "float16", "bfloat16"}  # the element types that are cast, to each other
AS_THEY_ARE = {"cast", "assign", "set_value", "share_data"}
NORMS = {"batch_norm", "layer_norm", "sync_batch_norm"}


class Setting(NamedTuple):
    """What decides in which element type an operator computes."""

    dtype: DType
    level: str
    white: frozenset[str]
    black: frozenset[str]
    promotes: bool

    def dtype_for(self, name: str, operands: list[Any]) -> DType:
        """The element type the operator `name` computes in."""
        if self.promotes and name in self.white:
            return self.dtype
        if name in self.black:
            return float32
        if not self.promotes:
            return self.dtype
        if self.level == "OD" or any(x.dtype is float32 for x in operands):
            return float32
        return self.dtype


class Autocast(Interpreter):
    """Casts operands as a setting has it, and hands calls on to the interpreter `below`."""

    def __init__(self, below: Interpreter, setting: Setting) -> None:
        self._below, self.setting = below, setting
        self.eager, self.record, self.captures = below.eager, below.record, below.captures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._below, name)

    @property
    def below(self) -> Interpreter:
        return self._below

    def over(self, other: Interpreter) -> "Autocast":
        return Autocast(other.below, self.setting)

    def recording(self, record: bool) -> "Autocast | None":
        found = self._below.recording(record)
        return None if found is None else self.over(found)

    def settle(self) -> None:
        self._below.settle()

    def apply(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        below: Any = self._below
        if op.inline:  # its parts are the operators that lists name
            return self.parts(op, inputs, attrs)
        with interpreting(below):
            if op.type in NORMS and is_float(inputs[0]):
                return self.normal(op, inputs, attrs)
            if below.results is not None or op.in_place or op.type in AS_THEY_ARE or op.has_blocks:
                return below.apply(op, inputs, attrs)
            return below.apply(op, self.casted(op, inputs), attrs)

    def parts(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What a composite that is no operator of a Program gives, made of its parts."""
        if not self.eager:
            return self._below.apply(op, inputs, attrs)
        attrs.pop("name", None)
        try:
            return op.body(*inputs, **attrs)
        except Exception as error:
            raise explained(error, op, inputs, attrs) from None

    def normal(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What a normalisation gives: computed in the digits of its vectors, `y` in those of `x`.

        Only `x` counts for what `y` is: vectors, which are never many, keep their digits.
        """
        floats = [v for v in inputs if is_float(v)]
        kept = [inputs[op.inputs.index(n)] for n in op.in_place.values()]
        wide = (kept or sorted(floats, key=lambda v: v.dtype is not float32))[0].dtype
        found = self._below.apply(op, tuple([in_dtype(v, wide) for v in inputs]), attrs)
        place, dtype = op.outputs.index("y"), self.setting.dtype_for(op.type, [inputs[0]])
        return tuple([in_dtype(v, dtype) if i == place else v for i, v in enumerate(found)])

    def casted(self, op: Op, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The operands in the element type that the operator computes in."""
        floats = [x for x in each(inputs) if is_float(x)]
        if not floats:
            return inputs
        dtype = self.setting.dtype_for(op.type, floats)
        return tuple([in_dtype(x, dtype) for x in inputs])


def each(values: Any) -> list[Any]:
    """The values, those in lists in line."""
    return [v for x in values for v in (each(x) if type(x) in (list, tuple) else (x,))]


def is_float(x: Any) -> bool:
    """Whether an operand is a tensor with one of the element types that are cast."""
    if isinstance(x, Tensor):
        return x.dtype.name in FLOATS
    return isinstance(x, Variable) and x.dtype.name in FLOATS and x.kind is not Kind.ARRAY


def in_dtype(x: Any, dtype: DType) -> Any:
    """An operand in another element type, if it has one of those that are cast."""
    if type(x) in (list, tuple):
        return [in_dtype(v, dtype) for v in x]
    if not is_float(x) or x.dtype is dtype:
        return x
    return cast(x, in_dtype=x.dtype, out_dtype=dtype)
