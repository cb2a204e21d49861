"""Layers that normalise the stored elements of sparse images."""

from typing import Any

from scull import nn
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.sparse.tensor import CooTensor, needs_sparse


def normalised(layer: Any, x: Any) -> Any:
    """`x` with its stored elements normalised as a layer of batch normalisation does."""
    needs_sparse(x, "batch_norm", CooTensor)
    values = F.batch_norm(
        x.held,
        layer._mean,
        layer._variance,
        layer.weight,
        layer.bias,
        layer.training,
        layer._momentum,
        layer._epsilon,
        "NC",
        layer._use_global_stats,
    )
    return x.like(values)


class BatchNorm(nn.BatchNorm1D):
    """Zero mean and unit variance of each channel over the stored elements of sparse images.

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NDHWC" or "NHWC".
        use_global_stats (bool, optional): True: the running statistics are used in training too.
            False: those of the batch are used and counted in use too.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> places = [[0, 0], [1, 1], [1, 1], [0, 1]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[-2.0], [-2.0]], [1, 4, 4, 4, 1])
        >>> paddle.sparse.nn.BatchNorm(1)(x).values().tolist()
        [[0.0], [0.0]]
    """

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NDHWC",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        attrs = weight_attr, bias_attr, data_format, use_global_stats, name
        super().__init__(num_features, momentum, epsilon, *attrs)

    def forward(self, input: Any) -> Any:
        """`input` with its stored elements normalised."""
        if self._data_format not in ("NDHWC", "NHWC"):
            raise ArgumentError('sparse BatchNorm only support layout of "NDHWC" and "NHWC"')
        return normalised(self, input)


class SyncBatchNorm(nn.SyncBatchNorm):
    """Batch normalisation by the statistics of all processes; of one process, its own.

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): not used: the channels are the last axis of sparse images.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> places = [[0, 0], [1, 1], [1, 1], [0, 1]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[-2.0], [-2.0]], [1, 4, 4, 4, 1])
        >>> paddle.sparse.nn.SyncBatchNorm(1)(x).values().tolist()
        [[0.0], [0.0]]
    """

    def forward(self, x: Any) -> Any:
        """`x` with its stored elements normalised."""
        return normalised(self, x)

    @classmethod
    def instead_of(cls, layer: Any) -> Any:
        """The class of what takes the place of a layer: of a dense one the dense."""
        return cls if isinstance(layer, BatchNorm | SyncBatchNorm) else nn.SyncBatchNorm
