"""Elements of the wrong type, and arguments outside their range."""

import scull as paddle
import scull.nn.functional as F
from tests.jit.bad.case import bad, f32, i64


@bad(f32(2, 3), i64(3, 2))
def matmul_of_fractions_and_whole_numbers(x, y):
    return paddle.matmul(x, y)


@bad(f32(2), i64(2))
def concat_of_two_types(x, y):
    return paddle.concat([x, y])


@bad(f32(2), f32(2))
def bits_of_fractions(x, y):
    return x & y


@bad(i64(2), differs="Paddle's functions check the types that Programs take by themselves")
def root_of_whole_numbers(x):
    return paddle.sqrt(x)


@bad(i64(2), f32(2))
def where_without_truth_values(condition, x):
    return paddle.where(condition, x, x)


@bad(f32(4, 2), f32(2))
def gather_at_fractions(x, index):
    return paddle.gather(x, index)


@bad(f32(2), f32(5, 3))
def words_that_are_fractions(x, table):
    return F.embedding(x, table)


@bad(f32(2))
def cast_to_a_type_that_does_not_exist(x):
    return x.astype("float12")


@bad(f32(2))
def dropout_with_a_likelihood_above_one(x):
    return F.dropout(x, 1.5)


@bad(f32(2, 2))
def pooling_without_a_window(x):
    return F.max_pool2d(x.unsqueeze([0, 1]), 0)


@bad(f32(2), differs="in a Program it is an argument of an operator")
def sum_with_a_text(x):
    return x + "one"


@bad(f32(2), differs="in a Program it is an argument of an operator")
def sum_with_nothing(x):
    return x + None


@bad(f32(2))
def an_argument_that_does_not_exist(x):
    return F.relu(x, inplace=True)


@bad(f32(2), differs="in a Program it is a Variable")
def a_method_that_does_not_exist(x):
    return x.soft_max()


@bad(f32(2, 3))
def an_axis_that_is_a_text(x):
    return x.sum(axis="rows")


@bad(f32(2))
def a_power_of_a_list(x):
    return paddle.pow(x, [2.0, 3.0])
