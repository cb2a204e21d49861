"""Features of memory: what is written over, what lies in what, what gets a new value."""

import scull as paddle
from tests.executor.corpus.case import SHAPE, Case


def in_place(case: Case) -> None:
    """A value is written over, between two that read it."""
    changed, other = case.temporary(), case.pick()
    case.keep(paddle.tanh(changed))
    by = other if other is not changed else paddle.ones(SHAPE)
    case.update(changed, by)
    case.keep(changed + by)


def view(case: Case) -> None:
    """Values that lie in another: the same in other shapes, turned, and a part."""
    whole = case.pick()
    case.keep(paddle.reshape(paddle.reshape(whole, [9]), SHAPE))
    case.keep(paddle.transpose(whole, [1, 0]))
    part = paddle.slice(whole, [0], [1], [2])
    case.keep(whole + part)


def view_written(case: Case) -> None:
    """A view is written over, and what it lies in is read later; and the other way round."""
    whole = case.temporary()
    seen = paddle.reshape(whole, SHAPE)
    case.update(seen, paddle.ones(SHAPE))
    case.keep(seen, whole * seen)
    turned = paddle.transpose(whole, [1, 0])
    case.update(whole, case.pick())
    case.keep(turned, turned + whole)


def coalesced(case: Case) -> None:
    """Two values in one buffer, which is written as a whole, and by one of its parts."""
    whole, parts = case.variable([18]), [case.variable(), case.variable()]
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    outputs = {"Output": parts, "FusedOutput": whole}
    case.block.append_op("coalesce_tensor", {"Input": list(case.two())}, outputs, attrs)
    case.update(whole, paddle.ones([18]))
    case.keep(*parts)
    case.update(parts[1], parts[0])
    case.keep(paddle.reshape(whole[:9], SHAPE) - parts[1])


def renewed(case: Case) -> None:
    """A variable gets a second value while somebody still reads the first."""
    first = case.keep(case.pick() * 0.5)
    case.keep(paddle.exp(paddle.clip(first, -2.0, 2.0)))
    paddle.assign(case.pick() + 1.0, output=first)
    case.keep(paddle.tanh(first))


def shared_weight(case: Case) -> None:
    """One parameter used by two layers."""
    weight = case.parameter(*SHAPE)
    hidden = paddle.tanh(paddle.matmul(case.pick(), weight))
    out = paddle.matmul(hidden, weight, transpose_y=True)
    case.trained.append(out)
    case.keep(out * 0.5)


def shape_only(case: Case) -> None:
    """Of a large value only the shape is needed in the end."""
    large = paddle.tile(case.pick(), [12, 12])
    total = paddle.sum(large)
    case.keep(case.pick() + total * 0.01)
    case.keep(paddle.full_like(large, 0.5)[:3, :3] + case.pick())


def lists(case: Case) -> None:
    """Operators that take a list, and that fill one."""
    joined = paddle.concat(list(case.two()), axis=1)
    left, right = paddle.split(joined, 2, axis=1)
    case.update(left, right)
    case.keep(left, right)
    case.keep(*paddle.unbind(paddle.stack(list(case.two()), axis=0), axis=0))


def several_results(case: Case) -> None:
    """Operators with several results, of which one goes at once."""
    values, places = paddle.topk(case.pick(), 3, axis=1)
    case.keep(paddle.take_along_axis(values, places, 1))
    normal = paddle.nn.functional.layer_norm(case.pick(), [3])
    case.keep(normal)


FEATURES = {
    "in-place": in_place,
    "view": view,
    "view written": view_written,
    "coalesced": coalesced,
    "renewed": renewed,
    "shared weight": shared_weight,
    "shape only": shape_only,
    "list": lists,
    "several results": several_results,
}
