"""The Programs of other suites as machine code: a corpus, control flow, models of PaddlePaddle."""

import importlib.util

import numpy as np
import pytest

import scull as paddle
from scull.executor.run import run
from scull.flags import flags
from tests.control.corpus import smooth
from tests.control.trial import Trial as ControlTrial
from tests.executor.corpus.program import NAMES as CORPUS
from tests.executor.corpus.program import program
from tests.executor.corpus.runner import as_planned
from tests.executor.corpus.trial import Trial
from tests.files import test_saved_models as saved
from tests.files.saved import catalogue
from tests.files.saved.vision import SIZES
from tests.ops.closeness import TOLERANCES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
CONTROL = 36  # programs with control flow, in a sweep
SAVED = [n for n in (*catalogue.LAYERS, *catalogue.PROGRAMS) if n not in SIZES]
OFTEN = {  # what a test is called with, and what of it is enough but in a sweep
    "case": (CORPUS, CORPUS[::3]),
    "number": (range(CONTROL), range(0, CONTROL, 3)),
    "name": ([*SAVED, *SIZES], [*SAVED, "squeezenet1_1"]),
}


def pytest_generate_tests(metafunc):
    for argument, (every, some) in OFTEN.items():
        if argument in metafunc.fixturenames:
            swept = metafunc.config.getoption("--sweep")
            metafunc.parametrize(argument, every if swept else some)


@pytest.fixture
def static_mode():
    """Programs are written, with names of their own."""
    paddle.enable_static()
    with paddle.utils.unique_name.guard():
        yield
    paddle.disable_static()


def as_code(trial, frame):
    """The steps of a plan as machine code."""
    bound = trial.bound
    run(trial.plan, bound.steps if bound.tier is None else bound.tier.steps(frame), frame)


def agree(found, expected):
    """Two outcomes agree: floats as far as their element type allows, all else to the bit."""
    if not (isinstance(expected, tuple) and len(expected) == 3 and type(expected[2]) is bytes):
        assert type(found) is type(expected)
        if not isinstance(expected, tuple):
            is_float = isinstance(expected, float)
            assert found == (pytest.approx(expected, 2e-5, 2e-6) if is_float else expected)
            return
        for pair in zip(found, expected, strict=True):
            agree(*pair)
        return
    assert found[:2] == expected[:2]
    x, y = (np.frombuffer(each[2], each[0]) for each in (found, expected))
    relative, absolute = TOLERANCES.get(x.dtype.name, (0, 0))
    np.testing.assert_allclose(x, y, rtol=relative, atol=absolute)


@pytest.mark.usefixtures("static_mode")
def test_programs_that_combine_what_an_executor_must_get_right(case):
    expected = Trial(program(case)).run(as_planned)
    with flags(COMPILE="eager"):
        trial = Trial(program(case))
        agree(trial.run(as_code), expected)
        agree(trial.run(as_code), expected)


@pytest.mark.usefixtures("static_mode")
def test_programs_with_control_flow(number):
    trial = ControlTrial(smooth(number), number)
    form = trial.program().with_gradients()
    found, expected = (trial.run(form, COMPILE=mode) for mode in ("eager", "off"))
    relative, absolute = TOLERANCES["float64"]
    for x, y in zip(
        [*found.results, *found.gradients], [*expected.results, *expected.gradients], strict=True
    ):
        np.testing.assert_allclose(x, y, rtol=relative, atol=absolute)


def test_models_that_paddle_saved(name, tmp_path):
    arrays, expected = saved.opened(name, tmp_path)
    with flags(COMPILE="eager"):
        saved.assert_agree(saved.run(tmp_path / name, arrays), expected)
