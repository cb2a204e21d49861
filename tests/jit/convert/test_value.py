"""Operators, sizes, items and lists: the same eagerly, converted and recorded."""

from collections import deque

import pytest

import scull as paddle
from scull.errors import ArgumentError
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P,), (N,))
def test_and_or_not_and_chains_of_comparisons(x):
    a = x.sum()
    if (a > 0 and x.max() < 10) or not a < 3:
        x = x * 3
    return x + (1 if 0 < a < 10 else 2)


@alike((P, 3), (P, 1))
def test_a_list_that_grows_in_a_loop_is_joined(x, n):
    held = []
    for i in range(n):
        held.append(x * i)
    return paddle.concat(held)


@alike((P,), (N,))
def test_a_list_that_grows_in_python_stays_a_list(x):
    held = []
    for i in range(3):
        held.append(x * i)
    return held


@alike((P,), (N,))
def test_items_are_written_under_a_condition(x):
    x = x * 1
    if x.sum() > 0:
        x[0] = 5
    x[1] += 2
    return x


@alike(([P, P],), ([N],))
def test_unknown_sizes_take_part_in_arithmetic(x):
    n = x.shape[0]
    if n > 1:
        return x.reshape([n * x.shape[1]])
    return x.reshape([x.shape[0] * 2]) * 2


@alike(([P, P],), ([N],))
def test_a_shape_is_a_list(x):
    y = x.reshape(x.shape[:-1] + [1, 2])
    z = y.reshape([1] + x.shape + [1])
    return y, z, isinstance(x.shape, list)


@alike((P, 5), (P, 3))
def test_lists_shrink_in_graph_loops(x, n):
    held = [x]
    s = x
    for i in range(n):
        held.append(x * i)
        if i > 1:
            s = s + held.pop()
            s = s + held.pop(0)
            held.append(s)
    return s, held[0]


@alike((P, 5), (P, 3))
def test_lists_that_grew_are_walked_indexed_and_stacked(x, n):
    held = []
    for i in range(n):
        held.append(x * i)
    s = paddle.zeros([2])
    for j, v in enumerate(held):
        s = s + v * j
    return s + held[-1] + held[1] * len(held) + paddle.stack(held).sum()


@alike((P,), (N,))
def test_lists_are_indexed_by_graph_counters(x):
    held = [x, x * 2, x * 3]
    i = 0
    s = x
    while s.sum() < 5 and i < 3:
        s = s + held[i]
        held[i] = s
        i += 1
    return s, held


@alike((P,), (N,))
def test_comprehensions_unroll(x):
    held = [x * i for i in range(3) if i != 1]
    return sum(held), [v for v in map(lambda t: t + 1 if t.sum() > 0 else t, held)]


@alike((P,), (N,))
def test_casts_of_tensors(x):
    n = int(x.sum())
    return x.detach() * n + int(float(x.sum())), bool(x.sum() > 0)


@alike((P,), (N,))
def test_a_number_is_sought_in_a_tensor(x):
    if 2.0 in x:
        return x
    return x - 1


@alike((P,), (N,))
def test_none_is_told_from_tensors(x, m=None):
    if m is not None and m.sum() > 0:
        x = x * 2
    if m is None:
        m = x
    assert x.sum() > -100, "bad"
    return m


@alike((P,), (N,))
def test_a_named_expression_in_a_condition(x):
    if (y := x.sum()) > 0 and (z := y + 1) > 2:
        return y + z
    return y


@alike((P,), (N,))
def test_a_chain_of_comparisons_of_kinds(x):
    s = x.sum()
    if 0 < s < 5 != 3:
        return x
    return x + 1


@alike((P,), (N,))
def test_and_or_of_python_give_their_operands(x):
    nothing = None
    a = nothing or x
    empty = []
    b = empty and x
    c = 3 and x.sum()
    return a + c if not b else x


@alike((P,), (N,))
def test_tensors_and_python_values_meet_in_and_or(x):
    flag = True
    if flag and x.sum() > 0:
        x = x + 1
    if x.sum() > 0 and flag:
        x = x + 1
    if x.sum() > 100 or flag:
        x = x * 2
    return x


@alike(([P, N, P],))
def test_sizes_are_unpacked_and_multiplied(x):
    b, c = x.shape
    y = x.reshape([b * c])
    z = y.reshape([-1, x.shape[1]])
    return z + paddle.zeros([x.shape[0], x.shape[1]]), len(x.shape) + len(x)


@alike(([P, N, P],))
def test_rows_and_columns_are_written(x):
    y = paddle.zeros_like(x)
    for i in range(x.shape[0]):
        y[i] = x[i] * i
    y[0, 1] = 9.0
    y[:, 0] *= 2
    return y


@alike((P,), (N,))
def test_augmented_assignments(x):
    y = x * 1
    for _ in range(3):
        y += 1
        y *= x
        if y.sum() > 10:
            y -= 3
    return y


@alike((P,), (N,))
def test_assertions_that_hold(x):
    assert x.sum() < 100, f"too large {x}"
    assert x is not None
    return x


@alike((P,), (N,))
def test_the_least_and_the_greatest_of_tensors_and_numbers(x):
    return max(x.sum(), 1.0) + min(x[0], x[1]) + sum([x[0], x[1]])


@alike((P,), (N,))
def test_any_and_all_of_tensors(x):
    if all([x[0] > 0, x[1] > 0]):
        return x
    if any(v < -1.5 for v in [x[0], x[1]]):
        return x * 2
    return x * 3


@alike((P,), (N,))
def test_in_of_dicts_is_pythons(x):
    names = {"a": 1}
    if "a" in names and "b" not in names:
        x = x + names["a"]
    return x


@alike((P,), (N,))
def test_other_containers_stay_pythons(x):
    q = deque([x])
    for i in range(3):
        q.append(q[0] + i)
        q.popleft()
    return q[0]


@alike((P,), (N,))
def test_printing_texts(x):
    print("x is", 3)
    return x


@alike((P,), (N,))
def test_a_variable_is_a_tensor(x):
    if isinstance(x, paddle.Tensor) and not isinstance(x, (int, str)):
        return x * 2
    return x


@alike((P, 3), (P, 1))
def test_lists_are_joined_in_graph_loops(x, n):
    held = []
    for i in range(n):
        held = held + [x * i]
        held += [x]
    return sum(held[:2]) + held[-1], len(held)


@alike((P, 3), (P, 1))
def test_ranges_and_lists_are_walked_backwards(x, n):
    held = [x]
    for i in reversed(range(n)):
        x = x * 2 + i
        held.append(x)
    for i, v in enumerate(reversed(held)):
        x = x + v * i
    return x


@alike((P, 2), (P, 1))
def test_a_round_adds_keys_to_a_dict(x, n):
    d = {}
    for i in range(n):
        d["last"] = x * i
        d["all"] = d.get("none", x) + i
    return d["last"] + d["all"]


@alike((P,), (N,))
def test_a_list_is_joined_in_a_branch(x):
    held = [x]
    if x.sum() > 0:
        held = held + [x * 2]
    return held[-1] * len(held)


@alike(([1.0, 2.0],), ([0.0, 0.0],), ([-1.0, -2.0],))
def test_and_or_of_numbers_give_one_of_them(x):
    total = x.sum()
    either, both = total or 5.0, total and 7.0
    later, other = total * 0 or total, total and total * 2
    known = x.shape[0] or 3
    return either, both, later, other, known, (total or 2.0) or 3.0


@alike(([P, N, P], 1), ([P, N, P], 2))
def test_a_bound_that_a_tensor_gives_stands_beside_known_ones(x, n):
    return x[:n, 1:], x[n:, :1], x[:n, -1], x[1:, : n - 1], x[:n, ::-1], x[-n:, None]


@alike((P,))
def test_constants_keep_every_bit_of_the_type_they_are_given(x):
    thirds = paddle.to_tensor([[1 / 3, 2 / 3]], dtype="float64")
    small = paddle.to_tensor([1, -2], dtype="int8") + paddle.to_tensor([3, 4], dtype="int8")
    half = paddle.to_tensor([1 / 3], dtype="float16").astype("float32")
    turned = paddle.to_tensor([1 + 2j], dtype="complex128") * paddle.to_tensor([1j])
    return x, thirds * 3, small.astype("int32"), half, paddle.as_real(turned)


@pytest.mark.parametrize("shape", [(1, 2, 3, 5), (2, 2, 4, 4), (1, 2, 6, 7)])
def test_images_are_padded_by_what_their_sizes_say(shape):
    def function(x):
        below, right = -x.shape[2] % 4, -x.shape[3] % 4
        pad = paddle.nn.functional.pad
        flat = pad(x.flatten(2), [right, 1], data_format="NCL")
        return pad(x, [0, right, 0, below]), pad(x, (1, right, below, 2), mode="reflect"), flat

    spec = [paddle.static.InputSpec([None, 2, None, None])]
    x = paddle.rand(shape)
    found = paddle.jit.to_static(function, spec, full_graph=True)(x)
    for a, b in zip(found, function(x), strict=True):
        assert a.tolist() == b.tolist()


def test_sizes_of_all_axes_are_numbers():
    def function(x):
        return paddle.nn.functional.pad(x, [0, x.shape[0], 0, 0])

    spec = [paddle.static.InputSpec([None, 2])]
    with pytest.raises(ArgumentError, match="pad holds Variables and has 4 sizes"):
        paddle.jit.to_static(function, spec, full_graph=True)(paddle.ones([2, 2]))
