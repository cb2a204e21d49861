"""Write tests/data/files/flow_*: Programs with branches, loops and lists, and what they give.

Run with the Python that has the reference installed, and PYTHONHASHSEED=0. Each Program is as the
reference saves it, without the lines of this script; beside it stand what is fed and what comes
out.
"""

import numpy as np
import paddle
from make_file_fixtures import TARGET, save_program
from paddle import static
from paddle.static.nn import case, cond, switch_case, while_loop
from paddle.static.nn.control_flow import While
from paddle.tensor import array_length, array_read, array_write

FEED = {
    "x": np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3),
    "y": np.linspace(2, 0.5, 6, dtype="float32").reshape(2, 3),
}


def number(value):
    return paddle.full([1], value, "int64")


def branches(x, y):
    """Branches with two results, one of which has no gradient."""
    y.stop_gradient = True
    a, b = cond(paddle.mean(x) < 0.5, lambda: (x * y, x * 2), lambda: (x - y, y))
    return [paddle.mean(cond(paddle.mean(y) < 0.5, lambda: a, lambda: a * x)), a, b]


def choices(x, y):
    """Branches within branches, by what has no gradient."""
    x.stop_gradient = True
    a = case([(paddle.mean(x) < -1, lambda: x), (paddle.mean(y) > 1, lambda: y * x)], lambda: y)
    b = switch_case(number(3), {1: lambda: x, 3: lambda: x * x * x}, lambda: y)
    return [paddle.mean(a + b), a, b]


def unneeded(x, y):
    """Branches within branches, of which some need no gradient: their blocks have no owner."""
    y.stop_gradient = True
    low, high = paddle.mean(x) < -1, paddle.mean(y) > 1
    a = case([(low, lambda: x), (high, lambda: y * x * x)], lambda: y)
    b = switch_case(number(2), {1: lambda: y, 3: lambda: x * x, 5: lambda: x}, lambda: y * x)
    return [paddle.mean(a + b), a, b]


def loop(x, y):
    """A loop over what it reads, and one in it that runs as often as the outer one did."""

    def inner(i, s):
        return while_loop(lambda j, s: j < i, lambda j, s: [j + 1, s * x], [number(0), s])[1]

    i, s = number(0), x * y
    limit = number(4)
    i, s = while_loop(lambda i, s: i < limit, lambda i, s: [i + 1, inner(i, s) + x], [i, s])
    return [paddle.mean(s), i, s]


def lists(x, y):
    """A list that a loop fills, with a counter that is increased in place."""
    i = number(0)
    array = array_write(x * y, i)
    limit = number(3)
    holds = paddle.less_than(i, limit)
    with While(holds).block():
        last = array_read(array, i)
        i = paddle.increment(i)
        array_write(paddle.tanh(last) * x, i, array)
        paddle.assign(paddle.less_than(i, limit), holds)
    last = array_read(array, i)
    return [paddle.mean(last), last, array_length(array)]


def write(builder):
    """Save the Program of one builder, what is fed, and what the reference makes of it."""
    main = static.Program()
    with static.program_guard(main), paddle.utils.unique_name.guard():
        given = [static.data(name, value.shape) for name, value in FEED.items()]
        for v in given:
            v.stop_gradient = False
        results = builder(*given)
        if not given[0].stop_gradient:
            static.append_backward(results[0], parameter_list=["x"])
    names = [v.name for v in results] + ["x@GRAD"] * (not given[0].stop_gradient)
    values = static.Executor().run(main, feed=FEED, fetch_list=names)
    name = f"flow_{builder.__name__}"
    save_program(f"{name}.program", main.desc.serialize_to_string())
    held = {str(i): value for i, value in enumerate(values)}
    np.savez(TARGET / f"{name}.npz", names=names, **held, **FEED)


if __name__ == "__main__":
    paddle.enable_static()
    for builder in (branches, choices, unneeded, loop, lists):
        write(builder)
