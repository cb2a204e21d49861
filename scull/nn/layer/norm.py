"""Layers of normalisation."""

import math
from functools import partial
from numbers import Integral
from typing import Any

from scull.core import session
from scull.core.door import shown_by
from scull.core.dtype import float16, float32
from scull.errors import ShapeError
from scull.nn import functional as F
from scull.nn.functional.norm import normalised
from scull.nn.initializer import Constant
from scull.nn.layer.layers import Layer
from scull.nn.param_attr import ParamAttr


class RunningStatistics(Layer):
    """The parameters of batch normalisation: weight and bias, and the mean and variance so far."""

    def own(
        self,
        size: int,
        weight_attr: Any,
        bias_attr: Any,
        mean_name: str | None = None,
        variance_name: str | None = None,
        average: bool = True,
    ) -> None:
        """Make them, for `size` channels."""
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        make = partial(self.create_parameter, [size], dtype=self._dtype)
        self.weight = make(attr=weight_attr, default_initializer=Constant(1.0))
        self.bias = make(attr=bias_attr, is_bias=True)
        for own, name, value in (("_mean", mean_name, 0.0), ("_variance", variance_name, 1.0)):
            attr = ParamAttr(name, Constant(value), trainable=False, do_model_average=average)
            made = make(attr=attr)
            made.stop_gradient = True
            setattr(self, own, made)


class BatchNormOver(RunningStatistics):
    """What batch normalisation over tensors of any number of axes has in common."""

    ndims: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        momentum: float,
        epsilon: float,
        weight_attr: Any,
        bias_attr: Any,
        data_format: str,
        use_global_stats: bool | None,
        name: str | None,
    ) -> None:
        default = session.default_dtype()
        super().__init__(dtype=float32 if default is float16 else default)
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._data_format, self._use_global_stats, self._name = data_format, use_global_stats, name
        names = [name and name + end for end in ("_mean", "_variance")]
        self.own(num_features, weight_attr, bias_attr, *names)

    def forward(self, input: Any) -> Any:
        """`input`, normalised by its own statistics in training and by the running ones in use."""
        ndim = len(input.shape)
        if ndim not in self.ndims:
            allowed = " or ".join(f"{n}D" for n in self.ndims)
            raise ShapeError(f"expected {allowed} input (got {ndim}D input)")
        return F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._data_format,
            self._use_global_stats,
        )

    def extra_repr(self) -> str:
        text = (
            f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        )
        text += f", data_format={self._data_format}" if self._data_format != "NCHW" else ""
        return text + (f", name={self._name}" if self._name is not None else "")


_BatchNormBase = BatchNormOver  # what code asks for to find every kind of batch norm


class BatchNorm1D(BatchNormOver):
    """Zero mean and unit variance of each channel, over tensors of 2 or 3 axes.

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NC", "NCL" or "NLC".
        use_global_stats (bool, optional): True: the running statistics are used in training too.
            False: those of the batch are used and counted in use too.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.BatchNorm1D(3)(paddle.ones([2, 3])).tolist()[0]
        [0.0, 0.0, 0.0]
    """

    ndims = (2, 3)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class BatchNorm2D(BatchNormOver):
    """Zero mean and unit variance of each channel, over images.

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCHW" or "NHWC".
        use_global_stats (bool, optional): True: the running statistics are used in training too.
            False: those of the batch are used and counted in use too.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.BatchNorm2D(1)(paddle.ones([1, 1, 1, 2])).tolist()
        [[[[0.0, 0.0]]]]
    """

    ndims = (4,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class BatchNorm3D(BatchNormOver):
    """Zero mean and unit variance of each channel, over volumes.

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NCDHW" or "NDHWC".
        use_global_stats (bool, optional): True: the running statistics are used in training too.
            False: those of the batch are used and counted in use too.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.BatchNorm3D(1)(paddle.ones([1, 1, 1, 1, 2])).tolist()
        [[[[[0.0, 0.0]]]]]
    """

    ndims = (5,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features,
            momentum,
            epsilon,
            weight_attr,
            bias_attr,
            data_format,
            use_global_stats,
            name,
        )


class SyncBatchNorm(BatchNormOver):
    """Batch normalisation by the statistics of all processes; of one process, its own.

    scull runs one process, so this is batch normalisation over tensors of 2 to 5 axes, and Programs
    say `batch_norm` (PaddlePaddle on a CPU has no operator for it).

    Args:
        num_features (int): how many channels there are.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        data_format (str): "NC", "NCL", "NCHW", "NCDHW", or with the channels last.
        name (str, optional): begins the names of the running statistics.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.SyncBatchNorm(1)(paddle.ones([1, 1, 1, 2])).tolist()
        [[[[0.0, 0.0]]]]
    """

    ndims = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(
            num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name
        )

    def forward(self, x: Any) -> Any:
        """`x`, normalised as by BatchNorm1D, 2D and 3D."""
        return super().forward(x)

    @classmethod
    def instead_of(cls, layer: Layer) -> type["SyncBatchNorm"]:
        """The class of what takes the place of a layer."""
        return cls

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """`layer` with a SyncBatchNorm in place of each BatchNorm1D, 2D and 3D.

        Args:
            layer (Layer): a network, which is changed; or one such layer.

        Returns:
            Layer: `layer`, or what stands in its place.

        Examples:
            >>> import scull as paddle
            >>> net = paddle.nn.Sequential(paddle.nn.BatchNorm2D(3))
            >>> paddle.nn.SyncBatchNorm.convert_sync_batchnorm(net)
            Sequential(
              (0): SyncBatchNorm(num_features=3, momentum=0.9, epsilon=1e-05)
            )
        """
        found: Layer = layer
        if isinstance(layer, BatchNormOver):
            attrs = [False if own is None else None for own in (layer.weight, layer.bias)]
            numbers = (layer._num_features, layer._momentum, layer._epsilon)
            found = cls.instead_of(layer)(*numbers, *attrs, layer._data_format, layer._name)
            for own in ("weight", "bias", "_mean", "_variance"):
                setattr(found, own, getattr(layer, own))
            found.training = layer.training
        for name, part in layer.named_children():
            new = cls.convert_sync_batchnorm(part)
            if new is not part:
                found.add_sublayer(name, new)
        return found


class BatchNorm(RunningStatistics):
    """Zero mean and unit variance of each channel, then an activation.

    Args:
        num_channels (int): how many channels there are.
        act (str, optional): the name of an activation.
        is_test (bool): whether a Program uses the running statistics.
        momentum (float): how much of the running statistics stays at each step.
        epsilon (float): added to the variance.
        param_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        dtype (str | DType): the element type.
        data_layout (str): "NCHW" or "NHWC".
        in_place (bool): not used.
        moving_mean_name (str, optional): the name of the running mean.
        moving_variance_name (str, optional): the name of the running variance.
        do_model_average_for_mean_and_var (bool): whether model averaging includes them.
        use_global_stats (bool): whether the running statistics are used in training too.
        trainable_statistics (bool): whether statistics of the input are used outside training too.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.BatchNorm(1, act="relu")(paddle.ones([2, 1])).tolist()
        [[0.0], [0.0]]
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: Any = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        super().__init__(dtype="float32" if dtype in ("float16", float16) else dtype)
        self._act, self._is_test, self._momentum, self._epsilon = act, is_test, momentum, epsilon
        self._data_layout, self._use_global_stats = data_layout, use_global_stats
        self._trainable_statistics, self._param_attr = trainable_statistics, param_attr
        self.own(
            num_channels,
            param_attr,
            bias_attr,
            moving_mean_name,
            moving_variance_name,
            do_model_average_for_mean_and_var,
        )

    def forward(self, input: Any) -> Any:
        """`input`, normalised by its own statistics in training and by the running ones in use."""
        out = normalised(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            is_test=self._is_test or not self.training,
            momentum=self._momentum,
            epsilon=self._epsilon,
            data_layout=self._data_layout,
            use_global_stats=self._use_global_stats,
            trainable_statistics=self._trainable_statistics,
        )
        return getattr(F, self._act)(out) if self._act else out


class LayerNorm(Layer):
    """Zero mean and unit variance over the last axes.

    Args:
        normalized_shape (int | list[int]): the sizes of those axes.
        epsilon (float): added to the variance.
        weight_attr (ParamAttr | bool, optional): what is said of the weight; False for none.
        bias_attr (ParamAttr | bool, optional): what is said of the bias; False for none.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> norm = paddle.nn.LayerNorm(2, epsilon=0.0)
        >>> norm(paddle.to_tensor([[1.0, 3.0]])).tolist()
        [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        single = isinstance(normalized_shape, Integral)
        sizes = [normalized_shape] if single else list(normalized_shape)
        self._normalized_shape, self._epsilon, self._name = sizes, epsilon, name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        count = math.prod(sizes)
        self.weight = self.create_parameter([count], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([count], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """`input`, normalised."""
        return F.layer_norm(
            input, self._normalized_shape, self.weight, self.bias, self._epsilon, self._name
        )

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


__getattr__ = shown_by("scull.nn")
