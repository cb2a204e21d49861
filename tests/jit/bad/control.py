"""Control flow on tensors that no Program can hold, or that is wrong in every mode."""

import numpy as np

import scull as paddle
from tests.jit.bad.case import EAGER, STATIC, TO_STATIC, bad, f32

GRAPH = (STATIC, TO_STATIC)  # eager mode is Python, which allows it


@bad(f32(3))
def a_condition_of_many(x):
    if x > 0:
        return x
    return -x


@bad(f32(3))
def a_loop_while_many_hold(x):
    while x < 3:
        x = x + 1
    return x


@bad(f32(3))
def a_chain_of_comparisons_of_many(x):
    if 0 < x < 2:
        return x
    return -x


@bad(f32(3))
def many_or_many(x):
    if x > 1 or x < 0:
        return x
    return -x


@bad(f32(3))
def not_many(x):
    return x if not x > 0 else -x


@bad(f32(2), ways=GRAPH)
def a_pair_in_one_branch_alone(x):
    if x.sum() > 0:
        y = (x, x)
    else:
        y = x
    return y


@bad(f32(2), ways=GRAPH)
def a_text_or_nothing_returned(x):
    if x.sum() > 0:
        return "large"


@bad(f32(2), ways=GRAPH)
def a_text_chosen_by_a_tensor(x):
    name = "small"
    if x.sum() > 0:
        name = "large"
    return x, name


@bad(f32(2), ways=GRAPH)
def a_ternary_of_differing_types(x):
    y = x if x.sum() > 0 else "nothing"
    return y


@bad(f32(2), ways=GRAPH)
def a_function_chosen_by_a_tensor(x):
    f = paddle.sin
    if x.sum() > 0:
        f = paddle.cos
    return f(x)


@bad(f32(2), ways=GRAPH)
def a_loop_that_makes_a_number_a_text(x):
    last = 0
    while x.sum() < 10:
        x = x + 1
        last = "done"
    return x, last


@bad(f32(2), ways=GRAPH)
def a_loop_that_makes_a_list_a_tensor(x):
    y = [x, x]
    while x.sum() < 10:
        x = x + 1
        y = x
    return y


@bad(f32(2))
def a_name_that_no_path_defines(x):
    if x.sum() > 100:
        y = x
        return y
    return missing * x  # noqa: F821


@bad(f32(2))
def a_name_used_before_it_is_set(x):
    x = x + later  # noqa: F821
    later = x * 2
    return later


@bad(f32(2))
def a_name_that_was_deleted(x):
    y = x * 2
    del y
    return y  # noqa: F821


@bad(f32(2), ways=GRAPH)
def a_list_made_longer_by_one_branch(x):
    found = [x]
    if x.sum() > 0:
        found.append("more")
    return found


@bad(np.array(3), ways=GRAPH)
def a_generator_over_an_unknown_count(n):
    def steps():
        i = paddle.zeros([], "int64")
        while i < n:
            yield i
            i = i + 1

    total = n
    for i in steps():
        total = total + i
    return total


@bad(f32(2), ways=GRAPH)
def a_call_without_end(x):
    def half(v):
        if v.sum() < 1e-3:
            return v
        return half(v * 0.5)

    return half(x)


@bad(f32(3), ways=GRAPH)
def numpy_on_a_tensor(x):
    return x + float(np.sin(x).sum())


@bad(f32(3), ways=GRAPH)
def an_array_of_a_tensor(x):
    return paddle.to_tensor(np.array(x) * 2)


@bad(f32(3), ways=GRAPH)
def a_scalar_of_numpy_from_a_tensor(x):
    return x * np.float32(x.sum())


@bad(f32(3), ways=(EAGER,))  # in a Program `float` casts all elements, as in Paddle
def the_number_that_many_are(x):
    return float(x) + x


@bad(f32(3), ways=(EAGER,))
def the_whole_number_that_many_are(x):
    return x * int(x)


@bad(f32(3), ways=GRAPH, differs="static mode says it in Paddle's words")
def values_as_a_list(x):
    return paddle.to_tensor([v * 2 for v in x.tolist()])


@bad(f32(2), differs="an operator holds the assertion of a Program")
def an_assertion_that_does_not_hold(x):
    assert x.sum() > 5, "too small"
    return x


@bad(f32(2))
def an_error_raised_by_the_function(x):
    if x.shape[0] != 3:
        raise ValueError(f"three numbers are needed, not {x.shape[0]}")
    return x


@bad(f32(2), differs="an operator of the Program says what is raised")
def an_error_raised_under_a_tensor(x):
    if x.sum() > 1:
        raise ValueError("too large")
    return x


@bad(f32(2), ways=GRAPH)
def an_error_under_a_tensor_that_is_caught(x):
    try:
        if x.sum() > 5:
            raise ValueError("too large")
    except ValueError:
        return x
    return -x


@bad(f32(2), ways=GRAPH)
def the_mean_of_numpy(x):
    return x * np.mean(x)


@bad(f32(2), ways=GRAPH)
def a_format_of_a_tensor(x):
    return x * len(f"{x.sum() * 2:.3f}")


@bad(f32(2, 2), ways=(TO_STATIC,))
def the_largest_row_by_a_key(x):
    return max(x, key=lambda row: row.sum())


@bad(f32(2, 2), ways=(TO_STATIC,))
def rows_filtered_by_a_tensor(x):
    return paddle.stack(list(filter(lambda row: row.sum() > 0, x)))


@bad(f32(2, 2), ways=(TO_STATIC,))
def a_layer_made_within(x):
    return paddle.nn.Linear(2, 1)(x)


@bad(f32(2, 2), ways=GRAPH)
def an_axis_more_in_every_round(x):
    y, i = x, paddle.zeros([], "int64")
    while i < 3:
        y, i = y.unsqueeze(0), i + 1
    return y


@bad(f32(2))
def a_step_of_a_range_that_is_zero(x):
    total = x
    for i in range(0, 4, 0):
        total = total + i
    return total


@bad(f32(2))
def a_loop_over_a_number(x):
    total = x
    for i in 3:
        total = total + i
    return total


@bad(f32(2))
def a_mistake_two_calls_deep(x):
    def inner(v):
        return paddle.matmul(v, v.unsqueeze(0))

    def outer(v):
        return inner(v.unsqueeze(0)) if v.sum() > 0 else v

    return outer(x)


@bad(f32(2))
def a_mistake_within_a_branch(x):
    y = x
    if x.sum() > 0:
        y = x + paddle.ones([3])
    return y


@bad(f32(2))
def a_mistake_within_a_loop(x):
    i = paddle.zeros([], "int64")
    while i < 3:
        x = x + paddle.ones([3])
        i += 1
    return x


@bad(f32(2), ways=(EAGER, TO_STATIC))
def the_gradient_by_what_was_not_used(x):
    x.stop_gradient = False
    y = paddle.ones([2])
    y.stop_gradient = False
    return paddle.grad([(x * 2).sum()], [y])[0]


@bad(f32(2))
def a_list_of_differing_shapes_stacked(x):
    found, i = [], paddle.zeros([], "int64")
    while i < 3:
        found.append(x)
        x = paddle.concat([x, x])
        i += 1
    return paddle.stack(found)


@bad(f32(2), ways=GRAPH)
def a_value_of_the_loop_that_one_round_deletes(x):
    y = x
    while x.sum() < 10:
        x = x + 1
        del y
        y = "gone"
    return y
