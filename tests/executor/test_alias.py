"""Values keep apart where their memory is overwritten."""

import numpy as np

import scull as paddle
from scull.executor.plan import make_plan


def update(x):
    """Subtract 1 from `x` in place."""
    block = paddle.static.default_main_program().global_block()
    inputs = {"Param": [x], "Grad": [paddle.ones(x.shape)], "LearningRate": [paddle.full([1], 1.0)]}
    block.append_op("sgd", inputs, {"ParamOut": [x]}, {})


def run(main, feed, fetches, scope=None):
    return paddle.static.Executor().run(main, feed=feed, fetch_list=fetches, scope=scope)


def test_what_is_fed_is_not_written_through_a_view_of_it(main):
    x = paddle.static.data("x", [2, 2])
    view = paddle.reshape(x, [4])
    update(view)
    value = np.zeros((2, 2), "float32")
    assert run(main, {"x": value}, [x + 0.0])[0].tolist() == [[0, 0], [0, 0]]
    assert value.tolist() == [[0, 0], [0, 0]]


def test_writing_over_a_view_leaves_its_base_as_it_was(main):
    base = paddle.full([2, 2], 5.0)
    view = paddle.reshape(base, [4])
    update(view)
    again = paddle.assign(view)
    found = run(main, {}, [base + 0.0, again])
    assert found[0].tolist() == [[5, 5], [5, 5]]
    assert found[1].tolist() == [4, 4, 4, 4]


def test_writing_over_a_view_of_a_parameter_leaves_the_parameter(main):
    w = main.global_block().create_var("w", shape=[2], dtype="float32", persistable=True)
    view = paddle.reshape(w, [1, 2])
    update(view)
    scope = paddle.static.Scope()
    scope.var("w").value = np.ones(2, "float32")
    assert run(main, {}, [paddle.assign(view)], scope)[0].tolist() == [[0, 0]]
    assert scope.var("w").value.tolist() == [1, 1]


def test_a_view_of_a_view_is_copied_where_it_begins_to_differ(main):
    base = paddle.full([2, 2], 5.0)
    first = paddle.reshape(base, [4])
    second = paddle.reshape(first, [1, 4])
    update(second)
    ends = [paddle.assign(v) for v in (base, first, second)]
    plan = make_plan(main.global_block(), (), tuple(v.name for v in ends))
    copied = [step.operator.output("Out") for step in plan.instructions if step.copies]
    assert copied == [[second.name]]
    assert [v.ravel()[0] for v in run(main, {}, ends)] == [5, 5, 4]


def test_views_of_memory_that_nobody_overwrites_are_not_copied(main):
    x = paddle.static.data("x", [2, 2])
    out = paddle.reshape(paddle.transpose(paddle.exp(x), [1, 0]), [4]) + 1.0
    plan = make_plan(main.global_block(), ("x",), (out.name,))
    assert not any(step.copies for step in plan.instructions)


def test_gradients_that_are_one_array_are_overwritten_apart(main):
    a, b = (paddle.static.data(name, [2]) for name in "ab")
    a.stop_gradient = b.stop_gradient = False
    da, db = paddle.static.gradients(paddle.sum((a + b) * 8.0), [a, b])
    block = main.global_block()
    found = block.create_var("found", shape=[1], dtype="bool")
    inputs = {"X": [da, db], "Scale": paddle.full([1], 4.0)}
    outputs = {"Out": [da, db], "FoundInfinite": found}
    block.append_op("check_finite_and_unscale", inputs, outputs)
    ones = np.ones(2, "float32")
    assert [v.tolist() for v in run(main, {"a": ones, "b": ones}, [da, db])] == [[2, 2], [2, 2]]


def test_what_a_python_function_hands_on_is_overwritten_apart(main):
    x = paddle.static.data("x", [2])
    made = main.global_block().create_var("made", shape=[2], dtype="float32")
    paddle.static.py_func(np.asarray, x, made)
    update(made)
    value = np.ones(2, "float32")
    assert run(main, {"x": value}, [paddle.assign(made)])[0].tolist() == [0, 0]
    assert value.tolist() == [1, 1]


def test_a_part_of_a_buffer_waits_for_the_whole_but_not_for_other_parts(main):
    block = main.global_block()
    parts = [block.create_var(name, shape=[1], dtype="float32") for name in "ab"]
    whole = block.create_var("whole", shape=[2], dtype="float32")
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    inputs = {"Input": [paddle.full([1], 4.0), paddle.full([1], 6.0)]}
    block.append_op("coalesce_tensor", inputs, {"Output": parts, "FusedOutput": whole}, attrs)
    for v in (parts[0], parts[1], whole):
        update(v)
    plan = make_plan(block, (), ("whole",))
    first, second, third = (
        i for i, step in enumerate(plan.instructions) if step.operator.type == "sgd"
    )
    graph = plan.graph
    assert not graph.precedes(first, second)
    assert graph.precedes(first, third)
    assert graph.precedes(second, third)
    assert run(main, {}, [whole, *parts])[0].tolist() == [2, 4]


def test_what_goes_to_the_scope_never_lies_in_what_was_fed():
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main):
        x = paddle.static.data("x", [2, 2])
        block = main.global_block()
        kept = block.create_var("kept", shape=[4], dtype="float32", persistable=True)
        outputs = {"Out": kept, "XShape": block.create_var("shape", shape=[0, 2, 2])}
        block.append_op("reshape2", {"X": x}, outputs, {"shape": [4]})
        rate, slope = paddle.full([1], 1.0), paddle.ones([4])
        inputs = {"Param": [kept], "Grad": [slope], "LearningRate": [rate]}
        block.append_op("sgd", inputs, {"ParamOut": [kept]}, {})
    fed, scope = np.ones((2, 2), "float32"), paddle.static.Scope()
    exe = paddle.static.Executor()
    for _ in range(2):
        exe.run(main, feed={"x": fed}, scope=scope)
        assert np.array_equal(fed, np.ones((2, 2)))
        assert np.array_equal(scope.find_var("kept").get_tensor(), np.zeros(4))
    paddle.disable_static()
