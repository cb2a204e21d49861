"""Windows of a tensor, read as views and written: `x[1:3]`, `x[::2]`, `x[0] = y`."""

from builtins import slice as span
from typing import Any

from scull import lang
from scull.core.attribute import Dtype, Ints, Longs, Scalars
from scull.core.dtype import float32
from scull.core.eager import primitive
from scull.core.meta import UNKNOWN, Meta, axis_of, of_shape
from scull.errors import ArgumentError, RangeError, ShapeError, UnsupportedError
from scull.ops.create import given_sizes
from scull.ops.like import sum_like, unsqueeze


def window_bounds(size: int, start: int, end: int, step: int) -> tuple[int, int, int]:
    """Where a slice begins, its count and step; going down, an end of -1 is behind the first."""
    if step == 0:
        raise ArgumentError("a slice in steps of 0 does not move")
    last = None if step < 0 and end == -1 else end
    begin, stop, step = span(start, last, step).indices(size)
    if (stop - begin) * step < 0 and 0 <= begin < size:
        raise ArgumentError(f"steps of {step} do not lead from {start} to {end}")
    return begin, len(range(begin, stop, step)), step


def element_at(size: int, start: int, axis: int) -> int:
    """The place that a single index means."""
    if not -size <= start < size:
        raise RangeError(f"index {start} is outside [-{size}, {size}) of axis {axis}")
    return start % size


def windowed(
    shape: tuple[int, ...], axes: Any, starts: Any, ends: Any, steps: Any, dropped: Any
) -> tuple[int, ...]:
    """The shape of the window; `dropped` axes, of which one element is read, are left out."""
    sizes: list[Any] = list(shape)
    for a, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_of(a, len(shape))
        size = shape[axis]
        if axis in dropped:
            if size != -1 and start is not None:
                element_at(size, start, axis)
            sizes[axis] = None
        elif size == -1 or start is None or end is None or step is None:
            sizes[axis] = UNKNOWN
        else:
            sizes[axis] = window_bounds(size, start, end, step)[1]
    return tuple([n for n in sizes if n is not None])


def span_of(begin: int, count: int, step: int) -> Any:
    """The slice of `count` elements from `begin` on."""
    stop = begin + count * step
    return span(begin, stop if stop >= 0 else None, step) if count else span(0, 0)


def window_index(shape: Any, axes: Any, starts: Any, ends: Any, steps: Any, dropped: Any) -> Any:
    """The index of the window, as arrays take it."""
    index: list[Any] = [span(None)] * len(shape)
    for a, start, end, step in zip(axes, starts, ends, steps, strict=True):
        axis = axis_of(a, len(shape))
        if axis in dropped:
            index[axis] = element_at(shape[axis], start, axis)
        else:
            index[axis] = span_of(*window_bounds(shape[axis], start, end, step))
    return (*index, ...)


def by_axis(shape: Any, axes: Any, *bounds: Any) -> dict[int, tuple[Any, ...]]:
    """Start, end and step of each axis that is sliced."""
    return {axis_of(a, len(shape)): b for a, *b in zip(axes, *bounds, strict=True)}


def window_at(
    index: Any, shape: Any, axes: Any, starts: Any, ends: Any, steps: Any, dropped: Any
) -> Any:
    """The place in the whole of the element at `index` of the window."""
    rest, places = iter(index), []
    bounds = by_axis(shape, axes, starts, ends, steps)
    for axis, size in enumerate(shape):
        if axis in dropped:
            places.append(element_at(size, bounds[axis][0], axis))
        elif axis in bounds:
            begin, _, step = window_bounds(size, *bounds[axis])
            places.append(next(rest) * step + begin)
        else:
            places.append(next(rest))
    return tuple(places)


def planned_bounds(
    bounds: tuple[int, ...], tensor: Any, tensors: Any, count: int, flags: tuple[int, ...] = ()
) -> tuple[Any, ...]:
    """Bounds before a run; None for those that tensors decide, where a flag says -1 or nothing."""
    if tensors and len(tensors) != count:
        raise ArgumentError(f"{count} axes need {count} bounds, not {len(tensors)} tensors")
    if tensor is not None and tensor.shape not in ((count,), (-1,)):
        raise ArgumentError(f"{count} axes need {count} bounds, not {tensor}")
    if tensors and len(bounds) == len(flags) == count:
        return tuple([b if flag == 1 else None for b, flag in zip(bounds, flags, strict=True)])
    if tensor is not None or tensors:
        return (None,) * count
    if len(bounds) != count:
        raise ArgumentError(f"{count} axes need {count} bounds, not {list(bounds)}")
    return bounds


def fixed_bounds(*tensors: Any) -> None:
    """Refuse to lower what only tensors' values decide."""
    if any(t is not None and t != [] for t in tensors):
        raise UnsupportedError("bounds that tensors give are known only when run")


@primitive(slots={"x": "Input"}, views={"out": "x"})
def slice(
    x: Meta,
    starts_tensor: Meta = None,
    ends_tensor: Meta = None,
    starts_tensor_list: list[Meta] | None = None,
    ends_tensor_list: list[Meta] | None = None,
    *,
    axes: Ints,
    starts: Ints = (),
    ends: Ints = (),
    infer_flags: Ints = (),
    decrease_axis: Ints = (),
) -> Meta:
    """The elements from `starts` to before `ends` along `axes`; a `decrease_axis` is left out."""
    starts = planned_bounds(starts, starts_tensor, starts_tensor_list, len(axes), infer_flags)
    ends = planned_bounds(ends, ends_tensor, ends_tensor_list, len(axes), infer_flags)
    return x.with_shape(windowed(x.shape, axes, starts, ends, (1,) * len(axes), decrease_axis))


@slice.kernel
def slice_kernel(xp: Any, x: Any, *tensors: Any, out: Any = None, **attrs: Any) -> Any:
    first, last, firsts, lasts = tensors or (None,) * 4
    axes, starts, ends = attrs["axes"], attrs["starts"], attrs["ends"]
    if first is not None or firsts:
        starts = given_sizes(starts, first, firsts)
    if last is not None or lasts:
        ends = given_sizes(ends, last, lasts)
    return x[window_index(x.shape, axes, starts, ends, (1,) * len(axes), attrs["decrease_axis"])]


@slice.grad("x")
def slice_grad(
    x_meta: Any,
    starts_tensor: Any,
    ends_tensor: Any,
    starts_tensor_list: Any,
    ends_tensor_list: Any,
    dout: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    decrease_axis: Any,
) -> Any:
    tensors = (starts_tensor, starts_tensor_list, ends_tensor, ends_tensor_list)
    bounds = {"axes": axes, "starts": starts, "ends": ends, "strides": (1,) * len(axes)}
    return place_window(dout, x_meta, *tensors, **bounds, decrease_axis=decrease_axis)


@slice.lower
def slice_at(index: Any, x: Any, *tensors: Any, **attrs: Any) -> Any:
    fixed_bounds(*tensors)
    axes, dropped = attrs["axes"], attrs["decrease_axis"]
    ones = (1,) * len(axes)
    return x[window_at(index, x.shape, axes, attrs["starts"], attrs["ends"], ones, dropped)]


@primitive(slots={"x": "Input"}, views={"out": "x"})
def strided_slice(
    x: Meta,
    starts_tensor: Meta = None,
    starts_tensor_list: list[Meta] | None = None,
    ends_tensor: Meta = None,
    ends_tensor_list: list[Meta] | None = None,
    strides_tensor: Meta = None,
    strides_tensor_list: list[Meta] | None = None,
    *,
    axes: Ints,
    starts: Ints = (),
    ends: Ints = (),
    strides: Ints = (),
    infer_flags: Ints = (),
    decrease_axis: Ints = (),
) -> Meta:
    """As `slice`, in steps of `strides`, which may be negative."""
    starts = planned_bounds(starts, starts_tensor, starts_tensor_list, len(axes), infer_flags)
    ends = planned_bounds(ends, ends_tensor, ends_tensor_list, len(axes), infer_flags)
    strides = planned_bounds(strides, strides_tensor, strides_tensor_list, len(axes), infer_flags)
    return x.with_shape(windowed(x.shape, axes, starts, ends, strides, decrease_axis))


def run_bounds(tensors: Any, attrs: Any) -> tuple[Any, ...]:
    """Starts, ends and strides when run, for the operators that take all of them as tensors too."""
    pairs = zip(("starts", "ends", "strides"), tensors[::2], tensors[1::2], strict=True)
    return tuple([given_sizes(attrs[n], t, ts) for n, t, ts in pairs])


@strided_slice.kernel
def strided_slice_kernel(xp: Any, x: Any, *tensors: Any, out: Any = None, **attrs: Any) -> Any:
    bounds = run_bounds(tensors or (None,) * 6, attrs)
    return x[window_index(x.shape, attrs["axes"], *bounds, attrs["decrease_axis"])]


@strided_slice.grad("x")
def strided_slice_grad(
    x_meta: Any,
    starts_tensor: Any,
    starts_tensor_list: Any,
    ends_tensor: Any,
    ends_tensor_list: Any,
    strides_tensor: Any,
    strides_tensor_list: Any,
    dout: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    strides: Any,
    decrease_axis: Any,
) -> Any:
    tensors = (starts_tensor, starts_tensor_list, ends_tensor, ends_tensor_list)
    tensors += (strides_tensor, strides_tensor_list)
    bounds = {"axes": axes, "starts": starts, "ends": ends, "strides": strides}
    return place_window(dout, x_meta, *tensors, **bounds, decrease_axis=decrease_axis)


@strided_slice.lower
def strided_slice_at(index: Any, x: Any, *tensors: Any, **attrs: Any) -> Any:
    fixed_bounds(*tensors)
    bounds = [attrs[n] for n in ("axes", "starts", "ends", "strides", "decrease_axis")]
    return x[window_at(index, x.shape, *bounds)]


@primitive
def place_window(
    x: Meta,
    like_meta: Meta,
    starts_tensor: Meta = None,
    starts_tensor_list: list[Meta] | None = None,
    ends_tensor: Meta = None,
    ends_tensor_list: list[Meta] | None = None,
    strides_tensor: Meta = None,
    strides_tensor_list: list[Meta] | None = None,
    *,
    axes: Ints,
    starts: Ints = (),
    ends: Ints = (),
    strides: Ints = (),
    decrease_axis: Ints = (),
) -> Meta:
    """Zeros in the shape of `like` with `x` in the window that `strided_slice` would read."""
    tensors = (starts_tensor, starts_tensor_list, ends_tensor, ends_tensor_list)
    tensors += (strides_tensor, strides_tensor_list)
    bounds = {"axes": axes, "starts": starts, "ends": ends, "strides": strides}
    of_shape(
        x, strided_slice.op.body(like_meta, *tensors, **bounds, decrease_axis=decrease_axis).shape
    )
    return Meta(like_meta.shape, x.dtype)


@place_window.kernel
def place_window_kernel(
    xp: Any, x: Any, like: Any, *tensors: Any, out: Any = None, **attrs: Any
) -> Any:
    bounds = run_bounds((*tensors, *(None,) * (6 - len(tensors))), attrs)
    out = xp.empty(like.shape, x.dtype) if out is None else out
    out[...] = 0
    out[window_index(like.shape, attrs["axes"], *bounds, attrs["decrease_axis"])] = x
    return out


@place_window.grad("x")
def place_window_grad(
    starts_tensor: Any,
    starts_tensor_list: Any,
    ends_tensor: Any,
    ends_tensor_list: Any,
    strides_tensor: Any,
    strides_tensor_list: Any,
    dout: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    strides: Any,
    decrease_axis: Any,
) -> Any:
    tensors = (starts_tensor, starts_tensor_list, ends_tensor, ends_tensor_list)
    tensors += (strides_tensor, strides_tensor_list)
    bounds = {"axes": axes, "starts": starts, "ends": ends, "strides": strides}
    return strided_slice(dout, *tensors, **bounds, decrease_axis=decrease_axis)


def within(index: Any, shape: Any, window: Any) -> tuple[Any, Any]:
    """Whether `index` of the whole lies in a window, and where in the window it is."""
    axes, starts, ends, strides, dropped = window
    inside, places = lang.constant(True, "bool"), []
    bounds = by_axis(shape, axes, starts, ends, strides)
    for axis, place in enumerate(index):
        if axis in dropped:
            spot = element_at(shape[axis], bounds[axis][0], axis)
            inside = lang.both(inside, lang.equal(place, spot))
        elif axis in bounds:
            begin, count, step = window_bounds(shape[axis], *bounds[axis])
            spot = (place - begin if step > 0 else begin - place) // abs(step)
            inside = lang.both(inside, lang.equal(spot * step + begin, place))
            inside = lang.both(lang.both(inside, spot >= 0), spot < count)
            places.append(spot)
        else:
            places.append(place)
    return inside, tuple(places)


@place_window.lower
def place_window_at(index: Any, x: Any, like: Any, *tensors: Any, **attrs: Any) -> Any:
    fixed_bounds(*tensors)
    window = [attrs[n] for n in ("axes", "starts", "ends", "strides", "decrease_axis")]
    inside, places = within(index, like.shape, window)
    return lang.guarded(inside, x[places], lang.constant(0, x.dtype))


@primitive(slots={"x": "Input"})
def set_value(
    x: Meta,
    value_tensor: Meta = None,
    starts_tensor_list: list[Meta] | None = None,
    ends_tensor_list: list[Meta] | None = None,
    steps_tensor_list: list[Meta] | None = None,
    *,
    dtype: Dtype = float32,
    axes: Longs,
    starts: Longs = (),
    ends: Longs = (),
    steps: Longs = (),
    decrease_axes: Longs = (),
    none_axes: Longs = (),
    values: Scalars = (),
    shape: Longs = (),
) -> Meta:
    """`x` with the window overwritten by a tensor, or by `values` in `shape`, stretched to fit."""
    lists = (starts_tensor_list, ends_tensor_list, steps_tensor_list)
    pairs = zip((starts, ends, steps), lists, strict=True)
    bounds = [planned_bounds(b, None, t, len(axes)) for b, t in pairs]
    window = windowed(x.shape, axes, *bounds, decrease_axes)
    value = tuple(shape) if value_tensor is None else value_tensor.shape
    while len(value) > len(window) + len(none_axes) and value[0] == 1:
        value = value[1:]
    fits(value, (1,) * len(none_axes) + window if none_axes else window, bool(none_axes))
    return x


def fits(value: tuple[int, ...], window: tuple[int, ...], loosely: bool = False) -> None:
    """Refuse a value that does not stretch to the window; `loosely` looks at its axes only."""
    pairs = zip(reversed(value), reversed(window), strict=False)
    stretches = loosely or all(v in (1, -1, n) or n == -1 for v, n in pairs)
    if len(value) > len(window) or not stretches:
        raise ShapeError(
            f"a value of shape {list(map(int, value))} does not fit {list(map(int, window))}"
        )


def written(x: Any, lists: Any, attrs: Any) -> Any:
    """The index of the window that `set_value` writes, with its new axes."""
    names = ("starts", "ends", "steps")
    bounds = [given_sizes(attrs[n], None, t) for n, t in zip(names, lists, strict=True)]
    index = list(window_index(x.shape, attrs["axes"], *bounds, attrs["decrease_axes"]))
    for axis in sorted(attrs["none_axes"]):
        index.insert(min(axis, len(index) - 1), None)
    return tuple(index)


@set_value.kernel
def set_value_kernel(
    xp: Any, x: Any, value: Any = None, *lists: Any, out: Any = None, **attrs: Any
) -> Any:
    if out is None:
        out = xp.array(x)
    else:
        out[...] = x
    if value is None:
        value = xp.asarray(attrs["values"]).astype(x.dtype).reshape(attrs["shape"])
    out[written(x, (*lists, *(None,) * (3 - len(lists))), attrs)] = value
    return out


@set_value.grad("x", "value_tensor")
def set_value_grad(
    value_tensor_meta: Any,
    starts_tensor_list: Any,
    ends_tensor_list: Any,
    steps_tensor_list: Any,
    dout: Any,
    axes: Any,
    starts: Any,
    ends: Any,
    steps: Any,
    decrease_axes: Any,
    none_axes: Any,
) -> Any:
    lists = (starts_tensor_list, ends_tensor_list, steps_tensor_list)
    bounds = {"axes": axes, "starts": starts, "ends": ends}
    dropped = {"decrease_axes": decrease_axes, "none_axes": none_axes}
    kept = set_value(
        dout, None, *lists, **bounds, **dropped, steps=steps, values=(0.0,), shape=(1,)
    )
    if value_tensor_meta is None:
        return kept, None
    places = (None, lists[0], None, lists[1], None, lists[2])
    window = strided_slice(dout, *places, **bounds, strides=steps, decrease_axis=decrease_axes)
    for number, axis in enumerate(sorted(none_axes)):
        place = axis - sum(d < axis - number for d in decrease_axes)
        window = unsqueeze(window, axes=(place,))
    extra = len(value_tensor_meta.shape) - len(window.shape)
    window = unsqueeze(window, axes=(0,) * extra) if extra > 0 else window
    return kept, sum_like(window, value_tensor_meta)


@set_value.lower
def set_value_at(index: Any, x: Any, value: Any, *lists: Any, **attrs: Any) -> Any:
    fixed_bounds(*lists)
    names = ("axes", "starts", "ends", "steps", "decrease_axes")
    inside, places = within(index, x.shape, [attrs[n] for n in names])
    if value is None:
        if len(attrs["values"]) != 1:
            raise UnsupportedError("a table of values is no expression")
        kind = bool if x.dtype == "bool" else int if x.dtype[0] in "iu" else float
        return lang.select(inside, lang.constant(kind(attrs["values"][0]), x.dtype), x[index])
    spots = list(places)
    for number, axis in enumerate(sorted(attrs["none_axes"])):
        spots.insert(axis - sum(d < axis - number for d in attrs["decrease_axes"]), 0)
    spots = [0] * (value.ndim - len(spots)) + spots
    return lang.guarded(inside, lang.at(value, spots), x[index])
