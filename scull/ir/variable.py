"""Variables: a name in a block and what is known of its value."""

import sys
from operator import index
from typing import Any

from scull.core.dtype import DType, dtype_of
from scull.core.interpreter import current
from scull.core.meta import KIND_TEXT, Kind, Meta, sized
from scull.core.refusal import PACKAGE, is_ours
from scull.core.tensor import Methods
from scull.errors import ArgumentTypeError, UnsupportedError

MEANINGS = f"{PACKAGE}jit/convert/run/"  # what converted code calls, which looks at values itself


class Variable(Methods):
    """A name in a block and what is known of its value. It never holds one."""

    def __init__(
        self,
        name: str,
        meta: Meta,
        block: Any,
        *,
        stop_gradient: bool = False,
        persistable: bool = False,
        is_data: bool = False,
        need_check_feed: bool = False,
        lod_level: int = 0,
        belong_to_optimizer: bool = False,
    ) -> None:
        self.name, self.meta, self.block = name, meta, block
        self.stop_gradient, self.persistable, self.is_data = stop_gradient, persistable, is_data
        self.need_check_feed, self.lod_level = need_check_feed, lod_level
        self.belong_to_optimizer = belong_to_optimizer
        self.error_clip: Any = None
        self.wire: Any = None  # the message it was read from, for what scull does not interpret
        self.op: Any = None  # the operator that made it last

    is_parameter = False
    number = False  # whether it stands for a number of Python, of what type its neighbours say
    trainable_text = ""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(int, self.meta.shape))

    @shape.setter
    def shape(self, sizes: Any) -> None:
        self.meta = self.meta.with_shape(sizes)
        self.block.program.changed()

    @property
    def ndim(self) -> int:
        return len(self.meta.shape)

    @property
    def dtype(self) -> DType:
        return self.meta.dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.meta = self.meta.with_dtype(dtype_of(dtype))
        self.block.program.changed()

    @property
    def kind(self) -> Kind:
        return self.meta.kind

    @kind.setter
    def kind(self, kind: Kind) -> None:
        self.meta = self.meta.with_kind(kind)

    def __len__(self) -> int:
        if not self.meta.shape:
            raise ArgumentTypeError("len() of a 0-D tensor is wrong")
        if self.meta.shape[0] == -1:
            raise ArgumentTypeError(
                f"the length of `{self.name}` is known only when the Program runs"
            )
        return int(self.meta.shape[0])

    def __iter__(self) -> Any:
        if self.meta.kind is Kind.ARRAY:
            raise ArgumentTypeError(
                f"how many tensors `{self.name}` holds is known only when the Program runs"
            )
        return iter([self[i] for i in range(len(self))])  # type: ignore[index]

    def __bool__(self) -> bool:
        file = sys._getframe(1).f_code.co_filename
        if current().captures and (file.startswith(MEANINGS) or not is_ours(file)):
            raise UnsupportedError(
                f"whether `{self.name}` ({self.meta}) holds is known only when the Program runs, "
                "and Python asks for it here, where no conversion looked"
            )
        return True

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        from_kind = self.meta.kind
        text = f"{self.trainable_text}var {self.name} : {KIND_TEXT[from_kind]}"
        if self.persistable:
            text = "persist " + text
        if from_kind not in (Kind.DENSE, Kind.ROWS):
            return text + ")"
        text += f".shape{self.shape}.dtype({self.dtype.name})"
        return text + f".stop_gradient({self.stop_gradient})"


class ParameterVariable(Variable):
    """A variable that a layer owns and an optimizer updates."""

    is_parameter = True

    def __init__(self, name: str, meta: Meta, block: Any, **options: Any) -> None:
        self.trainable = options.pop("trainable", True)
        self.optimize_attr = options.pop("optimize_attr", None) or {"learning_rate": 1.0}
        self.regularizer = options.pop("regularizer", None)
        self.do_model_average = options.pop("do_model_average", None)
        self.need_clip = options.pop("need_clip", True)
        self.is_distributed = False
        options.setdefault("stop_gradient", not self.trainable)
        options.setdefault("persistable", True)
        super().__init__(name, meta, block, **options)

    @property
    def trainable_text(self) -> str:  # type: ignore[override]
        return "trainable param " if self.trainable else "param "

    def __str__(self) -> str:
        return super().__str__().replace("param var ", "param ")


def with_batch(shape: Any) -> tuple[int, ...]:
    """`shape` as a user gives it: None is unknown."""
    return sized([-1 if n is None else index(n) for n in shape])
