"""What scull saves PaddlePaddle 2.6.2 loads, and the other way round."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle"
)

START = """
import json, sys
from io import BytesIO
import numpy as np
if sys.argv[1] == "scull":
    import scull as paddle
else:
    import paddle
static, io = paddle.static, paddle.static.io

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.norm = paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4)
        self.last = paddle.nn.Linear(4, 2)

    def forward(self, x):
        return self.last(paddle.nn.functional.relu(self.norm(self.first(x))))

def trainer(net, kind):
    rate = paddle.optimizer.lr.NoamDecay(64, 4, learning_rate=0.5)
    warm = paddle.optimizer.lr.LinearWarmup(rate, 2, 0.0, 0.1)
    options = {"learning_rate": warm, "parameters": net.parameters()}
    if kind == "momentum":
        return paddle.optimizer.Momentum(momentum=0.9, **options), warm
    return getattr(paddle.optimizer, kind)(**options), warm

def steps(net, optimizer, warm, count):
    x = paddle.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))
    losses = []
    for _ in range(count):
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        warm.step()
        losses.append(float(loss))
    return losses

def program():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = static.data("x", [None, 3])
        y = static.nn.fc(static.nn.batch_norm(static.nn.fc(x, 4)), 2)
        loss = paddle.mean(y * y)
        paddle.optimizer.Adam(0.1).minimize(loss)
    return main, startup, x, y, loss

FEED = {"x": np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3)}
KINDS = ["SGD", "momentum", "Adam", "AdamW", "Lamb", "RMSProp", "Adagrad"]
NESTED = lambda: {
    "list": [paddle.ones([2]), 1, "text", None, 1.5, True],
    "tuple": (paddle.zeros([1]), np.arange(3)),
    "deep": {"a": {"b": {"c": paddle.full([2], 7, "int64")}}},
    "array": np.ones((2, 2), "float64"),
}
"""

SAVE = (
    START
    + """
told = {}
for kind in KINDS:
    paddle.seed(1)
    with paddle.utils.unique_name.guard():
        net = Net()
        optimizer, warm = trainer(net, kind)
        steps(net, optimizer, warm, 3)
        for protocol in (2, 3, 4):
            paddle.save(net.state_dict(), f"{kind}.{protocol}.pdparams", protocol)
            paddle.save(optimizer.state_dict(), f"{kind}.{protocol}.pdopt", protocol)
        told[kind] = steps(net, optimizer, warm, 3)
paddle.save(NESTED(), "nested")
paddle.save([net.state_dict(), {"epoch": 3}], "pair")
paddle.save(paddle.ones([2]).astype("bfloat16"), "half")
paddle.save({"h": paddle.ones([2]).astype("bfloat16")}, "halves")
paddle.save(paddle.full([3], 2.0), "binary", use_binary_format=True)
paddle.save(net.last.weight, "parameter")
stream = BytesIO()
paddle.save({"w": paddle.ones([1])}, stream)
paddle.save(paddle.zeros([2]), stream)
open("memory", "wb").write(stream.getvalue())
paddle.jit.save(net, "jit/net", [static.InputSpec([None, 3], "float32", "x")])
paddle.enable_static()
main, startup, x, y, loss = program()
exe = static.Executor(paddle.CPUPlace())
exe.run(startup)
exe.run(main, feed=FEED)
static.save(main, "static/net")
io.save_vars(exe, "vars", main, predicate=io.is_persistable)
io.save_vars(exe, "one", main, predicate=io.is_persistable, filename="all")
static.save_inference_model("model/net", [x], [y], exe, program=main)
static.save_inference_model("model/old", [x], [y], exe, program=main, legacy_format=True)
static.save_to_file("model/program", static.serialize_program([x], [y], program=main))
static.save_to_file("model/values", static.serialize_persistables([x], [y], exe, program=main))
paddle.save(main, "program.pdmodel")
told["static"] = [float(exe.run(main, feed=FEED, fetch_list=[loss])[0]) for _ in range(3)]
print(json.dumps(told))
"""
)

LOAD = (
    START
    + """
told, seen = {}, {}
for kind in KINDS:
    for protocol in (2, 3, 4):
        with paddle.utils.unique_name.guard():
            net = Net()
            optimizer, warm = trainer(net, kind)
            net.set_state_dict(paddle.load(f"{kind}.{protocol}.pdparams"))
            optimizer.set_state_dict(paddle.load(f"{kind}.{protocol}.pdopt"))
            told[kind] = steps(net, optimizer, warm, 3)

def plain(value):
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), value.tolist()]
    if isinstance(value, paddle.Tensor):
        kind = str(value.dtype).replace("paddle.", "")
        return ["Tensor", kind, value.astype("float32").tolist()]
    return value

for name in ("nested", "pair", "half", "halves", "binary", "parameter"):
    seen[name] = plain(paddle.load(name))
    seen[name + " as arrays"] = plain(paddle.load(name, return_numpy=True))
stream = BytesIO(open("memory", "rb").read())
seen["memory"] = [plain(paddle.load(stream)), plain(paddle.load(stream))]
seen["names"] = paddle.load("Adam.4.pdparams", keep_name_table=True)["StructuredToParameterName@@"]
seen["jit"] = plain(paddle.load("jit/net"))
layer = paddle.jit.load("jit/net")
seen["call"] = layer(paddle.to_tensor(FEED["x"])).tolist()
seen["folder"] = {k: plain(v) for k, v in sorted(paddle.load("vars").items())}
paddle.enable_static()
main, startup, x, y, loss = program()
exe = static.Executor(paddle.CPUPlace())
names = [v for v in main.list_vars() if io.is_persistable(v)]
ways = [
    lambda: static.load(main, "static/net", exe),
    lambda: static.load(main, "vars", exe),
    lambda: static.load(main, "one/all", exe, names),
    lambda: static.set_program_state(main, static.load_program_state("static/net")),
    lambda: static.set_program_state(main, static.load_program_state("vars")),
    lambda: static.set_program_state(main, static.load_program_state("one/all", names)),
    lambda: io.load_vars(exe, "one", main, predicate=io.is_persistable, filename="all"),
]
for way in ways:
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        way()
        told["static"] = [float(exe.run(main, feed=FEED, fetch_list=[loss])[0]) for _ in range(3)]
        seen.setdefault("static", told["static"])
        assert np.allclose(told["static"], seen["static"], rtol=1e-5), way
read = lambda name: open("model/" + name, "rb").read()
named = lambda path, program, values: static.load_inference_model(
    path, exe, model_filename=program, params_filename=values)
ways = [
    lambda: static.load_inference_model("model/net", exe),
    lambda: static.load_inference_model("model/old", exe),
    lambda: named("model", "program", "values"),
    lambda: named("model", "net", "net"),
    lambda: named(None, read("program"), read("values")),
]
found = []
for way in ways:
    with static.scope_guard(static.Scope()):
        model, feeds, fetches = way()
        found.append(exe.run(model, feed=FEED, fetch_list=fetches)[0].tolist())
assert all(f == found[0] for f in found)
seen["model"] = found[0]
seen["operators"] = [o.type for o in paddle.load("program.pdmodel").global_block().ops]
print(json.dumps([told, seen]))
"""
)


def run(folder: Path, script: str, package: str):
    """What a script prints that uses scull or the reference."""
    python = sys.executable if package == "scull" else str(PYTHON)
    (folder / "script.py").write_text(script)  # functions that are saved need their source
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GLOG_minloglevel": "3"}
    command = [python, "-B", "-W", "ignore", "script.py", package]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def close(a, b, where=""):
    """Two answers are the same but for the last digits of numbers."""
    if isinstance(a, float) or isinstance(b, float):
        assert a == pytest.approx(b, rel=2e-4, abs=1e-6), where
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            close(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            close(x, y, f"{where}.{i}")
    else:
        assert a == b, where


@pytest.mark.parametrize("writer", ["scull", "paddle"])
def test_what_one_saves_the_other_loads_and_trains_on(tmp_path, writer):
    expected = run(tmp_path, SAVE, writer)
    answers = {package: run(tmp_path, LOAD, package) for package in ("scull", "paddle")}
    for told, _ in answers.values():
        close(told, expected)
    close(answers["scull"][1], answers["paddle"][1])
