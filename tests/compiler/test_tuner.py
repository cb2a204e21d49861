"""Tiles of contractions: no choice changes a bit; what was found best is kept and used again."""

import importlib.util
import json
import random
import re

import numpy as np
import pytest

import scull as paddle
import scull.nn.functional as F
from scull import lang
from scull.compiler import native, recall, tuner
from scull.compiler.kernel import choices
from scull.compiler.native import compile, region_of_kernel
from scull.compiler.schedule import Tiling
from scull.compiler.target import target
from scull.flags import flags
from scull.runtime.object_cache import object_cache
from tests.compiler.test_split import full_convolution, outcome, product
from tests.lang.samples import meta, same_bits, values_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("llvmlite") is None, reason="llvmlite has no wheel here"
)
KERNELS = {
    "a product": (product, [(37, 19), (19, 77)], (37, 77)),
    "a product with a narrow column": (product, [(37, 19), (19, 50)], (37, 50)),
    "products": (product, [(3, 2, 9, 19), (3, 2, 19, 45)], (3, 2, 9, 45)),
    "sums with fewer terms at edges": (
        full_convolution,
        [(3, 4, 4, 45), (5, 3, 3, 3)],
        (5, 6, 6, 45),
    ),
}


def kernel_and_arrays(name):
    lowering, shapes, shape = KERNELS[name]
    arrays = [values_of(np.random.default_rng(n), s, "float32") for n, s in enumerate(shapes)]
    return lang.trace(lowering, [meta(*x.shape) for x in arrays], [meta(*shape)]), arrays


@pytest.fixture
def any_tiles(monkeypatch):
    """Every contraction gets tiles by chance; how many got any."""
    chance, seen = random.Random(7), []

    def chosen(group, machine):
        found = [chance.choice(some) if some else None for some in choices(group, machine)]
        seen.extend(x for x in found if x is not None)
        return found

    monkeypatch.setattr(native, "tilings_of", chosen)
    monkeypatch.setattr(recall, "sources", lambda _: "with tiles by chance")
    monkeypatch.setattr(native, "keep", lambda *_: None)
    return seen


@pytest.mark.parametrize("name", KERNELS)
def test_no_tiles_change_a_bit(name, monkeypatch):
    kernel, arrays = kernel_and_arrays(name)
    (want,) = outcome(kernel, arrays, 1)
    (group,) = region_of_kernel(kernel).groups
    (some,) = choices(group, target())
    assert {x.inner for x in some} == {False, True}
    assert len({x.columns for x in some}) > 1
    for tiling in some:
        monkeypatch.setattr(native, "tilings_of", lambda *_, tiling=tiling: (tiling,))
        (found,) = outcome(kernel, arrays, 1)
        assert same_bits(found, want), tiling


def images():
    x = paddle.static.data("x", [4, 3, 9, 9])
    x = F.relu(paddle.static.nn.conv2d(x, 40, 3))
    x = paddle.static.nn.conv2d(F.max_pool2d(x, 2), 20, 3, stride=2, padding=1)
    return paddle.static.nn.fc(x, 37, activation="tanh")


def sequences():
    x = paddle.static.data("x", [2, 21, 18])
    q, k, v = (paddle.static.nn.fc(x, 36, num_flatten_dims=2) for _ in range(3))
    scores = F.softmax(paddle.matmul(q, k, transpose_y=True) * 0.2)
    return paddle.matmul(scores, v)


def trained(network, shape):
    """Two steps of training: the losses, and the parameters they leave."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        loss = (network() ** 2).mean()
        paddle.optimizer.Momentum(0.1).minimize(loss)
    x = np.random.default_rng(1).normal(0, 1, shape).astype("float32")
    executor, scope = paddle.static.Executor(), paddle.static.Scope()
    paddle.seed(5)
    with paddle.static.scope_guard(scope):
        executor.run(startup)
        with flags(COMPILE="eager"):
            losses = [executor.run(main, feed={"x": x}, fetch_list=[loss])[0] for _ in range(2)]
        return losses + [scope.find_var(p.name).get_tensor().numpy() for p in main.all_parameters()]


@pytest.mark.parametrize(("network", "shape"), [(images, (4, 3, 9, 9)), (sequences, (2, 21, 18))])
def test_no_tiles_change_a_bit_of_a_step_of_training(network, shape, any_tiles, monkeypatch):
    paddle.enable_static()
    try:
        with monkeypatch.context() as usual:
            usual.setattr(native, "tilings_of", lambda *_: ())
            want = trained(network, shape)
        for _ in range(3):
            for x, y in zip(trained(network, shape), want, strict=True):
                assert same_bits(x, y)
    finally:
        paddle.disable_static()
    assert len(any_tiles) > 12


def test_what_was_found_is_kept_and_read_again(monkeypatch, tmp_path):
    kernel, _ = kernel_and_arrays("a product")
    calls = []

    def found(group, machine):
        calls.append(group)
        return (Tiling(2, 0, 5, inner=True),)

    monkeypatch.setattr(tuner, "tuned", found)
    with flags(CACHE_DIR=str(tmp_path)):
        compile(kernel)
        assert not calls
        (group,) = region_of_kernel(kernel).groups
        usual = str(region_of_kernel(kernel))
        with flags(TUNE=True):
            compile(kernel)
            compile(kernel)
            assert len(calls) == 1
            assert tuner.tilings_of(group, target()) == (Tiling(2, 0, 5, inner=True),)
            said = str(region_of_kernel(kernel))
        assert "5 rows x 2 vectors" in said
        assert "5 rows x 2 vectors" not in usual
        assert tuner.tilings_of(group, target()) == ()


def test_a_kernel_is_timed_with_all_its_tiles_and_gives_the_same(monkeypatch, tmp_path, capsys):
    kernel, arrays = kernel_and_arrays("a product")
    want = outcome(kernel, arrays, 1)
    monkeypatch.setattr(tuner, "LEAST", 0.0)
    with flags(CACHE_DIR=str(tmp_path), TUNE=True, DEBUG=1):
        found = outcome(kernel, arrays, 1)
        kept = [object_cache().find(bytes.fromhex(x.name)) for x in object_cache().entries()]
    np.testing.assert_array_equal(found, want)
    (number,) = re.findall(r"tuned a kernel: (\d+) tilings", capsys.readouterr().err)
    (group,) = region_of_kernel(kernel).groups
    assert int(number) == 1 + len(choices(group, target())[0])
    (tiles,) = (json.loads(x) for x in kept if x.startswith(b"["))
    assert tiles[0] is None or Tiling(**tiles[0]) in choices(group, target())[0]


def test_the_fastest_is_taken_if_it_is_faster_by_enough():
    def one(name, seconds):
        return tuner.Candidate((name,), None, lambda count: seconds)

    assert tuner.best_of([one("usual", 1.0), one("a", 0.99), one("b", 1.2)]) == ("usual",)
    assert tuner.best_of([one("usual", 1.0), one("a", 0.9), one("b", 0.8)]) == ("b",)


def test_code_with_tuned_tiles_has_names_of_its_own():
    kernel, _ = kernel_and_arrays("a product")
    with flags(TUNE=False):
        usual = recall.name_of(str(kernel))
    with flags(TUNE=True):
        assert recall.name_of(str(kernel)) != usual


def test_candidates_take_turns_through_memory():
    """Else the first in a round reads from far what the others find in a cache."""
    kernel, _ = kernel_and_arrays("a product")
    (group,) = region_of_kernel(kernel).groups
    tables, taken = tuner.memory_of(group), []

    def noted():
        for table in tables:
            taken.append(table.address)
            yield table

    memory = noted()
    made = [tuner.candidate(group, target(), (None,), memory) for _ in range(2)]
    for each in made:
        each.run(2)
    assert len(set(taken)) == 4
