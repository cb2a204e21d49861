"""Values that stay in a scope begin at lines of caches."""

import numpy as np
import pytest

import scull as paddle
from scull.runtime.line import LEAST, LINE, at_line


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("offset", [0, 16, 48])
def test_a_large_array_is_moved_unless_it_begins_at_a_line(dtype, offset):
    room = np.zeros(LEAST + 3 * LINE, np.uint8)
    start = -room.ctypes.data % LINE + offset
    array = room[start : start + LEAST].view(dtype)
    array[:] = np.arange(array.size) % 100
    found = at_line(array.reshape(2, -1))
    assert found.ctypes.data % LINE == 0 and found.shape == (2, array.size // 2)
    assert np.shares_memory(found, array) == (offset == 0)
    assert np.array_equal(found.reshape(-1), array)


@pytest.mark.parametrize(
    "array",
    [np.zeros(8)[1:], np.zeros((64, 65))[:, 1:], np.zeros(LEAST, object)[1:]],
    ids=["small", "with gaps", "objects"],
)
def test_others_stay_where_they_are(array):
    assert at_line(array) is array


def test_parameters_and_what_is_put_in_their_place_begin_at_lines():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [4, 40])
        loss = paddle.mean(paddle.nn.Linear(40, 50)(x))
        paddle.optimizer.Adam(0.1).minimize(loss)
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    exe.run(startup, scope=scope)
    large = [v for v in main.list_vars() if v.persistable and np.prod(v.shape) == 2000]
    cells = [scope.find_var(v.name) for v in large]
    assert len(cells) == 3  # the weight and two moments
    assert all(cell.value.ctypes.data % LINE == 0 for cell in cells)
    held = [cell.value for cell in cells]
    for _ in range(2):
        exe.run(main, feed={"x": np.ones((4, 40), "float32")}, fetch_list=[loss], scope=scope)
    assert all(cell.value is array for cell, array in zip(cells, held, strict=True))
    given = np.full((40, 50), 0.5, "float32")
    cells[0].get_tensor().set(given, paddle.CPUPlace())
    assert cells[0].value.ctypes.data % LINE == 0 and np.array_equal(cells[0].value, given)
    assert not np.shares_memory(cells[0].value, given)


def test_parameters_that_lie_in_one_array_stay_in_it():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.nn.LSTM(20, 24)
    scope = paddle.static.Scope()
    paddle.static.Executor().run(startup, scope=scope)
    arrays = [cell.value for cell in scope.cells.values() if isinstance(cell.value, np.ndarray)]
    whole = max(arrays, key=lambda x: x.size)
    parts = [x for x in arrays if x is not whole and np.shares_memory(x, whole)]
    assert sum(x.size for x in parts) == whole.size >= LEAST // 4
