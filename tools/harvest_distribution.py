"""Write distribution.json: what snippets of distribution.txt give in the reference.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

import builtins
import math

import numpy
import paddle
from harvest_types import REFERENCE, write_lines

NAMES = {
    "D": paddle.distribution,
    "V": paddle.distribution.variable,
    "C": paddle.distribution.constraint,
    "T": paddle.to_tensor,
    "np": numpy,
    "paddle": paddle,
}


def number(value: float) -> float | str:
    """Return a number as JSON has it, rounded to what the reference computes exactly."""
    return float(f"{value:.6g}") if math.isfinite(value) else str(value)


def described(value: object) -> object:
    """Return a result as JSON: a tensor as its dtype, shape, stop_gradient and elements."""
    if isinstance(value, paddle.Tensor):
        name = str(value.dtype).removeprefix("paddle.")
        kept = bool if name == "bool" else number
        elements = [kept(one) for one in value.numpy().reshape(-1).tolist()]
        return [name, value.shape, value.stop_gradient, elements]
    return [described(one) for one in value] if isinstance(value, list | tuple) else value


def like(value: paddle.Tensor) -> list:
    """Return what a draw has in common with every other."""
    return described(value)[:3]


def family(error: Exception) -> str:
    """Return the name of the builtin that an error is."""
    return next(one.__name__ for one in type(error).__mro__ if hasattr(builtins, one.__name__))


def outcome(code: str) -> dict:
    """Return what a snippet gives, or the type of the error it raises."""
    try:
        return {"gives": described(eval(code, {**NAMES, "like": like}))}
    except Exception as error:
        return {"raises": family(error)}


if __name__ == "__main__":
    snippets = (REFERENCE / "distribution.txt").read_text(encoding="utf-8").splitlines()
    write_lines(REFERENCE / "distribution.json", {code: outcome(code) for code in snippets})
