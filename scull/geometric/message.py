"""Messages along the edges of a graph."""

from typing import Any

from scull.errors import ArgumentError
from scull.ir.variable import Variable
from scull.ops import create, segment
from scull.tensor.function import reciprocal
from scull.tensor.size import integer, needs_tensor

REDUCTIONS = ("sum", "mean", "max", "min")
MESSAGES = ("add", "sub", "mul", "div")
TINY = 1e-12  # added to what divides


def known(value: Any, names: tuple[str, ...], parameter: str) -> str:
    """A word that a function knows, as operators spell it."""
    if value not in names:
        raise ArgumentError(f"`{parameter}` is {value!r}, not {', '.join(names)}")
    return str(value).upper()


def rows_asked(out_size: Any) -> tuple[Any, tuple[int, ...]]:
    """How many rows receive, as the input and the attribute of an operator; 0 leaves it open."""
    if isinstance(out_size, Variable):
        return out_size, (0,)
    return None, (0 if out_size is None else integer(out_size, "out_size"),)


def added_or_multiplied(y: Any, message_op: str) -> tuple[Any, str]:
    """`y` and a message of two kinds alone: what is subtracted is added as its negative."""
    if message_op == "sub":
        return create.scale(y, scale=-1.0), "ADD"
    if message_op == "div":
        return reciprocal(create.scale(y, bias=TINY)), "MUL"
    return y, message_op.upper()


def send_u_recv(
    x: Any,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What nodes receive along edges: rows of `x`, combined.

    Args:
        x (Tensor): the rows of nodes.
        src_index (Tensor): int32 or int64 [edges]: where each edge begins.
        dst_index (Tensor): int32 or int64 [edges]: where it ends.
        reduce_op (str): "sum", "mean", "max" or "min".
        out_size (int | Tensor, optional): how many nodes receive; as many as send when None or
            not above 0.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of the dtype of `x`; zeros for a node that receives nothing.

    Raises:
        ArgumentError: `reduce_op` is unknown.
        RangeError: an edge begins or ends at no node.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1.0], [2.0], [4.0]])
        >>> edges = paddle.to_tensor([0, 1, 2]), paddle.to_tensor([1, 0, 1])
        >>> paddle.geometric.send_u_recv(x, *edges).tolist()
        [[2.0], [5.0], [0.0]]
    """
    reduction = known(reduce_op, REDUCTIONS, "reduce_op")
    needs_tensor(x, "send_u_recv")
    tensor, size = rows_asked(out_size)
    how = {"reduce_op": reduction, "out_size": size, "name": name}
    return segment.send_u_recv(x, src_index, dst_index, tensor, **how)[0]


def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """What nodes receive along edges: rows of `x` joined with those of the edges, combined.

    Args:
        x (Tensor): the rows of nodes.
        y (Tensor): the rows of edges, of the dtype of `x`; both stretch behind the first axis.
        src_index (Tensor): int32 or int64 [edges]: where each edge begins.
        dst_index (Tensor): int32 or int64 [edges]: where it ends.
        message_op (str): "add", "sub", "mul" or "div".
        reduce_op (str): "sum", "mean", "max" or "min".
        out_size (int | Tensor, optional): how many nodes receive; as many as send when None or
            not above 0.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: rows of the dtype of `x`; zeros for a node that receives nothing.

    Raises:
        ArgumentError: `message_op` or `reduce_op` is unknown.
        ShapeError: `y` has not one row an edge.
        RangeError: an edge begins or ends at no node.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[3.0], [5.0]])
        >>> edges = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.geometric.send_ue_recv(x, y, *edges, "mul").tolist()
        [[0.0], [13.0]]
    """
    known(message_op, MESSAGES, "message_op")
    reduction = known(reduce_op, REDUCTIONS, "reduce_op")
    needs_tensor(x, "send_ue_recv")
    needs_tensor(y, "send_ue_recv", "y")
    y, message = added_or_multiplied(y, message_op)
    tensor, size = rows_asked(out_size)
    how = {"message_op": message, "reduce_op": reduction, "out_size": size, "name": name}
    return segment.send_ue_recv(x, y, src_index, dst_index, tensor, **how)[0]


def send_uv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    name: str | None = None,
) -> Any:
    """Of each edge the row of `x` where it begins joined with that of `y` where it ends.

    Args:
        x (Tensor): the rows of nodes where edges begin.
        y (Tensor): the rows of nodes where they end, of the dtype of `x`; both stretch.
        src_index (Tensor): int32 or int64 [edges]: where each edge begins.
        dst_index (Tensor): int32 or int64 [edges]: where it ends.
        message_op (str): "add", "sub", "mul" or "div".
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: a row an edge.

    Raises:
        ArgumentError: `message_op` is unknown.
        RangeError: an edge begins or ends at no node.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[3.0], [5.0]])
        >>> edges = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.geometric.send_uv(x, y, *edges).tolist()
        [[6.0], [7.0]]
    """
    known(message_op, MESSAGES, "message_op")
    needs_tensor(x, "send_uv")
    needs_tensor(y, "send_uv", "y")
    y, message = added_or_multiplied(y, message_op)
    return segment.send_uv(x, y, src_index, dst_index, message_op=message, name=name)
