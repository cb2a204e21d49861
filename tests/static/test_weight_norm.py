"""Weights of Programs that are a direction times lengths."""

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentError

VALUES = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32")


@pytest.fixture
def programs():
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup
    paddle.disable_static()


def layer(dim):
    x = static.data("x", [-1, 2])
    attr = static.WeightNormParamAttr(
        dim=dim, name="w", initializer=paddle.nn.initializer.Assign(VALUES)
    )
    return static.nn.fc(x, 3, weight_attr=attr, bias_attr=False)


@pytest.mark.parametrize(("dim", "axes"), [(None, (0, 1)), (0, 1), (1, 0), (-1, 0)])
def test_it_starts_as_its_initializer_says_and_each_part_has_a_gradient(programs, dim, axes):
    y = layer(dim)
    loss = paddle.sum(y)
    static.append_backward(loss)
    exe = static.Executor()
    exe.run(programs[1])
    fetched = [y, "w_g", "w_v", "w_g@GRAD", "w_v@GRAD"]
    x = np.array([[1.0, 1.0]], "float32")
    y, g, v, dg, dv = exe.run(programs[0], feed={"x": x}, fetch_list=fetched)
    norm = np.linalg.norm(VALUES, axis=axes, keepdims=True)
    assert np.allclose(y, VALUES.sum(0)) and np.allclose(g, norm) and (v == VALUES).all()
    assert np.allclose(dg, (VALUES / norm).sum(axes, keepdims=True), atol=1e-6)
    assert dv.shape == v.shape and np.allclose((dv * v).sum(axes), 0, atol=1e-5)


def test_the_parameters_are_the_parts_and_the_weight_is_listed(programs):
    before = len(static.WeightNormParamAttr.params_with_weight_norm)
    layer(1)
    assert [(p.name, p.shape) for p in programs[0].all_parameters()] == [
        ("w_v", (2, 3)),
        ("w_g", (1, 3)),
    ]
    assert len(static.WeightNormParamAttr.params_with_weight_norm) == before + 1


def test_eager_mode_refuses_it_and_names_what_to_call():
    with pytest.raises(ArgumentError, match=r"nn\.utils\.weight_norm"):
        paddle.nn.Linear(2, 3, weight_attr=static.WeightNormParamAttr())
