"""Recurrent networks in Programs."""

import numpy as np
import pytest

import scull as paddle


@pytest.mark.parametrize("make", ["LSTM", "GRU", "SimpleRNN"])
def test_the_parameters_of_a_network_lie_in_one_more_that_is_saved_too(make, tmp_path):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [2, 5, 4])
            network = getattr(paddle.nn, make)(4, 3, 2, "bidirect")
            loss = paddle.mean(network(x)[0])
            paddle.optimizer.SGD(0.5).minimize(loss)
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            exe.run(startup)
            for _ in range(3):
                exe.run(main, feed={"x": np.ones((2, 5, 4), "float32")})
            paddle.static.save(main, str(tmp_path / "m"))
            state = paddle.static.load_program_state(str(tmp_path / "m"))
    finally:
        paddle.disable_static()
    (operator,) = [o for o in startup.global_block().ops if o.type == "coalesce_tensor"]
    names = operator.input("Input")
    whole = network.full_name() + ".w_0"
    assert operator.output("FusedOutput") == [whole]
    assert names == [w.name for w in network.weights()]
    assert whole not in {p.name for p in network.parameters()}
    laid = np.concatenate([state[name].ravel() for name in names])
    assert np.array_equal(state[whole], laid)
