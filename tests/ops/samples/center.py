"""Samples of classes drawn beside those of a batch."""

import numpy as np

from scull.errors import ArgumentError, DtypeError, RangeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i64, samples


def of_batch(label, count):
    """Whether the classes of the batch come first, in order, and all differ."""

    def holds(found):
        remapped, sampled = found
        own = np.unique(label)
        return (
            sampled.size == max(count, own.size)
            and (sampled[: own.size] == own).all()
            and len(set(sampled.tolist())) == sampled.size
            and (sampled[remapped] == label).all()
        )

    return holds


@samples("class_center_sample")
def class_center_sample_samples():
    for label, kind in (([3, 1, 3], "int64"), ([3, 1, 3, 5, 6, 7, 8], "int32"), ([], "int64")):
        label = np.array(label, kind)
        how = {"num_classes": 20, "num_samples": 6}
        yield call(array(label, label.dtype), **how, holds=of_batch(label, 6), grad=False)
    how = {"num_classes": 5, "num_samples": 5}
    yield call(array([4], "int64"), **how, holds=of_batch(np.array([4]), 5), grad=False)
    yield fails(DtypeError, "neither int32 nor int64", f32(3), **how)
    yield fails(ShapeError, "label has 2 axes", i64(3, 1), **how)
    yield fails(ArgumentError, "6 of 5 classes", i64(3), num_classes=5, num_samples=6)
    wild = array([7], "int64")
    yield fails(RangeError, "outside [0, 5)", wild, **how, by_value=True)
