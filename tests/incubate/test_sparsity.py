"""Networks pruned to n:m sparsity, and training that keeps it."""

from itertools import pairwise, product

import numpy as np
import pytest

import scull as paddle
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, UninitializedError
from scull.incubate import asp
from scull.incubate.asp import support

LEFT = np.array([[2, 8, 9, 9], [9, 1, 3, 9], [5, 6, 3, 9], [2, 4, 6, 9]])


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """Masks, exclusions and further layers of other tests do not count."""
    monkeypatch.setattr(support, "FUNCTIONS", dict(support.FUNCTIONS))
    support.PROGRAMS.clear()


def drawn(*shape, dtype="float32"):
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


def network(*sizes):
    pairs = pairwise(sizes)
    made = paddle.nn.Sequential(*[paddle.nn.Linear(m, n) for m, n in pairs])
    for p in made.parameters():
        p.set_value(drawn(*p.shape))
    return made


def decorated(made, kind=paddle.optimizer.SGD):
    return asp.decorate(kind(0.1, parameters=made.parameters()))


def densities(made):
    return [asp.calculate_density(p) for p in made.parameters() if p.ndim > 1]


# ---- masks ----


def test_the_smallest_of_each_group_go_and_of_equal_ones_the_first():
    mat = np.array([[1.0, -3.0, 2.0, 0.5, 7.0], [1.0, 1.0, 1.0, 1.0, 0.0]])
    assert asp.get_mask_1d(mat, 2, 4).tolist() == [[0, 1, 1, 0, 1], [0, 0, 1, 1, 0]]


def test_the_greedy_mask_takes_the_largest_whose_row_and_column_have_room():
    mask = asp.get_mask_2d_greedy(LEFT, 2, 4)
    assert mask.tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 1]]


def test_the_best_mask_is_the_best_of_all():
    rows = [r for r in product([0, 1], repeat=4) if sum(r) == 2]
    every = [np.array(p) for p in product(rows, repeat=4)]
    sums = [(LEFT * p).sum() for p in every if (p.sum(axis=0) == 2).all()]
    assert (LEFT * asp.get_mask_2d_best(LEFT, 2, 4)).sum() == max(sums) == 61


def test_the_best_mask_counts_signs():
    assert (LEFT * asp.get_mask_2d_best(-LEFT, 2, 4)).sum() == LEFT.sum() - 61


@pytest.mark.parametrize("algorithm", asp.MaskAlgo)
@pytest.mark.parametrize("shape", [(7,), (8, 8), (5, 6), (3, 5, 6), (6, 5, 3, 4)])
def test_a_mask_passes_the_check_of_its_kind(algorithm, shape):
    x = drawn(*shape, dtype="float64")
    method = asp.CheckMethod.get_checking_method(algorithm)
    mask = asp.create_mask(x, algorithm, 2, 4)
    assert mask.shape == shape and mask.dtype == x.dtype
    assert asp.check_sparsity(x * mask, method, 2, 4)
    assert not asp.check_sparsity(np.ones((8, 8)), method, 2, 4)


def test_of_four_axes_the_third_has_the_neighbours():
    x = drawn(2, 3, 8, 5)
    kept = asp.create_mask(x).reshape(6, 2, 4, 5).sum(axis=2)
    assert (kept == 2).all()


def test_rows_or_columns_are_enough_for_the_check_of_blocks():
    rows = np.array([[1, 1, 0, 0]] * 4)
    assert asp.check_mask_2d(rows, 2, 4) and asp.check_mask_2d(rows.T, 2, 4)
    assert not asp.check_mask_2d(np.maximum(rows, rows.T), 2, 4)


def test_one_row_is_checked_as_a_row():
    assert asp.check_mask_1d(np.array([1, 0, 0, 1, 1, 1]), 2, 4)
    assert not asp.check_mask_1d(np.array([1, 0, 1, 1]), 2, 4)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: asp.create_mask(drawn(4), "mask_1d"), AssertError, "is a MaskAlgo"),
        (lambda: asp.check_sparsity(drawn(4), "x"), AssertError, "is a CheckMethod"),
        (lambda: asp.create_mask(drawn()), ArgumentError, "one to four axes"),
        (lambda: asp.create_mask(drawn(1, 1, 1, 1, 1)), ArgumentError, "one to four axes"),
        (lambda: asp.get_mask_1d(drawn(4), 2, 4), AssertError, "2D matrix"),
        (lambda: asp.check_mask_1d(drawn(1, 1, 4), 2, 4), AssertError, "2D matrix"),
        (lambda: asp.get_mask_2d_best(drawn(4, 4), 4, 4), ArgumentError, "no pattern"),
        (lambda: asp.CheckMethod.get_checking_method(2), AssertError, "MaskAlgo"),
        (lambda: asp.prune_model(3), ArgumentTypeError, "paddle.nn.Layer or paddle.static.Program"),
        (lambda: asp.prune_model(network(4, 4), mask_algo="x"), AssertError, "mask_algo"),
        (lambda: asp.prune_model(network(4, 4)), AssertError, "asp.decorate"),
        (lambda: asp.prune_model(network(4, 4), 4, 2, with_mask=False), AssertError, "not 4:2"),
        (lambda: asp.add_supported_layer(3), ArgumentTypeError, "a Layer or its class"),
        (lambda: asp.set_excluded_layers(["x"], 3), ArgumentTypeError, "is a Program"),
    ],
)
def test_what_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


# ---- which weights ----


@pytest.mark.parametrize(
    ("name", "pruned"),
    [
        ("linear_0.w_0", True),
        ("conv2d_12.w_1", True),
        ("fc_3.w_0", True),
        ("linear", True),
        ("linear_0.b_0", False),
        ("linear_0", False),
        ("my_linear_0.w_0", False),
        ("conv2d_transpose_0.w_0", False),
        ("linear_0.w_0.asp_mask", False),
    ],
)
def test_weights_are_known_by_what_their_layers_are_called(name, pruned):
    assert support.is_supported(paddle.static.Program(), name) is pruned


def test_more_layers_are_pruned_by_a_function_of_their_own():
    seen = []

    def halved(weight, m, n, algorithm, name):
        seen.append((weight.shape, m, n, algorithm, name))
        mask = np.zeros_like(weight)
        mask[: len(mask) // 2] = 1
        return weight * mask, mask

    layer = paddle.nn.Embedding(4, 3)
    asp.add_supported_layer(layer, halved)
    decorated(layer)
    masks = asp.prune_model(layer, 1, 4)
    name = layer.weight.name
    assert seen == [((4, 3), 4, 1, asp.MaskAlgo.MASK_1D, name)] and list(masks) == [name]
    assert (layer.weight.numpy()[2:] == 0).all() and densities(layer) == [0.5]


def test_weights_with_few_channels_stay_and_others_are_pruned_along_them(caplog):
    small, large = paddle.nn.Conv2D(3, 8, 3), paddle.nn.Conv2D(8, 4, 3)
    made = paddle.nn.Sequential(small, large)
    decorated(made)
    asp.prune_model(made)
    assert densities(made) == [1.0, 0.5]
    groups = (large.weight.numpy() != 0).reshape(4, 2, 4, 3, 3)
    assert (groups.sum(axis=2) == 2).all()
    assert f"{small.weight.name} is not pruned" in caplog.text


def test_excluded_weights_stay_until_the_exclusion_is_forgotten():
    made = network(8, 8, 8)
    asp.set_excluded_layers([made[0].full_name()])
    decorated(made)
    asp.prune_model(made)
    assert densities(made) == [1.0, 0.5]
    asp.reset_excluded_layers()
    decorated(made)
    asp.prune_model(made)
    assert densities(made) == [0.5, 0.5]


def test_an_exclusion_counts_in_its_program():
    one, other = paddle.static.Program(), paddle.static.Program()
    asp.set_excluded_layers(["linear_1"], one)
    assert not support.is_supported(one, "linear_1.w_0")
    assert support.is_supported(other, "linear_1.w_0")
    asp.reset_excluded_layers(other)
    assert not support.is_supported(one, "linear_1.w_0")
    asp.reset_excluded_layers(one)
    assert support.is_supported(one, "linear_1.w_0")


# ---- training ----


def by_step(made, optimizer, loss):
    loss.backward()
    optimizer.step()


def by_minimize(made, optimizer, loss):
    loss.backward()
    optimizer.minimize(loss)


def by_scaler(made, optimizer, loss):
    scaler = paddle.amp.GradScaler(init_loss_scaling=8.0)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


@pytest.mark.parametrize("way", [by_step, by_minimize, by_scaler])
def test_training_goes_on_with_the_weights_that_are_left(way):
    made = network(8, 4)
    optimizer = decorated(made)
    mask = asp.prune_model(made)[made[0].weight.name]
    expected = made[0].weight.numpy()
    for _ in range(3):
        way(made, optimizer, made(paddle.ones([1, 8])).sum())
        optimizer.clear_grad()
        expected = (expected - 0.1) * mask
    assert np.allclose(made[0].weight.numpy(), expected) and densities(made) == [0.5]


@pytest.mark.parametrize("scaled", [False, True])
def test_a_step_that_is_recorded_keeps_the_zeros(scaled):
    found = []
    for recorded in (False, True):
        made = network(8, 4)
        optimizer = decorated(made, paddle.optimizer.Adam)
        asp.prune_model(made)
        scaler = paddle.amp.GradScaler(enable=scaled, init_loss_scaling=8.0)

        def step(x, made=made, optimizer=optimizer, scaler=scaler):
            loss = (made(x) ** 2).sum()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.clear_grad()
            return loss

        call = paddle.jit.to_static(step) if recorded else step
        found.append([float(call(paddle.ones([1, 8]))) for _ in range(3)])
        assert densities(made) == [0.5]
    assert np.allclose(*found)


def test_without_masks_zeros_go_with_the_next_step():
    made = network(8, 4)
    optimizer = decorated(made)
    asp.prune_model(made, with_mask=False)
    assert densities(made) == [0.5]
    by_step(made, optimizer, made(paddle.ones([1, 8])).sum())
    assert densities(made) == [1.0]


def test_masks_are_saved_with_the_states_of_the_optimizer():
    made = network(8, 4)
    optimizer = decorated(made, paddle.optimizer.Adam)
    asp.prune_model(made)
    by_step(made, optimizer, made(paddle.ones([1, 8])).sum())
    state = {k: paddle.to_tensor(v.numpy()) for k, v in optimizer.state_dict().items()}
    name = made[0].weight.name + ".asp_mask"
    assert np.array_equal(state[name].numpy(), made[0].weight.numpy() != 0)
    state[name] = paddle.to_tensor(np.repeat([[1.0], [0.0]], 4, 0).astype("float32").repeat(4, 1))
    optimizer.set_state_dict(state)
    optimizer.clear_grad()
    made[0].weight.set_value(np.ones([8, 4], "float32"))
    by_step(made, optimizer, made(paddle.ones([1, 8])).sum())
    assert (made[0].weight.numpy()[4:] == 0).all() and (made[0].weight.numpy()[:4] != 0).all()
    with pytest.raises(AssertError, match="asp_mask is not found"):
        optimizer.set_state_dict({})


def test_what_the_decorated_optimizer_lacks_the_one_within_has():
    optimizer = decorated(network(4, 4))
    optimizer.set_lr(0.5)
    assert optimizer.get_lr() == 0.5
    with pytest.raises(AttributeError, match="nothing"):
        optimizer.nothing  # noqa: B018


# ---- Programs ----


@pytest.fixture
def program():
    """A Program whose second weight is excluded, its startup Program, and its loss."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    scope = paddle.static.Scope()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(main, startup),
        paddle.static.scope_guard(scope),
    ):
        layers = network_of_program()
        x = paddle.static.data("x", [None, 8])
        loss = (layers[1](layers[0](x)) ** 2).mean()
        asp.set_excluded_layers([layers[1].full_name()], main)
        asp.decorate(paddle.optimizer.SGD(0.1)).minimize(loss, startup)
        yield main, startup, loss, layers[0]
    paddle.disable_static()


def network_of_program():
    return paddle.nn.Linear(8, 4), paddle.nn.Linear(4, 4)


def value(name):
    return np.array(paddle.static.global_scope().find_var(name).get_tensor())


def test_a_program_ends_with_products_with_masks(program):
    main, startup, _, layer = program
    name = layer.weight.name
    mask = main.global_block().var(name + ".asp_mask")
    assert (mask.persistable, mask.stop_gradient, mask.trainable) == (True, True, False)
    last = main.global_block().ops[-1]
    assert [o.type for o in main.global_block().ops].count("elementwise_mul") == 1
    assert (last.input("Y"), last.output("Out")) == ([mask.name], [name])
    paddle.static.Executor().run(startup)
    assert (value(mask.name) == 1).all()


@pytest.mark.parametrize("by_layer", [False, True])
def test_runs_of_a_program_keep_the_zeros(program, by_layer):
    main, startup, loss, layer = program
    exe = paddle.static.Executor()
    exe.run(startup)
    masks = asp.prune_model(layer if by_layer else main, mask_algo="mask_2d_best")
    assert list(masks) == [layer.weight.name]
    found = [
        exe.run(main, feed={"x": np.ones([2, 8], "float32")}, fetch_list=[loss])[0]
        for _ in range(3)
    ]
    assert found[0] > found[1] > found[2]
    weight = value(layer.weight.name)
    assert np.array_equal(weight != 0, masks[layer.weight.name])


def test_a_program_that_tests_has_no_masks(program):
    main, startup, *_ = program
    paddle.static.Executor().run(startup)
    test = main.clone(for_test=True)
    assert "elementwise_mul" not in [o.type for o in test.global_block().ops]
    with pytest.raises(AssertError, match="has no mask"):
        asp.prune_model(test)
    assert len(asp.prune_model(test, with_mask=False)) == 2  # the exclusion is of another Program


def test_values_come_before_they_are_pruned(program):
    with pytest.raises(UninitializedError, match="startup Program"):
        asp.prune_model(program[0])


def test_older_code_finds_the_same_in_one_class(program):
    main, startup, _, layer = program
    names = asp.ASPHelper
    assert names._get_mask_name("w") == "w." + names.MASK_APPENDDED_NAME
    known = names._get_program_asp_info(main)
    assert [v.name for v in known.mask_vars.values()] == [layer.weight.name + ".asp_mask"]
    assert names._is_supported_layer(main, layer.weight.name)
    assert len(names._get_not_ASP_relevant_vars(main)) == len(main.all_parameters()) - 1
    paddle.static.Executor().run(startup)
    by_program = names.prune_model_by_program(None, main)
    by_layer = names.prune_model_by_layer(None, layer, 2, 4, asp.MaskAlgo.MASK_2D_BEST)
    assert list(by_program) == list(by_layer) == list(known.masks) == [layer.weight.name]
