"""Operators one after the other in place of one, as what merged them before knew them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scull.errors import UnsupportedError
from scull.files.legacy.call import Call, Names, made


@dataclass(frozen=True)
class Step:
    """One operator of a line: what else it takes, its slots, its attributes."""

    type: str
    inputs: Mapping[str, Any]
    slots: tuple[str, str]
    notes: tuple[str, ...]
    attrs: dict[str, Any]


class Line:
    """What becomes of a value, step by step; the last result has the name the file knows."""

    def __init__(self, call: Call, names: Names, x: str, out: str = "") -> None:
        self.call, self.names, self.x, self.out = call, names, x, out or call.result()
        self.steps: list[Step] = []

    def then(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        slots: tuple[str, str] = ("X", "Out"),
        notes: tuple[str, ...] = (),
        **attrs: Any,
    ) -> "Line":
        """The line with one more step; `notes` are results that nobody reads."""
        self.steps.append(Step(type, inputs or {}, slots, notes, attrs))
        return self

    def plus(self, y: str, axis: int = -1) -> "Line":
        """The line with `y` added, if there is one."""
        return self.then("elementwise_add", {"Y": y}, axis=axis) if y else self

    def into(self, out: str) -> list[Call]:
        """The operators of all steps, the result of the last under another name."""
        self.out, before = out, self.out
        found = self.calls()
        self.out = before
        return found

    def calls(self) -> list[Call]:
        """The operators of all steps."""
        if not self.steps:
            self.then("assign")
        found, x = [], self.x
        for step in self.steps:
            last = step is self.steps[-1]
            out = self.out if last else self.names.like(self.out, step.type)
            outputs = {step.slots[1]: out}
            outputs |= {slot: self.names.like(x, slot) for slot in step.notes}
            inputs = {step.slots[0]: x, **step.inputs}
            found.append(made(step.type, inputs, outputs, **step.attrs))
            x = out
        return found

    def scaled(self, factor: float) -> "Line":
        """The line with all elements times `factor`, if that is not 1."""
        attrs: dict[str, Any] = {"scale": float(factor), "bias": 0.0, "bias_after_scale": True}
        return self if factor == 1 else self.then("scale", **attrs)

    def activated(self, kind: str, alpha: float = 0.0, beta: float = 0.0) -> "Line":
        """The line with an activation, as oneDNN knows it by its name and two numbers."""
        if kind in ("", "identity"):
            return self
        if kind == "swish":
            return self.scaled(alpha).then("swish").scaled(1 / alpha) if alpha else self.scaled(0.5)
        if kind not in ACTIVATIONS:
            known = ", ".join(ACTIVATIONS)
            raise UnsupportedError(
                f"{self.call.where}: no activation is {kind!r}; there are {known}"
            )
        type, attrs = ACTIVATIONS[kind](alpha, beta)
        return self.then(type, **attrs)

    def finished(self) -> "Line":
        """The line with what attributes say is done last: an activation, a factor, a shape."""
        call = self.call
        kind, alpha, beta = kind_of_activation(call)
        line = self.activated(kind, alpha, beta)
        return line.scaled(call.get("fused_output_scale", 1.0)).reshaped()

    def reshaped(self) -> "Line":
        """The line with axes more or others, as attributes say."""
        for type, word, notes in (("unsqueeze2", "axes", ("XShape",)), ("reshape", "shape", ())):
            given = self.call.get(f"fused_{type if notes else 'reshape2'}_{word}")
            if given:
                self.then(type, notes=notes, **{word: given})
        return self


def check_whole(call: Call) -> None:
    """Refuse an operator on numbers of 8 bits, which scales make of others."""
    scales = [n for n in call.attrs if n.lower().startswith("scale_") and differs(call.get(n))]
    if scales or call.get("mkldnn_data_type", "float32") == "int8":
        told = ", ".join(scales) or "mkldnn_data_type"
        raise UnsupportedError(f"{call.where}: {told}: an operator on 8 bits is not run")


def differs(scale: Any) -> bool:
    """Whether a scale, or one of several, is not 1."""
    return any(v != 1 for v in (scale if isinstance(scale, list) else [scale]))


def kept(call: Call, *names: str) -> dict[str, Any]:
    """The attributes of some names that the file tells."""
    return {name: call.get(name) for name in names if name in call.attrs}


def kind_of_activation(call: Call) -> tuple[str, float, float]:
    """The activation of an operator, in the words of today."""
    kind = call.get("fuse_activation", "")
    alpha, beta = call.get("fuse_alpha", 0.0), call.get("fuse_beta", 0.0)
    if not kind and call.get("fuse_relu", False):  # before 1.6
        return "relu", 0.0, 0.0
    if not kind and call.get("fuse_brelu", False):
        return "clip", 0.0, call.get("fuse_brelu_threshold", 6.0)
    if kind in ("relu6", "bounded_relu") and beta == 0:  # before 2.4 there was one bound
        return "clip", 0.0, alpha
    return kind, alpha, beta


def sloped(alpha: float, beta: float) -> tuple[str, dict[str, Any]]:
    """`relu`, whose negative side may have a slope."""
    return ("leaky_relu", {"alpha": alpha}) if alpha else ("relu", {})


def hard_swish(alpha: float, beta: float) -> tuple[str, dict[str, Any]]:
    """``x * clip(alpha * x + beta, 0, 1)``; before 2.4 with numbers of its own."""
    alpha, beta = (alpha, beta) if alpha else (1 / 6, 0.5)
    return "hard_swish", {"threshold": 1 / alpha, "scale": 1 / alpha, "offset": beta / alpha}


def clip(alpha: float, beta: float) -> tuple[str, dict[str, Any]]:
    """Nothing below one number and above another."""
    return "clip", {"min": alpha, "max": beta}


ACTIVATIONS: dict[str, Callable[[float, float], tuple[str, dict[str, Any]]]] = {
    "relu": sloped,
    "leaky_relu": lambda alpha, beta: ("leaky_relu", {"alpha": alpha}),
    "relu6": clip,
    "clip": clip,
    "tanh": lambda alpha, beta: ("tanh", {}),
    "sigmoid": lambda alpha, beta: ("sigmoid", {}),
    "abs": lambda alpha, beta: ("abs", {}),
    "sqrt": lambda alpha, beta: ("sqrt", {}),
    "mish": lambda alpha, beta: ("mish", {}),
    "gelu": lambda alpha, beta: ("gelu", {"approximate": False}),
    "gelu_erf": lambda alpha, beta: ("gelu", {"approximate": False}),
    "gelu_tanh": lambda alpha, beta: ("gelu", {"approximate": True}),
    "hard_sigmoid": lambda alpha, beta: ("hard_sigmoid", {"slope": alpha, "offset": beta}),
    "hard_swish": hard_swish,
}
