"""Samples of noise-contrastive estimation; the reference goes class by class."""

from typing import Any

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f16, f32, f64, fails, i64, samples

LABEL = array([[1, 4], [0, 2], [3, 3]], "int64")
PROBS = array([0.125, 0.25, 0.125, 0.25, 0.25])
DRAWN: Any = {"num_total_classes": 5, "num_neg_samples": 3, "sampler": 0, "seed": 0}
GIVEN: Any = {"num_total_classes": 5, "num_neg_samples": 3, "custom_neg_classes": (0, 2, 4)}


def chance(of: Any, sampler: int, probs: Any) -> Any:
    return (1 / 5, np.log((of + 2) / (of + 1)) / np.log(5), probs is not None and probs[of])[
        sampler
    ]


def told(
    x: Any,
    label: Any,
    w: Any,
    b: Any = None,
    weights: Any = None,
    probs: Any = None,
    *_: Any,
    sampler: int = 0,
    custom_neg_classes: Any,
) -> Any:
    classes = np.array([[*row, *custom_neg_classes] for row in label])
    said, cost = np.zeros(classes.shape), np.zeros((len(x), 1))
    for i, k in np.ndindex(classes.shape):
        of = classes[i, k]
        said[i, k] = yes = 1 / (1 + np.exp(-x[i] @ w[of] - (0 if b is None else b[of, 0])))
        often = 3 * chance(of, sampler, probs)
        share = (yes if k < label.shape[1] else often) / (yes + often)
        cost[i] -= np.log(share) * (1 if weights is None else weights[i, 0])
    return cost, said, classes


@samples("nce", reference=told)
def nce_samples():
    three = ("input", "weight", "bias")
    for make in (f32, f64):
        plain = make(3, 2), LABEL, make(5, 2)
        yield call(*plain, grad=three[:2], **GIVEN)
        weighed = *plain, make(5, 1), make(3, 1, low=0.1, high=1)
        yield call(*weighed, grad=three, sampler=1, **GIVEN)
    probs = PROBS.astype("float64")
    yield call(*plain, make(5, 1), None, probs, grad=three, sampler=2, **GIVEN)
    law = "input has 3 columns and weight 2"
    yield fails(ShapeError, law, f32(3, 3), LABEL, f32(5, 2), **GIVEN)
    law = "weight has 4 rows, and there are 5 classes"
    yield fails(ShapeError, law, f32(3, 2), LABEL, f32(4, 2), **GIVEN)
    law = "bias has 4 elements, 5 are needed"
    yield fails(ShapeError, law, *plain, f64(4, 1), **GIVEN)
    law = "input has 2 rows and label 3"
    yield fails(ShapeError, law, f32(2, 2), LABEL, f32(5, 2), **GIVEN)
    law = "float16[3, 2] is not of float32 or float64"
    yield fails(DtypeError, law, f16(3, 2), LABEL, f16(5, 2), **GIVEN)
    law = "class 5 is outside [0, 5)"
    yield fails(RangeError, law, f32(3, 2), LABEL + 1, f32(5, 2), by_value=True, **GIVEN)


def is_drawn(chances: Any) -> Any:
    """What asserts that classes behind the right ones are as likely as they should be."""

    def holds(found: Any) -> None:
        assert found.dtype == "int64" and (found[:, 0] == 1).all()
        counts = np.bincount(found[:, 1:].reshape(-1), minlength=5) / found[:, 1:].size
        np.testing.assert_allclose(counts, chances, atol=0.015)

    return holds


@samples("contrasted")
def contrasted_samples():
    many = array(np.ones((3000, 1)), "int64")
    yield call(many, holds=is_drawn(np.full(5, 0.2)), **DRAWN)
    other = {**DRAWN, "sampler": 1}
    falling = chance(np.arange(5), 1, None) * (np.arange(5) < 4)
    yield call(many, holds=is_drawn(falling), **other)
    other = {**DRAWN, "sampler": 2}
    yield call(many, PROBS, holds=is_drawn(PROBS), **other)
    rows = [[1, 4, 0, 2, 4], [0, 2, 0, 2, 4], [3, 3, 0, 2, 4]]
    given = {**DRAWN, "custom_neg_classes": (0, 2, 4)}
    yield call(LABEL, reference=lambda label, **_: array(rows, "int64"), **given)
    yield fails(DtypeError, "label is float32, not of integers", f32(3, 2), **DRAWN)
    yield fails(ShapeError, "label has 3 axes, 1 or 2 are needed", i64(3, 2, 1), **DRAWN)
    yield fails(ArgumentError, "sampler is 3, not 0, 1 or 2", LABEL, **{**DRAWN, "sampler": 3})
    law = "CustomDistProbs go with sampler 2, and only with it"
    yield fails(ArgumentError, law, LABEL, PROBS, **DRAWN)
    law = "there are 5 chances and 4 classes"
    yield fails(ShapeError, law, LABEL, PROBS, **{**other, "num_total_classes": 4})
    law = "custom_neg_classes are 2, and num_neg_samples 3"
    yield fails(ShapeError, law, LABEL, **{**given, "custom_neg_classes": (0, 2)})
    yield fails(ArgumentError, "-1 of 5 classes", LABEL, **{**DRAWN, "num_neg_samples": -1})
    law = "class 4 is outside [0, 4)"
    yield fails(RangeError, law, LABEL, by_value=True, **{**DRAWN, "num_total_classes": 4})


@samples("right_places", reference=lambda label, classes: np.tile(np.arange(5) < 2, (3, 1)))
def right_places_samples():
    yield call(LABEL, i64(3, 5), unknown_sizes=False)
