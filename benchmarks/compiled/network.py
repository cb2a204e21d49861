"""Networks, each written once for all frameworks: a function of a vocabulary and of inputs.

A vocabulary has a method for each layer. It takes the parameters of a layer, in the order in which
the network asks for them, and leaves to a framework what is computed of them. The vocabulary
itself computes nothing: run with it, a network tells which parameters it has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

EPSILON, MOMENTUM = 1e-5, 0.1  # of normalisations


@dataclass(frozen=True)
class Parameter:
    """What an array of a network is at first: normal numbers around a mean.

    A `matrix` is [rows, columns]: some frameworks keep it the other way round.
    """

    shape: tuple[int, ...]
    scale: float = 0.0
    mean: float = 0.0
    trained: bool = True
    matrix: bool = False


class Vocabulary:
    """The layers of networks; a framework says what each computes."""

    def __init__(self, take: Callable[[Parameter], Any]) -> None:
        self.take = take

    def linear(self, x: Any, rows: int, columns: int) -> Any:
        """A product and a bias."""
        w = self.take(Parameter((rows, columns), (2 / rows) ** 0.5, matrix=True))
        return self.apply_linear(x, w, self.take(Parameter((columns,))))

    def convolution(
        self,
        x: Any,
        channels: tuple[int, int],
        size: int,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
        bias: bool = False,
    ) -> Any:
        """Square filters over an image."""
        before, after = channels
        shape = (after, before // groups, size, size)
        w = self.take(Parameter(shape, (2 / (before // groups * size * size)) ** 0.5))
        b = self.take(Parameter((after,))) if bias else None
        return self.apply_convolution(x, w, b, stride, padding, groups)

    def batch_norm(self, x: Any, channels: int) -> Any:
        """Normalised by channel."""
        scale, bias = self.take(Parameter((channels,), mean=1.0)), self.take(Parameter((channels,)))
        mean = self.take(Parameter((channels,), trained=False))
        variance = self.take(Parameter((channels,), mean=1.0, trained=False))
        return self.apply_batch_norm(x, scale, bias, mean, variance)

    def layer_norm(self, x: Any, width: int) -> Any:
        """Normalised over the last axis."""
        scale = self.take(Parameter((width,), mean=1.0))
        return self.apply_layer_norm(x, scale, self.take(Parameter((width,))))

    def embedding(self, tokens: Any, rows: int, width: int) -> Any:
        """The rows that tokens name."""
        return self.apply_embedding(tokens, self.take(Parameter((rows, width), 0.02)))

    def position(self, x: Any, length: int, width: int) -> Any:
        """A row for each position is added."""
        return self.add(x, self.take(Parameter((length, width), 0.02)))

    def attention(self, x: Any, width: int, heads: int, causal: bool = False) -> Any:
        """Every position sees the others, or those before it, in several heads."""
        mixed = self.attend(self.linear(x, width, 3 * width), heads, causal)
        return self.linear(mixed, width, width)

    # What a framework computes.

    def apply_linear(self, x: Any, w: Any, b: Any) -> Any: ...

    def apply_convolution(
        self, x: Any, w: Any, b: Any, stride: int, padding: int, groups: int
    ) -> Any: ...

    def apply_batch_norm(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any: ...

    def apply_layer_norm(self, x: Any, scale: Any, bias: Any) -> Any: ...

    def apply_embedding(self, tokens: Any, table: Any) -> Any: ...

    def attend(self, packed: Any, heads: int, causal: bool) -> Any:
        """Queries, keys and values side by side, [batch, length, 3 width], to [.., width]."""

    def add(self, x: Any, y: Any) -> Any: ...

    def relu(self, x: Any) -> Any: ...

    def relu6(self, x: Any) -> Any: ...

    def gelu(self, x: Any) -> Any: ...

    def tanh(self, x: Any) -> Any: ...

    def softmax(self, x: Any) -> Any: ...

    def first(self, x: Any) -> Any:
        """The first position of a sequence."""

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any: ...

    def mean_of_image(self, x: Any) -> Any:
        """The mean over height and width."""

    def flatten(self, x: Any) -> Any: ...


Network = Callable[..., Any]


def parameters_of(network: Network, inputs: int) -> list[Parameter]:
    """The parameters of a network in its order."""
    found: list[Parameter] = []
    network(Vocabulary(found.append), *[None] * inputs)
    return found


def values_of(parameters: Sequence[Parameter]) -> list[np.ndarray[Any, Any]]:
    """Their first values, equal for every framework."""
    rng = np.random.default_rng(0)
    found = []
    for p in parameters:
        normal = rng.standard_normal(p.shape, np.float32) if p.scale else 0
        found.append(np.full(p.shape, p.mean, np.float32) + np.float32(p.scale) * normal)
    return found


def perceptron(sizes: Sequence[int]) -> Network:
    """Linear layers with `relu` between them."""

    def network(f: Vocabulary, x: Any) -> Any:
        for n, (rows, columns) in enumerate(pairwise(sizes)):
            x = f.linear(x if n == 0 else f.relu(x), rows, columns)
        return x

    return network


def lenet(f: Vocabulary, x: Any) -> Any:
    """Two convolutions of 20 and 50 filters 5 x 5, a layer of 500."""
    x = f.max_pool(f.relu(f.convolution(x, (1, 20), 5, bias=True)), 2, 2)
    x = f.max_pool(f.relu(f.convolution(x, (20, 50), 5, bias=True)), 2, 2)
    return f.linear(f.relu(f.linear(f.flatten(x), 800, 500)), 500, 10)


def convolved(
    f: Vocabulary, x: Any, channels: tuple[int, int], size: int, stride: int = 1, groups: int = 1
) -> Any:
    """A convolution that keeps borders, normalised."""
    x = f.convolution(x, channels, size, stride, size // 2, groups)
    return f.batch_norm(x, channels[1])


def resnet18(width: int) -> Network:
    """ResNet-18 for images of 32 x 32, the first of its blocks that wide."""

    def network(f: Vocabulary, x: Any) -> Any:
        x, before = f.relu(convolved(f, x, (3, width), 3)), width
        for n in range(8):
            after = width << n // 2
            stride = 2 if after != before else 1
            y = f.relu(convolved(f, x, (before, after), 3, stride))
            y = convolved(f, y, (after, after), 3)
            x = convolved(f, x, (before, after), 1, stride) if stride == 2 else x
            x, before = f.relu(f.add(y, x)), after
        return f.linear(f.mean_of_image(x), before, 10)

    return network


def resnet50(f: Vocabulary, x: Any) -> Any:
    """ResNet-50."""
    x = f.max_pool(f.relu(convolved(f, x, (3, 64), 7, 2)), 3, 2, 1)
    before = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for n in range(blocks):
            stride = 2 if n == 0 and width > 64 else 1
            y = f.relu(convolved(f, x, (before, width), 1))
            y = f.relu(convolved(f, y, (width, width), 3, stride))
            y = convolved(f, y, (width, 4 * width), 1)
            x = convolved(f, x, (before, 4 * width), 1, stride) if n == 0 else x
            x, before = f.relu(f.add(y, x)), 4 * width
    return f.linear(f.mean_of_image(x), before, 1000)


def mobilenet_v2(f: Vocabulary, x: Any) -> Any:
    """MobileNetV2."""
    x, before = f.relu6(convolved(f, x, (3, 32), 3, 2)), 32
    parts = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2))
    parts += ((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for wider, after, blocks, first in parts:
        for n in range(blocks):
            stride, inner = first if n == 0 else 1, before * wider
            y = f.relu6(convolved(f, x, (before, inner), 1)) if wider > 1 else x
            y = f.relu6(convolved(f, y, (inner, inner), 3, stride, inner))
            y = convolved(f, y, (inner, after), 1)
            x, before = f.add(x, y) if stride == 1 and before == after else y, after
    return f.linear(f.mean_of_image(f.relu6(convolved(f, x, (before, 1280), 1))), 1280, 1000)


def gpt(layers: int, width: int, heads: int, length: int, words: int) -> Network:
    """A decoder that normalises first."""

    def network(f: Vocabulary, tokens: Any) -> Any:
        x = f.position(f.embedding(tokens, words, width), length, width)
        for _ in range(layers):
            x = f.add(x, f.attention(f.layer_norm(x, width), width, heads, causal=True))
            y = f.gelu(f.linear(f.layer_norm(x, width), width, 4 * width))
            x = f.add(x, f.linear(y, 4 * width, width))
        return f.linear(f.layer_norm(x, width), width, words)

    return network


def bert(layers: int, width: int, heads: int, length: int, words: int) -> Network:
    """An encoder that normalises last, with its pooler."""

    def network(f: Vocabulary, tokens: Any) -> Any:
        x = f.position(f.embedding(tokens, words, width), length, width)
        x = f.layer_norm(x, width)
        for _ in range(layers):
            x = f.layer_norm(f.add(x, f.attention(x, width, heads)), width)
            y = f.linear(f.gelu(f.linear(x, width, 4 * width)), 4 * width, width)
            x = f.layer_norm(f.add(x, y), width)
        return f.tanh(f.linear(f.first(x), width, width))

    return network


def classifying(network: Network, width: int, classes: int) -> Network:
    """A network with a layer behind what it finds."""
    return lambda f, *inputs: f.linear(network(f, *inputs), width, classes)


def rows_of_a_block(f: Vocabulary, x: Any, y: Any) -> Any:
    """What lies between the products of a Transformer."""
    return f.softmax(f.layer_norm(f.add(f.gelu(x), y), 1024))
