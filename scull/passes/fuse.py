"""Fusions: a product, its bias and its activation as one operator; elementwise ones in pairs."""

from collections.abc import Iterable
from itertools import product
from typing import Any

from scull.ir.variable import Variable
from scull.ops.affine import bias_row
from scull.ops.convolution import conv2d
from scull.ops.elementwise import add
from scull.ops.fused import (
    ACTIVATIONS,
    PAIRED,
    fc,
    fused_activations,
    fused_conv2d_add_act,
    fused_elemwise_activation,
    fused_gemm_epilogue,
)
from scull.ops.linear import matmul, mul
from scull.passes.rewrite import Rewrite, require, rewriting
from scull.passes.work import Pass

EPILOGUES = ("relu", "gelu")  # those Paddle's operator has


def require_row(b: Variable, columns: int) -> None:
    """A bias is a number for each column."""
    require(b.ndim == 1, f"bias `{b.name}` is {b.meta}, not a row")
    fits = b.shape[0] == columns != -1
    require(fits, f"bias `{b.name}` is {b.meta}, and there are {columns} columns")


def require_last(b: Variable, axis: int, last: int) -> None:
    """A bias meets the columns."""
    require(axis in (-1, last), f"bias `{b.name}` lies along axis {axis}")


def require_weight(w: Variable) -> None:
    """A weight is a matrix that lasts."""
    require(w.persistable, f"`{w.name}` is no weight")
    require(w.ndim == 2, f"weight `{w.name}` is {w.meta}, not a matrix")


class FuseLinear(Rewrite):
    """``matmul`` then ``add`` is ``fused_gemm_epilogue``, when the bias is a row."""

    keeps_shape = True

    def pattern(
        self, x: Any, w: Any, b: Any, *, transpose_x: Any, transpose_y: Any, axis: Any
    ) -> Any:
        product = matmul(x, w, transpose_x=transpose_x, transpose_y=transpose_y)
        return add(product, b, axis=axis)

    def when(self, x: Any, w: Any, b: Any, transpose_x: bool, transpose_y: bool, axis: int) -> None:
        require(w.ndim == 2, f"weight `{w.name}` is {w.meta}, not a matrix")
        require(x.ndim >= 2, f"`{x.name}` is {x.meta}, a vector")
        require_row(b, w.shape[0 if transpose_y else 1])
        require_last(b, axis, x.ndim - 1)

    def replace(self, x: Any, w: Any, b: Any, axis: int, **turns: bool) -> Any:
        return fused_gemm_epilogue(x, w, b, **turns)


class FuseEpilogue(Rewrite):
    """An activation of ``fused_gemm_epilogue`` is part of it."""

    keeps_shape = True

    def __init__(self, activation: str) -> None:
        self.activation = activation

    def pattern(self, x: Any, w: Any, b: Any, *, transpose_x: Any, transpose_y: Any) -> Any:
        turns = {"transpose_x": transpose_x, "transpose_y": transpose_y}
        return ACTIVATIONS[self.activation](fused_gemm_epilogue(x, w, b, **turns))

    def replace(self, x: Any, w: Any, b: Any, **turns: bool) -> Any:
        return fused_gemm_epilogue(x, w, b, **turns, activation=self.activation)


class FuseConnected(Rewrite):
    """``mul`` by a weight then ``add`` is ``fc``, when the bias is a row."""

    keeps_shape = True

    def pattern(self, x: Any, w: Any, b: Any, *, rows: Any, axis: Any) -> Any:
        return add(mul(x, w, x_num_col_dims=rows), b, axis=axis)

    def when(self, x: Any, w: Any, b: Any, rows: int, axis: int) -> None:
        require_weight(w)
        require_row(b, w.shape[1])
        require_last(b, axis, rows)

    def replace(self, x: Any, w: Any, b: Any, rows: int, axis: int) -> Any:
        return fc(x, w, b, in_num_col_dims=rows)


class ConnectMatrices(Rewrite):
    """``matmul`` by a weight then ``add`` is ``fc``, when the bias is a row."""

    keeps_shape = True

    def pattern(self, x: Any, w: Any, b: Any, *, axis: Any) -> Any:
        return add(matmul(x, w), b, axis=axis)

    def when(self, x: Any, w: Any, b: Any, axis: int) -> None:
        require(x.ndim >= 2, f"`{x.name}` is {x.meta}, a vector")
        require_weight(w)
        require_row(b, w.shape[1])
        require_last(b, axis, x.ndim - 1)

    def replace(self, x: Any, w: Any, b: Any, axis: int) -> Any:
        return fc(x, w, b, in_num_col_dims=x.ndim - 1)


class Connected(Rewrite):
    """``relu`` of ``fc`` is part of it."""

    keeps_shape = True

    def pattern(self, x: Any, w: Any, b: Any, *, rows: Any) -> Any:
        return ACTIVATIONS["relu"](fc(x, w, b, in_num_col_dims=rows))

    def replace(self, x: Any, w: Any, b: Any, rows: int) -> Any:
        return fc(x, w, b, in_num_col_dims=rows, activation_type="relu")


class UnaryOfBinary(Rewrite):
    """An activation of a sum or a product of two tensors, as ``relu(x + y)``."""

    def __init__(self, unary: str, binary: str) -> None:
        self.unary, self.binary = unary, binary

    def pattern(self, x: Any, y: Any, *, axis: Any) -> Any:
        return ACTIVATIONS[self.unary](PAIRED[self.binary](x, y, axis=axis))

    def replace(self, x: Any, y: Any, axis: int) -> Any:
        functors = [self.unary, self.binary]
        return fused_elemwise_activation(x, y, axis=axis, functor_list=functors)[0]


class BinaryOfUnary(UnaryOfBinary):
    """A sum or a product of a tensor and an activation, as ``x + relu(y)``."""

    def pattern(self, x: Any, y: Any, *, axis: Any) -> Any:
        return PAIRED[self.binary](x, ACTIVATIONS[self.unary](y), axis=axis)

    def replace(self, x: Any, y: Any, axis: int) -> Any:
        functors = [self.binary, self.unary]
        return fused_elemwise_activation(x, y, axis=axis, functor_list=functors)[0]


class FuseActivations(Rewrite):
    """An activation of another, as ``relu(tanh(x))``."""

    def __init__(self, outer: str, inner: str) -> None:
        self.outer, self.inner = outer, inner

    def pattern(self, x: Any) -> Any:
        return ACTIVATIONS[self.outer](ACTIVATIONS[self.inner](x))

    def replace(self, x: Any) -> Any:
        return fused_activations(x, functor_list=[self.outer, self.inner])


class LengthenActivations(Rewrite):
    """An activation of several."""

    def __init__(self, outer: str) -> None:
        self.outer = outer

    def pattern(self, x: Any, *, names: Any) -> Any:
        return ACTIVATIONS[self.outer](fused_activations(x, functor_list=names))

    def replace(self, x: Any, names: tuple[str, ...]) -> Any:
        return fused_activations(x, functor_list=[self.outer, *names])


def biased(x: Any, w: Any, b: Any, row: bool, options: dict[str, Any], shape: Any) -> Any:
    """A convolution and its bias, perhaps made a row before."""
    found = conv2d(x, w, **options)
    return add(found, bias_row(b, shape=shape)) if row else add(found, b, axis=1)


def require_channels(b: Variable, w: Variable, shape: tuple[int, ...]) -> None:
    """A bias is a number for each channel."""
    fits = b.ndim == 1 and b.shape[0] == w.shape[0]
    require(fits, f"bias `{b.name}` is {b.meta}, the filter is {w.meta}")
    row = shape in ((1, -1, 1, 1), (1, w.shape[0], 1, 1))
    require(row, f"bias `{b.name}` is made {list(shape)}")


class FuseConvolution(Rewrite):
    """A convolution, a bias for each channel and ``relu``."""

    def __init__(self, *, row: bool) -> None:
        self.row = row

    def pattern(
        self,
        x: Any,
        w: Any,
        b: Any,
        *,
        strides: Any,
        paddings: Any,
        dilations: Any,
        groups: Any,
        shape: Any,
    ) -> Any:
        options = {"strides": strides, "paddings": paddings, "dilations": dilations}
        options |= {"groups": groups}
        return ACTIVATIONS["relu"](biased(x, w, b, self.row, options, shape))

    def when(self, x: Any, w: Any, b: Any, shape: Any = (1, -1, 1, 1), **options: Any) -> None:
        require_channels(b, w, shape)

    def replace(self, x: Any, w: Any, b: Any, shape: Any = None, **options: Any) -> Any:
        return fused_conv2d_add_act(x, w, b, **options)[0]


class FuseResidual(Rewrite):
    """A convolution, a bias for each channel, what is added to that, and ``relu``."""

    def __init__(self, *, row: bool) -> None:
        self.row = row

    def pattern(
        self,
        x: Any,
        w: Any,
        b: Any,
        z: Any,
        *,
        strides: Any,
        paddings: Any,
        dilations: Any,
        groups: Any,
        shape: Any,
    ) -> Any:
        options = {"strides": strides, "paddings": paddings, "dilations": dilations}
        options |= {"groups": groups}
        return ACTIVATIONS["relu"](add(biased(x, w, b, self.row, options, shape), z))

    def when(
        self, x: Any, w: Any, b: Any, z: Any, shape: Any = (1, -1, 1, 1), **options: Any
    ) -> None:
        require_channels(b, w, shape)
        require(z.ndim == 4, f"`{z.name}` is {z.meta}, not of images")

    def replace(self, x: Any, w: Any, b: Any, z: Any, shape: Any = None, **options: Any) -> Any:
        return fused_conv2d_add_act(x, w, b, z, **options)[0]


def pairs() -> Iterable[Rewrite]:
    """The rewrites of elementwise operators in pairs."""
    for unary, binary in product(ACTIVATIONS, PAIRED):
        yield UnaryOfBinary(unary, binary)
        yield BinaryOfUnary(unary, binary)


def rows() -> Iterable[Rewrite]:
    """The rewrites of activations, one after the other."""
    for outer, inner in product(ACTIVATIONS, ACTIVATIONS):
        yield FuseActivations(outer, inner)
    yield from map(LengthenActivations, ACTIVATIONS)


PASSES: tuple[Pass, ...] = (
    rewriting(
        "fuse_gemm_epilogue_pass",
        "a product of matrices, its bias and its activation",
        FuseLinear(),
        *map(FuseEpilogue, EPILOGUES),
    ),
    rewriting(
        "fc_fuse_pass",
        "a product with a weight, its bias and relu",
        FuseConnected(),
        ConnectMatrices(),
        Connected(),
    ),
    rewriting("fuse_elewise_add_act_pass", "sums and products with activations", *pairs()),
    rewriting("fuse_activations_pass", "activations of activations", *rows()),
    rewriting(
        "conv_elementwise_add_act_fuse_pass",
        "a convolution, its bias and relu",
        *(FuseConvolution(row=row) for row in (False, True)),
    ),
    rewriting(
        "conv_elementwise_add2_act_fuse_pass",
        "a convolution, its bias, what is added to it and relu",
        *(FuseResidual(row=row) for row in (False, True)),
    ),
)
