"""What called functions change is state, as if it were written here: lists, attributes, names."""

import collections

import pytest

import scull as paddle
from scull.errors import ArgumentTypeError
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


def grow(values, v):
    values.append(v)


def grow_twice(values, v):
    grow(values, v)
    values += [v * 2]


def put(table, key, v):
    table[key] = v


class Box:
    """Any object of a user."""

    def __init__(self, x):
        self.total, self.items, self.count, self.table = x * 0, [], 0, {"a": x}

    def add(self, v):
        self.total = self.total + v
        self.count += 1
        self.table["a"] = self.table["a"] + v

    def put(self, v):
        self.items.append(v)

    def replace(self, v):
        self.total = v
        self.items = [v]
        self.items.append(v * 2)


class Outer:
    """An object that holds another."""

    def __init__(self, x):
        self.box = Box(x)

    def add(self, v):
        self.box.add(v)
        self.box.put(v)


@alike((P,), (N,))
def test_a_called_function_fills_a_list_in_a_branch(x):
    out, other = [x], []
    if x.sum() > 0:
        grow_twice(out, x)
        grow(other, x)
    else:
        grow(other, -x)
    return paddle.stack(out), paddle.stack(other), len(out)


@alike((P,))
def test_a_called_function_fills_a_list_in_a_loop(x):
    out = []
    i = paddle.zeros([], "int64")
    while i < 3:
        grow(out, x * i)
        i = i + 1
    return paddle.stack(out)


@alike((P,), (N,))
def test_a_called_function_fills_a_dictionary(x):
    table = {"k": x}
    if x.sum() > 0:
        put(table, "k", x * 2)
    i = paddle.zeros([], "int64")
    while i < 3:
        put(table, "k", table["k"] * 2)
        i = i + 1
    return table


@alike((P,), (N,))
def test_methods_of_objects_write_in_branches(x):
    box = Box(x)
    if x.sum() > 0:
        box.add(x)
    for _ in range(2):
        if x[0] > 0.5:
            box.replace(x * 3)
    return box.total, box.count, box.table


@alike((P,))
def test_methods_of_objects_write_in_loops(x):
    box = Box(x)
    for i in range(paddle.full([], 3, "int64")):
        box.add(x)
        box.put(x * i)
    return box.total, box.count, box.table, paddle.stack(box.items)


@alike((P,), (N,))
def test_objects_within_objects_are_found(x):
    outer = Outer(x)
    for i in range(paddle.full([], 2, "int64")):
        if x.sum() > i:
            outer.add(x)
    return outer.box.total, outer.box.count, outer.box.table


@alike((P,), (N,))
def test_lists_of_objects_within_objects_grow(x):
    outer = Outer(x)
    if x.sum() > 0:
        outer.add(x)
    return paddle.stack([x] + outer.box.items)


@alike((P,), (N,))
def test_functions_share_containers_of_their_surroundings(x):
    sums = {"x": x * 0, "n": 0}

    def update(v):
        sums["x"] = sums["x"] + v
        sums["n"] += 1

    for r in range(3):
        if x.sum() > r:
            update(x)
    return sums


SHARED = []


@alike((P,), (N,))
def test_lists_of_the_module_are_found(x):
    SHARED.clear()

    def share(v):
        SHARED.append(v)

    if x.sum() > 0:
        share(x)
    else:
        share(x * 2)
    return SHARED[0]


@alike((P,), (N,))
def test_other_containers_keep_their_kind(x):
    lists, line, ordered = collections.defaultdict(list), collections.deque([x]), set()
    if x.sum() > 0:
        lists["a"].append(x)
        line.appendleft(x * 2)
        ordered.add(1)
    else:
        lists["a"].append(-x)
        line.append(x * 3)
        ordered.add(1)
    lists["b"].append(line[0])
    return lists["a"], lists["b"], line[1], len(ordered)


@alike((P,), (N,))
def test_setattr_is_seen(x):
    box = Box(x)

    def change():
        setattr(box, "total", x * 5)  # noqa: B010

    if x.sum() > 0:
        change()
    return box.total


@alike((P,), (N,))
def test_a_list_that_nobody_reads_later_is_restored_between_branches(x):
    y = paddle.sin(x)
    items = [x * 1.0]
    if x.sum() < 0.5:
        return y, x
    k = 0
    while k < 4 and y.sum() > -0.5:
        k = k + 1
        items[0] = paddle.tanh(items[-1] * y)
    return y, x * 2


def test_a_set_that_differs_between_branches_is_refused():
    def function(x):
        seen = set()
        if x.sum() > 0:
            seen.add(1)
        return len(seen)

    with pytest.raises(ArgumentTypeError, match="`seen` is set of 1 where the condition holds"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(P))


def summing(x):
    total = x * 0

    def add(v):
        nonlocal total
        total = total + v
        return total

    return add


@alike((P,), (N,))
def test_a_called_function_binds_a_name_around_it_in_a_branch(x):
    add = summing(x)
    for row in x:
        if row > 0:
            add(row)
        else:
            add(row * -2)
    return add(x)


@alike((P,))
def test_a_called_function_binds_a_name_around_it_in_a_loop(x):
    add = summing(x)
    i = paddle.zeros([], "int64")
    while i < 3:
        add(x * i)
        i = i + 1
    return add(x)


latest = None


def note(v):
    global latest
    latest = v if latest is None else latest + v


@alike((P,), (N,))
def test_a_called_function_binds_a_name_of_its_module(x):
    global latest
    latest = x
    if x.sum() > 0:
        note(x * 2)
    found, latest = latest, None
    return found


class Sized:
    """An object with properties, one of which a subclass computes anew."""

    limit = 2.0

    def __init__(self, x):
        self.x = x

    @property
    def sign(self):
        if self.x.sum() > 0:
            return self.x * 0 + 1
        return self.x * 0 - 1

    @property
    def scaled(self):
        return self.x * self.limit


class Larger(Sized):
    @property
    def scaled(self):
        found = super().scaled
        while found.abs().sum() < 100:
            found = found * self.limit
        return found


@alike((P,), (N,))
def test_what_properties_compute_is_converted(x):
    small, large = Sized(x), Larger(x)
    return small.sign * small.scaled, large.sign + large.scaled, large.x


class Level:
    """Keeps what is set, turned around where that is negative."""

    def __init__(self, x):
        self.kept = x

    @property
    def height(self):
        return self.kept if self.kept.max() > 4 else self.kept * 3

    @height.setter
    def height(self, value):
        if value.sum() < 0:
            value = -value
        self.kept = value


@alike((P,), (N,), ([3.0, 4.0],))
def test_what_properties_set_is_converted(x):
    level = Level(x)
    level.height = x + 1
    if x.max() > 1:
        level.height = x - 9
    level.height *= 2
    return level.height, level.kept
