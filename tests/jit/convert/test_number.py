"""Numbers that a Tensor chooses stand in a Program as Python has them: to the last bit."""

import operator

import numpy as np
import pytest

import scull as paddle

KINDS = ["float32", "float64", "int32", "int64"]


def chosen(x):
    y = 0.1
    if x.sum() > 0:
        y = 0.7
    return [
        *(x * y, x + y, x / y, y / x, y - x, x - y, x // y, x % y, x > y, x**y),
        *(y * 2, y + 0.1, y - 0.1, y / 3, 1 / y, y**2, -y, y > 0.7, y == 0.7, y // 0.2, y % 0.2),
    ]


def large(x):
    y = 16777217.0
    if x.sum() > 0:
        y = 16777219.0
    return x * y, x + y, x / y, y / x, y - x, x - y, y + 1


def whole(x):
    n = 3
    if x.sum() > 0:
        n = 16777219
    return [
        *(n + 1, n * 16777217, n // 2, n % 7, n / 2, n - 16777217, n == 16777219, n > 16777218),
        *(x * n, x / n, x + n, x - n, n - x, n / x),
    ]


def counted(x):
    s = 1.0
    i = paddle.zeros([], "int64")
    while i < 3:
        s = s * 0.1 - 0.3
        i = i + 1
    return s, x * s, x + s, x - s, x / s, s / x, s - x


def outside_float32(x):
    y, z = 1e-50, 1e50
    if x.sum() > 0:
        y, z = 3e-50, 3e50
    return y * 1e50, z / 1e50, z * 1e-50


def asked(x):
    y = float(x.sum())
    return y * 0.1, y + 0.1, x * y, x / y, int(x.sum()) * 16777217


def constants(x):
    return x + 0.1, x * 0.1, x - 0.1, 0.1 - x, x / 0.1, x / 3, 0.1 / x, 1 / x


def whole_constants(x):
    return x + 16777217, x * 16777217, x - 16777217, 16777217 - x, x > 16777217


FUNCTIONS = [chosen, large, whole, counted, outside_float32, asked, constants, whole_constants]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers_are_those_of_eager_mode_bit_for_bit(function, kind):
    x = paddle.to_tensor(np.array([1, 2], kind))
    static = paddle.jit.to_static(function, full_graph=True)(x)
    for i, (a, b) in enumerate(zip(function(x), static, strict=True)):
        if isinstance(a, paddle.Tensor):
            assert b.dtype is a.dtype, i
            np.testing.assert_array_equal(b.numpy(), a.numpy(), err_msg=str(i))
        else:
            assert b.item() == a, i


def test_constants_that_attributes_hold_stay_in_one_operator():
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            _ = paddle.static.data("x", [2], "float32") * 0.1
            _ = paddle.static.data("y", [2], "float64") * 0.5
            _ = paddle.static.data("z", [2], "int64") * 3
        assert [o.type for o in program.global_block().ops] == ["scale"] * 3
    finally:
        paddle.disable_static()


def test_a_saved_program_keeps_all_bits_of_a_number(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return x * 0.1, x + 16777217.1, 0.1 / x

    x = paddle.to_tensor([1.0, 2.0], "float64")
    spec = [paddle.static.InputSpec([None], "float64")]
    paddle.jit.save(paddle.jit.to_static(Net(), input_spec=spec), str(tmp_path / "net"))
    for a, b in zip(Net()(x), paddle.jit.load(str(tmp_path / "net"))(x), strict=True):
        np.testing.assert_array_equal(b.numpy(), a.numpy())


OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.pow, operator.lt, operator.ge, operator.eq, operator.ne),
]
PAIRS = [(a, b) for a in ("bool", *KINDS, "float16") for b in ("int64", "float32", "float64")]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_tensors_of_two_element_types_meet_as_in_eager_mode(left, right):
    def function(x, y):
        return [f(x, y) for f in found]

    x, y = paddle.to_tensor(np.array([1, 1], left)), paddle.to_tensor(np.array([1, 3], right))
    found = [f for f in OPERATORS if is_defined(f, x, y)]
    both_ways(function, x, y)


@pytest.mark.parametrize("kind", [*KINDS, "float16"])
@pytest.mark.parametrize("number", [2, 2.0, 0.3, 1.5, -3, True])
def test_a_tensor_meets_a_number_as_in_eager_mode(kind, number):
    def function(x):
        return [f(x, number) for f in found] + [f(number, x) for f in reflected]

    x = paddle.to_tensor(np.array([1, 3], kind))
    found = [f for f in OPERATORS if is_defined(f, x, number)]
    reflected = [f for f in OPERATORS if is_defined(f, number, x)]
    both_ways(function, x)


def is_defined(f, x, y):
    """Whether eager mode takes these operands."""
    try:
        f(x, y)
    except (TypeError, ValueError):
        return False
    return True


def both_ways(function, *arguments):
    """Check that a Program gives the bits of eager mode, operator by operator."""
    static = paddle.jit.to_static(function, full_graph=True)(*arguments)
    for i, (a, b) in enumerate(zip(function(*arguments), static, strict=True)):
        assert b.dtype is a.dtype, (i, a, b)
        np.testing.assert_array_equal(b.numpy(), a.numpy(), err_msg=str(i))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_arrays_of_numpy_are_operands_as_in_eager_mode(kind, other):
    array = np.array([3, 4], other)
    both_ways(lambda x: [x * array, x + array, x > array], paddle.to_tensor(np.array([1, 2], kind)))


def test_an_array_stays_as_it_was_when_it_was_recorded():
    array = np.ones(2, "float32")
    function = paddle.jit.to_static(lambda x: x * array, full_graph=True)
    function(paddle.ones([2]))
    array[:] = 5
    assert function(paddle.ones([2])).tolist() == [1.0, 1.0]


def test_a_number_that_is_whole_in_one_branch_alone_stays_a_number():
    @paddle.jit.to_static(full_graph=True)
    def function(x):
        n = 2
        if x.sum() > 0:
            n = 1.5
        return x * n, n

    for sign, factor in ((1.0, 1.5), (-1.0, 2.0)):
        found, n = function(paddle.to_tensor([sign]))
        assert found.dtype == paddle.float32
        assert (found.item(), float(n)) == (sign * factor, factor)


def test_a_tensor_that_a_size_is_asked_for_is_no_number():
    spec = [paddle.static.InputSpec([None, 4])]

    @paddle.jit.to_static(input_spec=spec, full_graph=True)
    def function(x):
        n = x.shape[0]
        held = paddle.to_tensor(n), paddle.full([], n), paddle.arange(n)
        return paddle.full([n], 2.0) * n, paddle.ones([n + 1]) / n, *[v * 1.5 for v in held]

    found = function(paddle.ones([3, 4]))
    assert [v.dtype.name for v in found] == ["float32"] * 5
    assert [v.tolist() for v in found[:1]] == [[6.0, 6.0, 6.0]]
