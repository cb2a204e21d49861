"""Older losses and distances, which were operators of their own."""

from typing import Any

from scull.errors import ShapeError
from scull.files.legacy.call import Call, Names, made


class Chain:
    """Operators one after the other; their results are named after the operator they replace."""

    def __init__(self, call: Call, names: Names, x: str) -> None:
        self.call, self.names, self.x = call, names, x
        self.calls: list[Call] = []
        shape = names.shape(x)
        if shape is None or len(shape) < 2:
            raise ShapeError(f"{call.where}: x has shape {shape}; 2 axes and more are needed")
        self.shape = shape

    def result(self, type: str, inputs: dict[str, str], out: str = "", **attrs: Any) -> str:
        """The result of a new operator, called `out` where that is told."""
        shape = [self.shape[0]] if type == "reduce_sum" else self.shape
        out = out or self.names.like(self.x, f"{self.call.type}_{type}", shape)
        self.calls.append(made(type, inputs, {"Out": out}, **attrs))
        return out

    def of_rows(self, x: str, out: str = "") -> str:
        """The sum of each row, as a column."""
        axes = list(range(1, len(self.shape)))
        total = self.result("reduce_sum", {"X": x}, dim=axes, keep_dim=False, reduce_all=False)
        return self.column(total, out)

    def column(self, x: str, out: str = "") -> str:
        """A vector as a column."""
        out = out or self.names.like(x, "column", [self.shape[0], 1])
        record = self.names.like(x, "shape", [0, self.shape[0]])
        self.calls.append(made("reshape2", {"X": x}, {"Out": out, "XShape": record}, shape=[-1, 1]))
        return out

    def pair(self, type: str, x: str, y: str, out: str = "") -> str:
        """The result of an elementwise operator on two operands."""
        return self.result(f"elementwise_{type}", {"X": x, "Y": y}, out, axis=-1)

    def scaled(self, x: str, scale: float, bias: float = 0.0, out: str = "") -> str:
        """`x * scale + bias`."""
        attrs = {"scale": float(scale), "bias": float(bias), "bias_after_scale": True}
        return self.result("scale", {"X": x}, out, **attrs)


def cosine(call: Call, names: Names) -> list[Call]:
    """`cos_sim`: the cosine of the angle between the rows of two matrices, and their lengths."""
    x, y = call.first("X"), call.first("Y")
    chain = Chain(call, names, x)
    lengths = []
    for operand, slot in ((x, "XNorm"), (y, "YNorm")):
        squares = chain.of_rows(chain.pair("mul", operand, operand))
        lengths.append(chain.result("sqrt", {"X": squares}, call.result(slot)))
    both = chain.of_rows(chain.pair("mul", x, y))
    chain.pair("div", both, chain.pair("mul", *lengths), call.result())
    return chain.calls


def squared_distance(call: Call, names: Names) -> list[Call]:
    """`squared_l2_distance`: between the rows of two matrices."""
    x, y = call.first("X"), call.first("Y")
    chain = Chain(call, names, x)
    apart = chain.pair("sub", x, y, call.result("sub_result"))
    chain.of_rows(chain.pair("mul", apart, apart), call.result())
    return chain.calls


def smooth(call: Call, names: Names) -> list[Call]:
    """`smooth_l1_loss`: a parabola near 0 and lines beyond, weighed, a sum for each row."""
    x, y, inner = call.first("X"), call.first("Y"), call.first("InsideWeight")
    chain, square = Chain(call, names, x), float(call.get("sigma", 1.0)) ** 2
    if inner:
        x, y = chain.pair("mul", x, inner), chain.pair("mul", y, inner)
    chain.pair("sub", x, y, call.result("Diff"))
    found, residual = names.like(x, "huber"), names.like(x, "residual")
    slots = {"X": y, "Y": x}
    outputs = {"Out": found, "Residual": residual}
    chain.calls.append(made("huber_loss", slots, outputs, delta=1.0 / square))
    weighed = chain.scaled(found, square)
    if call.first("OutsideWeight"):
        weighed = chain.pair("mul", weighed, call.first("OutsideWeight"))
    chain.of_rows(weighed, call.result())
    return chain.calls


def margin(call: Call, names: Names) -> list[Call]:
    """`margin_rank_loss`: how far two scores are from the order that a label tells."""
    first, second = call.first("X1"), call.first("X2")
    chain = Chain(call, names, first)
    turned = chain.pair("mul", call.first("Label"), chain.pair("sub", first, second))
    short = chain.scaled(turned, -1.0, float(call.get("margin", 0.0)))
    loss = chain.result("relu", {"X": short}, call.result())
    if call.result("Activated"):
        chain.result("sign", {"X": loss}, call.result("Activated"))
    return chain.calls
