"""Attention with a bias of its scores, that may be a mask by name."""

from typing import Any

from scull.core.tensor import Tensor
from scull.errors import AssertError
from scull.incubate.nn.attn_bias import LowerTriangularMask, LowerTriangularMaskWithTensorBias
from scull.ir.variable import Variable
from scull.nn.functional.activation import softmax
from scull.nn.functional.omission import dropout
from scull.ops.masked_softmax import causal_softmax
from scull.tensor.linalg import matmul
from scull.tensor.manipulation import transpose
from scull.tensor.size import needs_tensor


def memory_efficient_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_bias: Any = None,
    p: float = 0.0,
    scale: float | None = None,
    training: bool = True,
) -> Any:
    """The mean of `value`, weighed by how well each key goes with each query.

    Args:
        query (Tensor): of shape ``[batch, places, heads, numbers]``.
        key (Tensor): as many heads and numbers.
        value (Tensor): as many places and heads as `key`.
        attn_bias (Tensor | LowerTriangularMask, optional): added to the scores.
        p (float): the chance of a weight to be dropped.
        scale (float, optional): a factor of the scores; 1 over the root of the numbers when None.
        training (bool): whether weights are dropped at all.

    Returns:
        Tensor: of the shape of `query`, as many numbers as `value` has.

    Examples:
        >>> import scull as paddle
        >>> from scull.incubate.nn.attn_bias import LowerTriangularMask
        >>> from scull.incubate.nn.memory_efficient_attention import memory_efficient_attention
        >>> x = paddle.to_tensor([[[[0.0]], [[2.0]]]])
        >>> memory_efficient_attention(x * 0.0, x, x, LowerTriangularMask()).tolist()
        [[[[0.0]], [[1.0]]]]
    """
    needs_tensor(query, "memory_efficient_attention", "query")
    known = (Tensor, Variable, LowerTriangularMask)
    if attn_bias is not None and not isinstance(attn_bias, known):
        raise AssertError(f"attn_bias is a {type(attn_bias).__name__}, no Tensor nor a known mask")
    q, k, v = (transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = matmul(q * factor, k, transpose_y=True)
    bias = attn_bias.bias if isinstance(attn_bias, LowerTriangularMaskWithTensorBias) else attn_bias
    if isinstance(bias, Tensor | Variable):
        scores = scores + bias
    weigh = causal_softmax if isinstance(attn_bias, LowerTriangularMask) else softmax
    weights = dropout(weigh(scores), p, training=training)
    return transpose(matmul(weights, v), [0, 2, 1, 3])
