"""``x[index]``: the window of ints and slices is a view, tensors of indices and masks gather."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any

import numpy as np

from scull.core import session
from scull.core.dtype import int64
from scull.core.eager import made
from scull.core.interpreter import current
from scull.core.op import meta_of, op_of
from scull.core.tensor import Tensor, new
from scull.errors import ArgumentError, ArgumentTypeError, RangeError, UnsupportedError
from scull.ir.variable import Variable
from scull.ops import create, index, join, like, mask, move, search, slicing, spread
from scull.ops.promotion import cast_to

SLICE = slicing.slice.op
FAR = 2**31 - 1  # as an end of a slice: behind the last element
SHORT = bool | np.bool_


@dataclass
class Index:
    """An index taken apart: the window, the axes of size 1 put in, and what picks elements of it.

    `picks` are (axis of the window, indices or a mask); `empty` are new axes made by a `False`;
    `between` says where the new axes stand when those of single elements count too.
    """

    axes: list[int] = field(default_factory=list)
    starts: list[Any] = field(default_factory=list)
    ends: list[Any] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    between: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    picks: list[tuple[int, Any]] = field(default_factory=list)

    def bound(self, axis: int, start: Any, end: Any, step: Any) -> None:
        """The window along one axis."""
        self.axes.append(axis)
        self.starts.append(start)
        self.ends.append(end)
        self.steps.append(step)


def entry(item: Any, number: int) -> Any:
    """One part of an index: a number, truth value, slice, None, ellipsis, or a Tensor."""
    if isinstance(item, slice | EllipsisType | Variable | SHORT) or item is None:
        return item
    if isinstance(item, int | np.integer):
        return int(item)
    if isinstance(item, list | tuple | range):
        item = Tensor(np.asarray(item) if len(item) else np.zeros(0, np.int64))
    elif isinstance(item, np.ndarray):
        item = Tensor(item)
    if isinstance(item, Tensor) and item.array.dtype.kind in "biu":
        if item.array.ndim == 0:
            return bool(item.array) if item.array.dtype.kind == "b" else int(item.array)
        return item
    kind = item.dtype.name if isinstance(item, Tensor) else type(item).__name__
    raise RangeError(
        "a tensor is indexed by integers, slices, None, ..., and lists and tensors of integers "
        f"or bool, but part {number} of this index is {kind}"
    )


def axes_covered(item: Any) -> int:
    """How many axes of the tensor one part of an index stands for."""
    if item is None or isinstance(item, EllipsisType | SHORT):
        return 0
    if isinstance(item, Tensor | Variable) and item.dtype.name == "bool":
        return item.ndim
    return 1


def bound_of(value: Any) -> Any:
    """A bound of a slice: a number, or a Variable that holds one."""
    return value if value is None or isinstance(value, Variable) else int(value)


def parsed(ndim: int, given: Any) -> Index:
    """`given` as an index of a tensor of `ndim` axes."""
    items = [entry(v, i) for i, v in enumerate(given if isinstance(given, tuple) else (given,))]
    if sum(item is ... for item in items) > 1:
        raise ArgumentError("an index can only have a single ellipsis ('...')")
    covered = sum(map(axes_covered, items))
    if covered > ndim:
        raise RangeError(f"{covered} indices are too many for a tensor with {ndim} axes")
    found = Index()
    axis = place = 0
    for item in items:
        if item is None or isinstance(item, SHORT):
            found.between.append(axis + len(found.new))
            found.new.append(place)
            if item is not None and not item:
                found.empty.append(place)
            place += 1
        elif item is ...:
            axis, place = axis + ndim - covered, place + ndim - covered
        elif isinstance(item, slice):
            start, end, step = map(bound_of, (item.start, item.stop, item.step))
            step = 1 if step is None else step
            if start is not None or end is not None or not isinstance(step, int) or step != 1:
                down = isinstance(step, int) and step < 0
                start = (FAR if down else 0) if start is None else start
                end = (-1 if down else FAR) if end is None else end
                found.bound(axis, start, end, step)
            axis, place = axis + 1, place + 1
        elif isinstance(item, int) or (isinstance(item, Variable) and not item.ndim):
            end = element_end(item)
            found.bound(axis, item, end, 1)
            found.dropped.append(axis)
            axis += 1
        else:
            found.picks.append((place, item))
            axis, place = axis + axes_covered(item), place + axes_covered(item)
    return found


def element_end(start: Any) -> Any:
    """The end of the window that holds the element at `start` alone."""
    if isinstance(start, int):
        return FAR if start == -1 else start + 1
    return start + 1


def window(x: Any, wanted: Index) -> Any:
    """The part of `x`, an array or a tensor, that ints and slices describe; with its new axes."""
    if wanted.axes or not (wanted.new or wanted.picks):
        starts, starts_list = numbers(wanted.starts)
        ends, ends_list = numbers(wanted.ends)
        bounds = zip(wanted.starts, wanted.ends, wanted.steps, strict=True)
        options: dict[str, Any] = {"axes": wanted.axes, "decrease_axis": wanted.dropped}
        options["infer_flags"] = [-1 if holds_variable(b) else 1 for b in bounds]
        if all(isinstance(n, int) and n == 1 for n in wanted.steps):
            tensors = (None, None, starts_list, ends_list)
            found = slicing.slice(
                x, *given(tensors), **options, starts=starts, ends=ends, **named(x, "slice")
            )
            x = called_after(x, "slice", found)
        else:
            steps, steps_list = numbers(wanted.steps)
            tensors = (None, starts_list, None, ends_list, None, steps_list)
            options |= {"starts": starts, "ends": ends, "strides": steps}
            found = slicing.strided_slice(
                x, *given(tensors), **options, **named(x, "strided_slice")
            )
            x = called_after(x, "strided_slice", found)
    if wanted.new:
        x = like.unsqueeze(x, axes=wanted.new)
    for place in wanted.empty:
        x = slicing.slice(x, axes=(place,), starts=(0,), ends=(0,))
    return x


def called_after(x: Any, word: str, found: Any) -> Any:
    """`found`; a Variable made of `x` gets the name Paddle gives it."""
    return renamed(found, f"{x.name}_{word}") if isinstance(found, Variable) else found


def renamed(variable: Variable, key: str) -> Variable:
    """`variable`, called `key` and a number."""
    block = variable.block
    del block.vars[variable.name]
    variable.name = session.unique_name(key)
    block.add(variable)
    return variable


def named(x: Any, word: str) -> dict[str, Any]:
    """The keyword that keeps the numbers of `word` for results that are called so."""
    return {"name": f"{x.name}_{word}"} if isinstance(x, Variable) else {}


def given(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """`tensors`, or nothing when none of them is there."""
    return tensors if any(tensors) else ()


def numbers(bounds: list[Any]) -> tuple[list[int], Any]:
    """Bounds as numbers (-1 for what is not known), and as Variables when one of them is."""
    if not holds_variable(bounds):
        return bounds, None
    variables = [b if isinstance(b, Variable) else held(b) for b in bounds]
    return [-1 if isinstance(b, Variable) else b for b in bounds], variables


def holds_variable(bounds: Iterable[Any]) -> bool:
    """Whether one of some bounds is a Variable."""
    return any(isinstance(b, Variable) for b in bounds)


def held(bound: int) -> Any:
    """A bound that is known as a Variable, beside those that are not."""
    session.unique_name("fill_constant")  # as in Paddle, which numbers these by twos
    exact = {"value": float(bound), "str_value": str(bound)}
    return create.fill_constant(shape=(1,), dtype=int64, **exact, force_cpu=True)


def order_of_axes(ndim: int, picks: list[tuple[int, Any]]) -> list[int]:
    """The axes of a window, those that are picked from first."""
    first = [place + i for place, item in picks for i in range(axes_covered(item))]
    return first + [a for a in range(ndim) if a not in first]


def adjacent(picks: list[tuple[int, Any]]) -> bool:
    """Whether the axes that are picked from stand side by side: then their result stays there."""
    ends = [place + axes_covered(item) for place, item in picks]
    return all(end == place for end, (place, _) in zip(ends, picks[1:], strict=False))


def picked_axes(picks: list[tuple[int, Any]]) -> int:
    """How many axes stand in the result for those that are picked from."""
    return max(1 if item.dtype.name == "bool" else item.ndim for _, item in picks)


def picked(x: Any, picks: list[tuple[int, Any]]) -> Any:
    """The elements of `x` that tensors of indices and masks pick."""
    order = order_of_axes(x.ndim, picks)
    if order != list(range(x.ndim)):
        x = move.transpose(x, perm=order)
    found = gathered(x, [item for _, item in picks])
    first, count = picks[0][0], picked_axes(picks)
    if not first or not adjacent(picks):
        return found
    back = [*range(count, count + first), *range(count), *range(count + first, found.ndim)]
    return move.transpose(found, perm=back)


def gathered(x: Any, picks: list[Any]) -> Any:
    """The elements of `x` at `picks`, which stand for its first axes."""
    if not isinstance(x, Variable):
        return mask.index_get(x, [plain(x, v) for v in picks])
    variables = [recorded(v) for v in picks]
    if len(variables) > 1:
        columns = [column for v in variables for column in columns_of(v)]
        return index.gather_nd(x, join.stack(spread.broadcast_tensors(columns), axis=-1))
    (only,) = variables
    masks = only.dtype.name == "bool"
    return index.gather_nd(x, search.nonzero(only) if masks else like.unsqueeze(only, axes=(-1,)))


def columns_of(pick: Any) -> list[Any]:
    """The places along each axis that a Variable of indices or a mask picks from."""
    if pick.dtype.name != "bool":
        return [pick]
    places: list[Any] = join.unbind(search.nonzero(pick), axis=1)
    return places


def recorded(index_given: Any) -> Any:
    """A tensor of indices as a Variable."""
    if isinstance(index_given, Variable):
        return index_given
    return constant_values(index_given.array)


def constant_values(array: Any) -> Any:
    """An array as a Variable that always holds it."""
    lists = {"b": "bool_values", "i": "int64_values", "u": "int64_values", "f": "fp32_values"}
    exact = {"int32": "int32_values", "float64": "fp64_values"}
    name = exact.get(array.dtype.name, lists.get(array.dtype.kind, "fp32_values"))
    attrs = {"shape": array.shape, "dtype": array.dtype, name: array.reshape(-1).tolist()}
    return op_of("assign_value").call(**attrs, name=session.unique_name("assign"))


def refuse_setitem(x: Any, given_index: Any, value: Any) -> None:
    """``x[index] = value`` of a Variable, which is no statement of a Program."""
    raise UnsupportedError(
        "In static mode, the __setitem__ (looks like: x[indices] = values) should not be used. "
        "Please use x = paddle.static.setitem(x, indices, values)"
    )


def plain(x: Any, index_given: Any) -> Any:
    """A tensor of indices for `x`: an array where `x` is one."""
    return index_given.array if isinstance(x, np.ndarray) else index_given


def getitem(x: Any, given_index: Any) -> Any:
    """``x[index]``."""
    wanted = parsed(x.ndim, given_index)
    found = window(x, wanted)
    return picked(found, wanted.picks) if wanted.picks else found


def setitem(x: Any, given_index: Any, value: Any) -> Any:
    """A Variable with ``x[index]`` replaced by `value`, as a new one."""
    wanted = parsed(x.ndim, given_index)
    if wanted.empty:  # a False picks nothing
        return op_of("assign").call(x)
    attrs: dict[str, Any] = {"axes": wanted.axes, "none_axes": wanted.between}
    attrs["decrease_axes"] = wanted.dropped
    inputs: list[Any] = [None]
    for name in ("starts", "ends", "steps"):
        known, variables = numbers(getattr(wanted, name))
        attrs[name] = () if variables else known
        inputs.append(variables)
    if wanted.picks:
        wanted.picks = [(place, recorded(item)) for place, item in wanted.picks]
        inputs[0] = put(x, wanted, value)
    elif isinstance(value, Tensor | Variable):
        attrs["dtype"], inputs[0] = x.dtype, recast(value, x.dtype)
    else:
        array = written_array(value, x.dtype)
        attrs |= {"dtype": x.dtype, "values": array.reshape(-1).tolist(), "shape": array.shape}
    tensors = inputs if any(v is not None for v in inputs) else ()
    return slicing.set_value(x, *tensors, **attrs)


def written_array(value: Any, dtype: Any) -> Any:
    """Numbers that are written, as an array of at least one axis."""
    if not isinstance(value, bool | int | float | complex | np.number | np.ndarray):
        raise ArgumentTypeError(
            "Only support to assign an integer, float, numpy.ndarray or paddle.Tensor to a "
            f"paddle.Tensor, but received {type(value)}"
        )
    return np.atleast_1d(np.asarray(value).astype(dtype.array))


def recast(x: Any, dtype: Any) -> Any:
    """`x` as elements of `dtype`; a Program says so even where nothing changes."""
    with current().naming("tmp"):
        return create.cast(x, in_dtype=x.dtype, out_dtype=dtype)


def put(x: Any, wanted: Index, value: Any) -> Any:
    """The window of a Variable with `value` written where tensors and masks say."""
    if not isinstance(value, Tensor | Variable):
        value = recast(constant_values(written_array(value, x.dtype)), x.dtype)
    elif value.dtype is not x.dtype:
        value = recast(value, x.dtype)
    x = window(x, wanted) if wanted.axes or wanted.new else x
    order = order_of_axes(x.ndim, wanted.picks)
    if order != list(range(x.ndim)):
        x, value = move.transpose(x, perm=order), turned(value, x.ndim, wanted.picks)
    found = mask.index_put(x, [item for _, item in wanted.picks], value)
    return move.transpose(found, perm=[order.index(a) for a in range(len(order))])


def turned(value: Any, ndim: int, picks: list[tuple[int, Any]]) -> Any:
    """What is written into a window of `ndim` axes, with the axes that are picked from first."""
    count, first = picked_axes(picks), picks[0][0]
    total = count + ndim - sum(axes_covered(item) for _, item in picks)
    if not adjacent(picks) or value.ndim <= total - first - count or value.shape == (1,):
        return value
    value = like.unsqueeze(value, axes=(0,) * (total - value.ndim))
    back = [*range(count, count + first), *range(count), *range(count + first, total)]
    return move.transpose(value, perm=[back.index(a) for a in range(total)])


def simple(shape: tuple[int, ...], given: Any) -> Any:
    """An index of numbers and rising slices within bounds as arrays take it; None for any other."""
    items = given if type(given) is tuple else (given,)
    if len(items) > len(shape):
        return None
    for item, size in zip(items, shape, strict=False):
        if type(item) is int:
            if not -size <= item < size:
                return None
        elif type(item) is slice and item.step is None:
            start, end = item.start, item.stop
            if type(start) is not int and start is not None:
                return None
            if type(end) is not int and end is not None:
                return None
            first = 0 if start is None else start if start >= 0 else start + size
            last = size if end is None else end if end >= 0 else end + size
            if not 0 <= first <= last:
                return None
        else:
            return None
    return (*items, ...)


def tensor_item(x: Any, given: Any) -> Any:
    """``x[index]`` of a Tensor; a plain one is a view that costs little more than NumPy's."""
    array, mode = x.array, current()
    index = simple(array.shape, given) if type(array) is np.ndarray and mode.plain else None
    if index is None:
        return getitem(x, given)
    out: Any = new(Tensor)
    out.array, out.node = array[index], None
    if x.node is not None and mode.record:
        wanted = parsed(array.ndim, given)
        attrs = {"axes": wanted.axes, "starts": wanted.starts, "ends": wanted.ends}
        attrs |= {"infer_flags": (), "decrease_axis": wanted.dropped}
        none = [None] * 4
        out.node = made(SLICE, [array, *none], [x.node, *none], attrs, (out.array,))
    return out


def places(shape: tuple[int, ...], given_index: Any) -> Any:
    """Where the elements of ``x[index]`` stand among all elements of an `x` of this shape."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.asarray(getitem(np.arange(count).reshape(shape), given_index))


def fitted(value: Any, dtype: Any) -> Any:
    """What is assigned, as a tensor of element type `dtype`."""
    if isinstance(value, Tensor | Variable):
        return cast_to(value, dtype)
    array = np.asarray(value)
    if array.dtype.kind not in "biufcV":
        raise ArgumentTypeError(f"a value of type {type(value).__name__} is no numbers to assign")
    return Tensor(array.astype(dtype.array))


def written(x: Any, given_index: Any, value: Any) -> Any:
    """`x` with ``x[index]`` replaced by `value`, as a new tensor on the tape."""
    wanted = parsed(x.ndim, given_index)
    value = fitted(value, x.dtype)
    if not wanted.picks and not wanted.new:
        bounds = {"starts": wanted.starts, "ends": wanted.ends, "steps": wanted.steps}
        dropped = {"decrease_axes": wanted.dropped, "dtype": x.dtype}
        return slicing.set_value(x, value, axes=wanted.axes, **bounds, **dropped)
    spots = places(tuple(x.shape), given_index)
    flat = move.reshape(x, shape=(-1,))
    return like.reshape_like(mask.index_put(flat, [Tensor(spots)], value), x)


def write_array(array: Any, given_index: Any, value: Any) -> None:
    """Write an array into ``array[index]``."""
    wanted = parsed(array.ndim, given_index)
    view = window(array, wanted)
    if not wanted.picks:
        view[...] = value
        return
    order = order_of_axes(view.ndim, wanted.picks)
    turned = view.transpose(order)
    items = [item.array for _, item in wanted.picks]
    mask.picked(meta_of(turned), list(map(meta_of, items)))
    items = mask.arrays_index(turned, items)
    first, count = wanted.picks[0][0], picked_axes(wanted.picks)
    if first and adjacent(wanted.picks):
        shape = turned[items].shape
        back = [*range(count, count + first), *range(count), *range(count + first, len(shape))]
        whole = np.broadcast_to(value, [shape[i] for i in back])
        value = whole.transpose(np.argsort(back))
    turned[items] = value
