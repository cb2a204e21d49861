"""Lists of tensors that a Program holds: the same as Python's."""

from functools import reduce

import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


def multiples(x, count=3):
    """`0 x`, `1 x` and so on, in a list that grows where a Tensor decides."""
    made = []
    i = paddle.zeros([], "int64")
    while i < count + (x.sum() * 0).astype("int64"):
        made.append(x * i)
        i = i + 1
    return made


@alike((P,))
def test_a_list_is_spread_in_another_one(x):
    items, more = multiples(x), multiples(x + 1)
    return paddle.stack([x, *items, x * 7, *more])


@alike((P,))
def test_lists_are_added_multiplied_and_extended(x):
    items, more = multiples(x), multiples(x + 1)
    both = items + more
    items += more
    front = [x] + more
    return paddle.stack(both), paddle.stack(items), paddle.stack(front), paddle.stack(more * 2)


@alike((P,))
def test_a_list_of_python_takes_over_one_of_the_program(x):
    more = [x]
    more.extend([])
    joined = more + multiples(x)
    return paddle.stack(joined), len(joined)


@alike((P,))
def test_lists_are_copied_cleared_reversed_and_cut(x):
    items = multiples(x)
    other = items.copy()
    other.append(x)
    backwards = items[::-1]
    del items[0]
    kept = list(items)
    items.clear()
    items.append(x * 9)
    return [paddle.stack(v) for v in (other, backwards, kept, items, tuple(items))]


@alike((P,))
def test_lists_are_cut_in_steps(x):
    items = multiples(x) + multiples(x + 1) + [x]
    parts = (
        items[::2],
        items[1::3],
        items[::-2],
        items[-9:2],
        items[:1:-3],
        items[4::-1],
        items[-2:],
    )
    last = paddle.to_tensor(-1)
    return [paddle.stack(v) for v in (*parts, items[:last])], len(items[3:1]), len(items[9:])


@alike((P,))
def test_a_list_is_true_where_something_is_in_it(x):
    items = multiples(x)
    y = x + 1 if items else x
    if not items:
        y = y * 100
    return y, bool(items) and x.sum() > 0


@alike((P,), (N,))
def test_a_comprehension_may_filter_by_tensors(x):
    return paddle.stack([v for v in [x, -x, x * 2] if v.sum() > 0])


@alike((P,))
def test_a_comprehension_walks_along_a_list_of_the_program(x):
    doubled = paddle.stack([v * 2 for v in multiples(x)])
    numbered = paddle.stack([v * i for i, v in enumerate(multiples(x))])
    chosen = paddle.stack([(v if v.sum() > 2 else -v) for v in multiples(x) if v.sum() > 0])
    return doubled, numbered, chosen, sum([v.sum() for v in multiples(x)])


@alike(([P, N, P],))
def test_a_comprehension_walks_along_rows(x):
    return paddle.stack([row * 2 + i for i, row in enumerate(x)])


@alike((P,))
def test_comprehensions_keep_the_scopes_of_python(x):
    i = 5
    table = [[i * j for j in range(2)] for i in range(3)]
    functions = [lambda v, i=i: v * i for i in range(3)]
    shadowed = [x for x in [x, x * 2]]
    first = [a + b for (a, b) in [(x, 1), (x, x)]]
    return table, i, [f(x) for f in functions], shadowed, first, [*(n for n in range(2))]


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: multiples(x) + 1, "what is added to it is a list, not int"),
        (lambda x: multiples(x) < multiples(x), "which has no `__lt__`"),
        (lambda x: x * multiples(x), "which has no `__mul__`"),
        (lambda x: multiples(x)[:: x.sum()], "the step of a slice is an int, not Variable"),
    ],
)
def test_what_lists_of_a_program_do_not_do_is_refused(function, said):
    with pytest.raises(ArgumentTypeError, match=said):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(P))


@alike((P,), (N,))
def test_lists_of_two_lengths_are_made_in_two_branches(x):
    if x.sum() > 0:
        made = [x, x * 2, x * 3]
    else:
        made = [x]
    return paddle.stack(made).sum(axis=0)


@alike((P,), (N,))
def test_a_list_that_grew_is_replaced_in_a_branch(x):
    items = multiples(x)
    if x.sum() > 0:
        items = [x, x * 2]
        items.append(x * 4)
    items.append(x)
    return paddle.stack(items)


@alike((P,))
def test_a_list_is_unpacked(x):
    a, b, c = multiples(x)
    first, *middle, last = multiples(x + 1)
    *rest, end = [a, b, c]
    return a + b * 2 + c * 3, first, paddle.stack(middle), last, rest[1] + end


@pytest.mark.parametrize("names", [2, 4])
def test_a_list_of_another_length_is_not_unpacked(names):
    def pair(x):
        a, b = multiples(x)
        return a + b

    def four(x):
        a, b, c, *_, e = multiples(x)
        return a + b + c + e

    function = paddle.jit.to_static(pair if names == 2 else four, full_graph=True)
    with pytest.raises(ValueError, match=f"{names} values are needed to unpack"):
        function(paddle.ones([2]))


@alike((P,))
def test_rows_are_unpacked(x):
    a, b = x
    return a * 2.0 + b


@alike((P,), (N,))
def test_functions_over_lists(x):
    items = multiples(x)
    doubled = list(map(lambda v: v * 2, items))
    products = tuple(map(lambda v, w: v * w, items, doubled))
    least = 0.0 if all([v.sum() < 2.0 for v in items]) else 1.0
    most = 1.0 if any([v.sum() > 5.0 for v in items]) else 0.0
    return paddle.stack(doubled), paddle.stack(products), x * least, x * most


@alike((P,))
def test_lists_are_summed_and_turned(x):
    items = multiples(x)
    total = reduce(lambda a, b: a + b * 2, items)
    more = reduce(lambda a, b: a * b, items, x)
    added = paddle.add_n(items)
    items.reverse()
    return total, more, added, paddle.stack(items)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_list_is_returned_as_a_list(full_graph, count):
    @paddle.jit.to_static(full_graph=full_graph)
    def function(x, n):
        items = []
        while n > 0:
            items.append(x * n.astype("float32"))
            n = n - 1
        return {"items": items, "x": x}

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    found = function(x, paddle.to_tensor(count))["items"]
    assert type(found) is list
    assert [v.tolist() for v in found] == [[1.0 * n, 2.0 * n] for n in range(count, 0, -1)]
    if count:
        found[0].sum().backward()
        assert x.grad.tolist() == [float(count)] * 2


@alike((P, 3), (P, 1))
def test_a_list_of_one_round_is_of_no_other(x, n):
    rows = []
    for i in range(n):
        columns = []
        for j in range(3):
            columns.append(x * i + j)
        rows.append(paddle.stack(columns))
    return paddle.stack(rows)


@alike((P, 3), (P, 0))
def test_a_list_of_one_round_may_have_been_another_before(x, n):
    held, total = [x], x * 0
    outer = held
    while n > 0:
        held = [x * n]
        held.append(x + n)
        total = total + held[0] * held[1]
        n = n - 1
    return total, outer


@alike((P,), (N,))
def test_rounds_that_a_tensor_may_end_have_lists_of_their_own(x):
    total = x
    for i in range(4):
        parts = [x, x * i]
        parts.append(x + i)
        total = total + sum(parts)
        if total.sum() > 9:
            break
    return total


@alike((P, 3), (P, 1))
def test_lists_grow_within_dictionaries_lists_and_objects(x, n):
    class Holder:
        pass

    held, holder = {"rows": [], "sum": x}, Holder()
    holder.parts = [[x], {"more": [x]}]
    for i in range(n):
        held["rows"].append(x * i)
        held["sum"] = held["sum"] + 1
        holder.parts[0].append(x + i)
        if i > 0:
            holder.parts[1]["more"].extend([x, x * i])
    rows = [held["rows"], holder.parts[0], holder.parts[1]["more"]]
    return [paddle.stack(r) for r in rows], [len(r) for r in rows], held["sum"]


@alike((P, 3), (P, 1))
def test_a_round_may_replace_a_list_by_one_that_it_knows(x, n):
    held, best, groups = [x], [], {0: [], 1: []}
    for i in range(n):
        held = [x * i, x]
        groups[0].append(x * i)
        groups[1] = [x, *groups[1]]
        if i == 1:
            best = [x, x * 2, x]
    return paddle.stack(held), len(best), [paddle.stack(g) for g in groups.values()]


def test_a_list_in_a_tuple_cannot_grow_where_a_tensor_decides():
    def function(x, n):
        held = ([], x)
        for _ in range(n):
            held[0].append(x)
        return held[0]

    law = r"`held\[0\]` stands in a tuple and grows, or shrinks, where a Tensor decides"
    with pytest.raises(ArgumentTypeError, match=law):
        n = paddle.to_tensor(2)
        paddle.jit.to_static(function, full_graph=True)(paddle.ones([2]), n)
