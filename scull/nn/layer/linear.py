"""Layers that map the last axis, and those that only pass on or rearrange."""

from typing import Any

from scull.core.session import default_dtype
from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.layer.layers import Layer
from scull.ops.move import flatten
from scull.tensor.manipulation import unflatten


class Identity(Layer):
    """What it is called with, unchanged.

    Args:
        args, kwargs: not used.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Identity()(3)
        3
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """`input`."""
        return input


class Linear(Layer):
    """``x @ weight + bias`` over the last axis of `x`.

    Args:
        in_features (int): the size of that axis.
        out_features (int): its size afterwards.
        weight_attr (ParamAttr, optional): what is said of the weight.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> linear = paddle.nn.Linear(2, 3)
        >>> linear(paddle.ones([4, 2])).shape
        [4, 3]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=default_dtype().name)
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        """The product of `input` and the weight, and the bias."""
        return F.linear(input, self.weight, self.bias, self.name)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        name = f", name={self.name}" if self.name else ""
        return f"in_features={rows}, out_features={columns}, dtype={self._dtype}{name}"


class Bilinear(Layer):
    """``x1 @ weight[i] @ x2`` row by row for each number i of the result, and a bias.

    Args:
        in1_features (int): the size of a row of the first input.
        in2_features (int): the size of a row of the second one.
        out_features (int): the size of a row of the result.
        weight_attr (ParamAttr, optional): what is said of the weight.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Bilinear(2, 3, 4)
        >>> layer(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
        [5, 4]
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=default_dtype().name)
        self._weight_attr, self._bias_attr, self._name = weight_attr, bias_attr, name
        self._in1_features, self._in2_features = in1_features, in2_features
        self._out_features = out_features
        shape = [out_features, in1_features, in2_features]
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The product of `x1`, the weight and `x2`, and the bias."""
        return F.bilinear(x1, x2, self.weight, self.bias, self._name)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        sizes = f"in1_features={self._in1_features}, in2_features={self._in2_features}"
        rest = f"out_features={self._out_features}, dtype={self._dtype}"
        return f"{sizes}, {rest}{name}"


class Embedding(Layer):
    """Rows of a table by number.

    Args:
        num_embeddings (int): how many rows the table has.
        embedding_dim (int): how many columns it has.
        padding_idx (int, optional): the row that stays zero and has no gradient.
        sparse (bool): whether the gradient of the table holds only the rows that were looked up.
        weight_attr (ParamAttr, optional): what is said of the table.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> table = paddle.nn.Embedding(10, 3)
        >>> table(paddle.to_tensor([[1, 2]])).shape
        [1, 2, 3]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0:
            raise ArgumentError("num_embeddings must be gather than 0")
        if embedding_dim <= 0:
            raise ArgumentError("embedding_dim must be gather than 0")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ArgumentError(f"padding_idx must be within [-{num_embeddings}, {num_embeddings})")
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._padding_idx, self._sparse, self._name = padding_idx, sparse, name
        self._weight_attr = weight_attr
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None and isinstance(self.weight, Tensor):
            self.weight.array[padding_idx] = 0

    def forward(self, x: Any) -> Any:
        """The rows whose numbers are in `x`."""
        return F.embedding(x, self.weight, self._padding_idx, self._sparse, self._name)

    def extra_repr(self) -> str:
        place = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        name = "" if self._name is None else f", name={self._name}"
        sizes = f"{self._num_embeddings}, {self._embedding_dim}"
        return f"{sizes}{place}, sparse={self._sparse}{name}"


class Flatten(Layer):
    """`x` with the axes from one to another made one.

    Args:
        start_axis (int): the first of them.
        stop_axis (int): the last of them.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        [2, 12]
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        """`input`, flatter."""
        ndim = len(input.shape)
        start, stop = (a + ndim if a < 0 else a for a in (self.start_axis, self.stop_axis))
        return flatten(input, start_axis=start, stop_axis=stop)


class Unflatten(Layer):
    """One axis taken apart into several.

    Args:
        axis (int): the axis.
        shape (list | tuple | Tensor): the sizes it becomes; one may be -1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.Unflatten(1, [2, -1])(paddle.ones([5, 6])).shape
        [5, 2, 3]
    """

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape, self.name = axis, shape, name

    def forward(self, input: Any) -> Any:
        """`input`, with more axes."""
        return unflatten(input, self.axis, self.shape, self.name)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"axis={self.axis}, shape={self.shape}{name}"


class CosineSimilarity(Layer):
    """How much two tensors point the same way along an axis, from -1 to 1.

    Args:
        axis (int): along which.
        eps (float): the least a product of two lengths counts as.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[1.0, 0.0]])
        >>> paddle.nn.CosineSimilarity()(x, x).tolist()
        [1.0]
    """

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis, self._eps = axis, eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """The cosines of the angles between `x1` and `x2`."""
        return F.cosine_similarity(x1, x2, self._axis, self._eps)

    def extra_repr(self) -> str:
        return f"axis={self._axis}, eps={self._eps}"


class PairwiseDistance(Layer):
    """The p-norm of the difference of two vectors, row by row.

    Args:
        p (float): which norm.
        epsilon (float): added to the difference.
        keepdim (bool): whether the last axis stays, with size 1.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
        >>> paddle.nn.PairwiseDistance()(x, y).round().tolist()
        [5.0]
    """

    def __init__(
        self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
    ) -> None:
        super().__init__()
        self.p, self.epsilon, self.keepdim, self.name = p, epsilon, keepdim, name

    def forward(self, x: Any, y: Any) -> Any:
        """The distance of `x` and `y`."""
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim, self.name)

    def extra_repr(self) -> str:
        rest = f", epsilon={self.epsilon}" if self.epsilon != 1e-6 else ""
        rest += f", keepdim={self.keepdim}" if self.keepdim else ""
        return f"p={self.p}{rest}" + (f", name={self.name}" if self.name else "")
