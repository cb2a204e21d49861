"""Training by Programs: what `minimize` returns, pruning, averages, settings of variables."""

import numpy as np
import pytest

import scull as paddle
from scull.base import core
from scull.errors import ArgumentError, ArgumentTypeError, UninitializedError

F, static = paddle.nn.functional, paddle.static


@pytest.fixture(autouse=True)
def programs():
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with (
        paddle.utils.unique_name.guard(),
        static.program_guard(main, startup),
        static.scope_guard(static.Scope()),
    ):
        yield main, startup
    paddle.disable_static()


def two_losses(rate=1.0):
    """Two losses of one weight; the second pushes it the other way."""
    x = static.data("x", [None, 2])
    start = paddle.nn.initializer.Constant(1.0)
    attr = paddle.ParamAttr(name="w", learning_rate=rate, initializer=start)
    y = static.nn.fc(x, 1, weight_attr=attr, bias_attr=False)
    first, second = paddle.mean(y), paddle.mean(-y)
    first.persistable = second.persistable = True
    return y, first, second


def weight():
    return static.global_scope().find_var("w").value.ravel().tolist()


def run(**options):
    feed = {"x": np.ones((1, 2), "float32")}
    return static.Executor().run(**{"feed": feed, **options})


def test_minimize_returns_every_operator_of_the_updates():
    _, loss, _ = two_losses(rate=0.5)
    operators, pairs = paddle.optimizer.SGD(0.1).minimize(loss)
    assert [o.type for o in operators] == ["scale", "sgd"]
    assert [(p.name, g.name) for p, g in pairs] == [("w", "w@GRAD")]


def test_a_pruned_run_keeps_the_updates_and_drops_the_other_loss(programs):
    _, first, second = two_losses()
    paddle.optimizer.SGD(0.5).minimize(first)
    static.Executor().run(programs[1])
    run(fetch_list=[first], use_prune=True)
    assert weight() == [0.5, 0.5]
    assert static.global_scope().find_var(second.name) is None


def test_updates_in_the_fetch_list_are_the_only_ones_that_run(programs):
    _, first, second = two_losses()
    optimizer = paddle.optimizer.SGD(0.5)
    one, other = optimizer.minimize(first), optimizer.minimize(second)
    static.Executor().run(programs[1])
    assert len(run(fetch_list=[first, one])) == 1
    assert weight() == [0.5, 0.5]
    run(fetch_list=[other[0]])
    assert weight() == [1.0, 1.0]


def test_a_pruned_run_is_planned_once(programs):
    _, first, _ = two_losses()
    static.Executor().run(programs[1])

    class Counting(static.Executor):
        pruned = 0

        def _prune_program(self, *arguments):
            self.pruned += 1
            return super()._prune_program(*arguments)

    exe = Counting()
    for _ in range(3):
        exe.run(feed={"x": np.ones((1, 2), "float32")}, fetch_list=[first], use_prune=True)
    assert exe.pruned == 1


def test_a_pruned_run_is_fed_in_the_middle(programs):
    y, first, _ = two_losses()
    static.Executor().run(programs[1])
    feed = {y.name: np.full((2, 1), 3.0, "float32")}
    assert run(feed=feed, fetch_list=[first], use_prune=True)[0] == 3.0


def test_pruning_refuses_what_is_no_variable_or_name(programs):
    for feeds, targets in (([2], []), ([], None), ([], [3])):
        with pytest.raises(ArgumentError, match="_prune_with_input"):
            programs[0]._prune_with_input(feeds, targets)
    static.data("x", [1, 2]) + 1.0
    with pytest.raises(ArgumentTypeError, match="The item in fetch_list should be str"):
        run(fetch_list=[True])


def test_variables_compare_element_by_element():
    x, y = static.data("x", [2]), static.data("y", [2])
    feed = {"x": np.array([1, 2], "float32"), "y": np.array([1, 3], "float32")}
    same, other = static.Executor().run(feed=feed, fetch_list=[x == y, x != y])
    assert same.tolist() == [True, False]
    assert other.tolist() == [False, True]
    assert len({x, y, x}) == 2


def test_the_variable_of_the_rate_is_found():
    _, loss, _ = two_losses()
    optimizer = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 2))
    assert optimizer._global_learning_rate() is None
    optimizer.minimize(loss)
    assert optimizer._global_learning_rate().name == "learning_rate_0"
    assert optimizer._beta1_pow_acc_str in optimizer._accumulators


def test_averages_take_the_place_of_parameters_for_a_while(programs):
    _, loss, _ = two_losses()
    paddle.optimizer.SGD(0.5).minimize(loss)
    averages = static.ExponentialMovingAverage(0.9)
    averages.update()
    exe = static.Executor()
    exe.run(programs[1])
    average = 0.0
    for _ in range(4):
        run()
        average = 0.9 * average + 0.1 * np.array(weight())
    trained = weight()
    with averages.apply(exe):
        assert np.allclose(weight(), average / (1 - 0.9**4), rtol=1e-6)
    assert weight() == trained
    with averages.apply(exe, need_restore=False):
        pass
    assert weight() != trained
    averages.restore(exe)
    assert weight() == trained


def test_an_average_with_steps_starts_with_a_smaller_decay(programs):
    _, loss, _ = two_losses()
    paddle.optimizer.SGD(0.5).minimize(loss)
    steps = static.create_global_var([1], 0, "int64", persistable=True)
    averages = static.ExponentialMovingAverage(0.9, steps)
    averages.update()
    static.Executor().run(programs[1])
    run()
    held = static.global_scope().find_var("w_ema_0").value
    assert np.allclose(held.ravel(), 0.9 * np.array(weight()))


def test_a_global_variable_needs_sizes_and_a_number_type():
    for shape, dtype in ((1, "float32"), ([1.0], "float32"), ([1], "complex64")):
        with pytest.raises(ArgumentTypeError, match="create_global_var"):
            static.create_global_var(shape, 2.0, dtype)
    made = static.create_global_var([1], np.array([2.0]), "float32", persistable=True)
    made._set_info("kind", "mine")
    assert (made._get_info("kind"), made._get_info("none")) == ("mine", None)


def test_operators_stand_on_devices_that_exist():
    with pytest.raises(ArgumentError, match=r"Attr\(device\)"), static.device_guard("tape"):
        pass


def test_a_parameter_is_initialised_once():
    block = static.Program().global_block()
    for _ in range(2):
        block.create_parameter(
            name="p", shape=[2], dtype="float32", initializer=paddle.nn.initializer.Constant(1.0)
        )
    assert [o.type for o in block.ops] == ["fill_constant"]


def test_the_seed_of_a_program_is_that_of_layers_made_eagerly():
    paddle.disable_static()
    before = static.default_main_program().random_seed
    paddle.framework.random._manual_program_seed(7)
    one, other = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
    paddle.framework.random._manual_program_seed(before)
    assert one.weight.tolist() == other.weight.tolist()


def test_a_compiled_program_stays_in_its_scope(programs):
    compiled, place = static.CompiledProgram(programs[0]), paddle.CPUPlace()
    compiled._compile(static.global_scope(), place)
    with pytest.raises(ArgumentError, match="different scope"):
        compiled._compile(static.Scope(), place)


def test_variables_are_saved_one_by_one_and_together(programs, tmp_path):
    two_losses()
    exe = static.Executor()
    exe.run(programs[1])
    cell = static.global_scope().find_var("w")
    for filename in (None, "all"):
        static.io.save_vars(exe, str(tmp_path / "vars"), vars=["w"], filename=filename)
        cell.value = np.zeros((2, 1), "float32")
        static.io.load_vars(exe, str(tmp_path / "vars"), vars=["w"], filename=filename)
        assert weight() == [1.0, 1.0]


def test_variables_without_values_are_not_saved(tmp_path):
    two_losses()
    with pytest.raises(UninitializedError, match="startup"):
        static.io.save_vars(None, str(tmp_path))


def test_prelu_learns_slopes_of_each_kind(programs):
    x = static.data("x", [2, 3, 4])
    outs = [static.nn.prelu(x, mode) for mode in ("all", "channel", "element")]
    assert [p.shape for p in programs[0].all_parameters()] == [(1,), (1, 3, 1), (1, 3, 4)]
    exe = static.Executor()
    exe.run(programs[1])
    for found in exe.run(feed={"x": np.full((2, 3, 4), -4, "float32")}, fetch_list=outs):
        assert np.array_equal(found, np.full((2, 3, 4), -1, "float32"))
    with pytest.raises(ArgumentError, match="mode should be one of"):
        static.nn.prelu(x, "none")


def test_slots_of_which_shapes_are_enough_are_known():
    found = {t: core.infer_no_need_buffer_slots(t, {}, {}, {}) for t in ("relu_grad", "mean_grad")}
    assert found == {"relu_grad": set(), "mean_grad": {"X"}}


def test_a_scheduler_names_the_variable_of_its_rate():
    schedule = paddle.optimizer.lr.StepDecay(0.5, step_size=1, gamma=0.5)
    loss = static.nn.fc(static.data("x", [1, 2]), 1).mean()
    paddle.optimizer.SGD(schedule).minimize(loss)
    exe, rates = static.Executor(), []
    exe.run(static.default_startup_program())
    for _ in range(2):
        feed = {"x": np.ones((1, 2), "float32")}
        rates += exe.run(feed=feed, fetch_list=[schedule._var_name])
        schedule.step()
    assert [float(rate) for rate in rates] == [0.5, 0.25]


@pytest.mark.parametrize("size", [2.5, "3"])
def test_a_size_is_an_integer(size):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        static.data("x", [size, 3])
    assert static.data("x", [np.int64(2), None]).shape == (2, -1)


def test_a_private_flag_is_only_read():
    with pytest.raises(ArgumentError, match="cannot set its value"):
        paddle.set_flags({"FLAGS_free_idle_chunk": True})
    with pytest.raises(ArgumentError, match="cannot get its value"):
        paddle.get_flags("FLAGS_free_idle_chunk")
    assert core.globals()["FLAGS_free_idle_chunk"] is False


def test_the_hash_of_a_program_is_that_of_its_copy_and_changes_are_noted(programs):
    x, main = static.data("x", [2, 3]), programs[0]
    static.nn.fc(x, 2)
    assert main.desc.need_update()
    before = main.desc.cached_hash_str()
    assert before == main.clone().desc.cached_hash_str()
    assert not main.desc.need_update()
    x.desc.set_stop_gradient(False)
    assert main.desc.need_update()
    assert main.desc.cached_hash_str() != before


def test_a_variable_declared_as_uint16_holds_bfloat16(programs):
    made = programs[0].global_block().create_var(name="v", shape=[1], dtype="uint16")
    assert made.dtype.name == "bfloat16"


def test_settings_of_parameters_are_taken_over_by_name(programs):
    two_losses(rate=0.5)
    other = programs[0].clone()
    own = other.global_block().var("w")
    own.optimize_attr = {"learning_rate": 2.0}
    other._copy_param_info_from(programs[0])
    assert own.optimize_attr == {"learning_rate": 0.5}
    with pytest.raises(ArgumentTypeError, match="source Program"):
        other._copy_param_info_from("program")


def test_batches_of_a_reader_are_made_by_a_function():
    assert list(paddle.batch(lambda: range(3), batch_size=2)()) == [[0, 1], [2]]
