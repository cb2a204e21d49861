"""Predictors of models that PaddlePaddle 2.6.2 saved: its numbers, and the bits of an Executor."""

import numpy as np

from scull.inference import Config, create_predictor
from scull.passes.catalogue import PASSES
from tests.files.test_saved_models import LARGE, NAMES, assert_agree, opened, run

SMALL = [name for name in NAMES if name not in LARGE]


def pytest_generate_tests(metafunc):
    every = NAMES if metafunc.config.getoption("--sweep") else SMALL[::4]
    metafunc.parametrize("name", every)


def test_a_predictor_gives_the_numbers_of_paddle_and_the_bits_of_an_executor(name, tmp_path):
    arrays, expected = opened(name, tmp_path)
    for array in arrays:
        array.flags.writeable = False
    config, exact = Config(str(tmp_path / name)), Config(str(tmp_path / name))
    for each in PASSES.values():
        if not each.exact:
            exact.delete_pass(each.name)
    predictor = create_predictor(exact)
    found = [predictor.run(arrays) if arrays else predictor.run([]) for _ in range(2)]
    bits = [[np.asarray(v).tobytes() for v in values] for values in found]
    assert bits[0] == bits[1] == [v.tobytes() for v in run(tmp_path / name, arrays)]
    folded = create_predictor(config).run(arrays)
    for values in (found[0], folded):
        assert_agree([np.asarray(v) for v in values], expected)
