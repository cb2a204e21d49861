"""Whatever happens while something is saved, scull loads the old or the new, whole."""

import itertools
import os
import shutil
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import scull as paddle
from scull import framework
from scull.base import core
from tests.files.failing_disk import Disk, erring, full, is_killed_at, leftovers

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="a child is forked to be killed")


class Net(paddle.nn.Layer):
    """Two values that are told from others by what they hold."""

    def __init__(self):
        super().__init__()
        self.w, self.b = self.create_parameter([2, 2]), self.create_parameter([40])

    def forward(self, x):
        return paddle.matmul(x, self.w) + self.b[:2]


def filled(value):
    """The state of a net, all of it this value."""
    return {"w": paddle.full([2, 2], value), "b": paddle.full([40], value), "epoch": {"n": value}}


def told(*arrays) -> float:
    """The one value that arrays hold."""
    values = {float(v) for array in arrays for v in np.ravel(np.asarray(array))}
    assert len(values) == 1
    return values.pop()


@dataclass
class Static:
    """A Program with two parameters and a count, and a scope for each value of them."""

    main: paddle.static.Program
    feeds: list
    fetches: list
    scopes: dict


@pytest.fixture(scope="module")
def static():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard():
        x = paddle.static.data("x", [None, 2])
        y = paddle.static.nn.fc(x, 2)
        paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    scopes = {value: paddle.static.Scope() for value in (1.0, 2.0)}
    for value, scope in scopes.items():
        for v in main.list_vars():
            if v.persistable:
                scope.var(v.name).value = np.full(v.shape, value, "float32")
    paddle.disable_static()
    return Static(main, [x], [y], scopes)


class Case:
    """A way of saving a value under a folder, and of loading it."""

    def __init__(self, static):
        self.static, self.io = static, paddle.static.io
        self.executor = paddle.static.Executor()

    def save(self, folder, value):
        with paddle.static.scope_guard(self.static.scopes[value]):
            self.write(str(folder / "x" / "net"), value)

    def load(self, folder):
        with paddle.static.scope_guard(paddle.static.Scope()):
            return self.read(str(folder / "x" / "net"))

    def values(self, *names):
        scope = paddle.static.global_scope()
        return told(*(scope.find_var(n).value for n in names or ("fc_0.w_0", "fc_0.b_0")))


class State(Case):
    def write(self, path, value):
        paddle.save(filled(value), path)

    def read(self, path):
        found = paddle.load(path)
        return told(found["w"], found["b"], found["epoch"]["n"])


class Legacy(State):
    def write(self, path, value):
        framework.io._legacy_save(filled(value), path)


class Background(State):
    def write(self, path, value):
        paddle.async_save(filled(value), path)
        paddle.clear_async_save_task_queue()


class Binary(Case):
    def write(self, path, value):
        paddle.save(paddle.full([40], value), path, use_binary_format=True)

    def read(self, path):
        return told(paddle.load(path))


class LodTensor(Case):
    def write(self, path, value):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        tensor = core.LoDTensor()
        tensor.set(np.full([40], value, "float32"))
        core.save_lod_tensor(tensor, path)

    def read(self, path):
        tensor = core.LoDTensor()
        core.load_lod_tensor(tensor, path)
        return told(tensor)


class Safetensors(Case):
    def write(self, path, value):
        paddle.save({k: filled(value)[k] for k in ("w", "b")}, path + ".safetensors")

    def read(self, path):
        return told(*paddle.load(path + ".safetensors").values())


class Bytes(Case):
    def write(self, path, value):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.io.save_to_file(path, bytes([int(value)]) * 100)

    def read(self, path):
        return told(list(self.io.load_from_file(path)))


class Training(Case):
    def write(self, path, value):
        paddle.static.save(self.static.main, path)

    def read(self, path):
        paddle.static.load(self.static.main, path, self.executor)
        return self.values("fc_0.w_0", "fc_0.b_0", "count")


class Inference(Case):
    def write(self, path, value):
        static = self.static
        paddle.static.save_inference_model(path, static.feeds, static.fetches, self.executor)

    def read(self, path):
        paddle.static.load_inference_model(path, self.executor)
        return self.values()


class Named(Inference):
    def read(self, path):
        folder, names = os.path.dirname(path), ("model_filename", "params_filename")
        paddle.static.load_inference_model(folder, self.executor, **dict.fromkeys(names, "net"))
        files = {"model_filename": "net.pdmodel", "params_filename": "net.pdiparams"}
        assert told(*paddle.jit.load(folder, **files).parameters()) == self.values()
        return self.values()


class Separate(Case):
    def write(self, path, value):
        self.io.save_vars(self.executor, path, self.static.main)

    def read(self, path):
        self.io.load_vars(self.executor, path, self.static.main)
        return self.values("fc_0.w_0", "fc_0.b_0", "count")


class Combined(Case):
    def write(self, path, value):
        self.io.save_vars(self.executor, path, self.static.main, filename="all")

    def read(self, path):
        self.io.load_vars(self.executor, path, self.static.main, filename="all")
        return self.values("fc_0.w_0", "fc_0.b_0", "count")


class Model(Case):
    def __init__(self, static):
        super().__init__(static)
        self.net = Net()
        self.spec = [paddle.static.InputSpec([None, 2])]

    def write(self, path, value):
        for parameter in self.net.parameters():
            parameter.set_value(np.full(parameter.shape, value, "float32"))
        paddle.jit.save(self.net, path, self.spec)

    def read(self, path):
        return told(*paddle.jit.load(path).parameters())


CASES = [
    State, Legacy, Background, Binary, LodTensor, Bytes, Training, Inference, Named, Separate,
    Combined, Model, Safetensors,
]  # fmt: skip

each = pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)


@pytest.fixture
def case(kind, static, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # what is killed here is no machine
    made = kind(static)
    made.save(tmp_path / "old", 1.0)
    assert made.load(tmp_path / "old") == 1.0 and not leftovers(tmp_path)
    return made


def attempts(tmp_path, old=True):
    """A folder with what was saved before, for each call that may fail."""
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        if old:
            shutil.copytree(tmp_path / "old", folder)
        yield at, folder


@forks
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@each
def test_killed_at_any_call_the_old_or_the_new_is_loaded(case, tmp_path):
    found = []
    for at, folder in attempts(tmp_path):
        was_killed = is_killed_at(at, partial(case.save, folder, 2.0))
        found.append(case.load(folder))
        if at % 4 == 1 or not was_killed:
            case.save(folder, 1.0)  # the next save cleans what was left
            assert case.load(folder) == 1.0 and leftovers(folder) == []
        if not was_killed:
            break
    turn = found.index(2.0)
    assert turn > 3 and found == [1.0] * turn + [2.0] * (at - turn)


FATES = [(full, False), (full, True), (erring, False), (erring, True)]


@each
@pytest.mark.parametrize(("fate", "lasting"), FATES, ids=["full", "fills", "errs", "dies"])
def test_at_any_failing_call_the_old_or_the_new_is_loaded(case, fate, lasting, tmp_path):
    for at, folder in attempts(tmp_path):
        disk, failed = Disk(at, fate, lasting), False
        try:
            with disk.watched():
                case.save(folder, 2.0)
        except OSError:
            failed = True
        assert case.load(folder) in ((1.0, 2.0) if failed else (2.0,))
        if disk.count < at:
            assert not failed and leftovers(folder) == []
            break
        if disk.names[at - 1] == "write" and not lasting:
            assert case.load(folder) == 1.0 and leftovers(folder) == []
    case.save(folder, 1.0)
    assert case.load(folder) == 1.0 and leftovers(folder) == []
