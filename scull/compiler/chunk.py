"""Loops over some of the chunks of a kernel: those from its arguments `first` up to `last`."""

from collections.abc import Callable, Sequence
from math import prod

from scull.compiler.split import Span
from scull.compiler.tile import Place
from scull.compiler.writer import Writer
from scull.lang.expression import Expression

FIRST, LAST = "%first", "%last"


def bounds(writer: Writer, span: Span, end: int) -> tuple[str, str]:
    """The first position of the chunks, and the one behind their last, at most `end`."""
    f = writer.function
    begin = f.value(f"mul i64 {FIRST}, {span.step}")
    beyond = f.value(f"mul i64 {LAST}, {span.step}")
    return begin, f.value(f"call i64 @llvm.umin.i64(i64 {beyond}, i64 {end})")


def over_chunks(
    writer: Writer, span: Span, roots: Sequence[Expression], body: Callable[[], object]
) -> None:
    """Loops over the positions of the span that belong to the chunks, around `body`.

    Only the first and the last round over the innermost axis may be shorter than that.
    """
    f, size = writer.function, span.axes[-1].size
    begin, end = bounds(writer, span, span.positions)
    writer.hoist(roots)
    if len(span.axes) == 1:
        _over_inner(writer, span, begin, end, body)
        return
    first_round, behind = f.value(f"udiv i64 {begin}, {size}"), f.value(f"sub i64 {end}, 1")
    last_round = f.value(f"udiv i64 {behind}, {size}")
    first_place = f.value(f"urem i64 {begin}, {size}")
    last_place = f.value(f"add i64 {f.value(f'urem i64 {behind}, {size}')}, 1")

    def turn(position: str, _: list[str]) -> list[str]:
        begins = f.value(f"icmp eq i64 {position}, {first_round}")
        ends = f.value(f"icmp eq i64 {position}, {last_round}")
        low = f.value(f"select i1 {begins}, i64 {first_place}, i64 0")
        high = f.value(f"select i1 {ends}, i64 {last_place}, i64 {size}")
        with writer.scope(span.axes[:-1]):
            _bind_outer(writer, span, position)
            writer.hoist(roots)
            _over_inner(writer, span, low, high, body)
        return []

    f.loop(f.value(f"add i64 {last_round}, 1"), (), turn, start=first_round)


def _bind_outer(writer: Writer, span: Span, position: str) -> None:
    """All axes of a span but the last stand where a position among them says."""
    f, outer = writer.function, span.axes[:-1]
    for number, axis in enumerate(outer):
        place, stride = position, prod(x.size for x in outer[number + 1 :])
        if stride > 1:
            place = f.value(f"udiv i64 {place}, {stride}")
        if number:
            place = f.value(f"urem i64 {place}, {axis.size}")
        writer.bind(axis, Place(place))


def _over_inner(
    writer: Writer,
    span: Span,
    begin: str,
    end: str,
    body: Callable[[], object],
) -> None:
    axis = span.axes[-1]

    def turn(position: str, _: list[str]) -> list[str]:
        with writer.scope([axis]):
            writer.bind(axis, Place(position))
            body()
        return []

    writer.function.loop(end, (), turn, start=begin)


def over_tiles(
    writer: Writer, span: Span, tile: int, part: Callable[[str, int, int], None]
) -> None:
    """The same over whole tiles of one axis, and over what is left of it as a smaller one.

    `part` is given a place as base and offset, and how many positions there are.
    """
    f, (axis,) = writer.function, span.axes
    rounds, rest = divmod(axis.size, tile)
    begin, end = bounds(writer, span, rounds * tile)

    def turn(base: str, _: list[str]) -> list[str]:
        part(base, 0, tile)
        return []

    some = f.value(f"icmp ult i64 {begin}, {end}")
    f.when(some, lambda: f.loop(end, (), turn, start=begin, step=tile))
    if rest:
        at_end = f.value(f"icmp eq i64 {LAST}, {span.chunks}")
        f.when(at_end, lambda: part("0", rounds * tile, rest))
