"""What may be fed, what comes back, and in which form: as PaddlePaddle 2.6.2 does it."""

import gc
import weakref

import numpy as np
import pytest

import scull as paddle
from scull import static
from scull.errors import ArgumentTypeError, FeedError, RunError, UninitializedError
from scull.runtime.scope import ScopeTensor

ONES = np.ones(2, "float32")


@pytest.fixture(autouse=True)
def programs():
    """A main and a startup Program that are the default ones, and a scope of their own."""
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup
    paddle.disable_static()


def run(fetch_list=None, feed=None, program=None, **options):
    return static.Executor().run(program, feed=feed, fetch_list=fetch_list, **options)


def doubled(shape=(2,), dtype="float32"):
    x = static.data("x", list(shape), dtype)
    return x, paddle.scale(x, 2.0)


def trained():
    """A step of SGD on one weight of two ones, whose gradient is one half each."""
    x = static.data("x", [-1, 2])
    one = paddle.nn.initializer.Constant(1.0)
    w = paddle.create_parameter([2, 1], "float32", name="w", default_initializer=one)
    loss = paddle.mean(paddle.matmul(x, w))
    minimized = paddle.optimizer.SGD(1.0).minimize(loss)
    run(program=static.default_startup_program())
    return w, loss, minimized, {"x": np.full((1, 2), 0.5, "float32")}


# ---- fed ----


@pytest.mark.parametrize(
    ("shape", "dtype", "value", "expected"),
    [
        ((2,), "float32", [1, 2], [1, 2]),
        ((2,), "float32", (1, 2), [1, 2]),
        ((2, 1), "float64", [[1.5], [2.5]], [[1.5], [2.5]]),
        ((2,), "int64", [1.7, -2.7], [1, -2]),
        ((2,), "int8", [1, 300], [1, 44]),
        ((0,), "float32", [], []),
        ((), "float32", 3, 3),
        ((), "float32", np.int64(3), 3),
        ((2,), "float32", [ONES[0], 2], [1, 2]),
        ((2,), "bool", [True, False], [True, False]),
        ((2,), "bfloat16", np.array([0x3F80, 0x4000], "uint16"), [1, 2]),
    ],
)
def test_numbers_lists_and_arrays_take_the_declared_type(shape, dtype, value, expected):
    x = static.data("x", list(shape), dtype)
    paddle.assign(x)
    (found,) = run([x], {"x": value})
    assert found.tolist() == expected
    assert found.dtype == x.dtype.array


@pytest.mark.parametrize("form", [static.global_scope().var("any").get_tensor, ScopeTensor])
def test_tensors_of_scopes_are_fed(form):
    _, y = doubled()
    fed = form()
    fed.set(ONES, paddle.CPUPlace())
    assert run([y], {"x": fed})[0].tolist() == [2, 2]
    fed._clear()
    with pytest.raises(FeedError, match="`x` holds no value"):
        run([y], {"x": fed})


def test_a_tensor_is_fed():
    _, y = doubled()
    paddle.disable_static()
    value = paddle.to_tensor([1.0, 2.0])
    paddle.enable_static()
    assert run([y], {"x": value})[0].tolist() == [2, 4]


@pytest.mark.parametrize(
    "value",
    [None, {"a": 1}, {1, 2}, range(2), [None, 1], [[1, 2], [3]], ["a", "b"], "ab", object()],
)
def test_what_is_no_number_is_refused_and_the_input_named(value):
    _, y = doubled()
    with pytest.raises(ArgumentTypeError, match=r"input `x`|Convert data of type"):
        run([y], {"x": value})


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int64", "bool", "uint16"])
def test_an_array_of_another_element_type_is_refused_with_both(dtype):
    _, y = doubled()
    with pytest.raises(ValueError, match=rf"`x` is declared float32\[2\].* is {dtype}"):
        run([y], {"x": np.ones(2, dtype)})


@pytest.mark.parametrize(
    ("declared", "given", "accepted"),
    [
        ((-1, 1), (3,), True),
        ((-1, 1, 1), (3, 1), True),
        ((3, -1), (3, 5), True),
        ((-1, 3), (0,), True),
        ((-1,), (3, 1), False),
        ((3, 1), (1,), False),
        ((-1, 3), (3, 1), False),
        ((1,), (), False),
        ((), (1,), False),
    ],
)
def test_trailing_sizes_may_be_left_out_and_the_others_agree(declared, given, accepted):
    _, y = doubled(declared)
    if accepted:
        assert run([y], {"x": np.ones(given, "float32")})[0].shape == given
        return
    with pytest.raises(ValueError, match="`x` is declared float32"):
        run([y], {"x": np.ones(given, "float32")})


def test_a_feed_is_a_dictionary_or_a_list_of_one():
    _, y = doubled()
    for feed in ({"x": ONES}, [{"x": ONES}], ({"x": ONES},)):
        assert run([y], feed)[0].tolist() == [2, 2]
    for feed in ([], [{"x": ONES}] * 2, ONES, "x", [ONES]):
        with pytest.raises(ArgumentTypeError, match="feed"):
            run([y], feed)


def test_a_fed_name_the_program_lacks_is_a_warning_that_names_it():
    _, y = doubled()
    with pytest.warns(UserWarning, match="The variable nope is not found in program"):
        assert run([y], {"x": ONES, "nope": 1})[0].tolist() == [2, 2]


def test_an_intermediate_value_that_is_fed_is_computed_over_unless_pruned_away():
    _, y = doubled()
    z = y + 1.0
    nines = np.full(2, 9, "float32")
    assert run([z], {"x": ONES, y.name: nines})[0].tolist() == [3, 3]
    assert run([z], {y.name: nines}, use_prune=True)[0].tolist() == [10, 10]


def test_a_fed_parameter_stays_in_the_scope():
    x = static.data("x", [1, 2])
    w = paddle.create_parameter([2, 1], "float32", name="w")
    y = paddle.matmul(x, w)
    feed = {"x": np.ones((1, 2), "float32")}
    given = np.full((2, 1), 5, "float32")
    assert run([y], {**feed, "w": given})[0].tolist() == [[10]]
    given[:] = 0
    assert run([y], feed)[0].tolist() == [[10]]


def test_a_fed_array_is_not_what_is_fetched():
    x, _ = doubled()
    given = ONES.copy()
    (found,) = run([x], {"x": given})
    given[:] = 5
    assert found.tolist() == [1, 1]


def test_a_program_without_inputs_runs_without_a_feed():
    y = paddle.full([2], 3.0)
    for feed in (None, {}):
        assert run([y], feed)[0].tolist() == [3, 3]


# ---- fetched ----


def test_values_come_in_the_order_asked_for_by_variable_or_name():
    x, y = doubled()
    z = y + 1.0
    found = run([z, y.name, z, x, "x"], {"x": ONES})
    assert [v.tolist() for v in found] == [[3, 3], [2, 2], [3, 3], [1, 1], [1, 1]]
    assert len({id(v) for v in found}) == 5 and all(v.flags.writeable for v in found)


def test_one_entry_a_tuple_and_lists_within_are_fetch_lists_too():
    x, y = doubled()
    for fetch_list in (y, y.name, (y,), [y]):
        assert [v.tolist() for v in run(fetch_list, {"x": ONES})] == [[2, 2]]
    assert len(run([[y, x], (x, y)], {"x": ONES})) == 4


@pytest.mark.parametrize("fetch_list", [None, [], ()])
def test_nothing_asked_for_is_an_empty_list_and_all_runs(fetch_list):
    _, _, _, feed = trained()
    assert run(fetch_list, feed) == []
    assert static.global_scope().find_var("w").value.ravel().tolist() == [0.5, 0.5]


@pytest.mark.parametrize("fetch_list", [5, {"x": 1}, {"x"}, [1], [None], [object()]])
def test_what_is_no_variable_is_refused(fetch_list):
    doubled()
    with pytest.raises(TypeError, match="fetch_list"):
        run(fetch_list, {"x": ONES})


def test_an_operator_that_updates_nothing_is_refused(programs):
    doubled()
    with pytest.raises(TypeError, match="not an optimize_op: `scale`"):
        run([programs[0].global_block().ops[0]], {"x": ONES})


def test_updates_in_the_list_run_and_give_nothing_themselves():
    _, loss, minimized, feed = trained()
    assert len(run([minimized[0], loss], feed)) == 1
    (found,) = run([minimized, loss], feed)
    assert found == 0.5
    assert static.global_scope().find_var("w").value.ravel().tolist() == [0.0, 0.0]


def test_a_fetched_parameter_is_a_copy_in_every_form():
    w, _, _, feed = trained()
    (array,) = run([w], feed)
    (tensor,) = run([w], feed, return_numpy=False)
    run([], feed)
    assert array.ravel().tolist() == [0.5, 0.5]
    assert np.array(tensor).ravel().tolist() == [0.0, 0.0]


def test_tensors_come_when_arrays_are_not_asked_for():
    x, y = doubled()
    found = run([x, y], {"x": ONES}, return_numpy=False)
    assert [type(v) for v in found] == [ScopeTensor, ScopeTensor]
    assert str(found[1]) == (
        "  - shape: [2]\n  - layout: NCHW\n  - place: Place(cpu)\n  - dtype: float32\n"
        "  - data: [2 2]"
    )


def test_levels_of_sequences_are_printed_as_paddle_prints_them():
    held = paddle.base.create_lod_tensor(np.ones([8, 1], "float32"), [[2, 2], [3, 3, 1, 1]], None)
    assert str(held).splitlines()[0] == "  - lod: {{0, 2, 4}{0, 3, 6, 7, 8}}"


def test_what_nothing_computes_is_none(programs):
    block = programs[0].global_block()
    _, y = doubled()
    lasting = block.create_var(name="lasting", shape=[2], dtype="float32", persistable=True)
    passing = block.create_var(name="passing", shape=[2], dtype="float32")
    unfed = static.data("unfed", [2])
    for v in (lasting, passing, unfed):
        found = run([y, v], {"x": ONES})
        assert found[0].tolist() == [2, 2] and found[1] is None
    (tensor,) = run([lasting], {"x": ONES}, return_numpy=False)
    assert not tensor._is_initialized() and "uninited" in str(tensor)


def test_what_an_operator_reads_must_have_a_value():
    x = static.data("x", [1, 2])
    y = paddle.matmul(x, paddle.create_parameter([2, 1], "float32", name="w"))
    with pytest.raises(UninitializedError, match=r"`w` has no value.*`matmul_v2`") as caught:
        run([y], {"x": np.ones((1, 2), "float32")})
    assert isinstance(caught.value, ValueError)


def test_the_fetch_operators_of_a_loaded_program_are_its_list(tmp_path):
    x, y = doubled()
    one = paddle.nn.initializer.Constant(1.0)
    z = y + paddle.create_parameter([2], "float32", default_initializer=one)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    static.save_inference_model(str(tmp_path / "m"), [x], [z, y], exe)
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
    for fetch_list in (None, fetches, [v.name for v in fetches]):
        found = exe.run(program, feed={feeds[0]: ONES}, fetch_list=fetch_list)
        assert [v.tolist() for v in found] == [[3, 3], [2, 2]]


def test_the_rate_of_a_scheduler_is_fetched_as_it_is():
    loss = paddle.mean(static.nn.fc(static.data("x", [-1, 2]), 1))
    schedule = paddle.optimizer.lr.StepDecay(0.5, 2)
    optimizer = paddle.optimizer.SGD(schedule)
    optimizer.minimize(loss)
    run(program=static.default_startup_program())
    rates = []
    for _ in range(3):
        rates.append(run([optimizer._global_learning_rate()], {"x": np.ones((1, 2), "float32")}))
        schedule.step()
    assert [float(r[0]) for r in rates] == pytest.approx([0.5, 0.5, 0.05])


def test_the_rate_goes_where_the_scope_finds_it():
    loss = paddle.mean(static.nn.fc(static.data("x", [-1, 2]), 1))
    optimizer = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.5, 1))
    optimizer.minimize(loss)
    run(program=static.default_startup_program())
    kid, feed = static.global_scope().new_scope(), {"x": np.ones((1, 2), "float32")}
    rate = optimizer._global_learning_rate()
    for expected in (0.5, 0.05):
        assert run([rate], feed, scope=kid)[0] == np.float32(expected)
        optimizer._learning_rate.step()
    assert kid.local_var_names() == []


# ---- Programs, scopes, settings of a run ----


def test_an_empty_program_gives_nothing_and_the_default_one_warns():
    assert run(program=static.Program()) == []
    with pytest.warns(UserWarning, match="no operators in the program"):
        assert run() == []
    x = static.data("x", [2])
    assert run([x], {"x": ONES}, static.default_main_program())[0].tolist() == [1, 1]


def test_names_of_feed_and_fetch_and_the_cache_change_nothing():
    _, y = doubled()
    options = {"feed_var_name": "a", "fetch_var_name": "b", "use_program_cache": True}
    for value in (1.0, 2.0):
        found = run([y], {"x": ONES * np.float32(value)}, **options)
        assert found[0].tolist() == [2 * value] * 2


def test_a_program_that_grew_is_planned_anew():
    _, y = doubled()
    assert run([y], {"x": ONES}, use_program_cache=True)[0].tolist() == [2, 2]
    z = y * 3.0
    assert run([z], {"x": ONES}, use_program_cache=True)[0].tolist() == [6, 6]


def test_temporaries_are_not_in_the_scope_and_values_are_set_there():
    _, loss, _, feed = trained()
    run([loss], feed)
    scope = static.global_scope()
    assert scope.find_var(loss.name) is None and scope.find_var("nothing") is None
    tensor = scope.find_var("w").get_tensor()
    tensor.set(np.full((2, 1), 7, "float32"), paddle.CPUPlace())
    assert run([loss], feed)[0] == 7 and tensor.shape() == [2, 1]


def test_two_scopes_hold_two_sets_of_values():
    w, _, _, feed = trained()
    scopes = [static.Scope(), static.Scope()]
    for scope in scopes:
        run(program=static.default_startup_program(), scope=scope)
    run([], feed, scope=scopes[0])
    found = [run([w], feed, scope=scope)[0].ravel().tolist() for scope in scopes]
    assert found == [[0.0, 0.0], [0.5, 0.5]]


def test_a_scope_that_is_gone_is_not_kept_by_the_plans(programs):
    w, _, _, feed = trained()
    scope = static.Scope()
    run(program=programs[1], scope=scope)
    run([w], feed, scope=scope)
    gone, value = weakref.ref(scope), weakref.ref(scope.find_var("w").value)
    plans = len(programs[0].plans)
    del scope
    gc.collect()
    assert gone() is None and value() is None
    assert len(programs[0].plans) == plans - 1


def test_a_name_that_is_erased_or_made_within_means_another_value():
    _, loss, _, feed = trained()
    scope = static.global_scope()
    kid = scope.new_scope()
    (before,) = run([loss], feed, scope=kid)
    kid.var("w").get_tensor().set(np.full((2, 1), 4, "float32"))
    (within,) = run([loss], feed, scope=kid)
    assert (before, within) == (1, 4)
    scope.erase(["w"])
    with pytest.raises(UninitializedError, match="`w`"):
        run([loss], feed)


def test_a_place_is_a_place_or_its_name():
    for place in (None, "cpu", paddle.CPUPlace()):
        assert str(static.Executor(place).place) == "Place(cpu)"
    for place in ("nope", 5, "gpu:0"):
        with pytest.raises(ValueError, match="device"):
            static.Executor(place)


def test_a_closed_executor_refuses_and_may_be_closed_again():
    exe = static.Executor()
    exe.close()
    exe.close()
    with pytest.raises(RunError, match="closed Executor"):
        exe.run(static.Program())


@pytest.mark.parametrize("program", [5, "main"])
def test_what_is_no_program_is_refused(program):
    with pytest.raises(TypeError, match="requires Program"):
        run(program=program)


def test_what_is_no_scope_is_refused():
    with pytest.raises(ArgumentTypeError, match="scope takes a Scope, not int"):
        run(program=static.Program(), scope=5)


def test_an_array_that_outlives_the_run_is_an_array_in_the_scope():
    x = static.data("x", [2])
    array = paddle.tensor.array_write(x, paddle.full([1], 0, "int64"))
    array.persistable = True
    for fed in (ONES, 2 * ONES):
        (found,) = run([array], {"x": fed})
        assert [v.tolist() for v in found] == [fed.tolist()]
        (kept,) = static.global_scope().find_var(array.name).get_lod_tensor_array()
        assert np.asarray(kept).tolist() == fed.tolist()
