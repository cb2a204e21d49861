"""Values out of nothing, and copies: filled, numbered, cast, scaled and summed tensors."""

import math
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from scull import lang
from scull.core.attribute import Doubles, Dtype, Floats, Ints, Long, Longs
from scull.core.dtype import DType, float32, int32, int64
from scull.core.eager import primitive
from scull.core.memory import refuse_bytes
from scull.core.meta import UNKNOWN, Kind, Meta, agree, axis_of, count, sized
from scull.core.op import meta_of
from scull.core.tensor import Rows, add_at
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from scull.ops.half import is_half, placed, single, wide_at
from scull.ops.join import concat
from scull.ops.like import whole_number, whole_numbers


def planned_sizes(sizes: Iterable[int], tensor: Any, tensors: Any) -> tuple[int, ...]:
    """What is known of attribute `sizes` before a run: a tensor may decide one or all of them."""
    sizes = tuple(sizes)
    if tensors:
        known = sizes if len(sizes) == len(tensors) else (-1,) * len(tensors)
        return sized(UNKNOWN if n < 0 else n for n in known)
    if tensor is not None:
        if tensor.shape[:1] == (-1,):
            raise ShapeError("the tensor that holds a shape has itself an unknown size")
        return (UNKNOWN,) * (tensor.shape[0] if tensor.shape else 1)
    return sizes


def given_sizes(sizes: tuple[int, ...], tensor: Any, tensors: Any) -> tuple[int, ...]:
    """The numbers of attribute `sizes` when run."""
    if tensors:
        return tuple([whole_number(v) for v in tensors])
    return sizes if tensor is None else whole_numbers(tensor)


def new_shape(sizes: Iterable[int], tensor: Any, tensors: Any) -> tuple[int, ...]:
    """The shape of a new tensor as far as it is known before a run."""
    found = planned_sizes(sizes, tensor, tensors)
    if not tensors and tensor is None and min(found, default=0) < 0:
        raise ArgumentError(f"shape {list(found)} has a negative size")
    return found


def number_of(text: str, dtype: DType) -> Any:
    """A number spelt in an attribute, exact for integers."""
    if dtype.is_integer:
        return int(text) if text.lstrip("+-").isdigit() else int(float(text))
    return complex(text) if dtype.is_complex else float(text)


@primitive(enlarges=("shape",))
def fill_constant(
    value_tensor: Meta = None,
    shape_tensor: Meta = None,
    shape_tensor_list: list[Meta] | None = None,
    *,
    shape: Longs = (),
    value: float = 0.0,
    dtype: Dtype = float32,
    str_value: str = "",
    force_cpu: bool = False,
    place_type: int = -1,
) -> Meta:
    """A tensor of one value."""
    return Meta(new_shape(shape, shape_tensor, shape_tensor_list), dtype)


@fill_constant.kernel
def fill_constant_kernel(
    xp: Any,
    number: Any = None,
    tensor: Any = None,
    tensors: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    dtype, value = attrs["dtype"], attrs["value"]
    if out is None:
        out = xp.empty(given_sizes(attrs["shape"], tensor, tensors), dtype.array)
    if number is not None:
        value = number.reshape(())
    elif attrs["str_value"]:
        value = number_of(attrs["str_value"], dtype)
    out[...] = value
    return out


fill_constant.no_grad("it reads no value")


@fill_constant.lower
def fill_constant_at(index: Any, number: Any, tensor: Any, tensors: Any, **attrs: Any) -> Any:
    dtype, text = attrs["dtype"], attrs["str_value"]
    if number is not None:
        return lang.cast(number[(0,) * len(number.shape)], dtype.name)
    value = number_of(text, dtype) if text else attrs["value"]
    kind = bool if dtype.name == "bool" else int if dtype.is_integer else float
    return lang.constant(kind(value), dtype.name)


@primitive(enlarges=("shape",))
def fill_constant_batch_size_like(
    x_meta: Meta,
    *,
    shape: Ints,
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    dtype: Dtype = float32,
    value: float = 0.0,
    str_value: str = "",
    force_cpu: bool = False,
) -> Meta:
    """A tensor of one value; one of its sizes is that of an axis of `x`."""
    return Meta(sized_like(x_meta.shape, shape, input_dim_idx, output_dim_idx), dtype)


def sized_like(x: tuple[int, ...], shape: Any, source: int, target: int) -> tuple[int, ...]:
    """`shape` with the size `x` has at axis `source` put in at `target`."""
    source, target = axis_of(source, len(x)), axis_of(target, len(shape))
    if min((*shape[:target], *shape[target + 1 :]), default=0) < 0:
        raise ArgumentError(f"shape {list(shape)} has a negative size beside axis {target}")
    return (*shape[:target], x[source], *shape[target + 1 :])


fill_constant_batch_size_like.op.spelling["x"] = "Input"


@fill_constant_batch_size_like.kernel
def batch_size_like_kernel(xp: Any, x: Any, *, out: Any = None, **attrs: Any) -> Any:
    dtype, text = attrs["dtype"], attrs["str_value"]
    shape = sized_like(x.shape, attrs["shape"], attrs["input_dim_idx"], attrs["output_dim_idx"])
    out = xp.empty(shape, dtype.array) if out is None else out
    out[...] = number_of(text, dtype) if text else attrs["value"]
    return out


fill_constant_batch_size_like.no_grad("it reads no value")
fill_constant_batch_size_like.lower(
    lambda index, x, **attrs: fill_constant_at(index, None, None, None, **attrs)
)


@primitive
def assign_value(
    *,
    shape: Ints,
    dtype: Dtype,
    bool_values: Ints = (),
    fp32_values: Floats = (),
    fp64_values: Doubles = (),
    int32_values: Ints = (),
    int64_values: Longs = (),
) -> Meta:
    """A tensor of the values that stand in the Program."""
    values = bool_values or fp32_values or fp64_values or int32_values or int64_values
    if len(values) != math.prod(shape):
        raise ShapeError(f"{len(values)} values do not fill the shape {list(shape)}")
    return Meta(tuple(shape), dtype)


@assign_value.kernel
def assign_value_kernel(xp: Any, *, out: Any = None, shape: Any, dtype: Any, **lists: Any) -> Any:
    values = next((v for v in lists.values() if v), ())
    return xp.array(values, dtype.array).reshape(shape)


assign_value.no_grad("it reads no value")
assign_value.no_lowering("a table of values is no expression")


@primitive(enlarges=("num_rows", "num_columns"))
def eye(*, num_rows: Long, num_columns: Long = -1, dtype: Dtype = float32) -> Meta:
    """Ones on the diagonal of a matrix, zeros elsewhere."""
    columns = num_rows if num_columns is not UNKNOWN and num_columns == -1 else num_columns
    if any(n is not UNKNOWN and n < 0 for n in (num_rows, columns)):
        raise ArgumentError(f"{num_rows} rows and {columns} columns are no size")
    return Meta((num_rows, columns), dtype)


@eye.kernel
def eye_kernel(xp: Any, *, out: Any = None, num_rows: int, num_columns: int, dtype: Any) -> Any:
    columns = num_rows if num_columns == -1 else num_columns
    out = xp.empty((num_rows, columns), dtype.array) if out is None else out
    out[...] = 0
    diagonal = xp.arange(min(num_rows, columns))
    out[diagonal, diagonal] = 1
    return out


eye.no_grad("it reads no value")


@eye.lower
def eye_at(index: Any, dtype: Any, **_: Any) -> Any:
    return lang.cast(lang.equal(index[0], index[1]), dtype.name)


@primitive(type="range", slots={"start": "Start", "end": "End", "step": "Step"})
def arange(start: Meta, end: Meta, step: Meta) -> Meta:
    """The numbers from `start` on, `step` apart, before `end`."""
    return Meta((UNKNOWN,), start.dtype)


@arange.kernel
def arange_kernel(xp: Any, start: Any, end: Any, step: Any, *, out: Any = None) -> Any:
    """Each number is its predecessor plus `step`, as rounded."""
    first, last, by = start.item(), end.item(), step.item()
    if by == 0 or (last - first) * by < 0:
        raise ArgumentError(f"no number of steps of {by} leads from {first} to {last}")
    count = steps_between(start, end, step)
    refuse_bytes(count * start.dtype.itemsize, f"{count} numbers")
    out = xp.full(count, by, start.dtype)
    if count:
        out[0] = first
    return xp.add.accumulate(out, out=out)


def steps_between(start: Any, end: Any, step: Any) -> int:
    """How many numbers `arange` gives, computed in their own element type."""
    if start.dtype.kind in "iu":
        return int(-((start.item() - end.item()) // step.item()))
    return math.ceil(abs(((end - start) / step).item()))


arange.no_grad("a count of numbers is not differentiable")
arange.no_lowering("its length depends on values")


PLACE = 24  # bytes for each number between others while they are computed


@primitive(infer_first=True)
def linspace(start: Meta, stop: Meta, num: Meta, *, dtype: Dtype = None) -> Meta:
    """`num` numbers from `start` to `stop`, equally far apart."""
    found = dtype or start.dtype
    if not found.is_float and found not in (int32, int64):
        raise DtypeError(f"numbers are floats, int32 or int64, not {found.name}")
    return Meta((UNKNOWN,), found)


@linspace.kernel
def linspace_kernel(
    xp: Any, start: Any, stop: Any, num: Any, *, out: Any = None, dtype: Any
) -> Any:
    """The lower half is counted from `start`, the upper from `stop`."""
    count = int(num.item())
    if count < 1:
        raise ArgumentError(f"{count} numbers are asked for, at least 1 is needed")
    refuse_bytes(count * PLACE, f"{count} numbers")
    target = dtype.array if dtype else start.dtype
    first, last = float(start.astype(target).item()), float(stop.astype(target).item())
    if count == 1:
        return xp.full(1, first).astype(target)
    step, half, found = (last - first) / (count - 1), count // 2, xp.empty(count, target)
    found[:half] = first + step * xp.arange(half)
    found[half:] = last - step * xp.arange(count - 1 - half, -1, -1)
    return found


linspace.no_grad("Paddle gives it none")
linspace.no_lowering("its length depends on values")


@primitive(inline_gradient=True)
def assign(x: Meta = None) -> Meta:
    """A copy of `x`."""
    if x is None:
        raise ArgumentTypeError("there is nothing to copy")
    return x


@assign.kernel
def assign_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    if out is None:
        return [] if x is None else x.copy()  # a list of tensors that nothing was written to yet
    out[...] = x
    return out


assign.kernel(rows=True)(lambda xp, x, *, out=None: x.copy())
assign.grad(lambda dout: assign(dout))
assign.lower(lambda index, x: x[index])


@primitive(inline_gradient=True, fixed={"use_mkldnn": False}, printed=("use_mkldnn",))
def cast(x: Meta, *, out_dtype: Dtype, in_dtype: Dtype = None) -> Meta:
    """`x` in another element type; a float becomes an integer without its fraction."""
    return x.with_dtype(out_dtype)


@cast.kernel
def cast_kernel(xp: Any, x: Any, *, out: Any = None, out_dtype: Any, in_dtype: Any = None) -> Any:
    if x.dtype.kind == "c" and not out_dtype.is_complex and out_dtype.name != "bool":
        x = x.real
    if out is None:
        return x.astype(out_dtype.array)
    out[...] = x
    return out


cast.lower_rows("values")


@cast.kernel(rows=True)
def cast_rows(xp: Any, x: Any, *, out: Any = None, out_dtype: Any, in_dtype: Any = None) -> Any:
    return Rows(x.rows, x.values.astype(out_dtype.array), x.height)


@cast.grad
def cast_grad(x_meta: Any, dout: Any) -> Any:
    return cast(dout, out_dtype=meta_of(x_meta).dtype, in_dtype=meta_of(dout).dtype)


cast.lower(lambda index, x, out_dtype, in_dtype: lang.cast(x[index], out_dtype.name))


@primitive(inline_gradient=True)
def scale(
    x: Meta,
    scale_tensor: Meta = None,
    *,
    scale: float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
) -> Meta:
    """``x * scale + bias``, or ``(x + bias) * scale``; of integers with whole numbers only."""
    if x.dtype.name == "bool":
        raise DtypeError(f"{x} is not of numbers")
    if scale_tensor is not None and count(scale_tensor.shape) not in (1, -1):
        raise ShapeError(f"the tensor {scale_tensor} that scales has not one element")
    return x


scaled = scale  # within its rule, `scale` is the attribute


@scale.kernel(over=True)
def scale_kernel(
    xp: Any,
    x: Any,
    factor: Any = None,
    *,
    out: Any = None,
    scale: float,
    bias: float,
    bias_after_scale: bool,
) -> Any:
    if x.dtype.kind == "b":
        raise DtypeError("bool is not of numbers")
    kind = x.dtype.type
    if factor is None and scale == 1.0 and bias:
        return xp.add(x, kind(bias), out)
    factor = kind(scale) if factor is None else factor.reshape(()).astype(x.dtype)
    if not bias:
        return xp.multiply(x, factor, out)
    if bias_after_scale:
        return xp.add(xp.multiply(x, factor, out), kind(bias), out)
    return xp.multiply(xp.add(x, kind(bias), out), factor, out)


scale.lower_rows("values")


@scale.kernel(rows=True)
def scale_rows(xp: Any, x: Any, factor: Any = None, *, out: Any = None, **attrs: Any) -> Any:
    return Rows(x.rows, scale_kernel(xp, x.values, factor, **attrs), x.height)


@scale.grad("x")
def scale_grad(scale_tensor: Any, dout: Any, scale: float) -> Any:
    return scaled(dout, scale_tensor, scale=scale)


@scale.lower
def scale_at(
    index: Any, x: Any, factor: Any, scale: float, bias: float, bias_after_scale: bool
) -> Any:
    whole = x.dtype[0] in "iu"
    by = int(scale) if whole else scale
    by = by if factor is None else lang.cast(factor[(0,) * len(factor.shape)], x.dtype)
    offset = int(bias) if whole else bias
    value = x[index]
    if not bias:
        return value * by
    return value * by + offset if bias_after_scale else (value + offset) * by


@primitive(
    type="sum",
    prefix="add_n",
    inline_gradient=True,
    fixed={"mkldnn_data_type": "float32", "use_mkldnn": False},
    printed=("mkldnn_data_type", "use_mkldnn"),
)
def add_n(x: list[Meta]) -> Meta:
    """The sum of tensors of one shape; of row-sparse ones alone it is row-sparse."""
    first = x[0]
    if first.kind is Kind.ARRAY:
        return first
    for other in x[1:]:
        if len(other.shape) != len(first.shape):
            raise ShapeError(f"{first} and {other} are not of one shape")
        sizes = zip(first.shape, other.shape, strict=True)
        first = first.with_shape(agree(a, b, "sizes {} and {} are not the same") for a, b in sizes)
        if other.dtype is not first.dtype:
            raise DtypeError(f"{first} and {other} are not of one element type; cast one")
    sparse = all(m.kind is Kind.ROWS for m in x)
    return first.with_kind(Kind.ROWS if sparse else Kind.DENSE)


@add_n.kernel(over=True)
def add_n_kernel(xp: Any, x: Any, *, out: Any = None) -> Any:
    if any(isinstance(v, list) for v in x):
        return add_lists(xp, x)
    one_kind(x)
    if len(x) == 1:
        return assign_kernel(xp, x[0], out=out)
    if len(x) > 2 and is_half(x[0]):
        return placed(add_n_kernel(xp, list(map(single, x))), x[0].dtype, out)
    total = xp.asarray(xp.add(x[0], x[1], out))
    for other in x[2:]:
        xp.add(total, other, total)
    return total


def one_kind(x: Any) -> None:
    """Refuse arrays of differing shapes or element types, which NumPy would stretch and promote."""
    first = x[0]
    for other in x:
        if other.shape != first.shape or other.dtype != first.dtype:
            raise ShapeError(f"{meta_of(first)} and {meta_of(other)} are not alike")


def joined_rows(x: list[Any]) -> Any:
    """The rows of all, one after another; None where one is dense."""
    if any(v.meta.kind is not Kind.ROWS for v in x):
        return None
    return concat([v.rows for v in x]), concat([v.values for v in x])


add_n.lower_rows("made", joined_rows)


@add_n.kernel(rows=True)
def add_n_rows(xp: Any, x: Any, *, out: Any = None) -> Any:
    one_kind(x)
    sparse = [v for v in x if isinstance(v, Rows)]
    if len(sparse) == len(x):
        rows = xp.concatenate([v.rows for v in sparse])
        return Rows(rows, xp.concatenate([v.values for v in sparse]), sparse[0].height)
    dense = [v for v in x if not isinstance(v, Rows)]
    half = is_half(dense[0])
    total = add_n_kernel(xp, list(map(single, dense)), out=None if half else out)
    for v in sparse:
        add_at(xp, total, v.rows, single(v.values))
    return placed(total, dense[0].dtype, out) if half else total


def add_lists(xp: Any, lists: Any) -> list[Any]:
    """The sums of what stands at one place of several lists of tensors."""
    rows = zip_longest(*(v or () for v in lists))
    found = [[x for x in row if x is not None] for row in rows]
    return [add_n_kernel(xp, row) if row else None for row in found]


add_n.grad(lambda x_meta, dout: [scaled(dout) for _ in x_meta])


@add_n.lower
def add_n_at(index: Any, x: Any) -> Any:
    total = wide_at(x[0][index])
    for other in x[1:]:
        total = total + wide_at(other[index])
    return lang.cast(total, x[0].dtype)


@primitive(in_place={"out": "x"})
def increment(x: Meta, *, step: float = 1.0) -> Meta:
    """The one number in `x` plus `step`."""
    if count(x.shape) not in (1, -1):
        raise ShapeError(f"{x} has not one element")
    return x


@increment.kernel
def increment_kernel(xp: Any, x: Any, *, out: Any = None, step: float) -> Any:
    if x.size != 1:
        raise ShapeError(f"{meta_of(x)} has not one element")
    return xp.add(x, x.dtype.type(step), out)


increment.no_grad("a counter carries none")
increment.lower(lambda index, x, step: x[index] + (int(step) if x.dtype[0] in "iu" else step))
