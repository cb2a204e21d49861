"""Layers that several processes may share, in one process."""

import importlib

import numpy as np
import pytest

import scull as paddle
from scull.distributed import fleet
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError

mpu = fleet.meta_parallel


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (mpu.ColumnParallelLinear(2, 3, has_bias=True, gather_output=False), ["weight", "bias"]),
        (mpu.ColumnParallelLinear(2, 3), ["weight"]),
        (mpu.RowParallelLinear(2, 3, input_is_parallel=True), ["weight", "bias"]),
        (mpu.RowParallelLinear(2, 3, has_bias=False), ["weight"]),
    ],
)
def test_a_linear_layer_that_may_be_split_is_one(layer, names):
    x = paddle.to_tensor([[1.0, 2.0]])
    expected = layer.weight.numpy()[0] + 2 * layer.weight.numpy()[1]
    assert list(layer.state_dict()) == names
    assert np.allclose(layer(x).numpy(), expected, atol=1e-6)
    assert not layer.weight.is_distributed and layer.world_size == 1


def test_an_embedding_that_may_be_split_has_all_rows():
    rows = mpu.VocabParallelEmbedding(4, 2)
    assert np.array_equal(rows(paddle.to_tensor([3, 0])).numpy(), rows.weight.numpy()[[3, 0]])


def test_a_cross_entropy_that_may_be_split_has_all_classes():
    scores, labels = paddle.zeros([2, 4]), paddle.to_tensor([1, 9])
    loss = mpu.ParallelCrossEntropy(ignore_index=9)
    for label in (labels, labels.unsqueeze(-1)):
        assert np.allclose(loss(scores, label).numpy(), [[np.log(4)], [0]])


def test_layers_in_a_row_are_made_and_share_what_they_say():
    def transposed(layer, x):
        return paddle.matmul(x, layer.weight, transpose_y=True)

    rows = ("weight", 4, 2, None, False)
    parts = [
        mpu.SharedLayerDesc("rows", paddle.nn.Linear, None, *rows),
        mpu.LayerDesc(paddle.nn.Linear, 2, 2),
        paddle.tanh,
        mpu.SharedLayerDesc("rows", paddle.nn.Linear, transposed, *rows),
    ]
    net = mpu.PipelineLayer(parts, num_stages=1, loss_fn=paddle.nn.MSELoss())
    again = mpu.PipelineLayer(parts, num_stages=1, recompute_interval=2)
    again.set_state_dict(net.state_dict())
    assert list(net.state_dict()) == ["shared_layers.rows.weight", "1.weight", "1.bias"]
    x = paddle.ones([3, 4])
    x.stop_gradient = False
    weight = net.shared_layers["rows"].weight.numpy()
    hidden = np.tanh(x.numpy() @ weight @ net.run_function[1].weight.numpy())
    assert np.allclose(net(x).numpy(), hidden @ weight.T, atol=1e-6)
    net(x).sum().backward()
    again(x).sum().backward()
    for one, other in zip(net.parameters(), again.parameters(), strict=True):
        assert np.allclose(one.grad.numpy(), other.grad.numpy(), atol=1e-6)


def test_a_tuple_goes_from_one_layer_to_the_next():
    net = mpu.PipelineLayer([lambda pair: (pair[1], pair[0]), lambda pair: pair[0]], num_stages=1)
    assert net((1, 2)) == 2


def test_stages_and_classes_that_there_are_not_are_refused():
    with pytest.raises(ArgumentError, match="should provide num_stages or topology"):
        mpu.PipelineLayer([])
    with pytest.raises(UnsupportedError, match="has one stage"):
        mpu.PipelineLayer([], num_stages=2)
    with pytest.raises(ArgumentTypeError, match="a class of Layers, not"):
        mpu.LayerDesc(len)
    assert repr(mpu.LayerDesc(paddle.nn.Linear, 2, bias_attr=False)) == "Linear(2, bias_attr=False)"


def test_a_state_of_random_numbers_goes_on_where_it_was_left():
    tracker = mpu.RNGStatesTracker()
    tracker.add("dropout", 7)
    paddle.seed(3)
    outside = []
    drawn = []
    for _ in range(2):
        outside.append(paddle.rand([2]).tolist())
        with tracker.rng_state("dropout"):
            drawn.append(paddle.rand([2]).tolist())
    paddle.seed(3)
    assert outside == [paddle.rand([2]).tolist() for _ in range(2)]
    paddle.seed(7)
    assert drawn == [paddle.rand([2]).tolist() for _ in range(2)]
    for name, seed in (("dropout", 8), ("other", 7)):
        with pytest.raises(ArgumentError, match="already exists"):
            tracker.add(name, seed)
    with pytest.raises(ArgumentError, match="state 'other' does not exist"):
        tracker.rng_state("other").__enter__()
    again = mpu.RNGStatesTracker()
    again.set_states_tracker(tracker.get_states_tracker())
    assert list(again.states_) == ["dropout"]


def test_a_seed_seeds_the_state_of_the_process_too():
    mpu.model_parallel_random_seed(5)
    assert list(mpu.get_rng_state_tracker().states_) == ["model_parallel_rng"]
    drawn = paddle.rand([2]).tolist()
    paddle.seed(5)
    assert drawn == paddle.rand([2]).tolist()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("fleet.layers.mpu.mp_layers", "ColumnParallelLinear"),
        ("fleet.meta_parallel.parallel_layers.pp_layers", "PipelineLayer"),
        ("fleet.meta_parallel.sharding.group_sharded_utils", "GroupShardedScaler"),
        ("fleet.meta_optimizers.dygraph_optimizer", "HybridParallelOptimizer"),
        ("fleet.utils.hybrid_parallel_util", "fused_allreduce_gradients"),
        ("fleet.utils.log_util", "logger"),
        ("fleet.base.topology", "CommunicateTopology"),
        ("fleet.model", "PipelineParallel"),
        ("communication.reduce", "ReduceOp"),
        ("communication.group", "_get_global_group"),
        ("collective", "all_reduce"),
    ],
)
def test_modules_that_scripts_import_from_are_there(module, name):
    assert hasattr(importlib.import_module(f"scull.distributed.{module}"), name)


def test_code_that_looks_for_other_processes_goes_on_without_them():
    def product(x, y):
        try:
            group = fleet.get_hybrid_communicate_group()
            degree = group.get_model_parallel_world_size()
        except AttributeError:
            degree = 1
        return paddle.matmul(x, y) * degree

    x = paddle.ones([2, 2])
    assert not fleet.utils.timer_helper.is_timer_initialized()
    with pytest.raises(AssertionError, match="timers is not initialized"):
        fleet.utils.timer_helper.get_timers()
    assert product(x, x).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    static = paddle.jit.to_static(product, full_graph=True)
    assert static(x, x).tolist() == [[2.0, 2.0], [2.0, 2.0]]
