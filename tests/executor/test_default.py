"""What happens where nobody says COMPILE: code comes by itself, and loads when it is needed."""

import importlib.util
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
BEGIN = """
import sys
import numpy as np
import scull as paddle

def compiler():
    return "scull.compiler.native" in sys.modules
"""
TRAINING = """
paddle.enable_static()
x, y = paddle.static.data("x", [8, 4]), paddle.static.data("y", [8, 1])
loss = paddle.nn.functional.mse_loss(paddle.nn.Linear(4, 1)(x), y)
paddle.optimizer.SGD(0.1).minimize(loss)
exe, found = paddle.static.Executor(), []
exe.run(paddle.static.default_startup_program())
found.append(compiler())
main = paddle.static.default_main_program()
feed = {"x": np.ones([8, 4], "float32"), "y": np.ones([8, 1], "float32")}
for _ in range(3):
    exe.run(main, feed=feed, fetch_list=[loss])
    rows = [r for b in main.plans.values() for v in b.tier.variants.values() for r in v]
    found.append(sum(type(row[0]).__name__ == "Call" for row in rows))
print(found)
"""
LOADING = TRAINING.replace("found.append(sum", "found.append(compiler() and sum")
EAGER = """
x = paddle.ones([8, 8])
paddle.nn.functional.gelu(paddle.matmul(x, x))
found = [compiler()]
x = paddle.ones([128, 128])
for _ in range(3):
    paddle.nn.functional.gelu(x)
print([*found, compiler()])
"""


def printed(code, **settings):
    """What a new process prints."""
    environment = {k: v for k, v in os.environ.items() if k != "SCULL_COMPILE"} | settings
    command = [sys.executable, "-W", "error", "-c", BEGIN + code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert not done.stderr
    return done.stdout.strip()


def test_the_third_run_of_training_is_code_and_what_starts_it_never():
    assert printed(TRAINING) == "[False, 0, 0, 1]"


def test_the_first_run_of_training_does_without_the_compiler():
    assert printed(LOADING) == "[False, False, 0, 1]"


GOING_ON = """
import os
paddle.enable_static()
x, y = paddle.static.data("x", [8, 4]), paddle.static.data("y", [8, 1])
loss = paddle.nn.functional.mse_loss(paddle.nn.Linear(4, 1)(x), y)
paddle.optimizer.Adam(0.1).minimize(loss)
exe, main = paddle.static.Executor(), paddle.static.default_main_program()
paddle.seed(1)
exe.run(paddle.static.default_startup_program())
generator = np.random.default_rng(0)
first, last = int(os.environ["FIRST"]), int(os.environ["LAST"])
if first:
    paddle.static.load(main, f"step{first}")
for number in range(6):
    feed = {n: generator.standard_normal(s).astype("float32") for n, s in SIZES.items()}
    if first <= number < last:
        (found,) = exe.run(main, feed=feed, fetch_list=[loss])
paddle.static.save(main, f"step{last}")
(tier,) = [b.tier for b in main.plans.values() if b.tier is not None and b.tier.ahead]
rows = [row for rows in tier.variants.values() for row in rows]
print(found.tobytes().hex(), sum(type(row[0]).__name__ == "Call" for row in rows))
""".replace("SIZES", "{'x': (8, 4), 'y': (8, 1)}")


@pytest.mark.parametrize("stop", [1, 2, 4])
def test_training_that_goes_on_is_code_where_it_was(stop, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    whole = printed(GOING_ON, FIRST="0", LAST="6")
    assert whole.endswith(" 1")
    assert printed(GOING_ON, FIRST="0", LAST=str(stop)).endswith(str(int(stop > 2)))
    assert printed(GOING_ON, FIRST=str(stop), LAST="6") == whole
    assert printed(GOING_ON, FIRST=str(stop), LAST=str(stop + 1)).endswith(str(int(stop > 1)))


TESTING = """
import threading
from scull.runtime.background import background
paddle.enable_static()
x = paddle.static.data("x", [2, 3, 8, 8])
y = paddle.nn.BatchNorm2D(4)(paddle.nn.Conv2D(3, 4, 3)(x))
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
paddle.static.save_inference_model("net", [x], [y], exe)
loaded, _, outs = paddle.static.load_inference_model("net", exe)
found = []
for main, out in ((paddle.static.default_main_program().clone(for_test=True), [y]), (loaded, outs)):
    leave = threading.Event()
    background().submit("what takes long", leave.wait)
    feed = {"x": np.ones([2, 3, 8, 8], "float32")}
    for _ in range(5):
        first = exe.run(main, feed=feed, fetch_list=out)[0]
    (bound,) = main.plans.values()
    found.append(len(bound.tier.variants))
    leave.set()
    background().wait()
    assert np.allclose(exe.run(main, feed=feed, fetch_list=out)[0], first, 1e-5, 1e-5)
    found.append(len(bound.tier.variants))
print(found)
"""


def test_a_program_that_tests_answers_while_its_code_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    assert printed(TESTING) == "[0, 1, 0, 1]"


def test_code_is_there_from_the_run_that_is_asked_for():
    assert printed(TRAINING, SCULL_CODE_FROM_RUN="2") == "[False, 0, 1, 1]"


def test_the_compiler_loads_for_large_operands_of_eager_mode():
    assert printed(EAGER) == "[False, True]"


def test_nothing_of_it_loads_where_it_is_off():
    assert printed(EAGER, SCULL_COMPILE="off") == "[False, False]"


def test_a_compiler_that_does_not_load_is_none(tmp_path):
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("raise ImportError('no library')")
    where = os.pathsep.join([str(tmp_path), *sys.path])
    code = "import warnings; warnings.simplefilter('ignore')" + TRAINING
    assert printed(code, PYTHONPATH=where) == "[False, 0, 0, 0]"
    assert printed("import warnings; warnings.simplefilter('ignore')" + EAGER, PYTHONPATH=where)
