"""Networks whose parameters have fewer digits, and optimizers that keep all of them."""

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, RunError


def network():
    return paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 2, 3), paddle.nn.BatchNorm2D(2), paddle.nn.Flatten(),
        paddle.nn.Linear(8, 3), paddle.nn.LayerNorm(3), paddle.nn.Linear(3, 2)
    )  # fmt: skip


def decorated(net, optimizer=None, **options):
    return paddle.amp.decorate(net, optimizer, level="O2", dtype="bfloat16", **options)


def adam(net, **options):
    return paddle.optimizer.Adam(0.01, parameters=net.parameters(), **options)


def stepped(net, optimizer):
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = net(paddle.rand([4, 1, 4, 4])).mean()
    loss.backward()
    optimizer.step()


def test_all_layers_but_batch_norms_are_cast():
    net = network()
    assert decorated(net) is net
    kinds = {name: p.dtype.name for name, p in net.state_dict().items()}
    wide = {name for name, kind in kinds.items() if kind == "float32"}
    assert wide == {"1.weight", "1.bias", "1._mean", "1._variance"}
    assert set(kinds.values()) == {"float32", "bfloat16"}


@pytest.mark.parametrize("what", ["instance", "kind", "list"])
def test_excluded_layers_stay_as_they_are(what):
    net = network()
    given = {"instance": net[3], "kind": paddle.nn.Linear, "list": [net[3], paddle.nn.LayerNorm]}
    decorated(net, excluded_layers=given[what])
    wide = {i for i in range(6) if [*net[i].parameters()] and net[i].parameters()[0].dtype.name
            == "float32"}  # fmt: skip
    assert wide == {1, 3} | {"instance": set(), "kind": {5}, "list": {4}}[what]


def test_a_list_comes_back_as_a_list_and_a_pair_as_a_pair():
    net, other = network(), network()
    optimizer = adam(net)
    assert decorated([net, other]) == [net, other]
    assert decorated(net, optimizer) == (net, optimizer)
    assert decorated(net, [optimizer]) == (net, [optimizer])


def test_level_O1_and_float16_on_the_cpu_change_nothing():
    net = network()
    assert paddle.amp.decorate(net) is net
    assert paddle.amp.decorate(net, level="O2") is net
    assert {p.dtype.name for p in net.parameters()} == {"float32"}


@pytest.mark.parametrize("master_weight", [None, True, False])
def test_optimizers_keep_copies_with_all_digits(master_weight):
    net, optimizer = decorated(*(lambda n: (n, adam(n)))(network()), master_weight=master_weight)
    stepped(net, optimizer)
    copies = optimizer._master_weights
    if master_weight is False:
        assert not copies
        return
    weight = net[3].weight
    copy = copies[weight.name]
    assert copy.dtype.name == "float32" and not np.array_equal(copy, weight.astype("float32"))
    assert np.array_equal(copy.astype("bfloat16").numpy(), weight.numpy())


@pytest.mark.parametrize("name", ["SGD", "Momentum", "AdamW", "Adamax", "Lamb", "Adagrad",
                                  "RMSProp", "Adadelta"])  # fmt: skip
def test_every_optimizer_updates_the_copy_with_all_digits(name):
    net = network()
    made = getattr(paddle.optimizer, name)(learning_rate=0.1, parameters=net.parameters())
    decorated(net, made)
    weight = net[3].weight
    before = made.master(weight).numpy()
    for _ in range(3):
        stepped(net, made)
    after = made.master(weight)
    assert weight.dtype.name == "bfloat16" and not np.array_equal(before, after)
    assert np.array_equal(after.astype("bfloat16").numpy(), weight.numpy())


def test_gradients_become_wide_where_that_is_asked_for():
    net = network()
    optimizer = adam(net, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5))
    decorated(net, optimizer, master_grad=True)
    for _ in range(2):
        stepped(net, optimizer)
        assert net[3].weight.grad.dtype.name == net[1].weight.grad.dtype.name == "float32"
        optimizer.clear_grad()
    narrow = network()
    stepped(narrow, decorated(narrow, adam(narrow))[1])
    assert narrow[3].weight.grad.dtype.name == "bfloat16"


def test_what_is_saved_may_have_other_digits(tmp_path):
    net = decorated(network(), save_dtype="float32")
    state = net.state_dict()
    assert {v.dtype.name for v in state.values()} == {"float32"}
    assert state["3.weight"].name == net[3].weight.name
    assert net[3].weight.dtype.name == "bfloat16"
    paddle.save(state, str(tmp_path / "net.pdparams"))
    other = network()
    other.set_state_dict(paddle.load(str(tmp_path / "net.pdparams")))
    assert np.array_equal(other[3].weight.numpy(), net[3].weight.astype("float32").numpy())


@pytest.mark.parametrize(
    "models, optimizers, options, kind, law",
    [
        (0, 0, {"level": "O3"}, ArgumentError, "level should be O1 or O2"),
        (0, 0, {"dtype": "float32"}, ArgumentError, "dtype only support float16 or bfloat16"),
        (0, 0, {"save_dtype": "int8"}, ArgumentError, "save_dtype is one of"),
        (0, 0, {"excluded_layers": 3}, ArgumentTypeError, "excluded_layers must be either"),
        (3, 0, {}, ArgumentTypeError, "models must be either a single one or a list"),
        ([3], 0, {}, RunError, "models should be paddle.nn.Layer"),
        (0, "adam", {}, ArgumentTypeError, "optimizers must be either a single one or a list"),
        (0, [3], {}, RunError, "optimizers should be paddle.optimizer.Optimizer"),
    ],
)
def test_bad_arguments_are_told(models, optimizers, options, kind, law):
    net = network()
    with pytest.raises(kind, match=law):
        paddle.amp.decorate(
            models or net, optimizers or adam(net), **{"level": "O2", "dtype": "bfloat16"} | options
        )
    assert {p.dtype.name for p in net.parameters()} == {"float32"}
