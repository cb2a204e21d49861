"""The handwritten digits: what they are, and that training and testing never share one."""

import numpy as np
import pytest

from scull.errors import ArgumentError
from scull.vision import Digits
from scull.vision.digits import all_digits


def test_each_fifth_image_is_for_testing_and_no_other():
    images, labels = all_digits()
    test, train = Digits("test"), Digits("train")
    assert np.array_equal(test.images, images[::5]) and np.array_equal(test.labels, labels[::5])
    rest = np.delete(np.arange(len(images)), slice(None, None, 5))
    assert np.array_equal(train.images, images[rest])
    assert np.array_equal(train.labels, labels[rest])
    assert (len(train), len(test)) == (1437, 360)


def test_no_image_of_one_split_is_in_the_other():
    test, train = ({x.tobytes() for x in Digits(mode).images} for mode in ("test", "train"))
    assert not test & train


def test_pixels_go_from_0_to_1_and_labels_from_0_to_9():
    images, labels = all_digits()
    assert (images.dtype, images.shape, labels.dtype) == (np.float32, (1797, 1, 8, 8), np.int64)
    assert (images.min(), images.max(), sorted(set(labels[:, 0]))) == (0, 1, list(range(10)))


def test_a_sample_is_an_image_with_its_label():
    image, label = Digits("train")[0]
    assert (image.shape, label.tolist()) == ((1, 8, 8), [1])


def test_a_split_that_is_not_there_is_refused():
    with pytest.raises(ArgumentError, match="mode is `train` or `test`, not `valid`"):
        Digits("valid")
