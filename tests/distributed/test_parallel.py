"""One process that trains as if it were one of several."""

import importlib

import numpy as np
import pytest

import scull as paddle
from scull.distributed import fleet
from scull.errors import ArgumentTypeError, UnsupportedError


def test_a_layer_for_several_processes_is_the_layer_within():
    net = paddle.nn.Linear(2, 3)
    wrapped = paddle.DataParallel(net, find_unused_parameters=True)
    x = paddle.ones([4, 2])
    assert wrapped._layers is net
    assert np.array_equal(wrapped(x).numpy(), net(x).numpy())
    assert list(wrapped.state_dict()) == ["weight", "bias"]
    assert [n for n, _ in wrapped.named_parameters()] == ["_layers.weight", "_layers.bias"]
    assert wrapped.scale_loss(x) is x
    assert wrapped.apply_collective_grads() is None
    assert paddle.distributed.DataParallel is paddle.DataParallel


def test_its_state_is_set_and_its_gradients_flow():
    net, other = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
    wrapped = paddle.DataParallel(net)
    wrapped.set_state_dict(other.state_dict())
    assert np.array_equal(net.weight.numpy(), other.weight.numpy())
    with wrapped.no_sync():
        wrapped(paddle.ones([1, 2])).sum().backward()
    assert net.bias.grad.tolist() == [1.0, 1.0, 1.0]


def test_what_is_no_layer_is_refused():
    with pytest.raises(ArgumentTypeError, match="is a Layer, not int"):
        paddle.DataParallel(3)


def test_a_script_for_several_processes_runs_alone():
    with pytest.warns(UserWarning, match="Currently not a parallel execution environment"):
        assert paddle.distributed.parallel.init_parallel_env() is None
    assert paddle.distributed.parallel.ParallelEnv().world_size == 1
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 1}
    strategy.find_unused_parameters = True
    fleet.init(is_collective=True, strategy=strategy)
    assert (fleet.worker_num(), fleet.worker_index(), fleet.is_first_worker()) == (1, 0, True)
    net = paddle.nn.Linear(2, 3)
    sgd = paddle.optimizer.SGD(parameters=net.parameters())
    assert fleet.distributed_model(net) is net
    assert fleet.distributed_optimizer(sgd, strategy=strategy) is sgd


def test_gradients_that_nobody_else_has_stay_as_they_are():
    net = paddle.nn.Linear(2, 3)
    net(paddle.ones([1, 2])).sum().backward()
    fleet.utils.hybrid_parallel_util.fused_allreduce_gradients(net.parameters(), None)
    assert net.bias.grad.tolist() == [1.0, 1.0, 1.0]


def test_what_takes_several_processes_is_refused(monkeypatch):
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs["mp_degree"] = 2
    with pytest.raises(UnsupportedError, match=r"hybrid_configs\['mp_degree'\]` is not in scull"):
        fleet.init(is_collective=True, strategy=strategy)
    strategy.hybrid_configs, strategy.amp = {}, True
    with pytest.raises(UnsupportedError, match=r"`DistributedStrategy.amp` is not in scull"):
        fleet.distributed_optimizer(None, strategy)
    with pytest.raises(UnsupportedError, match="no parameter servers"):
        fleet.init(object())
    monkeypatch.setenv("PADDLE_TRAINERS_NUM", "2")
    for call in (paddle.distributed.init_parallel_env, fleet.init):
        with pytest.raises(UnsupportedError, match="they do not train together"):
            call()


def test_the_roles_of_processes_are_found_where_scripts_look_for_them():
    role_maker = importlib.import_module("scull.distributed.fleet.base.role_maker")
    assert role_maker.PaddleCloudRoleMaker is fleet.PaddleCloudRoleMaker
    assert fleet.base.role_maker.Role is fleet.Role
    assert fleet.base.util_factory.UtilBase is fleet.UtilBase


def test_a_worker_asks_about_itself_and_is_alone(monkeypatch, capsys):
    monkeypatch.delenv("PADDLE_TRAINER_ENDPOINTS", raising=False)
    fleet.init(fleet.PaddleCloudRoleMaker(is_collective=True))
    fleet.init(fleet.UserDefinedRoleMaker(is_collective=True, current_id=0, worker_num=1))
    assert (fleet.rank(), fleet.world_size(), fleet.nranks(), fleet.node_num()) == (0, 1, 1, 1)
    assert (fleet.local_rank(), fleet.rank_in_node()) == (0, 0)
    assert (fleet.is_worker(), fleet.is_server(), fleet.is_coordinator()) == (True, False, False)
    assert (fleet.server_num(), fleet.server_index(), fleet.server_endpoints()) == (0, 0, [])
    assert fleet.worker_endpoints() == ["127.0.0.1:6170"]
    monkeypatch.setenv("PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:1")
    assert fleet.worker_endpoints(to_string=True) == "127.0.0.1:1"
    for call in (fleet.init_worker, fleet.barrier_worker, fleet.stop_worker, fleet.util.barrier):
        assert call() is None
    assert fleet.util.all_reduce([1, 2]) == [1, 2] and fleet.util.all_gather(3) == [3]
    assert fleet.util.get_file_shard(["a", "b"]) == ["a", "b"]
    fleet.util.print_on_rank("first", 0)
    fleet.util.print_on_rank("second", 1)
    assert capsys.readouterr().out == "first\n"
    fleet.set_log_level("DEBUG")
    assert [fleet.Role.WORKER, fleet.Role.COORDINATOR] == [1, 5]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fleet.PaddleCloudRoleMaker(), UnsupportedError, "no parameter servers"),
        (lambda: fleet.UserDefinedRoleMaker(True, worker_num=2), UnsupportedError, "workers"),
        (lambda: fleet.init(role_maker=3), UnsupportedError, "role_maker"),
        (lambda: fleet.util.get_file_shard("a"), TypeError, "list of file"),
        (lambda: fleet.set_log_level("LOUD"), ValueError, "not 'LOUD'"),
    ],
)
def test_what_takes_other_workers_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_modules_of_what_is_not_there_are_found_and_say_why():
    module = importlib.import_module("scull.distributed.sharding")
    with pytest.raises(UnsupportedError, match=r"group_sharded_parallel.*do not train together"):
        module.group_sharded_parallel(None, None, "os")
    with pytest.raises(UnsupportedError, match="all_reduce"):
        importlib.import_module("scull.distributed.communication").all_reduce(None)
