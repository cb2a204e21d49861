"""Models that PaddlePaddle 2.6.2 saved give its numbers, and those saved here give them to it."""

import io
import json
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.files.program import program_of
from scull.files.tensor_stream import write_combined
from tests.files.saved import catalogue
from tests.files.saved.values import parameter, uniform
from tests.files.saved.vision import SIZES, shape_of

DATA = Path(__file__).parents[1] / "data" / "saved"
PYTHON = os.environ.get("SCULL_PADDLE_PYTHON")
NAMES = [*catalogue.LAYERS, *catalogue.PROGRAMS]
LARGE = {name for name in SIZES if name not in ("resnet18", "mobilenet_v3_small", "squeezenet1_1")}

READ = """
import json
import numpy as np
import paddle

paddle.enable_static()
exe = paddle.static.Executor()
for name, count in json.load(open("asked.json")).items():
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, names, targets = paddle.static.load_inference_model(name, exe)
        feed = {n: np.load(f"{name}.input_{i}.npy") for i, n in enumerate(names)}
        found = exe.run(program, feed=feed, fetch_list=targets, return_numpy=False)
        for i, v in enumerate(found):  # regions have levels of detail, which an array cannot hold
            np.save(f"{name}.result_{i}.npy", np.array(v))
"""


def opened(name, folder):
    """Unpack a model into a folder, its parameters made where they are not kept; its arrays."""
    arrays = {}
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        for entry in file.namelist():
            if entry.endswith(".npy"):
                arrays[entry] = np.load(io.BytesIO(file.read(entry)))
            else:
                (folder / entry).write_bytes(file.read(entry))
    if not (folder / f"{name}.pdiparams").exists():
        fill(folder / name)
    if name in SIZES:
        arrays["input_0.npy"] = uniform(f"{name}.0", shape_of(name))
    inputs = [arrays[key] for key in sorted(arrays) if key.startswith("input")]
    return inputs, [arrays[key] for key in sorted(arrays) if key.startswith("result")]


def fill(prefix):
    """Write the parameters of a saved Program."""
    program = program_of(prefix.with_suffix(".pdmodel").read_bytes())
    learned = [v for v in program.list_vars() if v.persistable and catalogue.is_learned(v.name)]
    values = {v.name: parameter(v.name, tuple(v.shape)) for v in learned}
    with open(f"{prefix}.pdiparams", "wb") as stream:
        write_combined(stream, dict(sorted(values.items())))


def assert_agree(found, expected):
    """Equal to one part in 10^5 of the largest number; whole numbers altogether."""
    assert len(found) == len(expected) > 0
    for a, b in zip(found, expected, strict=True):
        a = np.asarray(a)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind == "f":
            reach = 1e-5 * float(np.abs(b[np.isfinite(b)]).max(initial=0))
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=reach)
        else:
            np.testing.assert_array_equal(a, b)


def run(prefix, arrays):
    """What the Program saved under a prefix gives."""
    executor = paddle.static.Executor()
    with paddle.static.scope_guard(paddle.static.Scope()):
        program, names, targets = paddle.static.load_inference_model(str(prefix), executor)
        feed = dict(zip(names, arrays, strict=True))
        return executor.run(program, feed=feed, fetch_list=targets)


def flat(value):
    """The arrays in what a layer gives."""
    if isinstance(value, list | tuple):
        return [array for each in value for array in flat(each)]
    return [value.numpy()]


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", chosen(metafunc.config))


def chosen(config):
    """The names of the models; the large ones take a sweep."""
    return [name for name in NAMES if config.getoption("--sweep") or name not in LARGE]


def test_what_paddle_saved_gives_its_numbers(name, tmp_path):
    arrays, expected = opened(name, tmp_path)
    assert_agree(run(tmp_path / name, arrays), expected)
    if name in catalogue.LAYERS:
        loaded = paddle.jit.load(str(tmp_path / name))
        assert_agree(flat(loaded(*map(paddle.to_tensor, arrays))), expected)


@pytest.mark.filterwarnings("ignore:no variable in your model")
def test_what_is_built_here_gives_the_numbers_of_paddle(name, tmp_path):
    arrays, expected = opened(name, tmp_path)
    save(name, tmp_path / "own")
    assert_agree(run(tmp_path / "own", arrays), expected)
    if name in catalogue.LAYERS:
        layer, _, arrays = catalogue.layer_of(name)
        assert_agree(flat(layer(*map(paddle.to_tensor, arrays))), expected)


def save(name, prefix):
    """Build a model here, and save it."""
    if name in catalogue.LAYERS:
        layer, specs, _ = catalogue.layer_of(name)
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs), str(prefix))
        return
    paddle.enable_static()
    with paddle.static.scope_guard(paddle.static.Scope()):
        main, executor, inputs, _, results = catalogue.program_of(name)
        paddle.static.save_inference_model(str(prefix), inputs, results, executor, program=main)
    paddle.disable_static()


@pytest.mark.filterwarnings("ignore:no variable in your model")
@pytest.mark.skipif(not PYTHON, reason="SCULL_PADDLE_PYTHON names no Python with PaddlePaddle")
def test_paddle_computes_the_same_with_what_is_saved_here(tmp_path, request):
    asked, expected = {}, {}
    for name in chosen(request.config):
        folder = tmp_path / "opened" / name
        folder.mkdir(parents=True)
        arrays, expected[name] = opened(name, folder)
        save(name, tmp_path / name)
        asked[name] = len(expected[name])
        for i, array in enumerate(arrays):
            np.save(tmp_path / f"{name}.input_{i}.npy", array)
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    command = [str(PYTHON), "-B", "-c", READ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for name, count in asked.items():
        found = [np.load(tmp_path / f"{name}.result_{i}.npy") for i in range(count)]
        assert_agree(found, expected[name])
