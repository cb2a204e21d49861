"""Windows that slide over the two last axes of an image: what convolution and pooling share."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from scull import lang
from scull.core.meta import UNKNOWN
from scull.errors import ArgumentError, ShapeError

ALGORITHMS = ("EXPLICIT", "SAME", "VALID")
FORMATS = ("NCHW", "NHWC", "AnyLayout")  # the last is what old Programs say for the first


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

    def place(self, window: Any, i: Any) -> Any:
        """Where element `i` of a window is on the axis itself, for lowerings."""
        return window * self.stride + (i * self.dilation - self.before)

    @property
    def padded(self) -> int:
        """The size with the padding, and with what the last window sticks out."""
        reach = (self.count - 1) * self.stride + (self.kernel - 1) * self.dilation + 1
        return max(self.before + self.size + max(self.after, 0), reach)


def sliding(
    size: int, kernel: int, stride: int, pads: tuple[int, int], dilation: int, ceil: bool = False
) -> Windows:
    """The windows along one axis; their count is unknown where the size or the kernel is."""
    if size == -1 or kernel == -1:
        return Windows(size, kernel, stride, *pads, dilation, UNKNOWN)
    reach, room = dilation * (kernel - 1) + 1, size + sum(pads)
    count = (room - reach + (stride - 1 if ceil else 0)) // stride + 1
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
    if len(paddings) not in (2, 4):
        raise ArgumentError(f"paddings has {len(paddings)} numbers; 2 or 4 are needed")
    if algorithm == "VALID":
        return [(0, 0)] * 2
    if algorithm == "SAME":
        return [same(*axis) for axis in zip(sizes, kernel, strides, strict=True)]
    if len(paddings) == 2:
        return [(n, n) for n in paddings]
    return [(paddings[0], paddings[1]), (paddings[2], paddings[3])]


def same(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """The padding with which there is a window for each `stride` positions."""
    if size == -1 or kernel == -1:
        return 0, 0
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def pair(name: str, values: tuple[int, ...], least: int = 1) -> tuple[int, int]:
    """`values` as the two numbers they must be, none below `least`."""
    if len(values) != 2 or min(values) < least:
        raise ArgumentError(f"{name} is {list(values)}; two numbers from {least} on are needed")
    return values[0], values[1]


def channels_first(x: Any, data_format: str) -> Any:
    """`x` with the channels on axis 1: a view of an array, or a shape."""
    if data_format != "NHWC":
        return x
    return (x[0], x[3], x[1], x[2]) if isinstance(x, tuple) else x.transpose(0, 3, 1, 2)


def in_format(shape: tuple[Any, ...], data_format: str) -> tuple[Any, ...]:
    """A shape or index with the channels on axis 1, as `data_format` orders it."""
    n, c, h, w = shape
    return (n, h, w, c) if data_format == "NHWC" else shape


def image_shape(x: Any, name: str, data_format: str) -> tuple[int, ...]:
    """The shape of an image batch with the channels on axis 1."""
    if data_format not in FORMATS:
        raise ArgumentError(f"data_format is {data_format!r}, not one of {', '.join(FORMATS)}")
    if len(x.shape) != 4:
        raise ShapeError(f"{name} has {len(x.shape)} axes, 4 are needed")
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
