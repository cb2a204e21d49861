"""Transforms and signals give what the reference gives, gradients too, and refuse what it does."""

import json
from pathlib import Path

import numpy as np
import pytest

import scull as paddle

FACTS = json.loads(
    (Path(__file__).parents[1] / "data/reference/spectra.json").read_text(encoding="utf-8")
)
DATA = {name: eval(code, {"np": np}) for name, code in FACTS.pop("").items()}
KNOWN = {call: fact for call, fact in FACTS.items() if "crashes" not in fact}
GIVEN = [call for call, fact in KNOWN.items() if "raises" not in fact]
REFUSED = [call for call, fact in KNOWN.items() if "raises" in fact]

# What the reference refuses and scull gives, each with the reason.
ODD = "an odd `n_fft` has a transform back, too"
BACK = "an axis may be counted from the end wherever it is named"
GRANTED = {"signal.istft(q, 9)": ODD, "fft.fftshift(f, axes=(-1,))": BACK}

STUMBLED = ("fft.fftn(f, axes=[])", "fft.irfftn(c, s=[])")  # over an IndexError of its own


def call(text):
    """The result of a call, and the tensors that it was given."""
    given = {
        name: paddle.to_tensor(array, stop_gradient=array.dtype.kind not in "fc")
        for name, array in DATA.items()
    }
    return eval(text, {"fft": paddle.fft, "signal": paddle.signal, **given}), given


def check(tensor, expected):
    """Assert that elements are those recorded, complex ones as pairs."""
    parts = paddle.as_real(tensor) if tensor.dtype.is_complex else tensor
    single = tensor.dtype in (paddle.float32, paddle.complex64)
    found = parts.numpy().reshape(-1)
    size = max(np.abs(found).max(initial=0.0), 1.0)
    np.testing.assert_allclose(found, expected, atol=(4e-6 if single else 4e-7) * size)


@pytest.mark.parametrize("text", GIVEN)
def test_a_call_gives_what_the_reference_gives(text):
    fact = FACTS[text]
    out, given = call(text)
    assert (out.dtype.name, out.shape) == (fact["dtype"], fact["shape"])
    check(out, fact["values"])
    if "gradients" in fact:
        parts = paddle.as_real(out) if out.dtype.is_complex else out
        weights = np.cos(np.arange(parts.size, dtype=parts.numpy().dtype)).reshape(parts.shape)
        (parts * paddle.to_tensor(weights)).sum().backward()
    for name, expected in fact.get("gradients", {}).items():
        check(given[name].grad, expected)


@pytest.mark.parametrize("text", REFUSED)
def test_a_call_is_refused_as_in_the_reference(text):
    if text in GRANTED:
        assert call(text)[0].shape
        return
    with pytest.raises(Exception) as caught:
        call(text)
    kinds = [kind.__name__ for kind in type(caught.value).__mro__]
    assert "ScullError" in kinds
    assert ("ValueError" if text in STUMBLED else FACTS[text]["raises"]) in kinds


def test_every_call_that_scull_grants_is_one_that_the_reference_refuses():
    assert GRANTED.keys() <= set(REFUSED)
