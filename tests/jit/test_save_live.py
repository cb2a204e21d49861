"""Models go both ways between scull and PaddlePaddle 2.6.2 (SCULL_PADDLE_PYTHON)."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.static import InputSpec
from tests.jit.saving import ROWS, Methods, Network, X

PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
TOOLS = Path(__file__).parents[2] / "tools"

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle"
)

READ = """
import json, sys
import numpy as np
import paddle
from paddle.jit.layer import Layer

answer = {}
for name, method, inputs in json.load(open("asked.json")):
    layer = paddle.jit.load(name)
    found = getattr(layer, method)(*[paddle.to_tensor(np.load(f)) for f in inputs])
    found = found if isinstance(found, list) else [found]
    answer[f"{name}.{method}"] = {
        "results": [v.astype("float64").tolist() for v in found],
        "inputs": [s.name for s in layer._input_spec(method)],
        "trainable": [not p.stop_gradient for p in layer.parameters()],
        "buffers": len(layer.buffers()),
    }
answer["state"] = sorted(paddle.load("./network"))
functions = Layer()
functions.load("combined", paddle.CPUPlace())
x = paddle.to_tensor(np.load("x.npy"))
answer["combined"] = [functions.forward(x)[0].tolist(), functions.infer(x)[0].tolist()]
print(json.dumps(answer))
"""


class Flow(paddle.nn.Layer):
    """A loop with a branch in it."""

    def __init__(self):
        super().__init__()
        self.a, self.b = paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)

    def forward(self, x, n):
        i = paddle.zeros([1], "int64")
        while i < n:
            if x.sum() > 0:
                x = self.a(x)
            else:
                x = self.b(x) - 1.0
            i = i + 1
        return x


class Words(paddle.nn.Layer):
    """Integers in, a recurrent network with unknown sizes."""

    def __init__(self):
        super().__init__()
        self.table, self.reader = paddle.nn.Embedding(10, 4), paddle.nn.LSTM(4, 3)

    def forward(self, words):
        return self.reader(self.table(words))[0]


def run(folder: Path, *command: str) -> str:
    """What the reference prints."""
    result = subprocess.run(
        [str(PYTHON), "-B", *command], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_paddle_loads_and_runs_what_scull_saves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = {"x": X, "n": np.array([3]), "words": np.array([[1, 2, 3], [9, 0, 4]])}
    for name, value in inputs.items():
        np.save(f"{name}.npy", value)
    network, flow, methods, words = Network(), Flow(), Methods(), Words()
    network(paddle.to_tensor(X))
    paddle.jit.save(network, "network", ROWS)
    paddle.jit.save(flow, "flow", [InputSpec([None, 3]), InputSpec([1], "int64")])
    paddle.jit.save(methods, "methods")
    paddle.jit.save(methods, "combined", combine_params=True)
    paddle.jit.save(words, "words", [InputSpec([None, None], "int64")])
    network.eval()
    asked = [
        ("network", "forward", network, ["x"]),
        ("flow", "forward", flow, ["x", "n"]),
        ("methods", "forward", methods, ["x"]),
        ("methods", "infer", methods, ["x"]),
        ("words", "forward", words, ["words"]),
    ]
    Path("asked.json").write_text(
        json.dumps(
            [[name, method, [f"{i}.npy" for i in names]] for name, method, _, names in asked]
        )
    )
    answer = json.loads(run(tmp_path, "-c", READ).splitlines()[-1])
    for name, method, layer, names in asked:
        expected = getattr(layer, method)(*(paddle.to_tensor(inputs[n]) for n in names))
        expected = expected if isinstance(expected, tuple) else (expected,)
        found = answer[f"{name}.{method}"]
        assert found["inputs"] == names
        for x, y in zip(found["results"], expected, strict=True):
            np.testing.assert_allclose(x, y.numpy(), atol=1e-5)
    again = paddle.jit.load("network")
    assert answer["network.forward"]["buffers"] == len(again.buffers()) == 2
    assert answer["network.forward"]["trainable"] == [
        not p.stop_gradient for p in again.parameters()
    ]
    assert answer["state"] == sorted(paddle.load("network"))
    for found, method in zip(answer["combined"], ("forward", "infer"), strict=True):
        expected = getattr(methods, method)(paddle.to_tensor(X))
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-5)


def test_scull_loads_what_paddle_saves_now(tmp_path):
    code = (TOOLS / "make_jit_fixtures.py").read_text(encoding="utf-8")
    script = tmp_path / "make.py"
    script.write_text(code.replace("Path(__file__).parents[1]", "Path(__file__).parent"))
    (tmp_path / "tests" / "data").mkdir(parents=True)
    run(tmp_path, str(script))
    folder = tmp_path / "tests" / "data" / "jit"
    models = sorted(path.stem for path in folder.glob("*.npz"))
    assert len(models) == 7
    for name in models:
        layer = paddle.jit.load(str(folder / name))
        with np.load(folder / f"{name}.npz") as arrays:
            given = [arrays[n] for n in sorted(arrays.files) if n.startswith("in_")]
            for method in layer._methods:
                names = sorted(n for n in arrays.files if n.startswith(f"{method}_out"))
                found = getattr(layer, method)(*given)
                found = found if isinstance(found, list) else [found]
                for x, n in zip(found, names, strict=True):
                    np.testing.assert_allclose(x.numpy(), arrays[n], atol=1e-5)
