"""Functions of all kinds that are called: the same eagerly, converted and recorded."""

import functools

import scull as paddle
from tests.jit.convert.ways import alike

P, N = [1.0, 2.0], [-1.0, -2.0]


@alike((P,), (N,))
def test_an_inner_function_writes_a_name_around_it(x):
    k = 1

    def inner(y):
        nonlocal k
        if y.sum() > 0:
            k = 2
            return y * k
        k = 5
        return y

    r = inner(x)
    return r, k


@alike((P,), (N,))
def test_a_lambda_branches(x):
    return list(map(lambda v: v * 2 if v.sum() > 0 else v, [x, -x]))


class Net(paddle.nn.Layer):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x


class Net2(Net):
    def __init__(self):
        super().__init__()
        self.s = paddle.nn.Sequential(Net(), Net())

    def forward(self, x):
        return self.s(super().forward(x)) + 1


@alike((P,), (N,))
def test_layers_within_containers_are_converted(x):
    return Net2()(x)


def gen(x):
    for i in range(3):
        if i == 1:
            continue
        yield x * i


@alike((P,), (N,))
def test_a_generator_unrolls(x):
    s = x
    for v in gen(x):
        if s.sum() > 5:
            break
        s = s + v
    return s


def deco(f):
    @functools.wraps(f)
    def w(*a, **k):
        if a[0].sum() > 0:
            return f(*a, **k) * 2
        return f(*a, **k)

    return w


@deco
def inner_d(x, k=3, *, m=2):
    if x.max() > 1:
        k = k + m
    return x * k


@alike((P,), (N,))
def test_a_decorated_function_converts_with_its_decorator(x):
    return inner_d(x, m=4)


@alike((P,), (N,))
def test_arguments_with_defaults_and_names(x, *args, k=2, **kw):
    if x.sum() > 0:
        k = 3
    return x * k


@alike((P,), (N,))
def test_calls_with_stars(x):
    def g(a, *rest, k=1, **kw):
        if a.sum() > 0:
            return a + sum(rest) * k + kw.get("z", 0)
        return a * kw["z"]

    args = (1, 2)
    return g(x, *args, k=3, **{"z": 4})


@alike((P,), (N,))
def test_recursion_that_python_ends(x):
    def fact(n, v):
        if n <= 1:
            return v
        return fact(n - 1, v * n)

    return fact(4, x)


@alike((P,), (N,))
def test_a_partial_function(x):
    def h(a, b):
        if a.sum() > 0:
            return a * b
        return a

    return functools.partial(h, b=3)(x)


class Call:
    def __call__(self, x):
        if x.sum() > 0:
            return x + 1
        return x


@alike((P,), (N,))
def test_an_object_that_can_be_called(x):
    return Call()(x)


class Meth:
    @staticmethod
    def s(x):
        if x.sum() > 0:
            return x * 2
        return x

    @classmethod
    def c(cls, x):
        if x.sum() > 0:
            return cls.s(x)
        return x

    @property
    def p(self):
        return 3


@alike((P,), (N,))
def test_static_methods_class_methods_and_properties(x):
    return Meth.s(x) + Meth().c(x) * Meth().p


@alike((P,), (N,))
def test_a_class_within_a_function(x):
    class A:
        k = 2

        def go(self, v):
            if v.sum() > 0:
                return v * self.k
            return v

    return A().go(x)


@alike((P,), (N,))
def test_calls_within_comprehensions(x):
    def f(v):
        if v.sum() > 0:
            return v
        return -v

    return [f(v) for v in [x, -x]], {k: f(x) for k in "ab"}, sum(f(x * i) for i in range(3))


@alike((P,), (N,))
def test_a_generator_returns_early(x):
    def g(v):
        for i in range(3):
            if i == 2:
                return
            yield v * i

    r = x
    for v in g(x):
        if v.sum() > 1:
            r = r + v
    return r + sum(list(g(x)))


class Memory(paddle.nn.Layer):
    def __init__(self, x):
        super().__init__()
        self.total, self.calls = x, 0

    def forward(self, x):
        self.total = self.total + x
        self.calls += 1
        return self.total


@alike((P,), (N,))
def test_a_layer_called_in_a_branch_keeps_what_it_wrote(x):
    memory = Memory(x)
    if x.sum() > 0:
        memory(x)
    return memory.total * memory(x), memory.calls


@alike((P, 3), (N, 0))
def test_a_layer_called_in_a_graph_loop_remembers(x, n):
    memory = Memory(x)
    for i in range(n):
        if i != 1:
            x = x + memory(x * i)
    return x, memory.total, memory.calls
