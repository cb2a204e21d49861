"""Random programs with branches and loops: their source is the same graph, and gives the same."""

import pytest

import scull as paddle
from scull.static import InputSpec
from tests.control.corpus import smooth
from tests.control.trial import Trial
from tests.jit.decompile.trip import compared, written

COUNT, PART, NIGHTLY = 40, 10, 3000
SPECS = [
    InputSpec([3], "float64", "x"),
    InputSpec([2, 3], "float64", "y"),
    InputSpec([], "int64", "n"),
]


def results(layer, trial):
    """The bytes of what a layer gives."""
    given = [paddle.to_tensor(v) for v in (trial.values["x"], trial.values["y"], trial.n)]
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
