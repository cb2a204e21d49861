"""Linear layers, an embedding and a loss that may be split; one process has all of each."""

from typing import Any

from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class Whole(Layer):
    """A layer of parameters that are not split."""

    is_mp, world_size, model_parallel_group = False, 1, None

    def own(self, name: Any, shape: list[int], weight_attr: Any, bias: bool = False) -> None:
        """Make the weight, and the bias where there is one."""
        self._name = name
        self.weight = self.create_parameter(shape, weight_attr)
        self.bias = self.create_parameter([shape[-1]], is_bias=True) if bias else None
        for parameter in self.parameters():
            parameter.is_distributed = False


class VocabParallelEmbedding(Whole):
    """An embedding whose rows may be on several processes: here they all are.

    Args:
        num_embeddings (int): how many rows there are.
        embedding_dim (int): how long a row is.
        weight_attr (ParamAttr, optional): of the weight.
        mp_group (optional): of no effect.
        name (str, optional): of the result in a Program.

    Examples:
        >>> import scull as paddle
        >>> mpu = paddle.distributed.fleet.meta_parallel
        >>> mpu.VocabParallelEmbedding(5, 3)(paddle.to_tensor([[4, 0]])).shape
        [1, 2, 3]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weight_attr: Any = None,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.own(name, [num_embeddings, embedding_dim], weight_attr)

    def forward(self, x: Any) -> Any:
        """The rows that `x` names."""
        return F.embedding(x, self.weight, name=self._name)


class ColumnParallelLinear(Whole):
    """A linear layer whose columns may be on several processes: here they all are.

    Args:
        in_features (int): how many numbers come in.
        out_features (int): how many go out.
        weight_attr (ParamAttr, optional): of the weight.
        has_bias (bool, optional): whether there is a bias; none when None.
        gather_output, fuse_matmul_bias (bool): of no effect.
        mp_group (optional): of no effect.
        name (str, optional): of the result in a Program.

    Examples:
        >>> import scull as paddle
        >>> mpu = paddle.distributed.fleet.meta_parallel
        >>> list(mpu.ColumnParallelLinear(2, 3).state_dict())
        ['weight']
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool | None = None,
        gather_output: bool = True,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.gather_output, self.output_size_per_partition = gather_output, out_features
        self.own(name, [in_features, out_features], weight_attr, bool(has_bias))

    def forward(self, x: Any) -> Any:
        """The product of `x` and the weight, and the bias."""
        return F.linear(x, self.weight, self.bias, self._name)


class RowParallelLinear(Whole):
    """A linear layer whose rows may be on several processes: here they all are.

    Args:
        in_features (int): how many numbers come in.
        out_features (int): how many go out.
        weight_attr (ParamAttr, optional): of the weight.
        has_bias (bool): whether there is a bias.
        input_is_parallel, fuse_matmul_bias (bool): of no effect.
        mp_group (optional): of no effect.
        name (str, optional): of the result in a Program.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool = True,
        input_is_parallel: bool = False,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.input_is_parallel, self.input_size_per_partition = input_is_parallel, in_features
        self.own(name, [in_features, out_features], weight_attr, has_bias)

    def forward(self, x: Any) -> Any:
        """The product of `x` and the weight, and the bias."""
        return F.linear(x, self.weight, self.bias, self._name)


class ParallelCrossEntropy(Layer):
    """The cross entropy of scores whose classes may be on several processes: here they all are.

    Args:
        mp_group (optional): of no effect.
        name (str, optional): of no effect.
        ignore_index (int): the label of what has no loss.

    Examples:
        >>> import scull as paddle
        >>> loss = paddle.distributed.fleet.meta_parallel.ParallelCrossEntropy()
        >>> loss(paddle.zeros([2, 4]), paddle.to_tensor([1, 3])).numpy().round(4).tolist()
        [[1.3863], [1.3863]]
    """

    def __init__(
        self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100
    ) -> None:
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of each row, ``[..., 1]``."""
        label = label if label.ndim == input.ndim else label.unsqueeze(-1)
        return F.softmax_with_cross_entropy(input, label, ignore_index=self.ignore_index)
