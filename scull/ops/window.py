"""Windows that slide over the inner axes of images: what convolution and pooling share."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from scull import lang
from scull.core.meta import UNKNOWN
from scull.errors import ArgumentError, ShapeError

ALGORITHMS = ("EXPLICIT", "SAME", "VALID")
LAST = ("NHWC", "NDHWC")  # the orders of axes with the channels last
FORMATS = ("NCHW", *LAST, "NCDHW", "AnyLayout")  # old Programs say the last for channels first
NUMBERS = {1: "one number", 2: "two numbers", 3: "three numbers"}


class Windows(NamedTuple):
    """Along one axis: how many positions there are, and where the windows over them lie."""

    size: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int
    count: int

    def tap(self, i: int) -> slice:
        """Of the padded axis: what element `i` of each window is."""
        start = i * self.dilation
        return slice(start, start + (self.count - 1) * self.stride + 1, self.stride)

    def windows(self) -> list[slice]:
        """Where each window lies on the padded axis; it skips what lies between its elements."""
        reach = (self.kernel - 1) * self.dilation + 1
        starts = [i * self.stride for i in range(self.count)]
        return [slice(start, start + reach, self.dilation) for start in starts]

    def place(self, window: Any, i: Any) -> Any:
        """Where element `i` of a window is on the axis itself, for lowerings."""
        return window * self.stride + (i * self.dilation - self.before)

    @property
    def padded(self) -> int:
        """The size with the padding, and with what the last window sticks out."""
        reach = (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return max(self.before + self.size + max(self.after, 0), reach)


def sliding(
    size: int,
    kernel: int,
    stride: int,
    pads: tuple[int, int],
    dilation: int,
    ceil: bool = False,
    cut: bool = False,
) -> Windows:
    """The windows along one axis; their count is unknown where the size or the kernel is.

    One wider than the axis is refused, or `cut` to it where it is no wider than a stride more.
    """
    if size == -1 or kernel == -1:
        return Windows(size, kernel, stride, *pads, dilation, UNKNOWN)
    reach, room = dilation * (kernel - 1) + 1, size + sum(pads)
    out = ceil or (cut and 0 < room < reach)  # the last may stick out
    count = (room - reach + (stride - 1 if out else 0)) // stride + 1
    if count < 1:
        raise ShapeError(f"a window of {reach} does not fit into {size} with padding {list(pads)}")
    return Windows(size, kernel, stride, *pads, dilation, count)


def sides(
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    paddings: tuple[int, ...],
    algorithm: str,
) -> list[tuple[int, int]]:
    """The padding before and after each axis."""
    if algorithm not in ALGORITHMS:
        raise ArgumentError(
            f"padding_algorithm is {algorithm!r}, not one of {', '.join(ALGORITHMS)}"
        )
    count = len(sizes)
    if len(paddings) not in (count, 2 * count):
        law = f"{count} or {2 * count} are needed"
        raise ArgumentError(f"paddings has {len(paddings)} numbers; {law}")
    if algorithm == "VALID":
        return [(0, 0)] * count
    if algorithm == "SAME":
        return [same(*axis) for axis in zip(sizes, kernel, strides, strict=True)]
    before, after = (paddings,) * 2 if len(paddings) == count else (paddings[::2], paddings[1::2])
    if min(before) < 0:
        raise ArgumentError(f"paddings is {list(paddings)}; before an axis 0 is the least")
    return list(zip(before, after, strict=True))


def same(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """The padding with which there is a window for each `stride` positions."""
    if size == -1 or kernel == -1:
        return 0, 0
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def pair(name: str, values: tuple[int, ...], count: int = 2, least: int = 1) -> tuple[int, ...]:
    """`values` as the `count` numbers they must be, none below `least`."""
    if len(values) != count or min(values) < least:
        law = f"{NUMBERS[count]} from {least} on are needed"
        raise ArgumentError(f"{name} is {list(values)}; {law}")
    return values


def channels_first(x: Any, data_format: str) -> Any:
    """`x` with the channels on axis 1: a view of an array, or a shape."""
    if data_format not in LAST:
        return x
    if isinstance(x, tuple):
        return (x[0], x[-1], *x[1:-1])
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def in_format(shape: tuple[Any, ...], data_format: str) -> tuple[Any, ...]:
    """A shape or index with the channels on axis 1, as `data_format` orders it."""
    return (shape[0], *shape[2:], shape[1]) if data_format in LAST else shape


def image_shape(x: Any, name: str, data_format: str, axes: int = 2) -> tuple[int, ...]:
    """The shape of a batch of images of `axes` inner axes, with the channels on axis 1."""
    if data_format not in FORMATS:
        raise ArgumentError(f"data_format is {data_format!r}, not one of {', '.join(FORMATS)}")
    if len(x.shape) != axes + 2:
        raise ShapeError(f"{name} has {len(x.shape)} axes, {axes + 2} are needed")
    found: tuple[int, ...] = channels_first(tuple(x.shape), data_format)
    return found


def asking(attributes: tuple[str, ...], rule: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient rule that gets `attributes` as one dictionary after the values it names."""
    own = list(inspect.signature(rule).parameters.values())[:-1]
    count = len(own)

    def asked(*values: Any) -> Any:
        return rule(*values[:count], dict(zip(attributes, values[count:], strict=True)))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    asked.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        own + [inspect.Parameter(n, kind) for n in attributes]
    )
    return asked


def attributes_of(function: Any) -> Callable[..., Any]:
    """Names the attributes of `function` in place of the `**attrs` of a body."""

    def named(body: Callable[..., Any]) -> Callable[..., Any]:
        own = list(inspect.signature(body).parameters.values())[:-1]
        known = inspect.signature(function.op.body).parameters.values()
        attributes = [p for p in known if p.kind is p.KEYWORD_ONLY]
        body.__signature__ = inspect.Signature(own + attributes)  # type: ignore[attr-defined]
        return body

    return named


def window_over(axis: Windows, place: Any, i: Any) -> tuple[Any, Any]:
    """The window whose element `i` lies at `place`, and whether there is one, for lowerings."""
    reached = place + (axis.before - i * axis.dilation)
    window = reached // axis.stride
    whole = lang.equal(reached % axis.stride, 0) if axis.stride > 1 else lang.constant(True, "bool")
    return window, lang.both(whole, (window >= 0) & (window < axis.count))
