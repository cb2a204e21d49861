"""What public functions refuse as the reference does, by an error that its users catch."""

import inspect

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, ScullError
from tests.tensor.public_call import declared, shown_calls
from tests.tensor.test_hostile import EVERY

F = paddle.nn.functional


@pytest.fixture
def static():
    """Static mode, and a Program to record into."""
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        yield
    paddle.disable_static()


X = paddle.ones([2, 3, 4, 5])


@pytest.mark.parametrize(
    ("source", "destination", "error", "law"),
    [
        ([1, 0], [2], AssertError, "name as many axes"),
        ([1, 1], [0, 2], ArgumentError, "`source` names each axis once"),
        ([0, 1], [2, -2], ArgumentError, "`destination` names each axis once"),
        ([0.5], [1], AssertError, "`source` holds integers"),
        ([2, 1], [4, 3], AssertError, r"`destination` holds integers in \[-4, 4\)"),
    ],
)
def test_axes_that_are_moved_are_there_and_each_named_once(source, destination, error, law):
    with pytest.raises(error, match=law):
        paddle.moveaxis(X, source, destination)


def test_padding_asserts_an_order_of_axes_that_fits():
    with pytest.raises(AssertionError, match="should be in \\['NCL', 'NLC'\\]"):
        paddle.nn.Pad1D([1, 1], data_format="NHWC")(X[0])


def test_a_step_function_takes_tensors_of_one_element_type_alone():
    with pytest.raises(ValueError, match="argument `x` must be Tensor, but got int"):
        paddle.heaviside(1, X)
    with pytest.raises(ValueError, match="argument `y` must be Tensor, but got int"):
        paddle.heaviside(X, 1)
    with pytest.raises(ValueError, match="x is float32 and y is float64; cast one"):
        paddle.heaviside(X, X.astype("float64"))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "complex64"])
def test_arrays_are_assigned_of_the_element_types_that_a_program_holds(dtype):
    with pytest.raises(TypeError, match=f"not {dtype}"):
        paddle.assign(np.ones(2, dtype))


def test_a_list_of_variables_is_not_assigned():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            with pytest.raises(ArgumentTypeError, match="a list of Variables"):
                paddle.assign([x, x])
    finally:
        paddle.disable_static()


def test_numbers_as_many_as_an_operand_has_are_fractions_in_sizes_that_are_listed():
    draw = paddle.tensor.random.uniform_random_batch_size_like
    found = draw(X, [4, 9, 7], "float64", input_dim_idx=3, output_dim_idx=1, min=2.0, max=3.0)
    assert (found.shape, found.dtype) == ([4, 5, 7], paddle.float64)
    assert 2 <= float(found.min()) < float(found.max()) < 3
    for wrong in ([np.ones(2), [2]], [X, "ab"], [X, [2], "int32"], [X.astype("int32"), [2]]):
        with pytest.raises(TypeError):
            draw(*wrong)


IN_PROGRAMS = {  # x and y are [2, 3]
    "a place beside an axis": lambda x, y: paddle.take_along_axis(x, y.astype("int64"), 5),
    "a target beside an axis": lambda x, y: paddle.put_along_axis(x, y.astype("int64"), 1.0, 5),
    "an axis taken apart": lambda x, y: paddle.unflatten(x, 5, [2, 3]),
    "sums of unlike axes": lambda x, y: paddle.tensordot(x, y, 1),
    "fewer than no axes": lambda x, y: paddle.tensordot(x, y, -1),
    "points of unlike spaces": lambda x, y: paddle.cdist(x, paddle.ones([2, 4])),
    "points alone": lambda x, y: paddle.cdist(x, paddle.ones([3])),
    "a norm of no order": lambda x, y: paddle.cdist(x, y, -1.0),
    "a gamma function of no dimension": lambda x, y: paddle.multigammaln(x, 0),
    "a diagonal that is longer": lambda x, y: paddle.diagonal_scatter(x, paddle.ones([3])),
    "a diagonal of one axis": lambda x, y: paddle.diagonal_scatter(x, paddle.ones([2]), 0, 1, 1),
    "a diagonal of axis 5": lambda x, y: paddle.diagonal_scatter(x, paddle.ones([2]), 0, 5, 1),
    "slopes of other channels": lambda x, y: F.prelu(x, paddle.ones([4])),
    "slopes of channels that are not": lambda x, y: F.prelu(x[0], paddle.ones([3])),
    "slopes in two axes": lambda x, y: F.prelu(x, paddle.ones([1, 3])),
    "a picture's order for a line": lambda x, y: F.pad(x.unsqueeze(0), [1, 1], "reflect"),
    "a way to pad": lambda x, y: F.pad(x.unsqueeze(0), [1, 1], "bad", data_format="NCL"),
}


@pytest.mark.parametrize("name", IN_PROGRAMS)
def test_what_paddle_asserts_is_an_assertion(name):
    with pytest.raises(AssertionError):
        IN_PROGRAMS[name](paddle.ones([2, 3]), paddle.ones([2, 3]))


@pytest.mark.parametrize("name", IN_PROGRAMS)
def test_what_paddle_asserts_is_an_assertion_in_a_program(name, static):
    x, y = (paddle.static.data(n, [2, 3], "float32") for n in "xy")
    with pytest.raises(AssertionError):
        IN_PROGRAMS[name](x, y)


@pytest.mark.parametrize(("count", "axis"), [(2, 1), (0, 0), (-1, 0)])
def test_a_program_asserts_that_pieces_are_equal(count, axis, static):
    x = paddle.static.data("x", [2, 3], "float32")
    with pytest.raises(AssertionError, match=r"does not split into|not above 0"):
        paddle.split(x, count, axis)


@pytest.mark.parametrize("index", [1.5, "a", (None, 1.5), {}])
def test_what_is_no_index_of_a_program_is_an_index_error(index, static):
    x = paddle.static.data("x", [2, 3], "float32")
    with pytest.raises(IndexError, match="a tensor is indexed by integers"):
        x[index]


def test_a_variance_below_zero_is_refused():
    x = paddle.ones([3])
    with pytest.raises(ValueError, match="negative"):
        F.gaussian_nll_loss(x, x, paddle.to_tensor([-1.0, 1.0, 2.0]))
    assert F.gaussian_nll_loss(x, x, paddle.to_tensor([0.0, 1.0, 2.0])).shape == []


def test_sizes_are_whole_numbers_from_0_on():
    with pytest.raises(TypeError, match="num_columns should be a non-negative int, not -1"):
        paddle.eye(2, -1)
    with pytest.raises(TypeError, match="num_rows should be a non-negative int, not -2"):
        paddle.eye(-2)
    with pytest.raises(ValueError, match=r"`minlength` is one integer, not int64\[2\]"):
        paddle.bincount(paddle.to_tensor([1, 2]), minlength=paddle.to_tensor([4, 5]))
    least = paddle.to_tensor([4])
    assert paddle.bincount(paddle.to_tensor([1, 2]), minlength=least).tolist() == [0, 1, 1, 0]


WITHOUT_VALUES = ("is_complex", "is_floating_point", "is_integer", "is_tensor", "rank")
BY_ANOTHER_LAW = ("as_strided", "cauchy_", "geometric_", "normal_", "tolist")


@pytest.mark.parametrize("module, name", EVERY, ids=lambda x: getattr(x, "__name__", x))
def test_eager_mode_says_of_variables_that_they_have_no_values(module, name):
    function = getattr(module, name)
    for call in shown_calls(module, name)[:1]:
        paddle.enable_static()
        with paddle.static.program_guard(paddle.static.Program()):
            arguments = {n: declared(v, n) for n, v in call.items()}
        paddle.disable_static()
        if name in WITHOUT_VALUES or "var " not in str(arguments):
            continue
        law = None if name in BY_ANOTHER_LAW else "is a Variable, and eager mode computes"
        bound = inspect.signature(function).bind_partial()
        bound.arguments.update(arguments)
        with pytest.raises(ScullError, match=law):
            function(*bound.args, **bound.kwargs)


def test_eager_mode_refuses_variables_beside_tensors_and_in_lists(static):
    v = paddle.static.data("v", [2, 3])
    paddle.disable_static()
    t = paddle.ones([2, 3])
    calls = (
        *(lambda: t * v, lambda: v * t, lambda: t @ v.T, lambda: v[0], lambda: v.astype("int32")),
        *(lambda: paddle.concat([t, v]), lambda: paddle.nn.Linear(3, 2)(v), lambda: v.cpu()),
    )
    for call in calls:
        with pytest.raises(ArgumentTypeError, match="`v` is a Variable, and eager mode computes"):
            call()
