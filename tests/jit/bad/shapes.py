"""Sizes that do not go together."""

import scull as paddle
import scull.nn.functional as F
from tests.jit.bad.case import bad, f32, i64


@bad(f32(2, 3), f32(2, 3))
def matmul_of_sizes_that_do_not_meet(x, y):
    return paddle.matmul(x, y)


@bad(f32(2, 3), f32(4))
def a_sum_that_does_not_broadcast(x, y):
    z = x * 2
    return z + y


@bad(f32(2, 3), f32(3))
def concat_of_a_matrix_and_a_vector(x, y):
    return paddle.concat([x, y])


@bad(f32(2, 3), f32(2, 4))
def concat_along_the_wrong_axis(x, y):
    return paddle.concat([x, y], axis=0)


@bad(f32(2, 3), f32(2, 3))
def concat_along_an_axis_that_is_missing(x, y):
    return paddle.concat([x, y], axis=2)


@bad(f32(2, 3), f32(3, 2))
def stack_of_differing_shapes(x, y):
    return paddle.stack([x, y])


@bad(f32(2, 3))
def reshape_to_another_number_of_elements(x):
    return x.reshape([4, 2])


@bad(f32(2, 3))
def reshape_with_two_sizes_left_open(x):
    return paddle.reshape(x, [-1, -1])


@bad(f32(2, 3, 4))
def transpose_that_forgets_an_axis(x):
    return x.transpose([1, 0])


@bad(f32(2, 3))
def transpose_that_names_an_axis_twice(x):
    return x.transpose([1, 1])


@bad(f32(2, 3))
def unsqueeze_far_outside(x):
    return x.unsqueeze(4)


@bad(f32(2, 3))
def sum_along_an_axis_that_is_missing(x):
    return x.sum(axis=2)


@bad(f32(2, 3))
def softmax_along_an_axis_that_is_missing(x):
    return F.softmax(x, axis=-3)


@bad(f32(5, 2))
def split_into_parts_of_unequal_size(x):
    return paddle.split(x, 2, axis=0)[0]


@bad(f32(5, 2))
def split_into_sizes_that_do_not_add_up(x):
    return paddle.split(x, [2, 2], axis=0)[0]


@bad(f32(3, 2))
def expand_of_an_axis_that_is_not_one(x):
    return x.expand([4, 2])


@bad(f32(2, 3), f32(3, 2))
def bmm_of_matrices(x, y):
    return paddle.bmm(x, y)


@bad(f32(1, 3, 8, 8), f32(4, 2, 3, 3))
def convolution_of_other_channels(image, weight):
    return F.conv2d(image, weight)


@bad(f32(2, 4), f32(3, 5), f32(5))
def linear_of_another_width(x, weight, bias):
    return F.linear(x, weight, bias)


@bad(f32(2, 4), f32(3), f32(3))
def layer_norm_of_another_width(x, weight, bias):
    return F.layer_norm(x, [3], weight, bias)


@bad(f32(4, 3), i64(5))
def more_labels_than_rows(logits, label):
    return F.cross_entropy(logits, label)


@bad(f32(4, 3))
def topk_of_more_than_there_are(x):
    return paddle.topk(x, 5)[0]
