"""Measures of how good a prediction is."""

from typing import Any

from scull import lang
from scull.core.dtype import float32, int32
from scull.core.eager import primitive
from scull.core.meta import Meta, agree
from scull.core.op import meta_of
from scull.errors import DtypeError, ShapeError


@primitive(
    outputs=("accuracy", "correct", "total"), recorded={"correct": float32, "total": float32}
)
def accuracy(out: Meta, indices: Meta, label: Meta) -> tuple[Meta, Meta, Meta]:
    """The share of rows where `label` is among `indices`, the number of these, and of all rows."""
    for name, x in (("out", out), ("indices", indices), ("label", label)):
        if len(x.shape) != 2:
            raise ShapeError(f"{name} has {len(x.shape)} axes, 2 are needed")
    for name, x in (("indices", indices), ("label", label)):
        if not x.dtype.is_integer:
            raise DtypeError(f"{name} is {x.dtype.name}, not of integers")
        agree(out.shape[0], x.shape[0], f"out has {{}} rows and {name} has {{}}")
    agree(label.shape[1], 1, "label has {} columns, {} is needed")
    return Meta((), float32), Meta((), int32), Meta((), int32)


@accuracy.kernel
def accuracy_kernel(xp: Any, values: Any, indices: Any, label: Any, *, out: Any = None) -> Any:
    rows = label.shape[0]
    accuracy.op.infer(tuple(map(meta_of, (values, indices, label))), {})
    hits = xp.logical_or.reduce(indices == label, axis=1)
    correct = int(xp.count_nonzero(hits))
    found = (correct / rows if rows else 0.0, correct, rows)
    if out is None:
        return tuple(
            xp.array(v, t) for v, t in zip(found, ("float32", "int32", "int32"), strict=True)
        )
    for target, value in zip(out, found, strict=True):
        if target is not None:
            target[...] = value
    return out


accuracy.no_grad("it counts")


@accuracy.lower
def accuracy_at(index: Any, out: Any, indices: Any, label: Any) -> Any:
    rows, n, k = out.shape[0], lang.axis(out.shape[0]), lang.axis(indices.shape[1])
    own = lang.cast(label[n, 0], "int64")
    hit = lang.any(lang.equal(lang.cast(indices[n, k], "int64"), own), over=k)
    correct = lang.sum(lang.cast(hit, "int32"), over=n)
    return lang.cast(correct, "float32") / max(rows, 1), correct, rows
