"""Dropout."""

from typing import Any

from scull import lang
from scull.core import random
from scull.core.dtype import uint8
from scull.core.eager import gradient, primitive
from scull.core.meta import Meta, floating
from scull.errors import ArgumentError
from scull.ops.compare import not_equal, where
from scull.ops.half import wide_at, widening
from scull.ops.word import Draw, place_of, uniform_at

IMPLEMENTATIONS = ("upscale_in_train", "downgrade_in_infer")


def check(dropout_prob: float, dropout_implementation: str) -> None:
    """Refuse attributes out of range."""
    if not 0 <= dropout_prob <= 1:
        raise ArgumentError(f"dropout_prob is {dropout_prob}, outside [0, 1]")
    if dropout_implementation not in IMPLEMENTATIONS:
        names = " or ".join(IMPLEMENTATIONS)
        raise ArgumentError(f"dropout_implementation is {dropout_implementation!r}, not {names}")


def kept_factor(dropout_prob: float, dropout_implementation: str) -> float:
    """What elements that are kept are multiplied by."""
    upscale = dropout_implementation == "upscale_in_train"
    return 1 / (1 - dropout_prob) if upscale and dropout_prob < 1 else 1.0


def test_factor(dropout_prob: float, dropout_implementation: str) -> float:
    """What all elements are multiplied by where none is dropped."""
    return 1.0 if dropout_implementation == "upscale_in_train" else 1 - dropout_prob


@primitive(
    outputs=("out", "mask"),
    slots={"seed_tensor": "Seed"},
    hidden=("mask",),
    effects=("random",),
    unprinted=("fix_seed", "seed"),
)
def dropout(
    x: Meta,
    seed_tensor: Meta = None,
    *,
    dropout_prob: float = 0.5,
    is_test: bool = False,
    dropout_implementation: str = "downgrade_in_infer",
    fix_seed: bool = False,
    seed: int = 0,
) -> tuple[Meta, Meta]:
    """`x` with some elements made 0, each with a chance of `dropout_prob`; and which were kept."""
    floating(x)
    check(dropout_prob, dropout_implementation)
    return x, x.with_dtype(uint8)


@dropout.kernel
@widening
def dropout_kernel(
    xp: Any,
    x: Any,
    seed_tensor: Any = None,
    *,
    out: Any = None,
    draw: Any,
    dropout_prob: float,
    is_test: bool,
    dropout_implementation: str,
    **_: Any,
) -> Any:
    out, mask = out or (None, None)
    check(dropout_prob, dropout_implementation)
    if is_test:
        factor = test_factor(dropout_prob, dropout_implementation)
        return xp.multiply(x, x.dtype.type(factor), out=out), kept_all(xp, x, mask)
    if seed_tensor is not None:
        draw = random.Generator().draw(int(seed_tensor.reshape(-1)[0]))
    kept = random.uniform(draw, x.shape, "float32") >= dropout_prob
    found = xp.where(kept, x, x.dtype.type(0))
    factor = kept_factor(dropout_prob, dropout_implementation)
    out = xp.multiply(found, x.dtype.type(factor), out=found if out is None else out)
    if mask is None:
        return out, kept.view("uint8")
    mask[...] = kept
    return out, mask


def kept_all(xp: Any, x: Any, mask: Any) -> Any:
    """The mask where nothing is dropped."""
    mask = xp.empty(x.shape, "uint8") if mask is None else mask
    mask.fill(1)
    return mask


@dropout.grad("x")
def dropout_grad(
    mask: Any, dout: Any, dropout_prob: float, is_test: bool, dropout_implementation: str
) -> Any:
    if is_test:
        return dout * test_factor(dropout_prob, dropout_implementation)
    return where(not_equal(mask, 0), dout, 0.0) * kept_factor(dropout_prob, dropout_implementation)


@gradient(dropout).kernel("cpu")
def dropout_grad_cpu(
    xp: Any,
    mask: Any,
    dout: Any,
    *,
    out: Any = None,
    dropout_prob: float,
    is_test: bool,
    dropout_implementation: str,
    **_: Any,
) -> Any:
    number = dout.dtype.type
    if is_test:
        factor = test_factor(dropout_prob, dropout_implementation)
        return xp.multiply(dout, number(factor), out=out)
    found = xp.where(mask.view("bool"), dout, number(0))
    factor = kept_factor(dropout_prob, dropout_implementation)
    return xp.multiply(found, number(factor), out=found if out is None else out)


@dropout.lower
def dropout_at(
    index: Any,
    x: Any,
    seed_tensor: Any,
    draw: Draw,
    dropout_prob: float,
    is_test: bool,
    dropout_implementation: str,
    **_: Any,
) -> Any:
    at, _ = index
    value = wide_at(x[at])
    if is_test:
        factor = test_factor(dropout_prob, dropout_implementation)
        return lang.cast(value * factor, x.dtype), lang.constant(1, "uint8")
    if seed_tensor is not None:
        seed = seed_tensor[(0,) * seed_tensor.ndim]
        draw = (lang.cast(seed, "uint64"), lang.constant(0, "uint64"))
    kept = uniform_at(draw, place_of(at), "float32") >= dropout_prob
    factor = kept_factor(dropout_prob, dropout_implementation)
    found = lang.select(kept, value, lang.constant(0, value.dtype)) * factor
    return lang.cast(found, x.dtype), lang.cast(kept, "uint8")
