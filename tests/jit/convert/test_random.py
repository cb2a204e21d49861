"""Random Layers with control flow give one thing eagerly and by to_static, gradients too."""

import numpy as np
import pytest

import scull as paddle
from tests.control import graph
from tests.control.corpus import COUNT, NIGHTLY, smooth
from tests.control.shrink import shrunk
from tests.control.source import source
from tests.control.trial import Trial

PART = 10  # programs of one test


def static(trial):
    """What the Layer gives by to_static, and the gradients of its operands."""
    paddle.disable_static()
    model = trial.model()
    model.weight.set_value(trial.values["weight"])
    model.scale.set_value(trial.values["scale"])
    x, y = (paddle.to_tensor(trial.values[n], stop_gradient=False) for n in ("x", "y"))
    paddle.seed(trial.seed)
    results = paddle.jit.to_static(model, full_graph=True)(x, y, paddle.to_tensor(trial.n))
    loss = graph.loss_of(results)
    loss.backward()
    given = [v.grad for v in (x, y, model.weight, model.scale)]
    slopes = trial.filled([None if g is None else g.numpy() for g in given])
    return [v.numpy() for v in (*results, loss)], slopes


def failure(tree, number):
    """What is wrong with a program; None where nothing is."""
    trial = Trial(tree, number)
    wanted = trial.eager(trial.values)
    try:
        values, slopes = static(trial)
        for a, b in zip([*wanted.results, *wanted.gradients], [*values, *slopes], strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
    except Exception as law:
        return law
    return None


@pytest.mark.parametrize("start", range(0, COUNT, PART))
def test_programs_give_one_thing_eagerly_and_static(start, request):
    many = NIGHTLY if request.config.getoption("--nightly") else COUNT
    for number in range(start * many // COUNT, (start + PART) * many // COUNT):
        tree = smooth(number)
        law = failure(tree, number)
        if law is not None:
            small = shrunk(tree, lambda t, n=number, law=law: type(failure(t, n)) is type(law))
            last = failure(small, number)
            pytest.fail(f"program {number}: {law}\nthe smallest: {last}\n{source(small)}")
