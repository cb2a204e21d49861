"""Loops that tensors or Python end: the same eagerly, converted and recorded."""

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P,), (N,))
def test_a_while_runs_until_a_tensor_says_so(x):
    while x.sum() < 20:
        x = x + 1
    return x


@alike((P,), (N,))
def test_a_counter_of_a_graph_loop_is_a_number(x):
    i = 0
    while x.sum() < 20:
        x = x + 1
        i += 1
    return x, i


@alike((P, 3), (P, 0))
def test_a_range_may_end_at_a_tensor(x, n):
    y = x
    for i in range(n):
        y = y * 2 + i
    return y


@alike((P, 7), (P, 2))
def test_break_and_continue_end_graph_rounds(x, n):
    y = x
    for i in range(n):
        if i == 4:
            break
        if i % 2 == 0:
            continue
        y = y * 2 + i
    return y


@alike((P,), (N,))
def test_a_python_loop_that_a_tensor_ends_goes_on_in_branches(x):
    y = x
    for _ in range(6):
        y = y + 1
        if y.sum() > 6:
            break
    else:
        y = y * 10
    return y


@alike((P, 7), (P, 2))
def test_a_graph_loop_returns(x, n):
    for _ in range(n):
        x = x + 1
        if x.sum() > 9:
            return x * 100
    return x


@alike(([P, N, P],), ([P],))
def test_rows_of_a_tensor_are_walked(x):
    s = paddle.zeros([2])
    for r in x:
        s = s + r * r
    return s


@alike(([P, N, P],), ([P],))
def test_rows_are_numbered(x):
    s = paddle.zeros([2])
    for i, r in enumerate(x):
        s = s + r * i
    return s


@alike(([P, N, P],), ([P],))
def test_rows_go_in_pairs(x):
    s = paddle.zeros([2])
    for i, r in zip(x, x * 2, strict=True):
        s = s + r * i
    return s


@alike((P,), (N,))
def test_python_and_graph_loops_nest(x):
    i = 0
    s = x
    while i < 4:
        j = 0
        while j < i:
            if s.sum() > 10:
                s = s * 0.5
            else:
                s = s + j
            j += 1
        i += 1
    return s


@alike((P, 4), (N, 3))
def test_graph_loops_nest_with_branches(x, n):
    i = paddle.zeros([], "int64")
    s = x
    while i < n:
        j = 0
        while j < i:
            if s.sum() > 10:
                s = s * 0.5
            else:
                s = s + j
            j += 1
        i += 1
    return s


@alike((P,), (N,))
def test_a_nested_python_loop_returns_where_a_tensor_says(x):
    for _ in range(3):
        for _ in range(2):
            x = x + 1
            if x.sum() > 5:
                return x
        if x.sum() > 4:
            break
    return x * 3


@alike((P,), (N,))
def test_names_swap_in_a_round(x):
    a, b = x, x + 1
    while a.sum() < 10:
        a, b = b + 1, a + 1
    return a, b


@alike((P,), (N,))
def test_a_name_first_set_in_the_loop_is_read_behind_it(x):
    i = 0
    while i < 3 and x.sum() < 100:
        y = x * 2
        i += 1
        x = x + y * y
    return y


@alike((P,), (N,))
def test_python_floats_keep_their_precision_beside_tensors(x):
    s = 0.0
    k = 0.1
    while x.sum() < 10:
        x = x * 1.5 + 1
        s += x.mean() * k
        k = k * 0.5
    return s, x


@alike((P,), (N,))
def test_an_endless_loop_breaks_and_returns(x):
    n = 0
    while True:
        x = x + 1
        n += 1
        if x.sum() > 10:
            break
        if n > 20:
            return x, 1
    return x, n


@alike((P, 3), (N, 0))
def test_a_dict_goes_from_round_to_round(x, n):
    d = {"s": x, "k": 0}
    for i in range(n):
        d["s"] = d["s"] + i
        d["k"] += 1
    return d["s"] * d["k"]


@alike((P, 3), (N, 2))
def test_a_tuple_goes_from_round_to_round(x, n):
    state = (x, x * 0)
    for _ in range(n):
        h, c = state
        c = c + h
        state = (c, h)
    return state


@alike((P, 3), (N, 2))
def test_a_new_list_goes_from_round_to_round(x, n):
    state = [x, x * 0]
    for _ in range(n):
        state = [state[1] + 1, state[0]]
    return state


@alike((P, 3), (N, 1))
def test_a_function_made_in_a_round_sees_the_round(x, n):
    for i in range(n):

        def f(v):
            return v * i + 1  # noqa: B023

        x = f(x)
    return x


@alike((P, 3), (N, 1))
def test_the_else_of_a_for_runs_without_break(x, n):
    for _ in range(n):
        if x.sum() > 100:
            break
        x = x + 1
    else:
        x = x * 10
    return x


@alike((P, 6), (N, 1))
def test_the_else_of_a_while_runs_without_return(x, n):
    i = 0
    while i < n:
        if x.sum() > 5:
            return x * i
        x = x + 1
        i += 1
    else:
        x = x - 7
    return x


@alike((P, 6), (N, 3))
def test_inner_and_outer_loops_break(x, n):
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            if j == 2:
                continue
            x = x + i * j
        if x.sum() > 20:
            break
    return x


@alike((P, 6), (N, 3))
def test_a_return_leaves_both_loops(x, n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                return x + i
            x = x + 1
    return x * 2


@alike((P, 3), (N, 2))
def test_a_range_may_step_down(x, n):
    for i in range(n, 0, -1):
        x = x * 2 + i
    for i in range(1, n * 3, 2):
        x = x + i
    return x, i


@alike((P, 3))
def test_the_last_item_is_left_behind_the_loop(x, n):
    for i in range(n):
        y = x * i
    return y + i


@alike(([P, N, P],), ([P],))
def test_rows_of_rows_are_walked(x):
    s = 0.0
    for row in x:
        for v in row:
            s = s + v * v
    return s


@alike(([P, N, P],))
def test_pairs_are_numbered(x):
    s = x[0] * 0
    for i, (a, b) in enumerate(zip(x, x + 1, strict=True)):
        s = s + a * b + i
    return s


@alike(([P, N, P],))
def test_a_loop_over_a_size_indexes_rows(x):
    s = x[0] * 0
    for i in range(x.shape[0]):
        s = s + x[i] * i
    return s


@alike((P,), (N,))
def test_jumps_leave_try_blocks(x):
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                raise ValueError
            x = x * 2
        except ValueError:
            return x
        finally:
            x = x + 1
    return x


@alike((P, 3))
def test_while_true_ends_by_return_alone(x, n):
    i = n * 0
    while True:
        i = i + 1
        if i >= n:
            return x * i
        x = x + 1


@alike((P, 2))
def test_a_value_grows_from_round_to_round(x, n):
    i = 0
    y = x.reshape([1, 2])
    while i < n:
        y = paddle.concat([y, y], axis=0)
        i += 1
    return y


@alike((P, 2))
def test_a_number_becomes_what_is_added_to_it(x, n):
    s = 0
    for _ in range(n):
        s = s + x.sum()
    return s


@alike((P, 2))
def test_two_names_take_each_others_values(x, n):
    a, b = x, x * 2
    i = 0
    while i < n:
        a, b = b, a + b
        i = i + 1
    return a, b


@alike((P,), (N,))
def test_a_test_binds_a_name_in_every_round(x):
    while (s := x.sum()) < 5:
        x = x + 1
    return x, s


@alike((P,), (N,))
def test_parameters_are_changed_by_branches_and_loops(x):
    if x.sum() > 0:
        x = x * 2
    while x.sum() < 10:
        x = x + 3
    return x


class Tally:
    def __init__(self, x):
        self.total, self.items, self.n = x, [], 0


@alike((P, 4), (N, 2))
def test_attributes_and_lists_of_objects_go_from_round_to_round(x, n):
    c = Tally(x)
    for i in range(n):
        c.total = c.total + i
        c.n += 1
        c.items.append(c.total)
    return c.total, c.n, c.items[0], len(c.items)


@alike((P,), (N,))
def test_an_exception_in_a_branch_of_a_loop_is_no_jump(x):
    for i in range(3):
        if i > 5:
            raise ValueError(i)
        x = x + i
        if x.sum() > 100:
            break
    return x


@alike((P,), (N,))
def test_a_long_range_that_a_tensor_ends_goes_on_as_a_graph_loop(x):
    for i in range(1000):
        x = x + i
        if x.sum() > 100:
            break
    return x, i


@alike((P,), (N,))
def test_the_else_of_a_try_runs_without_an_exception(x):
    for i in range(4):
        try:
            if i == 1:
                raise KeyError(i)
        except KeyError:
            continue
        else:
            x = x + i
        if i == 2:
            break
    return x
