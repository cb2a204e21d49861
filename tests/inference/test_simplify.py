"""The passes that a loaded model goes through: what goes, what stays, and the same numbers."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import RangeError
from scull.inference import Config, create_predictor
from scull.passes.catalogue import PASSES
from scull.passes.selection import INFERENCE
from tests.inference.models import data, loop, opened, perceptron, residual, saved

X = np.arange(12, dtype="float32").reshape(3, 4)


def types(predictor):
    """What runs, in order."""
    return [step.operator.type for step in predictor.function.prepared().bound.plan.instructions]


def test_a_scale_by_one_goes(tmp_path):
    assert types(opened(tmp_path, perceptron)) == [
        "matmul_v2",
        "elementwise_add",
        "relu",
        "matmul_v2",
        "elementwise_add",
    ]
    kept = opened(tmp_path, perceptron, without=["identity_scale_op_clean_pass"])
    assert types(kept)[-1] == "scale"


def dropping(mode, training=False):
    def make():
        x = data("x", [None, 4])
        y = paddle.nn.functional.dropout(x * 2.0, 0.5, mode=mode, training=training)
        return [x], [y + 1.0]

    return make


def test_dropout_goes_where_it_drops_nothing(tmp_path):
    assert "dropout" not in types(opened(tmp_path, dropping("upscale_in_train")))
    scaled = opened(tmp_path, dropping("downscale_in_infer"))
    assert types(scaled) == ["scale"] * 3 and not scaled.function.prepared().bound.draws
    np.testing.assert_allclose(scaled(X), X + 1)


def test_a_model_saved_in_training_tests(tmp_path):
    predictor = opened(tmp_path, dropping("upscale_in_train", training=True))
    np.testing.assert_allclose(predictor(X), X * 2 + 1)


def constant():
    """An attention mask made of nothing, and a value that is written over."""
    x = data("x", [None, 4])
    mask = paddle.tril(paddle.ones([4, 4])) * 3.0
    counter = paddle.zeros([1])
    paddle.increment(counter)
    return [x], [paddle.matmul(x, mask) + counter]


def test_what_depends_on_constants_is_computed_once(tmp_path):
    predictor = opened(tmp_path, constant)
    assert "tril_triu" not in types(predictor) and "increment" in types(predictor)
    expected = X @ (np.tril(np.ones((4, 4), "float32")) * 3) + 1
    np.testing.assert_allclose(predictor(X), expected)
    np.testing.assert_allclose(predictor(X), expected)


def large():
    x = data("x", [None])
    return [x], [paddle.ones([1000, 1000]).sum() + x]


def test_a_constant_that_is_larger_than_what_makes_it_is_not_kept(tmp_path):
    assert "fill_constant" in types(opened(tmp_path, large))


def handed_through():
    x = data("x", [None, 4])
    y = paddle.assign(x)
    return [x], [y, paddle.assign(y), y + 1.0]


def test_results_that_are_inputs_keep_their_names(tmp_path):
    predictor = opened(tmp_path, handed_through)
    assert types(predictor) == ["scale"]
    assert len(set(predictor.get_output_names())) == 3
    first, second, third = predictor(X)
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, X)
    np.testing.assert_array_equal(third, X + 1)


def overwritten():
    """A copy that keeps what it was made of from being written over."""
    x = data("x", [None, 4])
    y = x * 1.5
    kept = paddle.assign(y)
    paddle.increment(total := paddle.zeros([1]))
    paddle.assign(y + total, output=y)
    return [x], [kept, y]


@pytest.mark.parametrize(
    "make", [constant, handed_through, residual, loop, overwritten, dropping("downscale_in_infer")]
)
@pytest.mark.parametrize("without", [*INFERENCE, "all"])
def test_every_pass_leaves_the_numbers_as_they_are(tmp_path, make, without):
    path = saved(tmp_path, make)
    config = Config(path)
    if without == "all":
        config.switch_ir_optim(False)
    config.delete_pass(without)
    exact = Config(path)
    for each in PASSES.values():
        if not each.exact:
            config.delete_pass(each.name)
            exact.delete_pass(each.name)
    plain, simple, default = map(create_predictor, (config, exact, Config(path)))
    inputs = {
        residual: [np.ones((1, 2, 4, 4), "float32")],
        loop: [X[:, :3], np.array([4])],
    }.get(make, [X])
    runs = zip(*(predictor.run(inputs) for predictor in (plain, simple, default)), strict=True)
    for a, b, c in runs:
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-6)


def test_passes_are_arranged_as_in_paddle():
    config = Config("a.pdmodel", "a.pdiparams")
    builder = config.pass_builder()
    assert builder.all_passes() == list(INFERENCE) and builder.analysis_passes() == []
    builder.insert_pass(0, "first")
    builder.append_pass("last")
    config.delete_pass("constant_folding_pass")
    assert config.pass_builder().all_passes() == ["first", *INFERENCE[:-1], "last"]
    assert builder.debug_string().startswith("Passes to apply:\n  - first\n")
    with pytest.raises(RangeError, match=f"{len(INFERENCE) + 1} passes, no place 99"):
        builder.insert_pass(99, "x")
    copy = Config(config)
    copy.pass_builder().set_passes([])
    assert config.passes() and not copy.passes()
    config.switch_ir_optim(False)
    assert config.passes() == []
