"""Twenty steps of every optimizer beside the reference's, in both modes."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.utils import unique_name

REFERENCE = Path(__file__).parent.parent / "data" / "reference"
CASES = json.loads((REFERENCE / "trajectories.json").read_text(encoding="utf-8"))
STEPS, SEEN = 20, (1, 5, 20)
ROWS = np.array([4, 1, 1, 5])
# On the CPU the reference corrects the bias of row-sparse Adam for the step after the one it makes.
WRONG = {"adam", "adam lazy"}


def started(*shape):
    """First values, as tools/harvest_trajectories.py has them."""
    count = np.prod(shape)
    return np.sin(np.arange(count) * 0.7 + count).reshape(shape).astype(np.float32) * 0.5


def parameters():
    first = paddle.nn.initializer.Assign
    return [
        paddle.create_parameter(
            list(shape), "float32", attr=paddle.ParamAttr(name, first(started(*shape)))
        )
        for name, shape in (("table", (6, 3)), ("matrix", (3, 2)))
    ]


def optimizer(case, p, given):
    return eval(f"paddle.optimizer.{CASES[case]['make']}", {"paddle": paddle, "P": given, "p": p})


def loss_of(p, rows, target, sparse):
    found = paddle.nn.functional.embedding(rows, p[0], sparse=sparse)
    return paddle.mean((paddle.tanh(paddle.matmul(found, p[1])) - target) ** 2)


def in_line(p):
    return np.concatenate([np.asarray(v).ravel() for v in p])


def eager(case, sparse=False):
    with unique_name.guard():
        p = parameters()
    made = optimizer(case, p, {"parameters": p})
    rows, target = paddle.to_tensor(ROWS), paddle.to_tensor(started(4, 2) * 2.0)

    def closure():
        made.clear_grad()
        found = loss_of(p, rows, target, sparse)
        found.backward()
        return found

    seen = []
    for step in range(1, STEPS + 1):
        if case.startswith("lbfgs"):
            made.step(closure)
        else:
            closure()
            made.step()
        if case == "schedule":
            made._learning_rate.step()
        if step in SEEN:
            seen.append(in_line([v.numpy() for v in p]))
    return seen


def static(case, sparse=False):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup), unique_name.guard():
            p = parameters()
            rows = paddle.static.data("rows", [4], "int64")
            made = optimizer(case, p, {})
            made.minimize(loss_of(p, rows, paddle.assign(started(4, 2) * 2.0), sparse))
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        exe.run(startup, scope=scope)
        seen = []
        for step in range(1, STEPS + 1):
            exe.run(main, feed={"rows": ROWS}, scope=scope)
            if case == "schedule":
                made._learning_rate.step()
            if step in SEEN:
                values = exe.run(
                    main.clone(for_test=True),
                    fetch_list=p,
                    use_prune=True,
                    feed={"rows": ROWS},
                    scope=scope,
                )
                seen.append(in_line(values))
        return seen
    finally:
        paddle.disable_static()


def agree(found, expected):
    return np.allclose(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("case", CASES)
def test_parameters_move_as_the_references(case):
    assert agree(eager(case), CASES[case]["seen"])


@pytest.mark.parametrize("case", [c for c in CASES if not c.startswith("lbfgs") and c != "groups"])
def test_parameters_move_in_a_program_as_the_references(case):
    assert agree(static(case), CASES[case]["seen"])


@pytest.mark.parametrize("mode", [eager, static])
@pytest.mark.parametrize("case", [c for c in CASES if "sparse" in CASES[c] and c not in WRONG])
def test_rows_move_as_the_references(case, mode):
    assert agree(mode(case, sparse=True), CASES[case]["sparse"])


@pytest.mark.parametrize("mode", [eager, static])
def test_row_sparse_adam_moves_as_dense_adam_does_and_the_reference_does_not(mode):
    assert agree(mode("adam", sparse=True), CASES["adam"]["seen"])
    assert not agree(CASES["adam"]["sparse"], CASES["adam"]["seen"])


@pytest.mark.parametrize("mode", [eager, static])
def test_lazy_adam_leaves_rows_without_a_gradient_alone(mode):
    found = mode("adam lazy", sparse=True)
    idle = np.ones((6, 3), bool)
    idle[ROWS] = False
    tables = [seen[:18].reshape(6, 3) for seen in found]
    assert all(np.array_equal(t[idle], started(6, 3)[idle]) for t in tables)
    assert agree(found[0][18:], CASES["adam lazy"]["seen"][0][18:])
