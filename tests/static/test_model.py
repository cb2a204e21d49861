"""Models and training Programs in Paddle's files, both ways."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.errors import FileError
from scull.files.program import bytes_of, program_of

MODELS = Path(__file__).resolve().parent.parent / "data" / "models"
LIVE = os.environ.get("SCULL_PADDLE_PYTHON")
live = pytest.mark.skipif(not LIVE, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")


@pytest.fixture(autouse=True)
def static():
    paddle.enable_static()
    with (
        paddle.utils.unique_name.guard(),
        paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()),
        paddle.static.scope_guard(paddle.static.Scope()),
    ):
        yield
    paddle.disable_static()


@pytest.mark.parametrize("name", ["linear_static", "linear_jit", "network_static", "network_jit"])
def test_a_model_of_the_reference_gives_its_numbers(name):
    exe = paddle.static.Executor()
    program, feeds, fetches = paddle.static.load_inference_model(str(MODELS / name), exe)
    data = np.load(MODELS / f"{name.split('_')[0]}.npz")
    how = name.split("_")[1]
    (found,) = exe.run(program, feed={feeds[0]: data[how + "_x"]}, fetch_list=fetches)
    np.testing.assert_allclose(found, data[how + "_y"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["train_regression", "train_classification"])
def test_a_training_program_of_the_reference_goes_on_as_there(name):
    data = np.load(MODELS / f"{name}.npz")
    program = program_of((MODELS / f"{name}.main.pb").read_bytes())
    scope = paddle.static.global_scope()
    feed = {k.removeprefix("feed/"): data[k] for k in data if k.startswith("feed/")}
    for k in data:
        if k.startswith("before/"):
            scope.var(k.removeprefix("before/")).value = data[k].copy()
    exe = paddle.static.Executor()
    loss = str(data["loss"])
    losses = [exe.run(program, feed=feed, fetch_list=[loss])[0] for _ in data["losses"]]
    np.testing.assert_allclose(np.ravel(losses), np.ravel(data["losses"]), rtol=1e-5)
    for k in data:
        if k.startswith("after/"):
            found = scope.find_var(k.removeprefix("after/")).value
            np.testing.assert_allclose(found, data[k], rtol=1e-4, atol=1e-6)


def small_network():
    image = paddle.static.data("image", [None, 1, 8, 8])
    layers = paddle.nn.Sequential(
        paddle.nn.Conv2D(1, 4, 3), paddle.nn.BatchNorm2D(4), paddle.nn.ReLU(), paddle.nn.Flatten(),
        paddle.nn.Linear(144, 3), paddle.nn.Softmax(),
    )  # fmt: skip
    return image, layers(image)


def saved(folder):
    image, out = small_network()
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    value = np.random.default_rng(0).random((2, 1, 8, 8), dtype="float32")
    test = paddle.static.default_main_program().clone(for_test=True)
    (wanted,) = exe.run(test, feed={"image": value}, fetch_list=[out.name])
    paddle.static.save_inference_model(str(folder / "net"), [image], [out], exe)
    return value, wanted


def test_a_saved_inference_model_loads_into_another_scope_and_predicts_the_same(tmp_path):
    value, wanted = saved(tmp_path)
    names = {p.name for p in tmp_path.iterdir() if p.name[0] != "."}
    assert names == {"net.pdmodel", "net.pdiparams"}
    with paddle.static.scope_guard(paddle.static.Scope()):
        exe = paddle.static.Executor()
        program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "net"), exe)
        assert feeds == ["image"]
        (found,) = exe.run(program, feed={"image": value}, fetch_list=fetches)
        assert np.array_equal(found, wanted)


def test_a_loop_over_an_input_is_saved_with_the_model(tmp_path):
    x = paddle.static.data("x", [2])
    (out,) = paddle.static.nn.while_loop(
        lambda x: paddle.sum(x) < 9.0,
        lambda x: [paddle.static.nn.cond(x[0] > 1.0, lambda: x * 2.0, lambda: x + 1.0)],
        [x],
    )
    exe, feed = paddle.static.Executor(), {"x": np.array([0.5, 1.0], "float32")}
    (wanted,) = exe.run(feed=feed, fetch_list=[out])
    with pytest.warns(UserWarning, match="no variable in your model"):
        paddle.static.save_inference_model(str(tmp_path / "net"), [x], [out], exe)
    program, feeds, fetches = paddle.static.load_inference_model(str(tmp_path / "net"), exe)
    (found,) = exe.run(program, feed=feed, fetch_list=fetches)
    assert found.tobytes() == wanted.tobytes() and found.tolist() == [6.0, 8.0]
    again = program._prune_with_input(feeds, fetches)
    assert {o.type for o in again.global_block().ops} >= {"while", "less_than"}


def test_a_model_with_missing_bytes_is_an_error_and_changes_nothing(tmp_path):
    saved(tmp_path)
    path = tmp_path / "net.pdiparams"
    (tmp_path / "cut.pdmodel").write_bytes((tmp_path / "net.pdmodel").read_bytes())
    (tmp_path / "cut.pdiparams").write_bytes(path.read_bytes()[:-7])
    scope = paddle.static.Scope()
    with paddle.static.scope_guard(scope), pytest.raises(FileError):
        paddle.static.load_inference_model(str(tmp_path / "cut"), paddle.static.Executor())
    assert scope.local_var_names() == []


def test_training_goes_on_from_saved_state_with_the_same_bits(tmp_path):
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.nn.Linear(3, 2)(x) ** 2)
    paddle.optimizer.Adam(0.1).minimize(loss)
    main, exe = paddle.static.default_main_program(), paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    feed = {"x": np.ones((4, 3), "float32")}
    exe.run(main, feed=feed)
    paddle.static.save(main, str(tmp_path / "state"))
    on = [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)]
    with paddle.static.scope_guard(paddle.static.Scope()):
        paddle.static.load(main, str(tmp_path / "state"), exe)
        assert [exe.run(main, feed=feed, fetch_list=[loss])[0] for _ in range(3)] == on


def test_a_saved_training_program_reads_back_equal(tmp_path):
    x = paddle.static.data("x", [None, 3])
    paddle.optimizer.Momentum(0.1).minimize(paddle.mean(paddle.nn.Linear(3, 2)(x)))
    data = bytes_of(paddle.static.default_main_program())
    assert bytes_of(program_of(data)) == data


RUN_MODEL = """
import sys, numpy as np, paddle
paddle.enable_static()
exe = paddle.static.Executor(paddle.CPUPlace())
program, feeds, fetches = paddle.static.load_inference_model(sys.argv[1], exe)
(out,) = exe.run(program, feed={feeds[0]: np.load(sys.argv[2])}, fetch_list=fetches)
np.save(sys.argv[3], out)
"""

TRAIN = """
import sys, numpy as np, paddle
paddle.enable_static()
main = paddle.static.Program.parse_from_string(open(sys.argv[1], "rb").read())
startup = paddle.static.Program.parse_from_string(open(sys.argv[2], "rb").read())
exe = paddle.static.Executor(paddle.CPUPlace())
exe.run(startup)
scope = paddle.static.global_scope()
values = np.load(sys.argv[3])
for name in values:
    if name != "x":
        scope.find_var(name).get_tensor().set(values[name], paddle.CPUPlace())
losses = [exe.run(main, feed={"x": values["x"]}, fetch_list=[sys.argv[5]])[0] for _ in range(4)]
np.save(sys.argv[4], np.ravel(losses))
"""


def reference(script, *arguments):
    command = [LIVE, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


@live
def test_the_reference_runs_a_model_that_scull_saved(tmp_path):
    value, wanted = saved(tmp_path)
    np.save(tmp_path / "in.npy", value)
    reference(RUN_MODEL, tmp_path / "net", tmp_path / "in.npy", tmp_path / "out.npy")
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), wanted, rtol=1e-5, atol=1e-6)


@live
def test_the_reference_continues_a_training_program_that_scull_saved(tmp_path):
    x = paddle.static.data("x", [None, 3])
    loss = paddle.mean(paddle.nn.functional.relu(paddle.nn.Linear(3, 2)(x)) ** 2)
    paddle.optimizer.Adam(0.1).minimize(loss)
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    exe, scope = paddle.static.Executor(), paddle.static.global_scope()
    exe.run(startup)
    (tmp_path / "main.pb").write_bytes(bytes_of(main))
    (tmp_path / "startup.pb").write_bytes(bytes_of(startup))
    values = {n: np.array(scope.find_var(n).value) for n in scope.local_var_names()}
    value = np.random.default_rng(0).random((4, 3), dtype="float32")
    np.savez(tmp_path / "values.npz", x=value, **values)
    reference(
        TRAIN, tmp_path / "main.pb", tmp_path / "startup.pb", tmp_path / "values.npz",
        tmp_path / "losses.npy", loss.name,
    )  # fmt: skip
    ours = [exe.run(main, feed={"x": value}, fetch_list=[loss])[0] for _ in range(4)]
    np.testing.assert_allclose(np.ravel(ours), np.load(tmp_path / "losses.npy"), rtol=1e-5)


def test_a_model_without_variables_is_saved_with_a_warning(tmp_path):
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [1])
        y = x + 1.0
    exe = paddle.static.Executor()
    with pytest.warns(UserWarning, match="no variable in your model"):
        paddle.static.save_inference_model(str(tmp_path / "m"), x, [y], exe, program=main)
    paddle.disable_static()
    assert not (tmp_path / "m.pdiparams").exists()
    program, _, fetches = paddle.static.load_inference_model(str(tmp_path / "m"), exe)
    found = exe.run(program, feed={"x": np.ones(1, "float32")}, fetch_list=fetches)
    assert found[0].tolist() == [2.0]
