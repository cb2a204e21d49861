"""Products with their bias and activation, elementwise operators in pairs: fused, or why not."""

import numpy as np
import pytest

import scull as paddle
from tests.passes.check import Recorded, f32, same_values, types
from tests.passes.test_graph import classifier

F = paddle.nn.functional
EPILOGUE, PAIRS, CHAIN = (
    "fuse_gemm_epilogue_pass",
    "fuse_elewise_add_act_pass",
    "fuse_activations_pass",
)


def fused(make, *arrays, passes, frozen=False, exact=True, **options):
    """What is left of a Program, and what was said."""
    recorded = Recorded(make, *arrays, **options)
    outcome = recorded.through(*passes, frozen=frozen)
    same_values(recorded, outcome, exact=exact)
    return types(outcome.program), outcome


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_layer_and_its_activation_are_one_operator(activation):
    def make(x):
        return getattr(F, activation)(paddle.nn.Linear(3, 4)(x)) * 2.0

    for unknown in (False, True):
        found, outcome = fused(make, f32(2, 3), passes=[EPILOGUE], unknown=unknown)
        assert found == ["fused_gemm_epilogue", "scale"]
        (layer, _) = outcome.program.global_block().ops
        assert layer.attr("activation") == activation


def test_an_activation_that_the_operator_lacks_stays():
    found, _ = fused(lambda x: paddle.tanh(paddle.nn.Linear(3, 4)(x)), f32(2, 3), passes=[EPILOGUE])
    assert found == ["fused_gemm_epilogue", "tanh"]


def test_the_layers_of_a_training_step_are_fused_and_trained_alike():
    def make(x):
        hidden = F.relu(paddle.nn.Linear(3, 4)(x))
        loss = paddle.nn.Linear(4, 2)(hidden).mean()
        paddle.optimizer.Adam(0.1).minimize(loss)
        return loss

    found, _ = fused(make, f32(2, 3), passes=[EPILOGUE])
    assert found[:3] == ["fused_gemm_epilogue", "fused_gemm_epilogue", "reduce_mean"]
    assert "elementwise_add_grad" in found and "matmul_v2_grad" in found


def test_gelu_in_training_stays_apart_for_its_gradient():
    def make(x):
        loss = F.gelu(paddle.nn.Linear(3, 4)(x)).mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
        return loss

    found, outcome = fused(make, f32(2, 3), passes=[EPILOGUE])
    assert found[:2] == ["fused_gemm_epilogue", "gelu"]
    assert "_1.tmp_1` is read by `gelu_grad`" in outcome.explain()


def test_the_classifier_of_the_documents_before_and_behind(golden):
    recorded = Recorded(classifier, f32(2, 3), np.array([[1], [3]]))
    outcome = recorded.through("fc_fuse_pass", "dead_code_elimination_pass")
    same_values(recorded, outcome)
    assert str(recorded.graph().__class__(outcome.program)) == golden
    assert outcome.explain() == golden("the_classifier_of_the_documents_explained")


@pytest.mark.parametrize("rank", [2, 3])
def test_a_product_with_a_weight_becomes_fc(rank):
    def make(x, w, b):
        return F.relu(x @ w + b)

    arrays = f32(*(2,) * (rank - 1), 3), f32(3, 4), f32(4)
    found, _ = fused(make, *arrays, passes=["fc_fuse_pass"], weights=(1, 2))
    assert found == ["fc"]
    found, outcome = fused(make, *arrays, passes=["fc_fuse_pass"])
    assert found[-1] == "relu" and "`x1` is no weight" in outcome.explain()


PAIRED = {
    "relu of a sum": (lambda x, y: F.relu(x + y), ["relu", "elementwise_add"]),
    "tanh of a product": (lambda x, y: paddle.tanh(x * y), ["tanh", "elementwise_mul"]),
    "gelu of a sum": (lambda x, y: F.gelu(x + y), ["gelu", "elementwise_add"]),
    "a sum with sigmoid": (lambda x, y: x + F.sigmoid(y), ["elementwise_add", "sigmoid"]),
    "a product with relu": (lambda x, y: F.relu(y) * x, ["elementwise_mul", "relu"]),
}


@pytest.mark.parametrize("case", PAIRED)
def test_pairs_of_elementwise_operators_are_one(case):
    make, functors = PAIRED[case]
    for shape in ((2, 3), (3,)):
        found, outcome = fused(make, f32(2, 3), f32(*shape), passes=[PAIRS])
        assert found == ["fused_elemwise_activation"]
        (o,) = outcome.program.global_block().ops
        assert list(o.attr("functor_list")) == functors


def test_relu_of_tanh_is_one_operator_unless_somebody_reads_tanh():
    found, outcome = fused(lambda x: F.relu(paddle.tanh(x)), f32(3), passes=[CHAIN])
    assert found == ["fused_activations"]
    found, _ = fused(
        lambda x: F.relu(paddle.tanh(F.sigmoid(F.relu(x)))), f32(3), passes=[CHAIN], exact=True
    )
    assert found == ["fused_activations"]
    found, outcome = fused(lambda x: (F.relu(y := paddle.tanh(x)), y), f32(3), passes=[CHAIN])
    assert found == ["tanh", "relu"]
    assert outcome.explain().endswith("`relu` (relu_0.tmp_0) stays: `tanh_0.tmp_0` is fetched")


def test_what_is_fused_has_gradients():
    def make(x):
        w = paddle.create_parameter([3], "float32")
        return F.relu(x + w), w

    recorded = Recorded(make, f32(2, 3))
    made = recorded.through(PAIRS).program
    paddle.enable_static()
    try:
        block = made.global_block()
        names = []
        for program in (recorded.main, made):
            with paddle.static.program_guard(program):
                v = program.global_block().var(recorded.names[0])
                w = program.global_block().var(recorded.names[1])
                (d,) = paddle.static.gradients([v * v], [w])
                names.append(d.name)
    finally:
        paddle.disable_static()
    assert "fused_elemwise_activation_grad" in [o.type for o in block.ops]
    exe = paddle.static.Executor()
    found = [
        exe.run(program, recorded.feeds, [name], scope=recorded.scope)[0]
        for program, name in zip((recorded.main, made), names, strict=True)
    ]
    np.testing.assert_array_equal(*found)


def convolved(residual):
    def make(x):
        layer = paddle.nn.Conv2D(2, 2, 3, padding=1)
        y = layer(x)
        return F.relu(y + paddle.tanh(x)) if residual else F.relu(y)

    return make


@pytest.mark.parametrize("residual", [False, True])
def test_a_convolution_its_bias_and_relu_are_one(residual):
    name = f"conv_elementwise_add{'2' * residual}_act_fuse_pass"
    found, _ = fused(convolved(residual), f32(2, 2, 4, 4), passes=[name])
    assert found == ["tanh"] * residual + ["fused_conv2d_add_act"]
