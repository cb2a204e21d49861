"""Weights as a length and a direction, and weights of largest singular value 1."""

from typing import Any

import numpy as np

from scull.autograd.interface import no_grad
from scull.core.interpreter import current, interpreting
from scull.core.tensor import Tensor
from scull.errors import ArgumentError
from scull.nn.functional.norm import normalize
from scull.nn.layer.linear import Linear
from scull.nn.layer.transpose import Transpose
from scull.ops.elementwise import divide, multiply
from scull.ops.linear import matmul
from scull.ops.math import sqrt, square
from scull.ops.move import reshape, transpose
from scull.ops.reduce import reduce_sum
from scull.tensor.creation import assign

LEAST = 1e-12  # added to the square of a length


def start_as(parameter: Any, value: Any) -> None:
    """Give `parameter` a value; in a Program that is an operator of it."""
    if isinstance(parameter, Tensor):
        parameter.set_value(value)
    else:
        assign(value, parameter)


def length_of(v: Any, dim: int | None) -> Any:
    """The length of `v` for each place along `dim`; of all of it for None."""
    axes = tuple(i for i in range(len(v.shape)) if i != dim)
    squares = square(v)
    return sqrt((reduce_sum(squares, axis=axes) if axes else squares) + LEAST)


def beside(x: Any, v: Any, dim: int | None) -> Any:
    """A number for each place along `dim`, in a shape that meets `v`."""
    if dim is None:
        return x
    return reshape(x, shape=tuple([-1 if i == dim else 1 for i in range(len(v.shape))]))


class WeightNorm:
    """Computes a weight from its length and direction before each call of a layer."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def compute(self, layer: Any) -> Any:
        """The weight."""
        g, v = getattr(layer, self.name + "_g"), getattr(layer, self.name + "_v")
        return multiply(v, beside(divide(g, length_of(v, self.dim)), v, self.dim))

    def __call__(self, layer: Any, inputs: Any) -> None:
        setattr(layer, self.name, self.compute(layer))


def hook_of(layer: Any, kind: type, name: str) -> tuple[Any, Any]:
    """The key and the hook of this kind for parameter `name`; None where there is none."""
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key, hook
    return None, None


def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the length and the direction of a weight apart.

    Salimans and Kingma, "Weight normalization", 2016.

    Args:
        layer (Layer): the layer.
        name (str): the name of its parameter.
        dim (int, optional): along which there is a length for each place; None for one length.

    Returns:
        Layer: `layer`, whose parameters are now ``name_g`` and ``name_v``.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3))
        >>> layer.weight_g.shape
        [2]
    """
    if hook_of(layer, WeightNorm, name)[1] is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    weight = layer._parameters[name]
    if dim is not None and not -len(weight.shape) <= dim < len(weight.shape):
        raise ArgumentError(f"dim is {dim}, outside the {len(weight.shape)} axes of {name}")
    dim = None if dim in (None, -1) else dim % len(weight.shape)
    hook = WeightNorm(name, dim)
    del layer._parameters[name]
    with no_grad():
        lengths = length_of(weight, dim)
    own = layer.create_parameter(list(weight.shape), dtype=weight.dtype)
    start_as(own, weight)
    layer.add_parameter(name + "_v", own)
    length = layer.create_parameter(list(lengths.shape), dtype=weight.dtype)
    start_as(length, lengths)
    layer.add_parameter(name + "_g", length)
    setattr(layer, name, hook.compute(layer))
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """Make one parameter again of a length and a direction.

    Args:
        layer (Layer): what `weight_norm` returned.
        name (str): the name of the parameter.

    Returns:
        Layer: `layer`.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3))
        >>> [n for n, _ in paddle.nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    key, hook = hook_of(layer, WeightNorm, name)
    if hook is None:
        raise ArgumentError(f"weight_norm of '{name}' not found in {layer}")
    with no_grad():
        weight = hook.compute(layer)
    for part in ("_g", "_v"):
        del layer._parameters[name + part]
    delattr(layer, name)
    whole = layer.create_parameter(list(weight.shape), dtype=weight.dtype)
    start_as(whole, weight)
    layer.add_parameter(name, whole)
    del layer._forward_pre_hooks[key]
    return layer


class SpectralNorm:
    """Divides a weight by its largest singular value before each call of a layer."""

    def __init__(self, name: str, dim: int, steps: int, epsilon: float) -> None:
        self.name, self.dim, self.steps, self.epsilon = name, dim, steps, epsilon

    def matrix(self, weight: Any) -> Any:
        """The weight with `dim` as rows."""
        if self.dim:
            axes = [i for i in range(len(weight.shape)) if i != self.dim]
            weight = transpose(weight, perm=(self.dim, *axes))
        return reshape(weight, shape=(int(weight.shape[0]), -1))

    def unit(self, x: Any) -> Any:
        """`x` of length 1."""
        return normalize(x, axis=0, epsilon=self.epsilon)

    def improve(self, layer: Any, matrix: Any, steps: int) -> None:
        """Bring both singular vectors nearer to the largest ones."""
        u, v = getattr(layer, self.name + "_u"), getattr(layer, self.name + "_v")
        with no_grad():
            for _ in range(steps):
                v.set_value(self.unit(matmul(matrix, u, transpose_x=True)))
                u.set_value(self.unit(matmul(matrix, v)))

    def compute(self, layer: Any, steps: int) -> Any:
        """The weight; singular values need all digits."""
        with interpreting(current().below):
            weight = getattr(layer, self.name + "_orig")
            matrix = self.matrix(weight)
            self.improve(layer, matrix, steps)
            u, v = (assign(getattr(layer, self.name + part)) for part in ("_u", "_v"))
            sigma = reduce_sum(multiply(u, matmul(matrix, v)), axis=())
            return divide(weight, sigma)

    def __call__(self, layer: Any, inputs: Any) -> None:
        setattr(layer, self.name, self.compute(layer, self.steps if layer.training else 0))


def spectral_norm(
    layer: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value, which power iterations find.

    Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    Args:
        layer (Layer): the layer.
        name (str): the name of its parameter.
        n_power_iterations (int): how many iterations each call makes in training.
        eps (float): the least length that is divided by.
        dim (int, optional): the axis that becomes the rows of a matrix; chosen by the kind of layer
            when None.

    Returns:
        Layer: `layer`, whose parameter is now ``name_orig``.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.utils.spectral_norm(paddle.nn.Linear(2, 3))
        >>> layer.weight_orig.shape
        [2, 3]
    """
    if hook_of(layer, SpectralNorm, name)[1] is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if n_power_iterations <= 0:
        raise ArgumentError(
            "Expected n_power_iterations to be positive, but "
            f"got n_power_iterations={n_power_iterations}"
        )
    if dim is None:
        dim = 1 if isinstance(layer, Linear | Transpose) else 0
    hook, weight = SpectralNorm(name, dim, n_power_iterations, eps), layer._parameters[name]
    rows = int(weight.shape[dim])
    del layer._parameters[name]
    layer.register_buffer(name, weight.detach(), persistable=False)
    chance = np.random.default_rng(0)
    for part, size in (("_u", rows), ("_v", weight.array.size // rows)):
        start = chance.standard_normal(size).astype(weight.array.dtype)
        layer.register_buffer(name + part, hook.unit(Tensor(start)))
    layer.add_parameter(name + "_orig", weight)
    layer.register_forward_pre_hook(hook)
    return layer
