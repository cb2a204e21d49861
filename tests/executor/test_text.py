"""Plans as text: steps, edges, counts, last users before and after reduction, frees."""

import scull as paddle
from scull.executor.plan import make_plan


def plan_of(main, loss, **options):
    feeds = tuple(v.name for v in main.list_vars() if v.is_data)
    return make_plan(main.global_block(), feeds, (loss.name,), **options)


def linear():
    x, y = paddle.static.data("x", [16, 16]), paddle.static.data("y", [16, 1])
    loss = paddle.nn.MSELoss()(paddle.nn.Linear(16, 1)(x), y)
    paddle.optimizer.Adam().minimize(loss)
    return loss


def test_the_plan_of_the_linear_example(main, golden):
    plan = plan_of(main, linear())
    assert str(plan) == golden


def test_the_linear_example_as_a_picture(main, golden):
    assert plan_of(main, linear()).to_dot() == golden


def test_the_plan_of_two_embeddings(main, golden):
    words = paddle.static.data("words", [2, 4], "int64")
    first, second = paddle.nn.Embedding(10, 3), paddle.nn.Embedding(10, 3)
    loss = paddle.sum(paddle.nn.functional.relu(first(words) * second(words)))
    paddle.optimizer.SGD(0.1).minimize(loss)
    assert str(plan_of(main, loss)) == golden


def test_the_plan_of_a_convolution(main, golden):
    image = paddle.static.data("image", [2, 3, 8, 8])
    loss = paddle.mean(paddle.static.nn.conv2d(image, 64, 3))
    paddle.optimizer.Adam().minimize(loss)
    assert str(plan_of(main, loss)) == golden


def test_the_plan_of_every_way_to_share_memory(main, golden):
    block = main.global_block()
    x = paddle.static.data("x", [2, 2])
    parts = [block.create_var(name, shape=[2, 2], dtype="float32") for name in "ab"]
    whole = block.create_var("whole", shape=[8], dtype="float32")
    attrs = {"dtype": 5, "copy_data": True, "use_align": False}
    noise = paddle.uniform([2, 2])
    outputs = {"Output": parts, "FusedOutput": whole}
    block.append_op("coalesce_tensor", {"Input": [x, noise]}, outputs, attrs)
    turned = paddle.transpose(parts[0], [1, 0])
    inputs = {"Param": [parts[0]], "Grad": [x], "LearningRate": [paddle.full([1], 1.0)]}
    block.append_op("sgd", inputs, {"ParamOut": [parts[0]]})
    paddle.static.Print(turned)
    paddle.assign(noise, output=turned)
    out = paddle.static.Print(whole)
    names = (out.name, turned.name)
    assert str(make_plan(block, ("x",), names)) == golden


def test_in_plain_order_each_instruction_waits_for_the_one_before_it(main):
    plan = plan_of(main, linear(), sequential=True)
    graph = plan.graph
    assert [(e.before, e.after) for e in graph.edges] == [(i, i + 1) for i in range(12)]
    assert graph.counts == (0, *[1] * 12)
    assert "order program" in str(plan)


def test_paddles_flag_asks_for_plain_order(main):
    loss = linear()
    exe, scope = paddle.static.Executor(), paddle.static.Scope()
    paddle.set_flags({"FLAGS_new_executor_sequential_run": True})
    try:
        exe.run(paddle.static.default_startup_program(), scope=scope)
    finally:
        paddle.set_flags({"FLAGS_new_executor_sequential_run": False})
    (bound,) = paddle.static.default_startup_program().plans.values()
    assert bound.plan.sequential
    assert not plan_of(main, loss).sequential


def test_what_is_not_to_be_collected_is_never_dropped(main):
    x = paddle.static.data("x", [2])
    hidden = paddle.exp(x)
    out = paddle.tanh(hidden)
    plan = plan_of(main, out)
    kept = plan_of(main, out, skip_gc_vars=(hidden.name,))
    slot = plan.names.index(hidden.name)
    assert any(slot in step.frees for step in plan.steps)
    assert not any(slot in step.frees for step in kept.steps)
    assert slot in {life.slot for life in plan.lifetimes}
    assert slot not in {life.slot for life in kept.lifetimes}
