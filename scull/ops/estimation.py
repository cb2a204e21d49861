"""Noise-contrastive estimation: right classes are told from classes drawn by chance."""

from typing import Any

import numpy as np

from scull.core.attribute import Ints
from scull.core.dtype import bool_, int64
from scull.core.eager import primitive
from scull.core.meta import Meta, agree, count
from scull.core.op import meta_of
from scull.core.random import source
from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from scull.ops.compare import where
from scull.ops.create import cast
from scull.ops.half import placed, whole
from scull.ops.index import embedding, scatter_rows
from scull.ops.like import full_like, reshape_like, unsqueeze
from scull.ops.math import log, sigmoid
from scull.ops.move import reshape
from scull.ops.random import NO_GRADIENT, NO_LOWERING
from scull.ops.reduce import reduce_sum

UNIFORM, LOG_UNIFORM, CUSTOM = range(3)


@primitive(effects=("random",), infer_first=True)
def contrasted(
    label: Meta,
    probs: Meta = None,
    *,
    num_total_classes: int,
    num_neg_samples: int,
    sampler: int,
    seed: int,
    custom_neg_classes: Ints = (),
) -> Meta:
    """The classes of each row: the right ones, then those drawn, or given for all rows."""
    if not label.dtype.is_integer:
        raise DtypeError(f"label is {label.dtype.name}, not of integers")
    if label.ndim not in (1, 2):
        raise ShapeError(f"label has {label.ndim} axes, 1 or 2 are needed")
    if num_total_classes < 1 or num_neg_samples < 0:
        raise ArgumentError(f"{num_neg_samples} of {num_total_classes} classes cannot be drawn")
    if sampler not in (UNIFORM, LOG_UNIFORM, CUSTOM):
        raise ArgumentError(f"sampler is {sampler}, not 0, 1 or 2")
    if (sampler == CUSTOM) != (probs is not None):
        raise ArgumentError("CustomDistProbs go with sampler 2, and only with it")
    if probs is not None:
        agree(count(probs.shape), num_total_classes, "there are {} chances and {} classes")
    if custom_neg_classes:
        law = "custom_neg_classes are {}, and num_neg_samples {}"
        agree(len(custom_neg_classes), num_neg_samples, law)
    right = 1 if label.ndim == 1 else label.shape[1]
    return Meta((label.shape[0], -1 if right == -1 else right + num_neg_samples), int64)


@contrasted.kernel
def contrasted_kernel(
    xp: Any,
    label: Any,
    probs: Any = None,
    *,
    out: Any = None,
    draw: Any,
    num_total_classes: int,
    num_neg_samples: int,
    sampler: int,
    seed: int,
    custom_neg_classes: Any,
) -> Any:
    label = label.reshape(len(label), -1)
    if custom_neg_classes:
        drawn = xp.broadcast_to(xp.array(custom_neg_classes), (len(label), num_neg_samples))
    else:
        chances = chances_of(sampler, num_total_classes, probs)
        numbers = source(draw).random((len(label), num_neg_samples))
        drawn = xp.searchsorted(chances.cumsum(), numbers * chances.sum(), "right")
        drawn = xp.minimum(drawn, num_total_classes - 1)
    found = xp.concatenate([label, drawn], 1)
    if found.size and (found.min() < 0 or found.max() >= num_total_classes):
        wrong = found.min() if found.min() < 0 else found.max()
        raise RangeError(f"class {wrong} is outside [0, {num_total_classes})")
    return placed(found, xp.dtype("int64"), out)


def chances_of(sampler: int, total: int, probs: Any) -> Any:
    """How likely each class is drawn; the last one never is where the first ones are likelier."""
    if sampler == CUSTOM:
        return probs.reshape(-1).astype("float64")
    places = np.arange(total)
    falling = np.where(places < total - 1, np.log((places + 2) / (places + 1)), total == 1)
    return np.ones(total) if sampler == UNIFORM else falling


contrasted.no_grad(NO_GRADIENT)
contrasted.no_lowering(NO_LOWERING)


@primitive
def right_places(label_meta: Meta, classes_meta: Meta) -> Meta:
    """Where in each row the right classes stand: before those drawn."""
    return classes_meta.with_dtype(bool_)


@right_places.kernel
def right_places_kernel(xp: Any, label: Any, classes: Any, *, out: Any = None) -> Any:
    right = xp.arange(classes.shape[1]) < count(label.shape[1:])
    found = xp.broadcast_to(right, classes.shape)
    return placed(found, xp.dtype("bool"), out) if out is not None else found.copy()


@right_places.lower
def right_places_at(index: Any, label: Any, classes: Any) -> Any:
    return index[1] < count(label.shape[1:])


right_places.no_grad("it tells places")


def noise(classes: Any, probs: Any, like: Any, attrs: dict[str, Any]) -> Any:
    """How often each class is drawn for a row."""
    many, total = float(attrs["num_neg_samples"]), attrs["num_total_classes"]
    dtype = meta_of(like).dtype
    if attrs["sampler"] == UNIFORM:
        return full_like(like, value=many) / float(total)
    if attrs["sampler"] == CUSTOM:
        column = cast(reshape(probs, shape=(-1, 1)), out_dtype=dtype)
        return reduce_sum(embedding(classes, column), axis=(2,)) * many
    place = cast(classes, out_dtype=dtype)
    return log((place + 2.0) / (place + 1.0)) * many / log(full_like(like, value=float(total)))


@primitive(
    outputs=("cost", "sample_logits", "sample_labels"),
    hidden=("sample_logits", "sample_labels"),
    effects=("random",),
    fixed={"epmap": [], "height_sections": [], "table_names": [], "trainer_id": 0},
    unprinted=("custom_neg_classes",),
    infer_first=True,
)
def nce(
    input: Meta,
    label: Meta,
    weight: Meta,
    bias: Meta = None,
    sample_weight: Meta = None,
    custom_dist_probs: Meta = None,
    custom_dist_alias: Meta = None,
    custom_dist_alias_probs: Meta = None,
    *,
    num_total_classes: int,
    num_neg_samples: int = 10,
    sampler: int = 0,
    seed: int = 0,
    is_sparse: bool = False,
    remote_prefetch: bool = False,
    is_test: bool = False,
    custom_neg_classes: Ints = (),
) -> tuple[Meta, Meta, Meta]:
    """The nats it takes to tell each row's classes from drawn ones; what it says of which.

    A class says yes as often as the sigmoid of its row of `weight` times `input`, plus `bias`.
    """
    whole(input, weight)
    if input.ndim != 2 or weight.ndim != 2:
        raise ShapeError(f"input is {input} and weight {weight}; both are matrices")
    agree(input.shape[1], weight.shape[1], "input has {} columns and weight {}")
    agree(weight.shape[0], num_total_classes, "weight has {} rows, and there are {} classes")
    agree(input.shape[0], label.shape[0], "input has {} rows and label {}")
    for name, m, n in (
        ("bias", bias, num_total_classes),
        ("weights", sample_weight, input.shape[0]),
    ):
        if m is not None:
            whole(m)
            agree(count(m.shape), n, f"{name} has {{}} elements, {{}} are needed")
    drawn = {"num_total_classes": num_total_classes, "num_neg_samples": num_neg_samples}
    drawn |= {"sampler": sampler, "seed": seed, "custom_neg_classes": custom_neg_classes}
    classes = contrasted.op.body(label, custom_dist_probs, **drawn)
    return input.with_shape((input.shape[0], 1)), input.with_shape(classes.shape), classes


@nce.kernel
def nce_kernel(
    xp: Any,
    input: Any,
    label: Any,
    weight: Any,
    bias: Any = None,
    sample_weight: Any = None,
    probs: Any = None,
    *_: Any,
    out: Any = None,
    draw: Any,
    **attrs: Any,
) -> Any:
    drawn = {n: attrs[n] for n in contrasted.op.kinds}
    classes = contrasted_kernel(xp, label, probs, draw=draw, **drawn)
    said = answers(input, weight, bias, classes)
    often = noise(classes, probs, said, drawn)
    cost = -xp.log(xp.where(right_places(label, classes), said, often) / (said + often))
    if sample_weight is not None:
        cost *= sample_weight.reshape(-1, 1)
    found = cost.sum(1, keepdims=True).astype(input.dtype), said, classes
    outs = out or (None,) * 3
    return tuple([placed(v, v.dtype, o) for v, o in zip(found, outs, strict=True)])


def answers(input: Any, weight: Any, bias: Any, classes: Any) -> Any:
    """How sure each class of a row says yes."""
    score = reduce_sum(embedding(classes, weight) * unsqueeze(input, axes=(1,)), axis=(2,))
    if bias is None:
        return sigmoid(score)
    return sigmoid(score + reduce_sum(embedding(classes, reshape(bias, shape=(-1, 1))), axis=(2,)))


nce.no_lowering(NO_LOWERING)


@nce.grad("input", "weight", "bias")
def nce_grad(
    input: Any,
    label: Any,
    weight: Any,
    bias: Any,
    sample_weight: Any,
    custom_dist_probs: Any,
    custom_dist_alias_meta: Any,
    custom_dist_alias_probs_meta: Any,
    sample_logits_meta: Any,
    sample_labels: Any,
    dcost: Any,
    num_total_classes: int,
    num_neg_samples: int,
    sampler: int,
    is_sparse: bool,
) -> Any:
    drawn = {"num_total_classes": num_total_classes, "num_neg_samples": num_neg_samples}
    said = answers(input, weight, bias, sample_labels)
    often = noise(sample_labels, custom_dist_probs, said, drawn | {"sampler": sampler})
    known = right_places(label, sample_labels)
    slope = where(known, often * (said - 1.0), said * (1.0 - said)) / (said + often) * dcost
    if sample_weight is not None:
        slope = slope * reshape(sample_weight, shape=(-1, 1))
    each = unsqueeze(slope, axes=(2,))
    dinput = reduce_sum(each * embedding(sample_labels, weight), axis=(1,))
    rows = each * unsqueeze(input, axes=(1,))
    dweight = scatter_rows(rows, sample_labels, weight, is_sparse=is_sparse)
    if bias is None:
        return dinput, dweight, None
    column = reshape(bias, shape=(-1, 1))
    dbias = scatter_rows(each, sample_labels, column, is_sparse=is_sparse)
    return dinput, dweight, dbias if is_sparse else reshape_like(dbias, bias)
