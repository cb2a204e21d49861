"""The bare Tensor and the nodes of the tape; the layers above add the methods."""

import itertools
from typing import Any

import numpy as np
from numpy import ndarray

from scull.core.dtype import DType, of_array
from scull.core.meta import Kind, Meta

new = object.__new__
add_reduce = np.add.reduce
tick = itertools.count(
    -1, -1
).__next__  # decreasing, so that the heap of `backward` pops the newest first


class Methods:
    """What Tensor, Variable and abstract values share; the layers above add Python's operators."""

    __slots__ = ()
    __hash__ = object.__hash__
    __array_ufunc__: Any = None  # an array on the left leaves `array * x` to us


class Value(Methods):
    """A tensor of which only the meta is known."""

    __slots__ = ("meta",)

    def __init__(self, meta: Meta) -> None:
        self.meta = meta

    shape = property(lambda self: self.meta.shape)
    ndim = property(lambda self: len(self.meta.shape))
    dtype = property(lambda self: self.meta.dtype)


class Tensor(Methods):
    """An array and the node of the tape that made it; what is rare lies in `__dict__`.

    `node` is None when no gradient is wanted, a `Leaf` for a tensor that nothing computed.
    """

    __slots__ = ("__dict__", "__weakref__", "array", "node")

    def __init__(
        self,
        value: Any,
        place: Any = None,
        persistable: bool = False,
        zero_copy: bool = True,
        name: str | None = None,
        stop_gradient: bool = True,
    ) -> None:
        self.array = value if type(value) is ndarray or type(value) is Rows else np.asarray(value)
        self.node: Any = None if stop_gradient else Leaf()
        if not zero_copy:
            self.array = self.array.copy()
        if persistable:
            self.persistable = True
        if name is not None:
            self.name = name

    @property
    def meta(self) -> Meta:
        return (
            self.array.meta
            if type(self.array) is Rows
            else Meta(self.array.shape, of_array(self.array.dtype))
        )

    @property
    def shape(self) -> list[int]:
        return list(self.array.shape)

    @property
    def dtype(self) -> DType:
        return of_array(self.array.dtype)

    @property
    def ndim(self) -> int:
        return len(self.array.shape)


class Parameter(Tensor):
    """A tensor a Layer owns and an optimizer updates."""

    __slots__ = ()


class Rows:
    """Some rows of a tall matrix (SelectedRows).

    `values[i]` belongs to row `rows[i]`; repeated rows add up.
    """

    __slots__ = ("height", "rows", "values")
    __array_ufunc__ = None

    def __init__(self, rows: Any, values: Any, height: int) -> None:
        self.rows, self.values, self.height = rows, values, height

    shape = property(lambda self: (self.height, *self.values.shape[1:]))
    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: self.values.ndim)
    nbytes = property(lambda self: self.values.nbytes + self.rows.nbytes)

    @property
    def meta(self) -> Meta:
        return Meta(self.shape, of_array(self.values.dtype), Kind.ROWS)

    def dense(self) -> ndarray:
        """The whole matrix."""
        out = np.zeros(self.shape, self.values.dtype)
        add_at(np, out, self.rows, self.values)
        return out

    def merged(self) -> "Rows":
        """The same matrix with each row at most once, in rising order."""
        rows, places = np.unique(self.rows, return_inverse=True)
        values = np.zeros((len(rows), *self.values.shape[1:]), self.values.dtype)
        add_at(np, values, places.reshape(-1), self.values)
        return Rows(rows, values, self.height)

    def copy(self) -> "Rows":
        return Rows(self.rows.copy(), self.values.copy(), self.height)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Rows):
            rows = np.concatenate([self.rows, other.rows])
            return Rows(rows, np.concatenate([self.values, other.values]), self.height)
        out = other.copy()
        add_at(np, out, self.rows, self.values)
        return out

    __radd__ = __add__

    def __mul__(self, factor: Any) -> "Rows":
        return Rows(self.rows, self.values * factor, self.height)

    __rmul__ = __mul__


class Stub:
    """The shape and element type of an array that need not be kept alive."""

    __slots__ = ("dtype", "shape")
    dtype: Any
    shape: tuple[int, ...]

    @property
    def meta(self) -> Meta:
        return Meta(self.shape, of_array(self.dtype))

    @property
    def ndim(self) -> int:
        return len(self.shape)


def stub(x: Any) -> Any:
    """`x` without its elements."""
    if isinstance(x, ndarray | Rows):
        s = new(Stub)
        s.shape, s.dtype = x.shape, x.dtype
        return s
    return [stub(v) for v in x] if isinstance(x, list) else x


class Node:
    """One applied operator: what its rules keep, and an edge to the node of each input or None."""

    __slots__ = ("__weakref__", "attrs", "edges", "grad", "hooks", "op", "order", "saved", "shapes")
    attrs: Any
    edges: Any
    grad: Any
    hooks: Any
    op: Any
    order: int
    saved: Any
    shapes: Any


class Leaf:
    """Where gradients of a tensor that nothing computed rest; it does not know its tensor."""

    __slots__ = ("__weakref__", "cleared", "grad", "hooks", "order", "total")

    def __init__(self) -> None:
        self.cleared = False  # whether `total` is the zeros that `clear` left
        self.grad: Any = None
        self.total: Any = None
        self.hooks: Any = None
        self.order = 0  # after every node in the order of `backward`

    def __lt__(self, other: Any) -> bool:
        return False

    def clear(self, set_to_zero: bool) -> None:
        """Forget the gradient; with `set_to_zero` it becomes zeros, where it is dense."""
        if self.total is None:
            return
        if set_to_zero and type(self.total.array) is ndarray:
            self.total.array = np.zeros(self.total.array.shape, self.total.array.dtype)
            self.cleared = True
        else:
            self.total = None


class Part:
    """The edge to one of several results: passes its gradient on to the node they share."""

    __slots__ = ("__weakref__", "edges", "grad", "hooks", "index", "node", "op", "order", "saved")

    def __init__(self, node: Node, index: Any) -> None:
        self.node, self.index, self.grad, self.order, self.op = node, index, None, tick(), PART
        self.edges, self.saved, self.hooks = (node,), (), None


class PartOf:
    """The pseudo-operator behind `Part`."""

    name = "part"
    broadcasts = False
    inputs = outputs = ()


PART = PartOf()


HALF = 23  # NumPy's number of float16; that of bfloat16, which others add, is greater


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """`g` summed down to `shape`, half-precision elements in float32."""
    if g.shape == shape:
        return g
    if g.dtype.num >= HALF:
        return unbroadcast(g.astype("float32"), shape).astype(g.dtype)
    lead = g.ndim - len(shape)
    if lead > 0:
        g = add_reduce(g, axis=tuple(range(lead)))
    axes = tuple([i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1])
    return np.asarray(add_reduce(g, axis=axes, keepdims=True) if axes else g)


BLOCK = 1 << 18  # elements that are float32 besides what they are added to


def add_at(xp: Any, total: Any, where: Any, values: Any) -> None:
    """Add `values` to `total` where an index says, one after another.

    Those of half precision are gathered in float32 and rounded once. An index that is a list has
    numbers from 0 on, as many as there are rows of `values`.
    """
    if total.dtype.num < HALF:
        xp.add.at(total, where, values)
        return
    rows: Any = ...
    if type(where) is tuple or not where.ndim:
        wide = total.astype("float32")
        xp.add.at(wide, where, values.astype("float32", copy=False))
    else:
        if len(where) < len(total):  # of a tall table only those rows are float32
            rows, where = xp.unique(where, return_inverse=True)
        wide, step = total[rows].astype("float32"), max(1, BLOCK // max(1, values[:1].size))
        for i in range(0, len(where), step):
            xp.add.at(wide, where[i : i + step], values[i : i + step].astype("float32"))
    total[rows] = wide
