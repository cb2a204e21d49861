"""Generators unroll; what stands between their `yield` is recorded: the same in all ways."""

from functools import cached_property

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


def scaled(x):
    for i in range(3):
        y = x + i
        if y.sum() > 3:
            y = y * 10
        elif y.sum() > 1:
            y = -y
        yield y


@alike((P,), (N,))
def test_a_branch_within_the_loop_of_a_generator(x):
    return sum(scaled(x)), [v.max() for v in scaled(-x)]


def doubling(x, n):
    total = x
    while total.sum() < 20:
        if total.sum() > 15:
            break
        total = total + 3
    yield total
    for i in range(n):
        if i == 1:
            continue
        total = total + i
    else:
        total = total * 2
    yield total
    if n is None:
        return
    yield total + 1


@alike((P, 3), (N, 0))
def test_loops_of_tensors_between_the_values(x, n):
    a, *b = doubling(x, n)
    return a, b


def walking(x):
    last = None
    for row in x:
        if last is None:
            last = row
            continue
        for k in range(4):
            if k == 2:
                break
            if row > last:
                last = last + row * k
        if last is row:
            break
        yield last
    yield from scaled(last)


@alike((P,), (N,), unknown=(False,))  # rows that are not counted do not unroll
def test_jumps_of_python_stay_around_what_is_recorded(x):
    found = x * 0
    for i, v in enumerate(walking(x)):
        if v.sum() > 0:
            found = found + v * i
    return found


def counting(x):
    seen = 0

    def note(v):
        nonlocal seen
        if v.sum() > 0:
            seen = seen + 1
        return v

    try:
        for i in (1, -1):
            if x.sum() > 0:
                y = note(x * i)
            else:
                y = note(x)
            yield y, seen
    finally:
        x = x * 2
    yield x, seen


@alike((P,), (N,))
def test_a_generator_shares_names_with_functions_within(x):
    return list(counting(x))


@alike((P,), (N,))
def test_a_generator_takes_what_is_sent(x):
    def adding(y):
        while True:
            got = yield y
            if got is None:
                return
            if got.sum() > 1:
                y = y + got
            else:
                y = y - got

    source = adding(x)
    first = next(source)
    return first, source.send(x * 2), source.send(-x)


class Kept:
    calls = 0

    def __init__(self, x):
        self.x = x

    @cached_property
    def positive(self):
        self.calls = self.calls + 1
        if self.x.sum() > 0:
            return self.x
        return -self.x


@alike((P,), (N,))
def test_what_a_property_keeps_is_computed_once(x):
    kept = Kept(x)
    return kept.positive + kept.positive, kept.calls


@alike((P,), (N,))
def test_the_largest_of_what_a_generator_gives(x):
    largest = max(v * v for v in (x.sum(), x.max() + 1, 2.5))
    return largest, min(v.sum() for v in scaled(x)), max({1, 3}), min(iter([4, 2]), default=0)


def places(x):
    found = [v.sum() for v in scaled(x)]
    return max(found) - min(found)


@alike((P,), (N,))
def test_the_largest_of_a_list(x):
    return places(x), max(k for k in (1, 2, 3) if k < 3)


@alike((P,), (N,))
def test_the_largest_number_beside_what_has_no_end(x):
    endless = -paddle.log(x.sum() * 0.0).detach()
    return max(endless, 2.0), min(2.0, endless), max(x.sum(), x.sum() * 1.0)
