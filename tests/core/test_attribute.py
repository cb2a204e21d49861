"""Attributes as users give them."""

import gc
import weakref

import numpy as np
import pytest

import scull as paddle
from scull.core.attribute import rounded
from scull.errors import ArgumentError, ArgumentTypeError

F = paddle.nn.functional


def test_a_tensor_given_as_a_number_counts_with_the_value_it_has_now():
    x, slope = paddle.to_tensor([-2.0]), paddle.to_tensor(0.5)
    assert F.leaky_relu(x, slope).item() == -1.0
    slope.set_value(paddle.to_tensor(0.25))
    assert F.leaky_relu(x, slope).item() == -0.5


def test_a_tensor_given_as_a_number_is_not_kept():
    slope = paddle.to_tensor(0.5)
    F.leaky_relu(paddle.to_tensor([-2.0]), slope)
    alive = weakref.ref(slope)
    del slope
    gc.collect()
    assert alive() is None


def test_zero_keeps_its_sign_when_rounded():
    assert [str(rounded(v)) for v in (0.0, -0.0, 0.1)] == ["0.0", "-0.0", "0.10000000149011612"]


@pytest.mark.parametrize("axis", [0.5, np.float32(0.5)])
def test_a_fraction_is_no_axis(axis):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        F.softmax(paddle.ones([2, 3]), axis=axis)


def test_pieces_of_a_tensor_have_memory_of_their_own():
    whole = paddle.ones([4])
    for part in (*paddle.split(whole, 2), *paddle.unstack(whole)):
        part.add_(paddle.ones(part.shape))
    assert whole.tolist() == [1.0] * 4
