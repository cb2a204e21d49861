"""Metrics that gather counts batch by batch."""

import abc
import math

import numpy as np

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ShapeError
from scull.ir.variable import Variable
from scull.tensor import argmax, argsort, cast, equal, reshape, slice


class Metric(abc.ABC):
    """A number gathered over batches. A metric of one's own has the four abstract methods.

    `compute`, which sees the outputs of a network and the labels, may do a part of the work; what
    it returns is what `update` gets.

    Examples:
        >>> class Count(Metric):
        ...     def reset(self):
        ...         self.count = 0
        ...
        ...     def update(self, outputs, labels):
        ...         self.count += len(labels)
        ...
        ...     def accumulate(self):
        ...         return self.count
        ...
        ...     def name(self):
        ...         return "count"
        >>> metric = Count()
        >>> metric.reset()
        >>> metric.update(*metric.compute([0.1, 0.9], [0, 1]))
        >>> metric.accumulate()
        2
    """

    @abc.abstractmethod
    def reset(self):
        """Forget all batches."""

    @abc.abstractmethod
    def update(self, *args):
        """Take in a batch."""

    @abc.abstractmethod
    def accumulate(self):
        """The metric of all batches since `reset`."""

    @abc.abstractmethod
    def name(self):
        """The name, or the list of names, that the metric is shown under."""

    def compute(self, *args):
        """What `update` will get for these outputs and labels: here, themselves.

        Args:
            args: the outputs of a network, then the labels.

        Returns:
            tuple: `args`.
        """
        return args


class Accuracy(Metric):
    """How many samples have their label among the `k` most likely classes.

    Args:
        topk (tuple, optional): each `k` that is asked for.
        name (str, optional): "acc" unless given.

    Examples:
        >>> metric = Accuracy()
        >>> scores = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
        >>> correct = metric.compute(scores, np.array([1, 1, 1]))
        >>> round(metric.update(correct), 4), round(metric.accumulate(), 4), metric.name()
        (0.6667, 0.6667, ['acc'])
    """

    def __init__(self, topk=(1,), name=None):
        self.topk = topk
        self.maxk = max(topk)
        name = name or "acc"
        self._name = [name] if self.maxk == 1 else [f"{name}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred, label, *args):
        """Which of the most likely classes are the label.

        Args:
            pred (Tensor | Variable | numpy.ndarray): scores; the last axis is the classes.
            label (Tensor | Variable | numpy.ndarray): numbers of classes, with or without a last
                axis of one; or one-hot rows.

        Returns:
            Tensor: float32, 1 where the label is; the last axis is the ranks, the best first.
        """
        scores, label = _tensor(pred, "pred"), _tensor(label, "label")
        if label.ndim == 1 or (label.ndim == 2 and label.shape[-1] == 1):
            label = reshape(label, [-1, 1])
        elif label.shape[-1] != 1:
            label = argmax(label, axis=-1, keepdim=True)
        best = slice(argsort(scores, descending=True), [-1], [0], [self.maxk])
        return cast(equal(best, cast(label, "int64")), "float32")

    def update(self, correct, *args):
        """Take in what `compute` gave.

        Args:
            correct (Tensor | numpy.ndarray): 1 where the label is.

        Returns:
            float | list: the accuracy of this batch, for each `k`.
        """
        correct = _array(correct, "correct")
        samples = math.prod(correct.shape[:-1])
        accuracies = []
        for i, k in enumerate(self.topk):
            hits = float(correct[..., :k].sum())
            self.total[i] += hits
            self.count[i] += samples
            accuracies.append(_ratio(hits, samples))
        return accuracies[0] if len(self.topk) == 1 else accuracies

    def reset(self):
        """Forget all batches."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self):
        """The accuracy of all batches since `reset`, for each `k`.

        Returns:
            float | list: one number if there is one `k`.
        """
        accuracies = [_ratio(hits, n) for hits, n in zip(self.total, self.count, strict=True)]
        return accuracies[0] if len(self.topk) == 1 else accuracies

    def name(self):
        """The names, one for each `k`."""
        return self._name


class Precision(Metric):
    """Of the samples said to be positive, the part that is.

    Args:
        name (str, optional): what the metric is shown as.

    Examples:
        >>> metric = Precision()
        >>> metric.update(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 1]))
        >>> metric.accumulate()
        0.5
    """

    def __init__(self, name="precision"):
        self._name = name
        self.reset()

    def update(self, preds, labels):
        """Take in a batch.

        Args:
            preds (Tensor | numpy.ndarray): the chance of each sample; from 0.5 on it is positive.
            labels (Tensor | numpy.ndarray): 0 or 1 for each sample.
        """
        preds, labels = _columns(preds, labels)
        positive = np.floor(preds + 0.5) == 1
        self.tp += int(np.sum(positive & (labels == 1)))
        self.fp += int(np.sum(positive & (labels != 1)))

    def reset(self):
        """Forget all batches."""
        self.tp = self.fp = 0

    def accumulate(self):
        """The precision of all batches since `reset`; 0 when nothing was positive."""
        return _ratio(self.tp, self.tp + self.fp)

    def name(self):
        """What the metric is shown as."""
        return self._name


class Recall(Metric):
    """Of the samples that are positive, the part said to be.

    Args:
        name (str, optional): what the metric is shown as.

    Examples:
        >>> metric = Recall()
        >>> metric.update(np.array([0.9, 0.8, 0.1]), np.array([1, 0, 1]))
        >>> metric.accumulate()
        0.5
    """

    def __init__(self, name="recall"):
        self._name = name
        self.reset()

    def update(self, preds, labels):
        """Take in a batch.

        Args:
            preds (Tensor | numpy.ndarray): the chance of each sample; above 0.5 it is positive.
            labels (Tensor | numpy.ndarray): 0 or 1 for each sample.
        """
        preds, labels = _columns(preds, labels)
        positive = np.rint(preds) == 1
        self.tp += int(np.sum(positive & (labels == 1)))
        self.fn += int(np.sum(~positive & (labels == 1)))

    def reset(self):
        """Forget all batches."""
        self.tp = self.fn = 0

    def accumulate(self):
        """The recall of all batches since `reset`; 0 when nothing is positive."""
        return _ratio(self.tp, self.tp + self.fn)

    def name(self):
        """What the metric is shown as."""
        return self._name


class Auc(Metric):
    """The area under the curve of true over false positives, from a histogram of the chances.

    Args:
        curve (str, optional): "ROC".
        num_thresholds (int, optional): how fine the histogram is.
        name (str, optional): what the metric is shown as.

    Examples:
        >>> metric = Auc()
        >>> chances = np.array([0.1, 0.4, 0.35, 0.8])
        >>> metric.update(np.stack([1 - chances, chances], axis=1), np.array([0, 0, 1, 1]))
        >>> metric.accumulate()
        0.75
    """

    def __init__(self, curve="ROC", num_thresholds=4095, name="auc"):
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds, labels):
        """Take in a batch.

        Args:
            preds (Tensor | numpy.ndarray): a row for each sample: the chances of 0 and of 1.
            labels (Tensor | numpy.ndarray): 0 or 1 for each sample.
        """
        labels, preds = _array(labels, "labels"), _array(preds, "preds")
        samples = len(labels)
        bins = (preds[:samples, 1].astype(np.float64) * self._num_thresholds).astype(np.int64)
        if np.any((bins < 0) | (bins > self._num_thresholds)):
            raise AssertionError("a chance in `preds` lies outside of 0 to 1")
        positive = labels.reshape(samples, -1)[:, 0] != 0
        np.add.at(self._stat_pos, bins[positive], 1.0)
        np.add.at(self._stat_neg, bins[~positive], 1.0)

    def reset(self):
        """Forget all batches."""
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1, x2, y1, y2):
        """The area under a line from (x1, y1) to (x2, y2)."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self):
        """The area for all batches since `reset`; 0 when one of the two classes never came."""
        true = np.concatenate([[0.0], np.cumsum(self._stat_pos[::-1])])
        false = np.concatenate([[0.0], np.cumsum(self._stat_neg[::-1])])
        area = np.sum(self.trapezoid_area(false[1:], false[:-1], true[1:], true[:-1]))
        return _ratio(area / (true[-1] or 1.0), false[-1])

    def name(self):
        """What the metric is shown as."""
        return self._name


def _array(value, name):
    if isinstance(value, Tensor):
        return np.asarray(value.array)
    if not isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(f"The '{name}' must be a numpy ndarray or Tensor.")
    return np.asarray(value)


def _tensor(value, name):
    """A Tensor, or a variable of a Program."""
    return value if isinstance(value, Variable) else Tensor(_array(value, name))


def _columns(preds, labels):
    """Both as vectors with as many samples as `labels` has."""
    preds, labels = _array(preds, "preds"), _array(labels, "labels")
    preds = preds[: len(labels)]
    if preds.size != len(labels) or labels.size != len(labels):
        raise ShapeError(
            f"preds is {preds.shape} and labels is {labels.shape}: not one number a sample"
        )
    return preds.reshape(-1), labels.reshape(-1)


def _ratio(part, whole):
    return float(part) / float(whole) if whole else 0.0
