"""Indexing and assignment: values as NumPy's, views, and the gradients of both sides."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, RangeError, ShapeError

MASK = np.array([[True, False, True], [False, True, True]])
LAST = [True, False, False, True]

INDICES = [
    0,
    -1,
    np.int64(1),
    slice(None),
    slice(1, None),
    slice(-1, None),
    slice(None, None, 2),
    slice(None, None, -1),
    None,
    ...,
    (),
    True,
    False,
    (0, 1),
    (0, 1, 2),
    (0, slice(1, 3)),
    (slice(None), 1),
    (..., -1),
    (..., None, 1),
    (None, 0, None),
    (slice(0, 1), slice(None, None, -2), slice(3, 0, -1)),
    ([0, 1], [1, 2]),
    (slice(None), [0, 2]),
    (slice(None), [0, 1], [1, 2]),
    ([0, 1], slice(None), [1, 2]),
    (..., [0, 3]),
    MASK,
    (slice(None), [True, False, True]),
    (..., LAST),
    ([True, False], [0, 2]),
    [],
    range(2),
]
REPEATED = [[0, 1, 1], [[0, 1], [1, 0]], (slice(None), [[0, 1], [1, 2]])]
# Where the index has a number beside a list, the number goes first here and in the reference.
NUMBER_FIRST = [((0, slice(None), [1, 2]), (3, 2)), ((slice(None), 0, [1, 2]), (2, 2))]


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape) + 1


def lists_as_arrays(index):
    """`index` with NumPy's own reading of lists and ranges."""
    if isinstance(index, tuple):
        return tuple(map(lists_as_arrays, index))
    if isinstance(index, list | range):
        return np.array(index, dtype=None if len(index) else "int64")
    return index


@pytest.mark.parametrize("index", INDICES + REPEATED, ids=repr)
def test_reading_gives_what_numpy_gives(index):
    array = numbers(2, 3, 4)
    found = paddle.to_tensor(array)[index]
    np.testing.assert_array_equal(found.numpy(), array[lists_as_arrays(index)])


@pytest.mark.parametrize("index", INDICES + REPEATED, ids=repr)
def test_the_gradient_of_what_is_read_goes_where_it_was_read(index):
    array = numbers(2, 3, 4)
    x = paddle.to_tensor(array, stop_gradient=False)
    found = x[index]
    weights = numbers(*found.shape)
    (found * paddle.to_tensor(weights)).sum().backward()
    expected = np.zeros_like(array)
    np.add.at(expected, lists_as_arrays(index), weights)
    np.testing.assert_array_equal(x.grad.numpy(), expected)


@pytest.mark.parametrize("index", INDICES + REPEATED, ids=repr)
def test_writing_a_number_changes_what_numpy_changes(index):
    array = numbers(2, 3, 4)
    x = paddle.to_tensor(array)
    x[index] = -1.0
    array[lists_as_arrays(index)] = -1.0
    np.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("index", INDICES + REPEATED, ids=repr)
def test_writing_a_tensor_changes_what_numpy_changes(index, recorded):
    array = numbers(2, 3, 4)
    x = paddle.to_tensor(array, stop_gradient=not recorded) * 1.0
    value = -numbers(*array[lists_as_arrays(index)].shape)
    x[index] = paddle.to_tensor(value)
    array[lists_as_arrays(index)] = value
    np.testing.assert_array_equal(x.numpy(), array)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_a_written_value_gets_the_gradient_and_what_it_replaced_gets_none(index):
    array = numbers(2, 3, 4)
    x = paddle.to_tensor(array, stop_gradient=False)
    value = paddle.to_tensor(numbers(*x[index].shape), stop_gradient=False)
    y = x * 1.0
    y[index] = value
    weights = numbers(2, 3, 4)
    (y * paddle.to_tensor(weights)).sum().backward()
    kept = np.ones((2, 3, 4))
    kept[lists_as_arrays(index)] = 0
    np.testing.assert_array_equal(value.grad.numpy(), weights[lists_as_arrays(index)])
    np.testing.assert_array_equal(x.grad.numpy(), weights * kept)


def test_a_value_that_is_stretched_gets_the_sum_of_its_gradients():
    x = paddle.zeros([2, 3]) * 1.0
    value = paddle.to_tensor([1.0], stop_gradient=False)
    x[:, 1:] = value
    assert not x.stop_gradient
    x.sum().backward()
    assert value.grad.tolist() == [4.0]


@pytest.mark.parametrize(("index", "shape"), NUMBER_FIRST, ids=repr)
def test_a_number_beside_a_list_is_taken_first(index, shape):
    x = paddle.to_tensor(numbers(2, 3, 4))
    assert tuple(x[index].shape) == shape
    y = paddle.zeros([2, 3, 4])
    y[index] = x[index]
    np.testing.assert_array_equal(y[index].numpy(), x[index].numpy())


@pytest.mark.parametrize("index", [0, (0, 1), slice(1, 3), (..., 0), None, (slice(None, None, 2),)])
def test_numbers_and_slices_give_views(index):
    x = paddle.to_tensor(numbers(4, 3))
    view = x[index]
    view.fill_(-5.0)
    assert (x.numpy() == -5.0).sum() == view.size


@pytest.mark.parametrize("index", [[0], [True, False, False]])
def test_lists_and_masks_give_copies(index):
    x = paddle.to_tensor(numbers(3, 3))
    x[index].fill_(-5.0)
    assert (x.numpy() > 0).all()


def test_tensors_serve_as_numbers_slices_and_lists():
    x = paddle.to_tensor(numbers(4, 3))
    one, two = paddle.to_tensor(1), paddle.to_tensor([2])
    np.testing.assert_array_equal(x[one].numpy(), numbers(4, 3)[1])
    np.testing.assert_array_equal(x[one : paddle.to_tensor(3)].numpy(), numbers(4, 3)[1:3])
    np.testing.assert_array_equal(x[two].numpy(), numbers(4, 3)[[2]])
    np.testing.assert_array_equal(x[x > 4.0].numpy(), np.arange(5.0, 13.0))


def test_repeated_indices_add_up_their_gradients():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x[[0, 0, 1]].sum().backward()
    assert x.grad.tolist() == [2.0, 1.0]


def test_the_second_derivative_of_a_window_is_right():
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    (first,) = paddle.grad((x[1:] * x[1:] * x[1:]).sum(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    assert second.tolist() == [0.0, 12.0, 18.0]


def test_a_written_value_takes_the_element_type_of_the_tensor():
    x = paddle.to_tensor([1, 2])
    x[0] = 2.7
    x[1] = paddle.to_tensor(3.9)
    assert x.tolist() == [2, 3]


@pytest.mark.parametrize("recorded", [False, True])
def test_every_write_counts_as_a_change(recorded):
    x = paddle.to_tensor(numbers(2, 2), stop_gradient=not recorded) * 1.0
    assert x.inplace_version == 0
    x[0] = 1.0
    x[[0, 1], [0, 1]] = 2.0
    x[0][1] = 3.0
    assert x.inplace_version == 3


@pytest.mark.parametrize(
    ("error", "law", "index"),
    [
        (RangeError, r"index 5 is outside \[-2, 2\)", 5),
        (RangeError, "outside", [0, 5]),
        (RangeError, "4 indices are too many", (0, 0, 0, 0)),
        (RangeError, "part 0 of this index is str", "a"),
        (RangeError, "part 1 of this index is float", (0, 1.5)),
        (ArgumentError, "single ellipsis", (..., ...)),
        (RangeError, "mask", [True, False, True]),
    ],
)
def test_an_index_that_fits_nothing_says_why(error, law, index):
    x = paddle.zeros([2, 3])
    with pytest.raises(error, match=law):
        x[index]
    with pytest.raises(error):
        x[index] = 1.0


@pytest.mark.parametrize("recorded", [False, True])
def test_a_value_that_does_not_fit_is_refused_and_changes_nothing(recorded):
    x = paddle.to_tensor(numbers(2, 3), stop_gradient=not recorded) * 1.0
    with pytest.raises(ShapeError, match="does not fit"):
        x[0] = paddle.to_tensor([1.0, 2.0])
    np.testing.assert_array_equal(x.numpy(), numbers(2, 3))


def test_a_leaf_that_needs_a_gradient_is_not_overwritten():
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with pytest.raises(ArgumentError, match=r"Leaf Tensor .* can't use inplace strategy"):
        x[0] = 2.0
    with paddle.no_grad():
        x[0] = 2.0
    assert x.tolist() == [2.0]
    assert not x.stop_gradient
