"""Saved models: opening them, the first prediction of a process, and what each later one costs.

`python -m benchmarks.models FRAMEWORK WHAT FOLDER` does one of these in a process of its own, with
the models of a folder; FRAMEWORK is scull, paddle or torch, WHAT is open, first or call.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module, util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row, rounds, seconds_of, spread, torch
from benchmarks.reference import ROOT

MODULE = "benchmarks.models"
CALLS = 200  # in a row, for one measurement
WIDTH, LAYERS = 1024, 25  # of the large model: 105 MB
INPUTS = {
    "tiny": np.full((1, 4), 0.5, np.float32),
    "large": np.full((1, WIDTH), 0.5, np.float32),
    "resnet18": np.full((1, 3, 224, 224), 0.5, np.float32),
}


def layer(module: Any, name: str) -> Any:
    """The layers of a model, for whichever framework has classes called so."""
    if name == "tiny":
        return module.Sequential(module.Linear(4, 8), module.ReLU(), module.Linear(8, 2))
    parts = [part for _ in range(LAYERS) for part in (module.Linear(WIDTH, WIDTH), module.Tanh())]
    return module.Sequential(*parts)


def save_models(paddle: Any, folder: str, names: Iterable[str] = INPUTS) -> None:
    """Write the models as Paddle's files."""
    for name in names:
        paddle.enable_static()
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            net = paddle.vision.models.resnet18() if name == "resnet18" else layer(paddle.nn, name)
            net.eval()
            feed = paddle.static.data("x", [None, *INPUTS[name].shape[1:]], "float32")
            out = net(feed)
        scope = paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            executor = paddle.static.Executor()
            executor.run(startup)
            path = f"{folder}/{name}"
            paddle.static.save_inference_model(path, [feed], [out], executor, program=main)
        paddle.disable_static()


def save_torch(folder: str) -> None:
    """Write those that PyTorch has without other packages as its files."""
    for name in ("tiny", "large"):
        module = layer(torch().nn, name).eval()
        torch().jit.save(torch().jit.script(module), f"{folder}/{name}.pt")


def opened(framework: str, folder: str, name: str) -> Callable[[Any], Any]:
    """A saved model as a function from NumPy to NumPy."""
    if framework == "torch":
        module = torch().jit.load(f"{folder}/{name}.pt")
        from_numpy, inference_mode = torch().from_numpy, torch().inference_mode

        def forward(x: Any) -> Any:
            with inference_mode():
                return module(from_numpy(x)).numpy()

        return forward
    inference = import_module(f"{framework}.inference")
    config = inference.Config(f"{folder}/{name}.pdmodel", f"{folder}/{name}.pdiparams")
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    if framework == "scull":
        return predictor  # type: ignore[no-any-return]
    handle = predictor.get_input_handle("x")
    out = predictor.get_output_handle(predictor.get_output_names()[0])

    def through_handles(x: Any) -> Any:
        handle.copy_from_cpu(x)
        predictor.run()
        return out.copy_to_cpu()

    return through_handles


def resident(field: str) -> int:
    """The bytes of memory of this process: VmRSS now, VmHWM at most."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def measured_open(framework: str, folder: str) -> list[float]:
    """Of opening the large model: seconds, of them CPU, and the most bytes it took meanwhile.

    The libraries have opened another model before.
    """
    other = opened(framework, folder, "tiny")
    other(INPUTS["tiny"])
    before, wall, cpu = resident("VmRSS"), time.perf_counter(), time.process_time()
    model = opened(framework, folder, "large")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    most = resident("VmHWM") - before
    model(INPUTS["large"])
    other(INPUTS["tiny"])
    return [wall, cpu, float(most)]


def process(python: str, framework: str, what: str, folder: str) -> list[float]:
    """One measurement in a process of its own: its seconds, and what it tells."""
    environment = {**os.environ, "GLOG_minloglevel": "3"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-m", MODULE, framework, what, folder],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    wall = time.perf_counter() - start
    return [wall, *json.loads(done.stdout.splitlines()[-1])]


def contenders() -> dict[str, str]:
    """The frameworks that are there, each with its Python."""
    found = {"scull": sys.executable}
    if os.environ.get("SCULL_PADDLE_PYTHON"):
        found["paddle"] = os.environ["SCULL_PADDLE_PYTHON"]
    if torch() is not None:
        found["torch"] = sys.executable
    return found


def opening_row(folder: str, count: int) -> Iterator[Row]:
    """Opening 105 MB: seconds and memory."""
    size = (Path(folder) / "large.pdiparams").stat().st_size
    found: dict[str, list[list[float]]] = {}
    for _ in range(count):
        for framework, python in contenders().items():
            told = process(python, framework, "open", folder)
            found.setdefault(framework, []).append(told)
    texts = {}
    for framework, rows in found.items():
        wall, cpu, memory = (spread([row[i] for row in rows]) for i in (1, 2, 3))
        texts[framework] = [wall.show(" s"), cpu.show(" s"), memory.times(1 / size).show("x")]
    others = [f"{n} {t[0]}, CPU time {t[1]}" for n, t in texts.items() if n != "scull"]
    detail = ", ".join([f"CPU time {texts['scull'][1]}", *others])
    yield Row(f"open a model of {size / 1e6:.0f} MB", "<= 0.3 s", texts["scull"][0], detail)
    others = [f"{n} {t[2]}" for n, t in texts.items() if n != "scull"]
    yield Row("memory while it is opened", "<= 1.1x its file", texts["scull"][2], ", ".join(others))


def first_row(folder: str, count: int) -> Row:
    """ResNet-18: from the start of a process to its first prediction."""
    found: dict[str, list[list[float]]] = {}
    for number in range(count + 1):
        for framework, python in contenders().items():
            if framework != "torch":
                told = process(python, framework, "first", folder)
                if number:  # before that some of it was compiled to bytecode
                    found.setdefault(framework, []).append(told)
    texts = {
        n: [spread([row[i] for row in rows]).show(" s") for i in (0, 1)]
        for n, rows in found.items()
    }
    detail = [f"CPU time {texts['scull'][1]}"]
    detail += (
        [f"paddle {texts['paddle'][0]}, CPU time {texts['paddle'][1]}"] if "paddle" in texts else []
    )
    return Row(
        "ResNet-18: open and first prediction, a whole process",
        "<= 1.5 s",
        texts["scull"][0],
        ", ".join(detail),
    )


def repeated(call: Callable[[], Any]) -> Callable[[], float]:
    """A contender that calls several times a round."""
    return seconds_of(lambda: [call() for _ in range(CALLS)])


def by_hand(folder: str) -> Callable[[Any], Any]:
    """The tiny model in calls of NumPy."""
    values = opened("scull", folder, "tiny").function.scope.cells.values()  # type: ignore[attr-defined]
    arrays = {cell.value.shape: cell.value for cell in values}
    w, b, v, c = (arrays[shape] for shape in ((4, 8), (8,), (8, 2), (2,)))

    def forward(x: Any) -> Any:
        hidden = np.matmul(x, w)
        np.add(hidden, b, hidden)
        np.maximum(hidden, 0, out=hidden)
        y = np.matmul(hidden, v)
        return np.add(y, c, y)

    return forward


def onnx_runtime(folder: str) -> Callable[[Any], Any] | None:
    """The tiny model in ONNX Runtime, on one thread; None where it is not installed."""
    if util.find_spec("onnx") is None or util.find_spec("onnxruntime") is None:
        return None
    onnx, runtime = import_module("onnx"), import_module("onnxruntime")
    values = opened("scull", folder, "tiny").function.scope.cells.values()  # type: ignore[attr-defined]
    arrays = {cell.value.shape: cell.value for cell in values}
    names = {"w": (4, 8), "b": (8,), "v": (8, 2), "c": (2,)}
    node, info = onnx.helper.make_node, onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            node("Gemm", ["x", "w", "b"], ["along"]),
            node("Relu", ["along"], ["hidden"]),
            node("Gemm", ["hidden", "v", "c"], ["y"]),
        ],
        "tiny",
        [info("x", onnx.TensorProto.FLOAT, [None, 4])],
        [info("y", onnx.TensorProto.FLOAT, [None, 2])],
        [onnx.numpy_helper.from_array(arrays[shape], n) for n, shape in names.items()],
    )
    opset = [onnx.helper.make_opsetid("", 17)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options)
    return lambda x: session.run(None, {"x": x})[0]


def call_row(folder: str, count: int, how: str) -> Row:
    """A prediction of the tiny model, from NumPy to NumPy."""
    x = INPUTS["tiny"]
    calls = {"scull": opened("scull", folder, "tiny"), "numpy": by_hand(folder)}
    if torch() is not None:
        calls["torch.jit"] = opened("torch", folder, "tiny")
    if (session := onnx_runtime(folder)) is not None:
        calls["ONNX Runtime"] = session
    for call in calls.values():
        for _ in range(5):
            call(x)
    found = rounds({n: repeated(lambda call=c: call(x)) for n, c in calls.items()}, count)
    python = os.environ.get("SCULL_PADDLE_PYTHON")
    if python:
        found["paddle"] = process(python, "paddle", "call", folder)[1:]
    ratio = spread([a / b for a, b in zip(found["scull"], found["numpy"], strict=True)]).show("x")
    times = {n: spread(values).times(1e6 / CALLS).show(" us") for n, values in found.items()}
    others = [f"{n} {text}" for n, text in times.items() if n != "scull"]
    return Row(
        f"predict: a tiny perceptron, NumPy in, NumPy out, {how}",
        "<= 8 us",
        times["scull"],
        ", ".join([f"{ratio} its five calls of NumPy", *others]),
    )


def rows(count: int, processes: int) -> Iterator[Row]:
    """The figures of saved models."""
    with tempfile.TemporaryDirectory() as folder:
        save_models(import_module("scull"), folder)
        if torch() is not None:
            save_torch(folder)
        yield from opening_row(folder, processes)
        yield first_row(folder, processes)
        yield call_row(folder, count, "by NumPy")
        with import_module("scull.flags").flags(COMPILE="eager"):
            yield call_row(folder, count, "as machine code")


def main(framework: str, what: str, folder: str) -> None:
    """One measurement of this process, printed as JSON."""
    if what == "open":
        told = measured_open(framework, folder)
    elif what == "first":
        opened(framework, folder, "resnet18")(INPUTS["resnet18"])
        told = [time.process_time()]
    else:
        call, x = opened(framework, folder, "tiny"), INPUTS["tiny"]
        call(x)
        told = rounds({framework: repeated(lambda: call(x))}, 30)[framework]
    with suppress(BrokenPipeError):
        print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
