"""Branches that tensors or Python decide: the same eagerly, converted and recorded."""

from collections import OrderedDict, namedtuple
from contextlib import nullcontext, suppress

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P,), (N,))
def test_a_branch_sets_a_name(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@alike((P,), (N,))
def test_a_branch_returns_early(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


@alike((P,), (N,), ([0.1, 0.1],))
def test_one_of_three_branches_runs(x):
    s = x.sum()
    if s > 1:
        return x * 2
    elif s > 0:
        y = x
    else:
        y = x * 7
    return y + 1


@alike((P,), (N,))
def test_a_branch_changes_a_number(x):
    k = 1
    if x.sum() > 0:
        k = 3
    return x * k


@alike((P,), (N,))
def test_a_name_is_set_in_one_branch_only(x):
    if x.sum() > 0:
        y = x + 1
    if x.sum() > 0:
        z = y * 3
    else:
        z = x
    return z


@alike((P,), (N,))
def test_a_return_in_try_passes_through_finally(x):
    try:
        if x.sum() > 0:
            return x * 2
        x = x + 1
    finally:
        x = x + 3
    return x


@alike((P,), (N,))
def test_a_return_in_with_ends_the_function(x):
    with nullcontext():
        if x.sum() > 0:
            y = x * 2
        else:
            return x
    return y * x


G = 1


@alike((P,), (N,))
def test_a_branch_changes_a_global_name(x):
    global G
    G = 1
    if x.sum() > 0:
        G = 2
    return x * G


@alike((P,), (N,))
def test_a_branch_changes_items_of_a_list_and_a_dict(x):
    held = [x, x + 1]
    d = {"a": x}
    if x.sum() > 0:
        held[0] = x * 2
        d["a"] = held[1]
    return held, d


@alike((P,), (N,))
def test_a_list_that_grows_in_a_branch_keeps_its_length(x):
    held = [x]
    if x.sum() > 0:
        held.append(x * 2)
    return held[-1] + len(held)


class Thing:
    def __init__(self):
        self.v = 0
        self.__p = 2

    def go(self, x):
        self.v = x
        if x.sum() > 0:
            self.v = x * self.__p
            self.__p = self.__p + 1
        return self.v * self.__p


@alike((P,), (N,))
def test_a_branch_changes_attributes_also_private_ones(x):
    t = Thing()
    return t.go(x)


Pair = namedtuple("Pair", "a b")


@alike((P,), (N,))
def test_a_named_tuple_is_joined_field_by_field(x):
    p = Pair(x, 1)
    if x.sum() > 0:
        p = Pair(x * 2, 1)
    return p.a * p.b


@alike((P,), (N,))
def test_an_ordered_dict_is_joined_key_by_key(x):
    d = OrderedDict(a=x)
    if x.sum() > 0:
        d["a"] = x * 3
        d["b"] = x
    else:
        d["b"] = x * 2
    return d["a"] + d["b"]


@alike((P,), (N,))
def test_conditional_expressions_nest(x):
    y = x * 2 if x.sum() > 0 else (x * 3 if x.max() > -1.5 else x)
    return y


@alike((P,), (N,))
def test_numbers_that_differ_become_tensors(x):
    a, b, c = 1, 2.5, True
    if x.sum() > 0:
        a, b, c = 2, 0.5, False
    return x * a + b, a, c


@alike((P,), (N,))
def test_a_name_deleted_in_one_branch_is_there_in_the_other(x):
    y = x + 1
    if x.sum() > 0:
        z = y * 2
        del y
    else:
        z = y
    return z


@alike((P,), (N,))
def test_names_nobody_reads_later_may_be_anything(x):
    if x.sum() > 0:
        name = "pos"
        x = x + len(name)
    else:
        name = 3
        x = x + name
    return x


@alike((P,), (N,))
def test_an_equal_text_stays_a_text(x):
    mode = "a"
    if x.sum() > 0:
        mode = "a"
        y = x
    else:
        y = -x
    return y if mode == "a" else x


@alike((P,), (N,))
def test_match_decides_in_python(x):
    k = 2
    match k:
        case 1:
            return x
        case 2 if x is not None:
            y = x * 2
        case _:
            return -x
    if y.sum() > 0:
        y = y + 1
    return y


@alike((P,), (N,))
def test_returns_and_names_mix_in_branches(x):
    if x.sum() > 2:
        return x
    elif x.sum() > 1:
        y = 1
    elif x.sum() > 0:
        return x * 2
    else:
        if x.max() > 0:
            y = 2
        else:
            return x * 3
    return x * y


@alike((P,), (N,))
def test_branches_return_tuples(x):
    if x.sum() > 0:
        return x, x + 1
    return x * 2, x


@alike((P,), (N,))
def test_branches_return_dicts(x):
    if x.sum() > 0:
        return {"a": x, "b": [x, 1]}
    return {"a": x * 2, "b": [x, 2]}


@alike((P,), (N,))
def test_items_are_written_in_branches(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 3.0
    else:
        y[1] += 4.0
    return y


class Counter:
    def __init__(self, x):
        self.total = x
        self.items = []
        self.n = 0

    def add(self, v):
        if v.sum() > 0:
            self.total = self.total + v
            self.n += 1
        return self


@alike((P,), (N,))
def test_methods_change_their_objects_in_branches(x):
    c = Counter(x)
    c.add(x).add(-x).add(x * 2)
    return c.total, c.n


@alike((P,), (N,))
def test_an_inner_function_sees_what_a_branch_changed(x):
    k = 1

    def f(v):
        return v * k

    if x.sum() > 0:
        k = 5
    return f(x)


@alike((P,), (N,))
def test_an_inner_function_changes_names_around_it(x):
    n = x

    def bump(v):
        nonlocal n
        n = n + v

    if x.sum() > 0:
        bump(x)
    for _ in range(2):
        bump(1)
    return n


class Parent(paddle.nn.Layer):
    def forward(self, x):
        return x * 2


class Child(Parent):
    def forward(self, x):
        if x.sum() > 0:
            return super().forward(x)
        for _ in range(2):
            x = super().forward(x)
        return x


@alike((P,), (N,))
def test_super_works_within_branches_and_loops(x):
    return Child()(x)


@alike((P,), (N,))
def test_annotated_names_are_set_in_branches(x):
    k: int = 1
    y: paddle.Tensor
    if x.sum() > 0:
        k: int = 2
        y = x
    else:
        y = -x
    return y * k


@alike((P,), (N,))
def test_a_dict_gets_a_key_in_a_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x * 2
    else:
        d["b"] = x * 3
        d["a"] = x * 4
    return d["a"] + d["b"]


@alike((P,), (N,))
def test_an_exception_is_caught_in_a_branch(x):
    if x.sum() > 0:
        try:
            {}["key"]
        except KeyError as error:
            x = x * len(error.args)
    return x


@alike((P,), (N,))
def test_modules_are_imported_in_branches(x):
    if x.sum() > 0:
        import math as m
    else:
        import math as m
    return x * m.floor(2.5)


@alike((P,), (N,))
def test_what_follows_a_with_runs_when_it_swallows_an_exception(x):
    with suppress(KeyError):
        return {}["key"]
    with suppress(KeyError):
        raise KeyError
    if x.sum() > 0:
        return x * 2
    return x
