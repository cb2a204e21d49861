"""What distributions give and raise in the reference they give and raise here, in Programs too."""

import builtins
import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle
from scull.core.tensor import Tensor
from scull.errors import UnsupportedError

ENTRIES = json.loads(
    (Path(__file__).parents[1] / "data/reference/distribution.json").read_text(encoding="utf-8")
)
GIVEN = {code: entry["gives"] for code, entry in ENTRIES.items() if "gives" in entry}
RAISED = {code: entry["raises"] for code, entry in ENTRIES.items() if "raises" in entry}
NAMES = {"np": np, "paddle": paddle}


def names_for(tensor, like):
    """What snippets can name."""
    D = paddle.distribution
    modules = {"D": D, "V": D.variable, "C": D.constraint}
    return {**NAMES, **modules, "T": tensor, "like": like}


def described(value):
    """A result as the reference's is recorded."""
    if isinstance(value, Tensor):
        return [value.dtype.name, value.shape, value.stop_gradient, value.numpy().reshape(-1)]
    return [described(one) for one in value] if isinstance(value, list | tuple) else value


def agrees(found, expected):
    """Whether a result is the recorded one, as exactly as float32 is."""
    if isinstance(found, np.ndarray):
        wide = [float(one) for one in expected]
        return np.allclose(found.astype("float64"), wide, 2e-5, 1e-6, equal_nan=True)
    if isinstance(found, list):
        same = isinstance(expected, list) and len(found) == len(expected)
        return same and all(agrees(f, e) for f, e in zip(found, expected, strict=True))
    return found == expected


def test_the_recorded_snippets_are_all_there():
    assert len(GIVEN) > 400
    assert len(RAISED) > 150


def test_results_are_those_of_the_reference():
    names = names_for(paddle.to_tensor, lambda x: described(x)[:3])
    wrong = {}
    for code, expected in GIVEN.items():
        found = described(eval(code, dict(names)))
        if not agrees(found, expected):
            wrong[code] = (found, expected)
    assert not wrong


def test_errors_are_those_of_the_reference():
    names = names_for(paddle.to_tensor, lambda x: described(x)[:3])
    wrong = {}
    for code, kind in RAISED.items():
        with pytest.raises(Exception) as caught:
            eval(code, dict(names))
        if not isinstance(caught.value, getattr(builtins, kind)):
            wrong[code] = (kind, caught.value)
    assert not wrong


class Held:
    """Variables in the place of the tensors of snippets, with what is fed to them."""

    def __init__(self):
        self.feed = {}

    def __call__(self, value, dtype=None, stop_gradient=True):
        array = np.asarray(value, dtype)
        kept = dtype or isinstance(value, np.ndarray) or array.dtype != np.float64
        name = f"held_{len(self.feed)}"
        self.feed[name] = array if kept else array.astype("float32")
        made = paddle.static.data(name, array.shape, str(self.feed[name].dtype))
        made.stop_gradient = stop_gradient
        return made


def flat(value):
    """The Variables in a result."""
    if isinstance(value, list | tuple):
        return [one for part in value for one in flat(part)]
    return [value] if isinstance(value, paddle.static.Variable) else []


def recorded(value):
    """The tensors in what is recorded of a result."""
    if not isinstance(value, list):
        return []
    if len(value) == 4 and isinstance(value[0], str):
        return [value]
    return [one for part in value for one in recorded(part)]


def test_a_program_gives_what_eager_mode_gives(static_mode):
    held, fetched, expected = Held(), [], []
    with paddle.static.program_guard(paddle.static.Program()):
        names = names_for(held, lambda x: x)
        for code, entry in GIVEN.items():
            if code == "like(D.Categorical([0.5, 1.0]).sample(T([3])))":
                with pytest.raises(UnsupportedError, match="how many categories are drawn"):
                    eval(code, dict(names))
            elif code.startswith("like("):
                drawn = eval(code, dict(names))
                wholly_known = -1 not in drawn.shape  # the sizes are not in a tensor
                assert not wholly_known or (code, list(drawn.shape)) == (code, entry[1])
            else:
                found = flat(eval(code, dict(names)))
                fetched += found
                expected += [(code, one) for one in recorded(entry)[: len(found)]]
                assert len(fetched) == len(expected), code
        results = paddle.static.Executor().run(feed=held.feed, fetch_list=fetched)
    wrong = {}
    for (code, (dtype, shape, _, elements)), array in zip(expected, results, strict=True):
        alike = (array.dtype.name, list(array.shape)) == (dtype, shape)
        if not (alike and agrees(array.reshape(-1), elements)):
            wrong[code] = (array, dtype, shape, elements)
    assert not wrong
