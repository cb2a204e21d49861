"""Layers of losses over alignments of labels, and over trees of classes."""

from typing import Any

from scull.core.session import default_dtype
from scull.errors import ArgumentError
from scull.nn import functional as F
from scull.nn.layer.layers import Layer


class CTCLoss(Layer):
    """How many nats the chances of each step need to say labels: see ``functional.ctc_loss``.

    Args:
        blank (int): the class that says nothing.
        reduction (str): "mean" of the losses over the lengths of the labels, "sum" or "none".

    Examples:
        >>> import scull as paddle
        >>> scores, one = paddle.zeros([2, 1, 2]), paddle.ones([1], "int64")
        >>> loss = paddle.nn.CTCLoss()(scores, paddle.ones([1, 1], "int32"), 2 * one, one)
        >>> round(loss.item(), 4)
        0.2877
    """

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__()
        self.blank, self.reduction = blank, reduction

    def forward(
        self,
        log_probs: Any,
        labels: Any,
        input_lengths: Any,
        label_lengths: Any,
        norm_by_times: bool = False,
    ) -> Any:
        """The loss."""
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times=norm_by_times,
        )


class RNNTLoss(Layer):
    """How many nats a transducer needs to say labels: see ``functional.rnnt_loss``.

    Args:
        blank (int): the class that ends a step.
        fastemit_lambda (float): how much more the gradients of labels count than those of blanks.
        reduction (str): "mean" over the rows, "sum" or "none".
        name (str, optional): not used.

    Examples:
        >>> import scull as paddle
        >>> scores = paddle.full([1, 1, 2, 2], -0.5)
        >>> label, one = paddle.ones([1, 1], "int32"), paddle.ones([1], "int32")
        >>> paddle.nn.RNNTLoss()(scores, label, one, one).item()
        1.0
    """

    def __init__(
        self,
        blank: int = 0,
        fastemit_lambda: float = 0.001,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.blank, self.reduction = blank, reduction
        self.fastemit_lambda, self.name = fastemit_lambda, name

    def forward(self, input: Any, label: Any, input_lengths: Any, label_lengths: Any) -> Any:
        """The loss."""
        return F.rnnt_loss(
            input,
            label,
            input_lengths,
            label_lengths,
            blank=self.blank,
            fastemit_lambda=self.fastemit_lambda,
            reduction=self.reduction,
            name=self.name,
        )


class HSigmoidLoss(Layer):
    """How many nats the nodes of a binary tree need to lead to a label.

    Args:
        feature_size (int): the size of a row of the input.
        num_classes (int): how many leaves the tree has; of a custom tree: how many nodes.
        weight_attr (ParamAttr, optional): what is said of the rows of the nodes.
        bias_attr (ParamAttr | bool, optional): what is said of their bias; False for none.
        is_custom (bool): whether paths are given with each call.
        is_sparse (bool): whether the gradient of the weight holds only the rows that were used;
            for custom trees only.
        name (str, optional): the name of the output in a Program.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.HSigmoidLoss(3, 5)
        >>> layer(paddle.ones([2, 3]), paddle.to_tensor([[1], [4]])).shape
        [2, 1]
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ArgumentError("num_classes must not be less than 2 with default tree")
        self._feature_size, self._num_classes = feature_size, num_classes
        self._is_custom, self._is_sparse = is_custom, is_sparse and is_custom
        self._weight_attr, self._bias_attr, self._name = weight_attr, bias_attr, name
        self._dtype = default_dtype().name
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """The loss of each row."""
        return F.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table=path_table,
            path_code=path_code,
            is_sparse=self._is_sparse,
            name=self._name,
        )
