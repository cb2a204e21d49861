"""Metas: what is known of a tensor before it has a value, and how shapes combine."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

from scull.core.dtype import DType, bool_, complex128, float32
from scull.errors import DtypeError, RangeError, ShapeError, UnknownSizeError

Shape = tuple[int, ...]


class Kind(Enum):
    """What a variable holds; the numbers are those of the wire format."""

    DENSE = 7
    ROWS = 8
    FEED = 9
    FETCH = 10
    SCOPES = 11
    TABLE = 12
    ARRAY = 13
    READER = 15
    RAW = 17

    def __str__(self) -> str:
        return f"VarType.{KIND_TEXT[self]}"


KIND_TEXT = {
    Kind.DENSE: "LOD_TENSOR",
    Kind.ROWS: "SELECTED_ROWS",
    Kind.FEED: "FEED_MINIBATCH",
    Kind.FETCH: "FETCH_LIST",
    Kind.SCOPES: "STEP_SCOPES",
    Kind.TABLE: "LOD_RANK_TABLE",
    Kind.ARRAY: "LOD_TENSOR_ARRAY",
    Kind.READER: "READER",
    Kind.RAW: "RAW",
}


class Unknown(int):
    """The size -1. It compares and prints as -1; arithmetic with it is a mistake and says so."""

    def refuse(self, *_: object) -> NoReturn:
        raise UnknownSizeError("this size is known only when the program runs")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = refuse
    __rfloordiv__ = __truediv__ = __rtruediv__ = __mod__ = __neg__ = __index__ = refuse
    __lt__ = __gt__ = __le__ = __ge__ = refuse

    def __reduce__(self) -> Any:
        return "UNKNOWN"

    def __deepcopy__(self, memo: Any) -> "Unknown":
        return self


UNKNOWN = Unknown(-1)


@dataclass(frozen=True, slots=True)
class Meta:
    """Shape, element type and kind of a value."""

    shape: Shape
    dtype: DType = float32
    kind: Kind = Kind.DENSE

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def meta(self) -> "Meta":
        return self

    def __str__(self) -> str:
        kind = "" if self.kind is Kind.DENSE else self.kind.name.lower() + " "
        return f"{kind}{self.dtype.name}[{', '.join(map(str, self.shape))}]"

    def with_shape(self, shape: Iterable[int]) -> "Meta":
        return Meta(sized(shape), self.dtype, self.kind)

    def with_dtype(self, dtype: DType) -> "Meta":
        return Meta(self.shape, dtype, self.kind)

    def with_kind(self, kind: Kind) -> "Meta":
        return Meta(self.shape, self.dtype, kind)


WEAK = DType(
    "weak", -1, "float32"
)  # the element type of a Python number until its neighbours are known


def sized(shape: Iterable[int]) -> Shape:
    """`shape` with every -1 made the size that refuses arithmetic."""
    return tuple([UNKNOWN if n == -1 else int(n) for n in shape])


def known(shape: Shape) -> bool:
    """Whether every size of `shape` is known."""
    return -1 not in shape


def count(shape: Shape) -> int:
    """The number of elements; unknown when a size is."""
    total = 1
    for n in shape:
        if n == -1:
            return UNKNOWN
        total *= n
    return total


def broadcast(*shapes: Any) -> Shape:
    """The shape all of `shapes` (or metas) stretch to; an unknown size yields to one above 1."""
    found = [s if isinstance(s, tuple) else s.shape for s in shapes]
    ndim = max(map(len, found))
    result = []
    for sizes in zip(*((1,) * (ndim - len(s)) + s for s in found), strict=True):
        certain = {n for n in sizes if n not in (1, -1)}
        if len(certain) > 1:
            raise ShapeError(
                "shapes do not broadcast: " + " and ".join(str(list(map(int, s))) for s in found)
            )
        result.append(certain.pop() if certain else UNKNOWN if -1 in sizes else 1)
    return tuple(result)


def agree(a: int, b: int, law: str) -> int:
    """The one size that `a` and `b` must both be; `law` says it, with two places for them."""
    if a != b and -1 not in (a, b):
        raise ShapeError(law.format(int(a), int(b)))
    return b if a == -1 else a


def of_shape(x: Meta, expected: Shape) -> None:
    """Refuse `x` of another shape than `expected`."""
    pairs = zip(x.shape, expected, strict=False)
    if len(x.shape) != len(expected) or any(a != b and -1 not in (a, b) for a, b in pairs):
        raise ShapeError(f"{x} stands where the shape is {list(map(int, expected))}")


def at_least(ndim: int, *metas: Meta) -> None:
    """Refuse metas of fewer than `ndim` axes."""
    for m in metas:
        if len(m.shape) < ndim:
            raise ShapeError(f"{m} has {len(m.shape)} axes, at least {ndim} are needed")


def axis_of(axis: int, ndim: int) -> int:
    """`axis` counted from 0; a 0-D tensor has axes 0 and -1."""
    reach = max(ndim, 1)
    if not -reach <= axis < reach:
        raise RangeError(f"axis {axis} is outside [-{reach}, {reach}) of a tensor with {ndim} axes")
    return axis % reach


def axes_of(axes: Iterable[int], ndim: int) -> tuple[int, ...]:
    """`axes` counted from 0, in rising order, each once."""
    return tuple(sorted({axis_of(a, ndim) for a in axes}))


def first_axis(x_ndim: int, y_ndim: int, axis: int) -> int:
    """The axis of `x` that the first of `y` meets, told by `axis`; -1 is NumPy's rule."""
    apart, axes = x_ndim - y_ndim, max(x_ndim, y_ndim)
    if axis == -1 or not apart:
        return apart
    if not 0 <= axis < axes:
        raise RangeError(f"axis is {axis}, outside [-1, {axes})")
    return axis


def ones_behind(x_ndim: int, y_ndim: int, axis: int) -> tuple[int, ...]:
    """The sizes 1 that `y` needs behind its own for its first axis to meet that axis of `x`."""
    return () if axis == -1 else (1,) * (x_ndim - first_axis(x_ndim, y_ndim, axis) - y_ndim)


def promote(*dtypes: DType) -> DType:
    """The element type of both sides: the widest complex, else float, else integer."""
    strong = [d for d in dtypes if d is not WEAK] or [float32]
    names = {d.name for d in strong}
    if names == {"float16", "bfloat16"}:
        return float32
    best = strong[0]
    for d in strong[1:]:
        if rank(d) > rank(best):
            best = d
    return complex128 if best.is_complex and "float64" in names else best


def rank(dtype: DType) -> tuple[bool, bool, bool, int]:
    """The order in which element types win a promotion."""
    return dtype.is_complex, dtype.is_float, dtype is not bool_, dtype.itemsize


def real(*metas: Meta) -> None:
    """Refuse metas that are not of floating-point elements; complex ones too."""
    floating(*metas)
    for m in metas:
        if m.dtype.is_complex:
            raise DtypeError(f"{m} is of complex elements")


def floating(*metas: Meta) -> None:
    """Refuse metas that are not of floating-point or complex elements."""
    for m in metas:
        stored = m.dtype.itemsize == 1  # float8 is kept, never computed with
        if not (m.dtype.is_float or m.dtype.is_complex or m.dtype is WEAK) or stored:
            raise DtypeError(f"{m} is not of floating-point elements")
