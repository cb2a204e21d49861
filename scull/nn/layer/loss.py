"""Layers of losses."""

from typing import Any

from scull.core.door import shown_by
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.reduction import check_reduction
from scull.nn.layer.layers import Layer


class CrossEntropyLoss(Layer):
    """How many nats the softmax of scores needs to say labels.

    Args:
        weight (Tensor, optional): the weight of each class.
        ignore_index (int): a label that counts for nothing.
        reduction (str): "mean" (weighted, over labels that count), "sum" or "none".
        soft_label (bool): whether labels say how likely each class is.
        axis (int): the axis of the classes.
        use_softmax (bool): False when the input is a softmax already.
        label_smoothing (float): how much of each label is spread over all classes.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> loss = paddle.nn.CrossEntropyLoss()
        >>> round(loss(paddle.zeros([2, 4]), paddle.to_tensor([0, 3])).item(), 4)
        1.3863
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.weight, self.ignore_index, self.reduction = weight, ignore_index, reduction
        self.soft_label, self.axis, self.use_softmax = soft_label, axis, use_softmax
        self.label_smoothing, self.name = label_smoothing, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.cross_entropy(
            input,
            label,
            self.weight,
            self.ignore_index,
            self.reduction,
            self.soft_label,
            self.axis,
            self.use_softmax,
            self.label_smoothing,
            self.name,
        )


class MSELoss(Layer):
    """The square of the difference.

    Args:
        reduction (str): "mean", "sum" or "none".

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.MSELoss()(x, y).item()
        2.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        if reduction not in ("sum", "mean", "none"):
            raise ArgumentError(
                "'reduction' in 'MSELoss' should be 'sum', 'mean' or 'none', "
                f"but received {reduction}."
            )
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """The distance.

    Args:
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])
        >>> paddle.nn.L1Loss()(x, y).item()
        1.0
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction(reduction, "L1Loss")
        self.reduction, self.name = reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.l1_loss(input, label, self.reduction, self.name)


class SmoothL1Loss(Layer):
    """Half the square of the difference up to `delta`, then on in a straight line.

    Args:
        reduction (str): "mean", "sum" or "none".
        delta (float): where the straight line begins.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 0.0]), paddle.to_tensor([2.0, 4.0])
        >>> paddle.nn.SmoothL1Loss("none")(x, y).tolist()
        [0.5, 3.5]
    """

    def __init__(
        self, reduction: str = "mean", delta: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__()
        self.reduction, self.delta, self.name = reduction, delta, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.name)


class NLLLoss(Layer):
    """Of logarithms of chances that of the class a label names, with the sign changed.

    Args:
        weight (Tensor, optional): the weight of each class.
        ignore_index (int): a label that counts for nothing.
        reduction (str): "mean" (weighted), "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[-1.0, -2.0], [-3.0, -4.0]])
        >>> paddle.nn.NLLLoss()(x, paddle.to_tensor([0, 1])).item()
        2.5
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "nll_loss")
        self._weight, self._ignore_index = weight, ignore_index
        self._reduction, self._name = reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.nll_loss(
            input, label, self._weight, self._ignore_index, self._reduction, self._name
        )


class BCELoss(Layer):
    """How many nats chances need to say labels, 100 at most.

    Args:
        weight (Tensor, optional): the weight of each element.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([0.5, 0.5]), paddle.to_tensor([0.0, 1.0])
        >>> round(paddle.nn.BCELoss()(x, y).item(), 4)
        0.6931
    """

    def __init__(
        self, weight: Any = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction(reduction, "bce_loss")
        self.weight, self.reduction, self.name = weight, reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.binary_cross_entropy(input, label, self.weight, self.reduction, self.name)


class BCEWithLogitsLoss(Layer):
    """How many nats the chances ``sigmoid(logit)`` need to say labels.

    Args:
        weight (Tensor, optional): the weight of each element.
        reduction (str): "mean", "sum" or "none".
        pos_weight (Tensor, optional): the weight of a label of 1 in each class.
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.zeros([2]), paddle.to_tensor([0.0, 1.0])
        >>> round(paddle.nn.BCEWithLogitsLoss()(x, y).item(), 4)
        0.6931
    """

    def __init__(
        self,
        weight: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "BCEWithLogitsLoss")
        self.weight, self.reduction = weight, reduction
        self.pos_weight, self.name = pos_weight, name

    def forward(self, logit: Any, label: Any) -> Any:
        """The loss of `logit`."""
        return F.binary_cross_entropy_with_logits(
            logit, label, self.weight, self.reduction, self.pos_weight, self.name
        )


class KLDivLoss(Layer):
    """How much longer it is to say labels with chances whose logarithms are the input.

    Args:
        reduction (str): "mean", "batchmean", "sum" or "none".

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.KLDivLoss()(paddle.zeros([2]), paddle.ones([2])).item()
        0.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """The loss of `input`."""
        return F.kl_div(input, label, self.reduction)


__getattr__ = shown_by("scull.nn")
