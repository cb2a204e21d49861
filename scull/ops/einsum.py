"""Sums of products of tensors, whose indices an equation spells."""

import math
import string
from functools import lru_cache
from typing import Any

import numpy as np

from scull import lang
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, broadcast
from scull.errors import AssertError, DtypeError
from scull.ops.conjugate import turned
from scull.ops.half import is_half, wide_at
from scull.ops.like import full_like, sum_like

Labels = tuple[str, ...]


@lru_cache(1024)
def spelt(equation: str, ranks: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The label of every axis of the operands and of the result; those of `...` are digits."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise AssertError(f"`{equation}` has {len(terms)} terms for {len(ranks)} operands")
    known = string.ascii_letters + ("" if "..." in equation else string.digits)
    for term in (*terms, right):
        strange = set(term.replace("...", "", 1)) - set(known)
        if strange:
            raise AssertError(f"`{equation}` has the label {min(strange)!r}, which is no letter")
    rests = []
    for term, rank in zip(terms, ranks, strict=True):
        rests.append(rank - len(term.replace("...", "")))
        if rests[-1] < 0 or (rests[-1] and "..." not in term):
            raise AssertError(
                f"`{term}` of `{equation}` does not name the {rank} axes of an operand"
            )
    count = max(rests, default=0)
    others = tuple(str(i) for i in range(count))

    def labels(term: str, rest: int) -> Labels:
        before, dots, after = term.partition("...")
        return (*before, *(others[count - rest :] if dots else ()), *after)

    inputs = tuple(labels(t, n) for t, n in zip(terms, rests, strict=True))
    every = [n for one in inputs for n in one]
    if not arrow:
        return inputs, (
            *others,
            *sorted(n for n in set(every) - set(others) if every.count(n) == 1),
        )
    result = labels(right, count)
    unknown = set(result) - set(every)
    if unknown:
        raise AssertError(f"`{equation}` has {min(unknown)!r} in its result and in no operand")
    return inputs, result


def ranks_of(operands: Any) -> tuple[int, ...]:
    """The numbers of axes of the operands."""
    return tuple([len(x.shape) for x in operands])


def sizes_of(terms: Any, operands: Any) -> dict[str, int]:
    """The size of each label; those of `...` stretch."""
    sizes: dict[str, int] = {}
    for labels, x in zip(terms, operands, strict=True):
        for n, size in zip(labels, x.shape, strict=True):
            if n not in sizes:
                sizes[n] = size
            elif n.isdigit():
                sizes[n] = broadcast((sizes[n],), (size,))[0]
            else:
                sizes[n] = agree(sizes[n], size, f"the index {n} is of size {{}} and of size {{}}")
    return sizes


@primitive(
    outputs=("out", "inner_cache[]", "x_shape[]"),
    slots={"x_shape": "XShape"},
    hidden=("inner_cache", "x_shape"),
    views={"inner_cache": "operands", "x_shape": "operands"},
    infer_first=True,
)
def einsum(operands: list[Meta], *, equation: str) -> tuple[Meta, Any, Any]:
    """The sum of products that `equation` describes, and the operands for its gradient.

    An index spelt by a digit stretches, as those of `...` do.
    """
    terms, result = spelt(equation, ranks_of(operands))
    for m in operands:
        if m.dtype is not operands[0].dtype:
            raise DtypeError(f"operands are {operands[0].dtype.name} and {m.dtype.name}; cast one")
        if m.dtype.name == "bool":
            raise DtypeError("truth values have no sum of products")
    sizes = sizes_of(terms, operands)
    out = Meta(tuple(sizes[n] for n in result), operands[0].dtype)
    return out, list(operands), list(operands)


@einsum.kernel
def einsum_kernel(xp: Any, operands: Any, *, out: Any = None, equation: str) -> Any:
    terms, result = spelt(equation, ranks_of(operands))
    dtype = operands[0].dtype
    wide = [x.astype("float32") if is_half(x) else x for x in operands]
    pairs = [simplified(x, labels) for x, labels in zip(wide, terms, strict=True)]
    x, labels = alone(xp, *pairs[0], needed(result, pairs[1:]))
    for i, (y, others) in enumerate(pairs[1:], 2):
        kept = needed(result, pairs[i:])
        y, others = alone(xp, y, others, kept | set(labels))
        x, labels = contracted(xp, x, labels, y, others, kept)
    x, labels = alone(xp, x, labels, set(result))
    target = out[0] if out and out[0] is not None else None
    if target is None and len(operands) == 1:
        x = x.copy()  # it may be the operand itself
    found = laid(xp, x, labels, result, dtype, target)
    return found, list(operands), list(operands)


def diagonal(x: Any, labels: Any) -> tuple[Any, list[str]]:
    """A view of `x` with each label once: of a repeated one it runs along the diagonal."""
    once = list(dict.fromkeys(labels))
    if len(once) == len(labels):
        return x, once
    places = [[i for i, n in enumerate(labels) if n == name] for name in once]
    strides = [sum(x.strides[i] for i in axes) for axes in places]
    shape = [x.shape[axes[0]] for axes in places]
    return np.lib.stride_tricks.as_strided(x, shape, strides), once


simplified = diagonal


def needed(result: Any, pairs: Any) -> set[str]:
    """The labels that the result or later operands have."""
    return {*result, *(n for _, labels in pairs for n in labels)}


def alone(xp: Any, x: Any, labels: Any, kept: set[str]) -> tuple[Any, list[str]]:
    """An operand summed over the labels that nothing else has."""
    axes = tuple([i for i, n in enumerate(labels) if n not in kept])
    if not axes:
        return x, labels
    total = xp.asarray(xp.add.reduce(x, axis=axes, dtype=x.dtype))
    return total, [n for n in labels if n in kept]


def contracted(
    xp: Any, x: Any, left: Any, y: Any, right: Any, kept: set[str]
) -> tuple[Any, list[str]]:
    """The product of two operands, summed over the labels that are not kept."""
    batch = [n for n in left if n in right and n in kept]
    inner = [n for n in left if n in right and n not in kept]
    if any(x.shape[left.index(n)] != y.shape[right.index(n)] for n in inner):
        x, y = stretched(xp, x, left, y, right, inner), stretched(xp, y, right, x, left, inner)
    rows, columns = [n for n in left if n not in right], [n for n in right if n not in left]
    a, b = grouped(x, left, batch, rows, inner), grouped(y, right, batch, inner, columns)
    out = xp.matmul(a, b) if inner else a * b
    sizes = [x.shape[left.index(n)] for n in rows] + [y.shape[right.index(n)] for n in columns]
    return out.reshape((*out.shape[: len(batch)], *sizes)), batch + rows + columns


def stretched(xp: Any, x: Any, own: Any, y: Any, others: Any, inner: Any) -> Any:
    """`x` with the sizes that the labels `inner` have in `y` where its own are 1."""
    shape = [
        max(n, y.shape[others.index(label)]) if label in inner and n == 1 else n
        for n, label in zip(x.shape, own, strict=True)
    ]
    return xp.broadcast_to(x, shape)


def grouped(x: Any, labels: Any, batch: Any, *groups: Any) -> Any:
    """`x` with the axes of `batch` first, then one axis for each group."""
    order = [labels.index(n) for group in (batch, *groups) for n in group]
    turned_ = x.transpose(order)
    sizes = [math.prod([x.shape[labels.index(n)] for n in group]) for group in groups]
    return turned_.reshape((*turned_.shape[: len(batch)], *sizes))


def laid(xp: Any, x: Any, labels: Any, result: Any, dtype: Any, out: Any) -> Any:
    """`x` with its axes as `result` has them; a label that stands there twice makes a diagonal."""
    once = list(dict.fromkeys(result))
    x = x.transpose([labels.index(n) for n in once])
    if out is None and len(once) == len(result):
        return xp.ascontiguousarray(x).astype(dtype, copy=False).reshape(x.shape)
    if out is None:
        out = xp.empty([x.shape[once.index(n)] for n in result], dtype)
    if len(once) < len(result):
        out[...] = 0
    diagonal(out, result)[0][...] = x
    return out


@einsum.grad("operands")
def einsum_grad(
    inner_cache: Any,
    x_shape_meta: Any,
    dout: Any,
    equation: str,
    dinner_cache: Any = None,
    dx_shape: Any = None,
) -> Any:
    """Of each operand: what the equation makes of `dout` and the others, in its own indices."""
    terms, result = spelt(equation, ranks_of(inner_cache))
    factors = [("".join(t), turned(v)) for t, v in zip(terms, inner_cache, strict=True)]
    found = []
    for i, x in enumerate(inner_cache):
        parts = [("".join(result), dout), *factors[:i], *factors[i + 1 :]]
        if set(terms[i]) - set("".join([t for t, _ in parts])):
            parts.append((factors[i][0], full_like(x, value=1.0)))  # the sum over its own index
        left = ",".join([t for t, _ in parts])
        dx = einsum([v for _, v in parts], equation=f"{left}->{factors[i][0]}")[0]
        if any(n.isdigit() for n in terms[i]):
            dx = sum_like(dx, x)
        for more in (dinner_cache, dx_shape):  # the operands themselves, for gradients of this
            dx = dx + more[i] if more and more[i] is not None else dx
        found.append(dx)
    return found


einsum.op.gradient.spelling["x_shape"] = "x_shape"


@einsum.lower
def einsum_at(index: Any, operands: Any, equation: str) -> Any:
    """One element: the products summed over the labels that the result lacks."""
    terms, result = spelt(equation, ranks_of(operands))
    sizes = sizes_of(terms, operands)
    places, inside = dict(zip(result, index[0], strict=True)), lang.constant(True, "bool")
    for n, place in zip(result, index[0], strict=True):
        inside = (
            lang.both(inside, lang.equal(places[n], place)) if places[n] is not place else inside
        )
    over = []
    for n, size in sizes.items():
        if n not in places:
            places[n] = lang.axis(size)
            over.append(places[n])
    product = None
    for labels, x in zip(terms, operands, strict=True):
        spots = [places[n] if size != 1 else 0 for n, size in zip(labels, x.shape, strict=True)]
        value = wide_at(x[tuple(spots)])
        product = value if product is None else product * value
    found = lang.cast(lang.sum(product, over=over) if over else product, operands[0].dtype)
    if len(set(result)) < len(result):
        found = lang.select(inside, found, lang.constant(0, operands[0].dtype))
    copies = [x[i] for x, i in zip((*operands, *operands), index[1:], strict=True)]
    return found, *copies
