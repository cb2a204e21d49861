"""Whole pipelines over every Program there is: the corpus of the executor, saved models."""

import numpy as np
import pytest

import scull as paddle
from scull.executor.plan import make_plan
from scull.files.model import Model
from scull.inference.simplify import simplified
from scull.passes.catalogue import PASSES
from scull.passes.pipeline import Pipeline
from scull.passes.selection import INFERENCE, SIMPLIFYING
from tests.executor.corpus.program import NAMES, program
from tests.executor.corpus.runner import as_planned
from tests.executor.corpus.trial import Trial
from tests.files.test_saved_models import LARGE, assert_agree, opened
from tests.files.test_saved_models import NAMES as MODELS

FUSING = (
    "fuse_gemm_epilogue_pass",
    "fuse_elewise_add_act_pass",
    "fuse_activations_pass",
    "fuse_all_optimizer_ops_pass",
)
EXACT = tuple(name for name in INFERENCE if PASSES[name].exact)
PIPELINES = {
    "simplified and fused": (*SIMPLIFYING, *FUSING),
    "in parts": (*FUSING, "decomposition_pass"),
}
SMALL = [name for name in MODELS if name not in LARGE]


def pytest_generate_tests(metafunc):
    if "model" in metafunc.fixturenames:
        metafunc.parametrize("model", MODELS if metafunc.config.getoption("--sweep") else SMALL)


@pytest.fixture
def static():
    """Static mode, while a test runs."""
    paddle.enable_static()
    yield
    paddle.disable_static()


@pytest.mark.usefixtures("static")
@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_corpus_keeps_every_bit(name):
    case = program(name)
    expected = Trial(case).run(as_planned)
    names = tuple(v.name for v in case.ends())
    for passes in PIPELINES.values():
        made = Pipeline(passes).run(case.main, case.feeds, names).program
        plan = make_plan(made.global_block(), tuple(case.feeds), names)
        assert Trial(case, plan).run(as_planned) == expected


def test_a_saved_model_gives_the_same_simplified(model, tmp_path):
    arrays, expected = opened(model, tmp_path)
    scope = paddle.static.Scope()
    exe = paddle.static.Executor()
    with paddle.static.scope_guard(scope):
        main, names, fetches = paddle.static.load_inference_model(str(tmp_path / model), exe)
    found = []
    feed = dict(zip(names, arrays, strict=True))
    for passes in ((), EXACT, INFERENCE):
        made, values = simplified(Model(main, names, fetches), scope, passes)
        found.append(exe.run(made.program, feed, made.fetches, scope=values))
    assert [v.tobytes() for v in found[0]] == [v.tobytes() for v in found[1]]
    assert_agree([np.asarray(v) for v in found[2]], expected)
