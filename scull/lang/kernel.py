"""A kernel: what every element of every output is, traced from a lowering."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scull.errors import ArgumentTypeError, DtypeError, ShapeError, UnknownSizeError
from scull.lang.body import Body, Map, Scatter
from scull.lang.bounds import check_loads
from scull.lang.dtype import element
from scull.lang.expression import Array, Axis, Expression, Number, axis, constant
from scull.lang.function import inside
from scull.lang.text import lines, signature

Index = tuple[Axis, ...]


@dataclass(frozen=True)
class Kernel:
    """The arrays read, the arrays written, and one body for each of those."""

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    bodies: tuple[Body, ...]

    def __post_init__(self) -> None:
        for out, body in zip(self.outputs, self.bodies, strict=True):
            _check(out, body)

    def __str__(self) -> str:
        head = f"kernel {self.name}({signature(self.inputs)}) -> {signature(self.outputs)}"
        return "\n".join([head, *("  " + line for line in lines(self.outputs, self.bodies)), ""])


def trace(
    lowering: Callable[..., Any],
    input_metas: Sequence[Any],
    output_metas: Sequence[Any],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Kernel:
    """The kernel of a lowering for operands of these metas (anything with `shape` and `dtype`).

    An Array among them is taken as it is.

    The lowering gets the index of an element, an Array for each input (None for an absent one, a
    list for a list) and the attributes by name. With one output, `index` is its position and the
    lowering returns its value; with several, `index` and what it returns are tuples with one for
    each (None for one not wanted). Outputs of the same shape have the same axes.
    """
    names = _names(lowering, len(input_metas))
    given = [_array(*pair) for pair in zip(names, input_metas, strict=True)]
    axes: dict[tuple[int, ...], Index] = {}
    outputs: list[Array | None] = []
    indices: list[Index | None] = []
    for number, meta in enumerate(output_metas):
        out = "out" if len(output_metas) == 1 else f"out{number}"
        array = None if meta is None else _one_array(out, meta)
        outputs.append(array)
        shape = None if array is None else array.shape
        if shape is not None and shape not in axes:
            axes[shape] = tuple(axis(size) for size in shape)
        indices.append(None if shape is None else axes[shape])
    index = indices[0] if len(indices) == 1 else tuple(indices)
    values = lowering(index, *given, **(attrs or {}))
    results = (values,) if len(indices) == 1 else tuple(values)
    bodies = [_body(*each) for each in zip(outputs, indices, results, strict=True) if each[0]]
    inputs: list[Array] = []
    for each in given:
        inputs += each if isinstance(each, list) else [each] if each else []
    kept = tuple(array for array in outputs if array is not None)
    return Kernel(name or lowering.__name__, tuple(inputs), kept, tuple(bodies))


def _names(lowering: Callable[..., Any], count: int) -> list[str]:
    """The names a lowering has for its inputs; those it takes as a `*list` are numbered."""
    names: list[str] = []
    for parameter in list(inspect.signature(lowering).parameters.values())[1:]:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}{number}" for number in range(count - len(names))]
        names.append(parameter.name)
    return names[:count]


def _array(name: str, meta: Any) -> Any:
    if meta is None:
        return None
    if isinstance(meta, (list, tuple)):
        return [_one_array(f"{name}{number}", each) for number, each in enumerate(meta)]
    return _one_array(name, meta)


def _one_array(name: str, meta: Any) -> Array:
    if isinstance(meta, Array):
        return meta
    dtype = getattr(meta.dtype, "name", meta.dtype)
    element(dtype)
    for size in meta.shape:
        if size < 0:
            raise UnknownSizeError(f"`{name}` has the shape {list(meta.shape)}: lower known sizes")
    return Array(name, tuple(int(size) for size in meta.shape), dtype)


def _body(out: Array | None, index: Index | None, value: Expression | Scatter | Number) -> Body:
    assert out is not None and index is not None
    if isinstance(value, Scatter):
        return value
    if not isinstance(value, Expression):
        value = constant(value, out.dtype)
    return Map(index, value)


def _check(out: Array, body: Body) -> None:
    """Raise unless a body gives what the output is, from axes it binds and loads in range."""
    if not isinstance(body, (Map, Scatter)):
        raise ArgumentTypeError(f"`{out.name}` is given by {body!r}, which is no expression")
    if body.dtype != out.dtype:
        raise DtypeError(f"`{out.name}` is {out.dtype} and its value {body.dtype}: `cast` it")
    shape = body.shape if isinstance(body, Scatter) else tuple(axis.size for axis in body.axes)
    if shape != out.shape:
        raise ShapeError(f"`{out.name}` has the shape {list(out.shape)}, its body {list(shape)}")
    bound = frozenset(body.over if isinstance(body, Scatter) else body.axes)
    for root in body.roots:
        for loose in root.free - bound:
            raise ShapeError(f"`{out.name}` varies with an axis of {loose.size} nothing runs over")
        if all(axis.size for axis in bound):
            condition = None
            if isinstance(body, Scatter) and root is body.value:
                condition = inside(out, body.index)
            check_loads(root, condition)
