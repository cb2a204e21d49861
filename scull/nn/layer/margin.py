"""Layers of losses of margins and of likelihoods."""

from typing import Any

from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.functional.reduction import check_reduction
from scull.nn.layer.layers import Layer


class MarginRankingLoss(Layer):
    """How far `input` is from being larger than `other` where `label` is 1, smaller where it is -1.

    Args:
        margin (float): how much larger it is to be.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 1.0])
        >>> paddle.nn.MarginRankingLoss()(x, y, paddle.ones([2])).item()
        1.0
    """

    def __init__(
        self, margin: float = 0.0, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction(reduction, "MarginRankingLoss")
        self.margin, self.reduction, self.name = margin, reduction, name

    def forward(self, input: Any, other: Any, label: Any) -> Any:
        """The loss."""
        return F.margin_ranking_loss(
            input, other, label, margin=self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(Layer):
    """`input` where `label` is 1, and how far it is below `margin` where it is -1.

    Args:
        margin (float): how far apart what differs is to be.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([2.0, 0.5]), paddle.to_tensor([1.0, -1.0])
        >>> paddle.nn.HingeEmbeddingLoss(reduction="none")(x, y).tolist()
        [2.0, 0.5]
    """

    def __init__(
        self, margin: float = 1.0, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction(reduction, "HingeEmbeddingLoss")
        self.margin, self.reduction, self.name = margin, reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        return F.hinge_embedding_loss(input, label, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(Layer):
    """``log(1 + e^(-label * input))`` for each element.

    Args:
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([0.0]), paddle.to_tensor([1.0])
        >>> paddle.nn.SoftMarginLoss()(x, y).item()
        0.6931471824645996
    """

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        check_reduction(reduction, "SoftMarginLoss")
        self.reduction, self.name = reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        return F.soft_margin_loss(input, label, reduction=self.reduction)


class CosineEmbeddingLoss(Layer):
    """How far the cosine of two vectors is from 1 (`label` 1), or above `margin` (`label` -1).

    Args:
        margin (float): which cosine is small enough for what differs.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.CosineEmbeddingLoss()(x, y, paddle.to_tensor([1])).item()
        1.0
    """

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        if not -1 <= margin <= 1:
            raise ArgumentError(f"The value of 'margin' is {margin}, outside [-1, 1]")
        check_reduction(reduction, "CosineEmbeddingLoss")
        self.margin, self.reduction, self.name = margin, reduction, name

    def forward(self, input1: Any, input2: Any, label: Any) -> Any:
        """The loss."""
        return F.cosine_embedding_loss(
            input1, input2, label, margin=self.margin, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(Layer):
    """How far `negative` is from being farther from `input` than `positive` is.

    Args:
        distance_function (optional): from two tensors to distances; the Euclidean one when None.
        margin (float): how much farther what differs is to be.
        swap (bool): also look at how far `negative` is from `positive`.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.0]]), paddle.to_tensor([[3.0]])
        >>> paddle.nn.TripletMarginWithDistanceLoss(margin=5.0)(x, x, y).round().item()
        2.0
    """

    def __init__(
        self,
        distance_function: Any = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "TripletMarginWithDistanceLoss")
        self.distance_function, self.margin, self.swap, self.reduction, self.name = (
            distance_function,
            margin,
            swap,
            reduction,
            name,
        )

    def forward(self, input: Any, positive: Any, negative: Any) -> Any:
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            input,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginLoss(Layer):
    """How far `negative` is from being farther from `input` than `positive` is.

    Args:
        margin (float): how much farther what differs is to be.
        p (float): the norm of the distance.
        epsilon (float): added to differences.
        swap (bool): also look at how far `negative` is from `positive`.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, y = paddle.to_tensor([[0.0]]), paddle.to_tensor([[3.0]])
        >>> paddle.nn.TripletMarginLoss(margin=5.0)(x, x, y).round().item()
        2.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "TripletMarginLoss")
        self.margin, self.p, self.epsilon, self.swap, self.reduction, self.name = (
            margin,
            p,
            epsilon,
            swap,
            reduction,
            name,
        )

    def forward(self, input: Any, positive: Any, negative: Any) -> Any:
        """The loss."""
        return F.triplet_margin_loss(
            input,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            epsilon=self.epsilon,
            swap=self.swap,
            reduction=self.reduction,
        )


class MultiMarginLoss(Layer):
    """How near the scores of other classes come to that of the label, on average.

    Args:
        p (int): 1 or 2: the power of what is too near.
        margin (float): how much larger the score of the label is to be.
        weight (optional): a Tensor: the weight of each class.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor([[2.0, 1.5]])
        >>> paddle.nn.MultiMarginLoss()(x, paddle.to_tensor([0])).item()
        0.25
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "MultiMarginLoss")
        self.p, self.margin, self.weight, self.reduction, self.name = (
            p,
            margin,
            weight,
            reduction,
            name,
        )

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        return F.multi_margin_loss(
            input, label, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(Layer):
    """How many nats the chances ``sigmoid(input)`` need to say which classes there are, on average.

    Args:
        weight (optional): a Tensor: the weight of each class.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([1, 2])
        >>> paddle.nn.MultiLabelSoftMarginLoss()(x, paddle.ones([1, 2])).item()
        0.6931471824645996
    """

    def __init__(
        self, weight: Any = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        check_reduction(reduction, "MultiLabelSoftMarginLoss")
        self.weight, self.reduction, self.name = weight, reduction, name

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        return F.multi_label_soft_margin_loss(
            input, label, weight=self.weight, reduction=self.reduction
        )


class GaussianNLLLoss(Layer):
    """How many nats a normal distribution around `input` needs to say `label`.

    Args:
        full (bool): also the part that does not depend on the input.
        epsilon (float): the least variance.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x, one = paddle.to_tensor([1.0]), paddle.ones([1])
        >>> paddle.nn.GaussianNLLLoss()(x, paddle.to_tensor([3.0]), one).item()
        2.0
    """

    def __init__(
        self,
        full: bool = False,
        epsilon: float = 1e-6,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        check_reduction(reduction, "GaussianNLLLoss")
        self.full, self.epsilon, self.reduction, self.name = full, epsilon, reduction, name

    def forward(self, input: Any, label: Any, variance: Any) -> Any:
        """The loss."""
        return F.gaussian_nll_loss(
            input, label, variance, full=self.full, epsilon=self.epsilon, reduction=self.reduction
        )


class PoissonNLLLoss(Layer):
    """How many nats a Poisson distribution of rate `input` needs to say `label`.

    Args:
        log_input (bool): whether `input` is the logarithm of the rate.
        full (bool): also an approximation of the part that does not depend on it.
        epsilon (float): added to the rate before its logarithm.
        reduction (str): "mean", "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.zeros([2])
        >>> paddle.nn.PoissonNLLLoss()(x, paddle.ones([2])).item()
        1.0
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        if epsilon <= 0:
            raise ArgumentError(f"The value of `epsilon` is {epsilon}, not above 0")
        check_reduction(reduction, "PoissonNLLLoss")
        self.log_input, self.full, self.epsilon, self.reduction, self.name = (
            log_input,
            full,
            epsilon,
            reduction,
            name,
        )

    def forward(self, input: Any, label: Any) -> Any:
        """The loss."""
        return F.poisson_nll_loss(
            input,
            label,
            log_input=self.log_input,
            full=self.full,
            epsilon=self.epsilon,
            reduction=self.reduction,
        )
