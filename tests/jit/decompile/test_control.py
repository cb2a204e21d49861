"""Random programs with branches and loops: their source is the same graph, and gives the same."""

import numpy as np
import pytest

import scull as paddle
from scull.static import InputSpec
from scull.static.nn.control_flow import While
from tests.control.corpus import smooth
from tests.control.trial import Trial
from tests.jit.decompile.trip import compared, written

pytestmark = pytest.mark.filterwarnings("ignore:no variable in your model")
COUNT, PART, NIGHTLY = 40, 10, 3000
SPECS = [
    InputSpec([3], "float64", "x"),
    InputSpec([2, 3], "float64", "y"),
    InputSpec([], "int64", "n"),
]


def results(layer, trial):
    """The bytes of what a layer gives."""
    given = [paddle.to_tensor(v) for v in (trial.values["x"], trial.values["y"], trial.n)]
    paddle.seed(trial.seed)
    found = layer(*given)
    return [v.numpy().tobytes() for v in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize("start", range(0, COUNT, PART))
def test_the_source_of_a_program_is_the_same_graph(start, request, tmp_path):
    many = NIGHTLY if request.config.getoption("--nightly") else COUNT
    for number in range(start * many // COUNT, (start + PART) * many // COUNT):
        trial, path = Trial(smooth(number), number), tmp_path / f"net{number}"
        model = trial.model()
        paddle.jit.save(model, str(path), SPECS)
        layer, made = written(path, tmp_path)
        assert results(layer, trial) == results(model, trial), number
        paddle.jit.save(layer, str(tmp_path / "again"), made.INPUTS)
        assert compared(path, tmp_path / "again").differences == [], number


def counted(x, n):
    """A loop whose number is counted in place, and a list that it writes."""
    i = paddle.full([1], 0, "int64")
    listed = paddle.tensor.array_write(x, i)
    while i < n:
        x = paddle.tensor.array_read(listed, i) * 2.0
        i = paddle.increment(i)
        listed = paddle.tensor.array_write(x, i, listed)
    return x, i


def test_what_a_round_changes_in_place_goes_on(tmp_path):
    static = paddle.jit.to_static(counted, full_graph=True)
    given = paddle.ones([2]), paddle.to_tensor([3])
    for found in (counted(*given), static(*given)):
        assert [v.tolist() for v in found] == [[8.0, 8.0], [3]]
    paddle.jit.save(static, str(tmp_path / "net"))
    layer, made = written(tmp_path / "net", tmp_path)
    assert [v.tolist() for v in layer(*given)] == [[8.0, 8.0], [3]]
    paddle.jit.save(layer, str(tmp_path / "again"), made.INPUTS)
    assert compared(tmp_path / "net", tmp_path / "again").differences == []


def unmoved(x, n):
    """A loop whose result is what it began with."""
    a = x * 2.0
    b, i = a, paddle.full([], 0, "int64")
    while i < n:
        b, i = a, i + 1
    return a, b


def test_a_result_that_is_given_twice_is_no_copy_of_itself(tmp_path):
    specs = [InputSpec([2], "float32", "x"), InputSpec([], "int64", "n")]
    static = paddle.jit.to_static(unmoved, full_graph=True, input_spec=specs)
    paddle.jit.save(static, str(tmp_path / "net"))
    layer, made = written(tmp_path / "net", tmp_path)
    assert [v.tolist() for v in layer(paddle.ones([2]), paddle.to_tensor(3))] == [[2.0, 2.0]] * 2
    paddle.jit.save(layer, str(tmp_path / "again"), made.INPUTS)
    assert compared(tmp_path / "net", tmp_path / "again").differences == []


def saved(path, write):
    """A Program that `write` records, saved; what it gives for 3."""
    main, executor = paddle.static.Program(), paddle.static.Executor()
    paddle.enable_static()
    try:
        with paddle.static.program_guard(main, paddle.static.Program()):
            n = paddle.static.data("n", [1], "int64")
            results = write(n)
            paddle.static.save_inference_model(str(path), [n], results, executor, program=main)
        return executor.run(main, feed={"n": np.array([3])}, fetch_list=results)
    finally:
        paddle.disable_static()


def followed(n):
    """A number that is counted in place, and the one before it."""
    i, last = paddle.full([1], 0, "int64"), paddle.full([1], 7, "int64")
    goes_on = i < n
    loop = While(goes_on)
    with loop.block():
        paddle.assign(i, output=last)
        paddle.increment(i)
        paddle.assign(i < n, output=goes_on)
    return [i, last]


def begun_alike(n):
    """Two numbers that begin with the same one, of which one is counted in place."""
    start = paddle.full([1], 0, "int64")
    i, other = paddle.assign(start), paddle.assign(start)
    goes_on = i < n
    loop = While(goes_on)
    with loop.block():
        paddle.increment(i)
        paddle.assign(i + other, output=other)
        paddle.assign(i < n, output=goes_on)
    return [i, other, start + 1]


def counted_input(n):
    """An input that is counted in place: who gave it sees nothing of that."""
    copy = paddle.assign(n)
    return [paddle.increment(copy), n * 2]


@pytest.mark.parametrize("write", [followed, begun_alike, counted_input])
def test_what_is_changed_in_place_has_no_other_name(write, tmp_path):
    expected = saved(tmp_path / "net", write)
    layer, made = written(tmp_path / "net", tmp_path)
    given = paddle.to_tensor([3])
    for _ in range(2):
        assert [v.tolist() for v in layer(given)] == [v.tolist() for v in expected]
    paddle.jit.save(layer, str(tmp_path / "again"), made.INPUTS)
    assert compared(tmp_path / "net", tmp_path / "again").differences == []


def test_a_counter_in_place_is_written_without_copies(tmp_path):
    paddle.jit.save(
        paddle.jit.to_static(counted, full_graph=True, input_spec=[InputSpec([2]), SPECS[2]]),
        str(tmp_path / "net"),
    )
    assert "assign" not in paddle.jit.to_source(str(tmp_path / "net"))


def nested(n, depth, total):
    """As many loops in one another, of one round each."""

    def body(i, total):
        inner = total + 1 if depth == 1 else nested(n, depth - 1, total + 1)
        return i + n, inner

    start = paddle.full([1], 0, "int64")
    return paddle.static.nn.while_loop(lambda i, _: i < n, body, [start, total])[1]


def test_loops_stand_in_many_others(tmp_path):
    expected = saved(tmp_path / "net", lambda n: [nested(n, 14, n * 2)])
    layer, _ = written(tmp_path / "net", tmp_path)
    assert layer(paddle.to_tensor([3])).tolist() == expected[0].tolist() == [20]
