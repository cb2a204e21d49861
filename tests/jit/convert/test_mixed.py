"""Control flow, containers and sizes together: the same eagerly, converted and recorded."""

import numpy as np

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P,), (N,))
def test_arrays_of_numpy_are_walked(x):
    s = x
    for i, v in enumerate(np.array([1.0, 2.0, 3.0], "float32")):
        s = s + float(v) * i
    return s


@alike((P, 3), (P, 1))
def test_items_of_a_list_are_replaced_in_python(x, n):
    out = [0.0] * 3
    for i in range(3):
        out[i] = x[0] * i
    return out


@alike(([P, N, P],))
def test_a_walk_along_rows_is_left_early(x):
    s = x[0] * 0
    for row in x:
        if row.sum() < 0:
            continue
        s = s + row
        if s.sum() > 5:
            break
    return s


@alike(([P, N, P],))
def test_a_while_counts_to_a_size(x):
    i = 0
    s = x[0] * 0
    while i < x.shape[0]:
        s = s + x[i]
        i += 1
    return s, i


@alike(([P, N, P],))
def test_a_loop_to_the_length_of_a_tensor(x):
    s = 0
    for i in range(len(x)):
        s = s + x[i] * i
    return s


@alike((P, 3))
def test_a_dict_loses_a_key_in_a_branch(x, n):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["a"] = d.pop("b")
        d["b"] = x
    return d["a"] * 2 + d["b"]


@alike((P, 3), (N, 2))
def test_tensors_in_a_dict_grow(x, n):
    cache = {"k": paddle.zeros([0, 2]), "v": None}
    for i in range(3):
        cache["k"] = paddle.concat([cache["k"], x.reshape([1, 2]) * i], axis=0)
        cache["v"] = cache["k"] * 2
    return cache["k"], cache["v"]


@alike((P, 3), (N, 2))
def test_a_loop_ends_by_a_flag_and_stacks_what_it_made(x, n):
    outs = []
    h = x
    step = 0
    done = False
    while not done:
        h = h * 1.5 + 1
        outs.append(h)
        step += 1
        if step >= n or h.sum() > 100:
            done = True
    return paddle.stack(outs, axis=0), step


@alike((P,), (N,))
def test_an_equal_number_of_both_branches_stays_a_number(x):
    index = 0
    pred = paddle.to_tensor([1])
    if pred:
        y, index = x[index] + 1, index + 1
    else:
        y, index = x[index] + 2, index + 1
    return y, index


@alike((P,), (N,))
def test_functions_within_functions_write_names_around_them(x):
    scale = 2

    def outer(v):
        offset = 1

        def inner(w):
            nonlocal offset
            if w.sum() > 0:
                offset += 1
                return w * scale
            return w + offset

        r = inner(v)
        return r + offset

    return outer(x)


@alike((P,), (N,))
def test_targets_are_unpacked_in_branches(x):
    if x.sum() > 0:
        (a, b), c = (x, x * 2), 3
    else:
        (a, *b), c = [x, x * 3], 4
        b = b[0]
    return a + b * c


@alike((P, 4))
def test_two_lists_grow_side_by_side(x, n):
    hs, cs = [], []
    h = c = x * 0
    for t in range(n):
        h, c = h + x * t, c + 1
        hs.append(h)
        cs.append(c)
    return paddle.stack(hs) + paddle.stack(cs)


@alike((P,), (N,))
def test_continue_and_else_of_nested_loops(x):
    total = x * 0
    for i in range(4):
        for j in range(3):
            if (i + j) % 2:
                continue
            if x.sum() * i > 4:
                break
            total = total + i * j + x
        else:
            total = total * 2
            continue
        total = total - 1
    return total


@alike((P,), (N,))
def test_conditions_nest(x):
    s = x.sum()
    ok = (s > 0 and s < 10) or (s < -2 and not s < -10)
    if ok and (x.max() > 1.5 or x.min() < -1.5):
        return x * 2
    return x if ok else -x


@alike((P,), (N,))
def test_sizes_are_compared(x):
    y = x.reshape([1, -1])
    if y.shape[0] == 1 and y.shape[-1] == x.shape[0]:
        return y.squeeze(0)
    return x


@alike((P, 3), (P, 0))
def test_a_loop_without_rounds_leaves_what_was(x, n):
    y = x
    k = 0
    for i in range(n):
        y = y + 1
        k = i
    return y, k


@alike((P, 3))
def test_the_last_item_of_a_growing_list_is_read(x, n):
    stack = [x]
    i = n * 0
    while i < n:
        top = stack[-1]
        stack.append(top * 2)
        i = i + 1
    return stack[-1], len(stack)


@alike((P,), (N,))
def test_items_of_copies_are_written(x):
    y = x.clone()
    y[0] = 7.0
    z = paddle.zeros([3])
    for i in range(3):
        z[i] = y.sum() * i
    if z[1] > 5:
        z[0:2] = -1.0
    return z


@alike((P, 2), (P, 1))
def test_items_are_written_where_a_counter_says(x, n):
    z = paddle.zeros([3])
    for i in range(n):
        z[i] = x.sum() * (i + 1)
        z[i + 1] += 1.0
    return z
