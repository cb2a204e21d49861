"""Scales of what batches show: the largest magnitude, or one that keeps most of a histogram."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from scull.nn.layer.linear import Linear


def magnitudes(tensor: Any) -> Any:
    """The absolute values of a tensor, as an array."""
    return np.abs(tensor.numpy())


class BaseQuantizer(ABC):
    """The parent of what finds the scales of tensors.

    Args:
        quant_bits (int): how many bits hold a step.
    """

    def __init__(self, quant_bits: int = 8) -> None:
        self.quant_bits = quant_bits
        self.abs_max_vals: list[Any] = []
        self.thresholds: list[Any] = []

    @abstractmethod
    def sample_data(self, layer: Any, tensors: Any) -> None:
        """Look at the tensors of a call of `layer`.

        Args:
            layer (Layer): whose inputs, outputs or weights they are.
            tensors (tuple[Tensor]): the tensors.
        """

    @abstractmethod
    def cal_thresholds(self) -> None:
        """Find `thresholds`, one of each tensor."""


class AbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude of each tensor.

    Args:
        quant_bits (int): how many bits hold a step.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.imperative import AbsmaxQuantizer
        >>> quantizer = AbsmaxQuantizer()
        >>> quantizer.sample_data(None, (paddle.to_tensor([1.0, -3.0]),))
        >>> quantizer.cal_thresholds()
        >>> quantizer.thresholds
        [3.0]
    """

    def sample_data(self, layer: Any, tensors: Any) -> None:
        found = [float(magnitudes(t).max(initial=0)) for t in tensors]
        before = self.abs_max_vals or [0.0] * len(found)
        self.abs_max_vals = [max(a, b) for a, b in zip(before, found, strict=True)]

    def cal_thresholds(self) -> None:
        self.thresholds = self.abs_max_vals


class PerChannelAbsmaxQuantizer(BaseQuantizer):
    """The largest magnitude of each output channel of a weight.

    Args:
        quant_bits (int): how many bits hold a step.
    """

    def sample_data(self, layer: Any, tensors: Any) -> None:
        found = []
        for tensor in tensors:
            transposed = isinstance(layer, Linear) or getattr(layer, "_transposed", False)
            axis = 1 if transposed else 0
            values = magnitudes(tensor)
            others = tuple(i for i in range(values.ndim) if i != axis)
            found.append(values.max(others).astype(float).tolist())
        before = self.abs_max_vals or found
        self.abs_max_vals = [np.maximum(a, b).tolist() for a, b in zip(before, found, strict=True)]

    def cal_thresholds(self) -> None:
        self.thresholds = self.abs_max_vals


class BaseHistQuantizer(BaseQuantizer):
    """The parent of what keeps a histogram of the magnitudes of each tensor.

    Args:
        quant_bits (int): how many bits hold a step.
        bins (int): how many bins a histogram has.
        upsample_bins (int): into how many a bin is split before several become one wider.
    """

    def __init__(self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64) -> None:
        super().__init__(quant_bits)
        self.bins, self.upsample_bins = bins, upsample_bins
        self.hists: list[Any] = []

    def sample_data(self, layer: Any, tensors: Any) -> None:
        known = list(zip(self.abs_max_vals, self.hists, strict=True)) or [(0.0, None)] * len(
            tensors
        )
        found = [
            self.counted(magnitudes(t), *before) for t, before in zip(tensors, known, strict=True)
        ]
        self.abs_max_vals = [most for most, _ in found]
        self.hists = [counts for _, counts in found]

    def counted(self, values: Any, most: float, counts: Any) -> tuple[float, Any]:
        """The end of a histogram and its counts, with `values` in it."""
        largest = float(values.max(initial=0))
        if largest == 0:
            return most, counts
        if counts is None or most == 0:
            made = np.histogram(values, self.bins, (0, largest))[0]
            return largest, made.astype(np.float32)
        if largest > most:
            width = most / (self.bins * self.upsample_bins)
            together = math.ceil(largest / (self.bins * width))
            fine = np.zeros(self.bins * together, np.float32)
            fine[: self.bins * self.upsample_bins] = np.repeat(counts, self.upsample_bins)
            most = self.bins * width * together
            counts = fine.reshape(self.bins, together).sum(1) / np.float32(self.upsample_bins)
        added = np.histogram(values, self.bins, (0, most))[0]
        return most, (counts + added).astype(np.float32)

    def cal_thresholds(self) -> None:
        self.thresholds = [
            0.0 if counts is None else (self.chosen(counts) + 0.5) * most / self.bins
            for most, counts in zip(self.abs_max_vals, self.hists, strict=True)
        ]

    @abstractmethod
    def chosen(self, counts: Any) -> int:
        """The bin in whose middle the threshold lies."""


class HistQuantizer(BaseHistQuantizer):
    """The magnitude below which a part of all numbers lies.

    Args:
        quant_bits (int): how many bits hold a step.
        bins (int): how many bins a histogram has.
        upsample_bins (int): into how many a bin is split before several become one wider.
        hist_percent (float): that part.
    """

    def __init__(
        self,
        quant_bits: int = 8,
        bins: int = 1024,
        upsample_bins: int = 64,
        hist_percent: float = 0.99999,
    ) -> None:
        super().__init__(quant_bits, bins, upsample_bins)
        self.hist_percent = hist_percent

    def chosen(self, counts: Any) -> int:
        reached = np.cumsum(counts / counts.sum()) >= self.hist_percent
        return max(int(reached.argmax()) - 1, 0)


class KLQuantizer(BaseHistQuantizer):
    """The magnitude to cut off at, for which the rounded histogram tells most of the other.

    It is that of the least divergence by Kullback and Leibler (1951), as Migacz, 8-bit inference
    with TensorRT (2017), has it.

    Args:
        quant_bits (int): how many bits hold a step.
        bins (int): how many bins a histogram has.
        upsample_bins (int): into how many a bin is split before several become one wider.
    """

    def chosen(self, counts: Any) -> int:
        steps = (1 << (self.quant_bits - 1)) - 1
        ends = range((len(counts) - 1) // 2, len(counts) + 1)
        told = [(divergence(counts, end, steps), end) for end in ends if counts[end - 1]]
        return min(told)[1] if told else len(counts) - 1


def divergence(counts: Any, end: int, steps: int) -> float:
    """What is lost where the first `end` bins become `steps` wide ones, the rest in the last."""
    true = counts[:end].astype(np.float64)
    width = end // steps
    place = np.minimum(np.arange(end) // max(width, 1), steps - 1)
    held = true > 0
    sums, sizes = np.bincount(place, true, steps), np.bincount(place, held, steps)
    rounded = np.where(held, (sums / np.where(sizes == 0, 1, sizes))[place], 0)
    true[-1] += counts[end:].sum()
    held = true > 0
    if (rounded[held] == 0).any():
        return math.inf
    p, q = true[held] / true.sum(), rounded[held] / rounded.sum()
    return float((p * np.log(p / q)).sum())


SUPPORT_ACT_QUANTIZERS = [AbsmaxQuantizer, HistQuantizer, KLQuantizer]
SUPPORT_WT_QUANTIZERS = [AbsmaxQuantizer, PerChannelAbsmaxQuantizer]
