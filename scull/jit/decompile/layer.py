"""Sublayers: a function of parameters that nothing else has is the call of a layer."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scull.core.dtype import float32
from scull.jit.decompile.expression import call, text
from scull.passes.structure import Value

Options = dict[str, ast.expr]


@dataclass(frozen=True)
class Wish:
    """A layer that would do: what makes it, its parameters by attribute, what it is called with."""

    made: ast.expr
    parameters: dict[str, Value]
    operands: tuple[ast.expr, ...]


def wish_of(tree: ast.expr, words: Mapping[str, Value]) -> Wish | None:
    """The layer that an expression, in which `words` stand for values, could be the call of."""
    build = LAYERS.get(text(tree.func)) if isinstance(tree, ast.Call) else None
    if build is None or not isinstance(tree, ast.Call):
        return None
    options = {str(k.arg): k.value for k in tree.keywords}
    found = build(words, list(tree.args), options)
    if found is None or any(v.meta.dtype is not float32 for v in found.parameters.values()):
        return None
    return found if all(v.variable.persistable for v in found.parameters.values()) else None


def given(words: Mapping[str, Value], node: ast.expr | None) -> Value | None:
    """The value that a word stands for."""
    return words.get(node.id) if isinstance(node, ast.Name) else None


def parameters(**values: Value | None) -> dict[str, Value] | None:
    """Those that are there; None if one of them is written over, or stands twice."""
    found = {n: v for n, v in values.items() if v is not None}
    return found if len(set(found.values())) == len(found) else None


def sizes(value: Value) -> list[int]:
    """The sizes of a parameter."""
    return [int(n) for n in value.meta.shape]


Build = Callable[[Mapping[str, Value], list[ast.expr], Options], Wish | None]


def linear(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """`nn.Linear`."""
    weight, bias = given(words, args[1]), given(words, args[2]) if args[2:] else None
    if weight is None or (args[2:] and bias is None) or len(sizes(weight)) != 2:
        return None
    if bias is not None and sizes(bias) != sizes(weight)[1:]:
        return None
    found = parameters(weight=weight, bias=bias)
    words_ = {} if bias is not None else {"bias_attr": False}
    return found and Wish(call("nn.Linear", *sizes(weight), **words_), found, (args[0],))


def convolution(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """`nn.Conv2D`."""
    weight, bias = given(words, args[1]), given(words, options.get("bias"))
    groups = options.get("groups", ast.Constant(1))
    if weight is None or not isinstance(groups, ast.Constant) or len(sizes(weight)) != 4:
        return None
    if ("bias" in options) != (bias is not None):
        return None
    out, inner, *kernel = sizes(weight)
    if bias is not None and sizes(bias) != [out]:
        return None
    rest: dict[str, Any] = {n: v for n, v in options.items() if n != "bias"}
    if bias is None:
        rest["bias_attr"] = False
    size = kernel[0] if len(set(kernel)) == 1 else kernel
    found = parameters(weight=weight, bias=bias)
    made = call("nn.Conv2D", inner * int(groups.value), out, size, **rest)
    return found and Wish(made, found, (args[0],))


def batch_norm(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """`nn.BatchNorm2D`, or that of as many axes as there are."""
    x, mean, variance, weight, bias = (given(words, a) for a in args)
    if x is None or None in (mean, variance, weight, bias) or "data_format" in options:
        return None
    axes = {2: 1, 3: 1, 4: 2, 5: 3}.get(len(x.meta.shape))
    found = parameters(weight=weight, bias=bias, _mean=mean, _variance=variance)
    if axes is None or found is None or weight is None:
        return None
    rest = {n: v for n, v in options.items() if n != "training"}
    made = call(f"nn.BatchNorm{axes}D", sizes(weight)[0], **rest)
    return Wish(made, found, (args[0],))


def layer_norm(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """`nn.LayerNorm`."""
    weight, bias = (given(words, a) for a in (args[2:] + [None, None])[:2])  # type: ignore[list-item]
    if weight is None or bias is None:
        return None
    found = parameters(weight=weight, bias=bias)
    return found and Wish(call("nn.LayerNorm", args[1], **options), found, (args[0],))


def embedding(words: Mapping[str, Value], args: list[ast.expr], options: Options) -> Wish | None:
    """`nn.Embedding`."""
    weight = given(words, args[1])
    if weight is None or len(sizes(weight)) != 2:
        return None
    return Wish(call("nn.Embedding", *sizes(weight), **options), {"weight": weight}, (args[0],))


LAYERS: dict[str, Build] = {
    "F.linear": linear,
    "F.conv2d": convolution,
    "F.batch_norm": batch_norm,
    "F.layer_norm": layer_norm,
    "F.embedding": embedding,
}
