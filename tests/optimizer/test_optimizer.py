"""Optimizers: the same numbers in both modes, states, clipping, decay, groups, mistakes."""

import numpy as np
import pytest

import scull as paddle

F = paddle.nn.functional
opt = paddle.optimizer

RECIPES = {
    "sgd": lambda p: opt.SGD(0.1, parameters=p),
    "sgd_l2": lambda p: opt.SGD(0.1, parameters=p, weight_decay=0.1),
    "momentum": lambda p: opt.Momentum(0.1, parameters=p, weight_decay=0.01, use_nesterov=True),
    "adam": lambda p: opt.Adam(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)),
    "adamw": lambda p: opt.AdamW(0.1, parameters=p, weight_decay=0.1),
    "clip_norm": lambda p: opt.SGD(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByNorm(0.1)),
    "clip_value": lambda p: opt.SGD(0.1, parameters=p, grad_clip=paddle.nn.ClipGradByValue(0.01)),
    "schedule": lambda p: opt.Adam(opt.lr.StepDecay(0.1, 2, 0.5), parameters=p),
    "adamax": lambda p: opt.Adamax(0.1, parameters=p, weight_decay=0.01),
    "adagrad": lambda p: opt.Adagrad(0.1, parameters=p, initial_accumulator_value=0.5),
    "adadelta": lambda p: opt.Adadelta(1.0, parameters=p),
    "rmsprop": lambda p: opt.RMSProp(0.01, momentum=0.9, centered=True, parameters=p),
    "lamb": lambda p: opt.Lamb(0.1, parameters=p),
    "l1": lambda p: opt.SGD(0.1, parameters=p, weight_decay=paddle.regularizer.L1Decay(0.1)),
}


def data():
    chance = np.random.default_rng(0)
    return chance.random((8, 4), dtype="float32"), chance.random((8, 2), dtype="float32")


def network():
    rate = paddle.ParamAttr(learning_rate=0.5)
    return paddle.nn.Sequential(
        paddle.nn.Linear(4, 3, weight_attr=rate), paddle.nn.Tanh(), paddle.nn.Linear(3, 2)
    )


def trained_eagerly(recipe, steps=5):
    paddle.seed(1)
    with paddle.utils.unique_name.guard():
        layers = network()
        optimizer = recipe(layers.parameters())
    x, y = map(paddle.to_tensor, data())
    losses = []
    for _ in range(steps):
        loss = F.mse_loss(layers(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if isinstance(optimizer._learning_rate, opt.lr.LRScheduler):
            optimizer._learning_rate.step()
        losses.append(loss.item())
    return losses, {p.name: p.numpy() for p in layers.parameters()}


def trained_statically(recipe, steps=5):
    paddle.enable_static()
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 4])
        y = paddle.static.data("y", [None, 2])
        loss = F.mse_loss(network()(x), y)
        optimizer = recipe(None)
        optimizer.minimize(loss)
    exe = paddle.static.Executor()
    paddle.seed(1)
    exe.run(startup, scope=scope)
    feed, losses = dict(zip(("x", "y"), data(), strict=True)), []
    for _ in range(steps):
        losses.append(exe.run(main, feed=feed, fetch_list=[loss], scope=scope)[0].item())
        if isinstance(optimizer._learning_rate, opt.lr.LRScheduler):
            optimizer._learning_rate.step()
    values = {p.name: scope.find_var(p.name).value for p in main.all_parameters()}
    paddle.disable_static()
    return losses, values


@pytest.mark.parametrize("name", RECIPES)
def test_eager_and_static_training_give_the_same_numbers(name):
    eager, static = trained_eagerly(RECIPES[name]), trained_statically(RECIPES[name])
    np.testing.assert_allclose(static[0], eager[0], rtol=1e-6)
    assert static[1].keys() == eager[1].keys()
    for parameter, value in static[1].items():
        np.testing.assert_allclose(value, eager[1][parameter], rtol=1e-5, atol=1e-7)
    assert eager[0][-1] < eager[0][0]


def test_training_goes_on_from_a_saved_state_with_the_same_bits(tmp_path):
    def start():
        layers = paddle.nn.Linear(4, 2)
        return layers, opt.Adam(opt.lr.StepDecay(0.1, 2), parameters=layers.parameters())

    def step(layers, optimizer):
        x, y = map(paddle.to_tensor, data())
        loss = F.mse_loss(layers(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        optimizer._learning_rate.step()
        return loss.item()

    with paddle.utils.unique_name.guard():
        layers, optimizer = start()
        for _ in range(3):
            step(layers, optimizer)
    paddle.save(layers.state_dict(), str(tmp_path / "net.pdparams"))
    paddle.save(optimizer.state_dict(), str(tmp_path / "net.pdopt"))
    on = [step(layers, optimizer) for _ in range(3)]
    with paddle.utils.unique_name.guard():
        layers, optimizer = start()
        again = resumed(layers, optimizer, tmp_path, step)
    assert again == on


def resumed(layers, optimizer, folder, step):
    layers.set_state_dict(paddle.load(str(folder / "net.pdparams")))
    optimizer.set_state_dict(paddle.load(str(folder / "net.pdopt")))
    return [step(layers, optimizer) for _ in range(3)]


def stepped(optimizer, layers):
    layers(paddle.ones([1, 2])).sum().backward()
    optimizer.step()


def test_states_of_other_names_are_refused_and_no_state_begins_anew_unsaid():
    first, second, third = (paddle.nn.Linear(2, 1) for _ in range(3))
    saved, waiting, running = (opt.Adam(parameters=n.parameters()) for n in (first, second, third))
    stepped(saved, first)
    waiting.set_state_dict(saved.state_dict())
    with pytest.raises(AssertionError, match=rf"{second.weight.name}_moment1_0 should in state"):
        stepped(waiting, second)
    stepped(running, third)
    with pytest.raises(AssertionError, match=rf"{third.weight.name}_moment1_0 not found"):
        running.set_state_dict(saved.state_dict())
    fresh = opt.Adam(parameters=second.parameters())
    fresh.set_state_dict({"LR_Scheduler": {"last_epoch": 1}})
    stepped(fresh, second)


def test_a_state_of_another_shape_is_refused():
    layers = paddle.nn.Linear(2, 1)
    adam = opt.Adam(parameters=layers.parameters())
    stepped(adam, layers)
    name = f"{layers.weight.name}_moment1_0"
    with pytest.raises(AssertionError, match=r"need tensor with shape \[2, 1\] but .* \[3\]"):
        adam.set_state_dict(adam.state_dict() | {name: np.ones(3, "float32")})


def test_a_state_has_paddles_names():
    with paddle.utils.unique_name.guard():
        layers = paddle.nn.Linear(2, 1)
        optimizer = opt.Adam(parameters=layers.parameters())
        layers(paddle.ones([1, 2])).sum().backward()
        optimizer.step()
    assert sorted(optimizer.state_dict()) == [
        f"linear_0.{p}_{s}_0"
        for p in ("b_0", "w_0")
        for s in ("beta1_pow_acc", "beta2_pow_acc", "moment1", "moment2")
    ]


def one(dtype="float32"):
    """A parameter that holds a single 1."""
    start = paddle.nn.initializer.Constant(1.0)
    return paddle.create_parameter([1], dtype, default_initializer=start)


def test_parameter_groups_have_learning_rates_of_their_own():
    a, b = one(), one()
    groups = [{"params": [a]}, {"params": [b], "learning_rate": 0.1}]
    optimizer = opt.SGD(1.0, parameters=groups)
    (a + b).sum().backward()
    optimizer.step()
    assert a.item() == 0.0
    assert b.item() == pytest.approx(0.9)


@pytest.mark.parametrize(
    "rate, decay, moved", [(None, None, 0.2), (2.0, 0.0, 0.2), (2.0, 0.5, 0.3)]
)
@pytest.mark.parametrize("optimizer", ["SGD", "Momentum"])
def test_a_group_goes_before_the_attributes_of_its_parameters(optimizer, rate, decay, moved):
    """Rate and decay of the group, else 1 and those of the optimizer: never the ParamAttr's."""
    attr = paddle.ParamAttr(learning_rate=50.0, regularizer=paddle.regularizer.L2Decay(70.0))
    start = paddle.nn.initializer.Constant(1.0)
    w = paddle.create_parameter([1], "float32", attr=attr, default_initializer=start)
    given = {"learning_rate": rate, "weight_decay": decay}
    group = {"params": [w], **{k: v for k, v in given.items() if v is not None}}
    updates = getattr(opt, optimizer)(0.1, parameters=[group], weight_decay=1.0)
    w.sum().backward()
    updates.step()
    assert w.item() == pytest.approx(1 - moved)


def test_no_decay_of_a_group_is_none_for_momentum_and_the_optimizers_for_others():
    found = {}
    for name in ("Momentum", "SGD"):
        w = one()
        group = {"params": [w], "weight_decay": None}
        updates = getattr(opt, name)(0.1, parameters=[group], weight_decay=1.0)
        w.sum().backward()
        updates.step()
        found[name] = w.item()
    assert found == {"Momentum": pytest.approx(0.9), "SGD": pytest.approx(0.8)}


def test_adamw_keeps_the_regularizer_of_a_parameter_in_a_group():
    w = one()
    w.regularizer = paddle.regularizer.L2Decay(0.5)
    opt.AdamW(0.1, parameters=[{"params": [w], "weight_decay": None}], weight_decay=0.1)
    assert w.regularizer._coeff == 0.5


def test_row_sparse_gradients_update_only_their_rows():
    table = paddle.nn.Embedding(5, 2, sparse=True)
    before = table.weight.numpy().copy()
    optimizer = opt.SGD(1.0, parameters=table.parameters())
    table(paddle.to_tensor([1, 1, 3])).sum().backward()
    optimizer.step()
    change = before - table.weight.numpy()
    np.testing.assert_allclose(change, [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]], rtol=1e-6)


def test_float16_parameters_keep_a_master_copy_in_float32():
    w = one("float16")
    optimizer = opt.SGD(1e-4, parameters=[w], multi_precision=True)
    for _ in range(20):
        w.sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    (master,) = optimizer.state_dict()["master_weights"].values()
    assert master.item() == pytest.approx(1 - 20e-4, rel=1e-5)
    assert w.item() == pytest.approx(1 - 20e-4, abs=5e-4)


def test_frozen_parameters_stay():
    layers = paddle.nn.Linear(2, 1)
    layers.weight.stop_gradient = True
    before = layers.weight.numpy().copy()
    optimizer = opt.SGD(1.0, parameters=layers.parameters())
    layers(paddle.ones([1, 2])).sum().backward()
    optimizer.step()
    assert np.array_equal(layers.weight.numpy(), before)
    assert layers.bias.item() == -1.0


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="parameters argument"):
        opt.SGD(0.1)
    with pytest.raises(TypeError, match="iterable of Tensors"):
        opt.SGD(0.1, parameters=paddle.ones([1]))
    with pytest.raises(TypeError, match="learning rate should be float or LRScheduler"):
        opt.SGD("fast", parameters=[])
    with pytest.raises(ValueError, match="beta1"):
        opt.Adam(beta1=1.5, parameters=[])
    scheduled = opt.SGD(opt.lr.StepDecay(0.1, 2), parameters=[])
    with pytest.raises(RuntimeError, match="LRScheduler"):
        scheduled.set_lr(0.5)


def test_a_state_is_found_by_the_name_it_has_in_variables():
    p = constant(1.0)
    made = opt.Adam(0.1, parameters=[p])
    with pytest.raises(ValueError, match=r"moment1 does not exist for parameter .*none"):
        made._get_accumulator("moment1", p)
    (p * 2.0).backward()
    made.step()
    assert made._get_accumulator(made._beta1_pow_acc_str, p).item() == pytest.approx(0.81)
    assert made._get_accumulator("moment1", p).item() == pytest.approx(0.2)


def test_a_learning_rate_that_a_program_reads_is_not_changed_by_its_optimizer():
    made = opt.SGD(0.1, parameters=[])
    paddle.enable_static()
    try:
        for change in (lambda: made.set_lr(0.5), lambda: made.set_lr_scheduler(None)):
            with pytest.raises(AssertionError, match=r"'set_lr.*in dynamic graph mode"):
                change()
    finally:
        paddle.disable_static()
    assert made.get_lr() == 0.1


def constant(value):
    start = paddle.nn.initializer.Constant(value)
    return paddle.create_parameter([1], "float32", default_initializer=start)


def test_the_first_step_of_a_group_knows_its_own_betas():
    w = constant(0.5)
    optimizer = opt.Adam(0.1, parameters=[{"params": [w], "beta1": 0.5, "beta2": 0.9}])
    w.sum().backward()
    optimizer.step()
    assert w.item() == pytest.approx(0.4, rel=1e-5)


def test_clearing_to_zero_leaves_a_gradient_that_still_moves_what_has_moments():
    w = constant(0.5)
    optimizer = opt.Adam(0.1, parameters=[w])
    w.sum().backward()
    optimizer.step()
    optimizer.clear_grad()
    assert w.grad.tolist() == [0.0]
    optimizer.step()
    assert w.item() == pytest.approx(0.333, abs=1e-3)
    (w * 3.0).sum().backward()
    assert w.grad.tolist() == [3.0]
    optimizer.clear_grad(set_to_zero=False)
    assert w.grad is None


@pytest.mark.parametrize("way", ["step", "minimize"])
def test_eager_updates_keep_the_order_of_parameters_whatever_their_names(way):
    """The sum of squares rounds otherwise in another order."""
    names = {f"b{n}": 2.0**-12 for n in range(6)} | {"a": 1.0}
    params = [
        paddle.create_parameter(
            [1],
            "float32",
            attr=paddle.ParamAttr(name=f"order_{way}_{name}"),
            default_initializer=paddle.nn.initializer.Constant(0.0),
        )
        for name in names
    ]
    loss = sum(p * g for p, g in zip(params, names.values(), strict=True)).sum()
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.SGD(1.0, parameters=params, grad_clip=clip)
    loss.backward()
    optimizer.minimize(loss) if way == "minimize" else optimizer.step()
    norm = np.sqrt(np.float32(6 * 2.0**-24) + np.float32(1.0))
    assert norm != 1
    expected = -np.float32(0.5) / norm
    assert params[-1].numpy().tobytes() == expected.astype("float32").tobytes()


@pytest.mark.parametrize("clip", [None, paddle.nn.ClipGradByNorm(1.0)])
def test_minimize_gives_gradients_that_may_be_differentiated(clip):
    layer = paddle.nn.Linear(2, 3)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters(), grad_clip=clip)
    loss = layer(paddle.ones([1, 2])).sum()
    loss.backward()
    operators, pairs = optimizer.minimize(loss)
    assert operators == [] and [p.name for p, _ in pairs] == [p.name for p in layer.parameters()]
    assert all(not g.stop_gradient for _, g in pairs)
    assert all(np.allclose(g, p.grad) for p, g in pairs)


def parameter(value=1.0):
    fill = paddle.nn.initializer.Constant(value)
    return paddle.create_parameter([2], "float32", default_initializer=fill)


def test_the_name_of_an_optimizer_stands_in_the_names_of_its_states():
    p = parameter()
    adam = opt.Adam(0.1, parameters=[p], name="critic")
    p.sum().backward()
    adam.step()
    words = ("beta1_pow_acc", "beta2_pow_acc", "moment1", "moment2")
    assert sorted(adam.state_dict()) == [f"{p.name}_critic_{word}_0" for word in words]


def test_weight_decay_of_adamw_may_be_a_tensor():
    p = parameter()
    p.sum().backward()
    opt.AdamW(0.1, parameters=[p], weight_decay=paddle.to_tensor([0.5]), epsilon=0.0).step()
    np.testing.assert_allclose(p.numpy(), [0.85, 0.85], rtol=1e-6)  # 1 - 0.1 * 0.5 - 0.1


def test_a_parameter_of_two_groups_is_refused():
    p = parameter()
    with pytest.raises(ValueError, match="more than one parameter group"):
        opt.SGD(0.1, parameters=[{"params": [p]}, {"params": [parameter(), p]}])


def test_minimize_updates_only_the_parameters_it_is_given():
    p, q = parameter(), parameter()
    sgd = opt.SGD(0.1, parameters=[p, q])
    loss = (p * q).sum()
    loss.backward()
    _, pairs = sgd.minimize(loss, parameters=[p])
    assert [pair[0] for pair in pairs] == [p]
    np.testing.assert_allclose(p.numpy(), [0.9, 0.9], rtol=1e-6)
    assert q.tolist() == [1.0, 1.0]


def test_momentum_must_be_set():
    with pytest.raises(ValueError, match="momentum is not set"):
        opt.Momentum(0.1, momentum=None, parameters=[parameter()])


@pytest.mark.parametrize("kind", [opt.Adam, opt.AdamW, opt.Adamax, opt.Lamb])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_moments_of_parameters_of_few_digits_are_of_float32(kind, dtype):
    fill = paddle.nn.initializer.Constant(1.0)
    p = paddle.create_parameter([2], dtype, default_initializer=fill)
    optimizer = kind(0.125, parameters=[p])
    p.astype("float32").sum().backward()
    optimizer.step()
    assert p.dtype.name == dtype
    np.testing.assert_allclose(p.astype("float32").numpy(), [0.875, 0.875], atol=0.01)
    assert {v.dtype.name for v in optimizer.state_dict().values()} == {"float32"}


def test_what_l1_decay_adds_has_the_names_of_generated_variables():
    paddle.enable_static()
    main = paddle.static.Program()
    with (
        paddle.static.program_guard(main, paddle.static.Program()),
        paddle.utils.unique_name.guard(),
    ):
        loss = paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 2, bias_attr=False).mean()
        opt.SGD(0.1, weight_decay=paddle.regularizer.L1Decay(0.1)).minimize(loss)
    paddle.disable_static()
    added = [o.output("Out") for o in main.global_block().ops if o.type in ("sign", "scale")]
    assert added == [["_generated_var_0"], ["_generated_var_1"]]


@pytest.mark.parametrize("method", ["step", "clear_grad"])
def test_what_would_change_nothing_in_a_program_is_refused(method):
    paddle.enable_static()
    with pytest.raises(AssertionError, match=r"`minimize\(loss\)` appends gradients and updates"):
        getattr(opt.SGD(0.1), method)()
    paddle.disable_static()
