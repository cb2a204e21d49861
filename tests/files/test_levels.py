"""Programs over sequences of several lengths, as PaddlePaddle 2.6.2 saved and ran them.

`tools/make_level_fixtures.py` wrote them, with what is fed and what comes out.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.files.program import bytes_of, program_of

DATA = Path(__file__).resolve().parents[1] / "data" / "levels"
GRADIENT = "@GRAD"


def fed(array, lengths):
    """What is fed for one input."""
    if not lengths:
        return array
    return paddle.base.create_lod_tensor(array, lengths, paddle.CPUPlace())


@pytest.mark.parametrize("path", sorted(DATA.glob("*.npz")), ids=lambda path: path.stem)
def test_a_program_gives_the_values_and_levels_of_the_reference(path):
    with np.load(path) as held:
        said = json.loads(str(held["levels"]))
        feed = {n: fed(held[f"in {n}"], lengths) for n, lengths in said["fed"].items()}
        expected = {n: held[f"out {n}"] for n in said["found"]}
        data = held["program"].tobytes()
    program = program_of(data)
    assert bytes_of(program) == data
    names = list(expected)
    found = paddle.static.Executor().run(program, feed=feed, fetch_list=names, return_numpy=False)
    for name, value in zip(names, found, strict=True):
        np.testing.assert_allclose(np.array(value), expected[name], 1e-5, 1e-6, err_msg=name)
        if GRADIENT not in name:
            assert value.recursive_sequence_lengths() == said["found"][name], name
