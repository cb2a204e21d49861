"""Places that are not there."""

import numpy as np

import scull as paddle
import scull.nn.functional as F
from tests.jit.bad.case import EAGER, TO_STATIC, bad, f32


@bad(f32(2, 3))
def a_row_that_is_not_there(x):
    return x[2]


@bad(f32(2, 3))
def a_row_before_the_first(x):
    return x[-3]


@bad(f32(2, 3))
def more_indices_than_axes(x):
    return x[0, 0, 0]


@bad(f32(2, 3))
def a_place_that_is_a_fraction(x):
    return x[1.5]


@bad(f32(2, 3))
def a_place_that_is_a_text(x):
    return x["first"]


@bad(f32(6))
def a_slice_without_a_step(x):
    return x[::0]


@bad(f32(2, 3), f32(2))
def a_row_written_with_another_size(x, y):
    z = x * 1.0
    z[0] = y
    return z


@bad(f32(4, 2), np.array([0, 4]))
def gather_of_a_row_that_is_not_there(x, index):
    return paddle.gather(x, index)


@bad(np.array([0, 7]), f32(5, 3))
def a_word_the_table_does_not_have(x, table):
    return F.embedding(x, table)


@bad(f32(2, 3), np.array([0, 3]))
def a_label_that_is_no_class(logits, label):
    return F.cross_entropy(logits, label)


@bad(f32(3))
def unpacking_into_fewer_names(x):
    a, b = x
    return a + b


@bad(np.array(1.0, "float32"))
def the_length_of_a_number(x):
    return x * len(x)


@bad(np.array(1.0, "float32"))
def going_through_a_number(x):
    total = x
    for v in x:
        total = total + v
    return total


@bad(f32(2), np.array(5), ways=(EAGER, TO_STATIC), differs="in a Program the list is a tensor")
def a_list_shorter_than_its_index(x, i):
    parts = [x, x * 2.0]
    return parts[i]


@bad(f32(2), ways=(EAGER, TO_STATIC))
def a_key_the_dict_does_not_have(x):
    parts = {"first": x}
    return parts["second"]
