"""Pitches, filters, decibels and windows: by hand and by their formulas."""

import doctest
import importlib
import math

import numpy as np
import pytest

import scull as paddle
from scull.audio import functional as F
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, DtypeError

MODULES = (
    "scull.audio.backends.wave_backend",
    "scull.audio.features.pitch",
    "scull.audio.features.spectrum",
    "scull.audio.functional.mel",
    "scull.audio.functional.window",
)
HERTZ = [0.0, 200.0, 999.0, 1000.0, 6400.0]
MELS = [0.0, 3.0, 14.985, 15.0, 42.0]  # 6.4 times the frequency of the bend: 27 mels above it


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_print_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted and not results.failed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frequencies_are_pitches_and_pitches_frequencies(dtype):
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    for function, given, wanted in ((F.hz_to_mel, HERTZ, MELS), (F.mel_to_hz, MELS, HERTZ)):
        found = function(paddle.to_tensor(given, dtype))
        assert found.dtype == getattr(paddle, dtype)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=tolerance)
        alone = [function(value) for value in given]
        assert all(isinstance(value, float) for value in alone)
        np.testing.assert_allclose(alone, wanted, rtol=1e-12)


def test_the_scale_of_the_markov_toolkit_is_a_logarithm():
    np.testing.assert_allclose(F.hz_to_mel(6300.0, htk=True), 2595)  # log10(1 + 6300 / 700)
    np.testing.assert_allclose(F.hz_to_mel(paddle.to_tensor([6300.0]), True).numpy(), [2595])
    np.testing.assert_allclose(F.mel_to_hz(2595.0, htk=True), 6300)
    np.testing.assert_allclose(F.mel_to_hz(paddle.to_tensor([2595.0]), True).numpy(), [6300], 1e-6)


def test_the_gradient_of_a_pitch_is_finite_everywhere():
    x = paddle.to_tensor([-5.0, 0.0, 200.0, 2000.0], stop_gradient=False)
    F.hz_to_mel(x).sum().backward()
    slope = 27 / math.log(6.4) / 2000
    np.testing.assert_allclose(x.grad.numpy(), [0.015, 0.015, 0.015, slope], rtol=1e-6)
    y = paddle.to_tensor([-1e4, 3.0, 42.0], stop_gradient=False)
    F.mel_to_hz(y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), [200 / 3, 200 / 3, 6400 * math.log(6.4) / 27], 1e-5)


def test_frequencies_lie_equally_far_apart_in_pitch():
    found = F.mel_frequencies(5, 200.0, 6400.0, dtype="float64")
    np.testing.assert_allclose(F.hz_to_mel(found).numpy(), np.linspace(3, 42, 5))
    assert F.mel_frequencies().shape == [64] and F.mel_frequencies(1).tolist() == [0.0]
    assert F.fft_frequencies(16000, 7).shape == [4] and F.fft_frequencies(9, 8)[-1].item() == 4.5


def test_filters_are_triangles_over_three_pitches():
    found = F.compute_fbank_matrix(1600, 16, 3, norm=None, dtype="float64").numpy()
    tops = [200, 400, 600]  # all lie where the scale is straight: 0, 200, 400, 600, 800
    at = np.arange(9) * 100
    wanted = np.maximum(0, 1 - np.abs(at - np.array(tops)[:, None]) / 200)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    area = F.compute_fbank_matrix(1600, 16, 3, dtype="float64").numpy()
    np.testing.assert_allclose(area, wanted / 200, atol=1e-12)
    for order, norm in ((0, 3), (1, 2), (2.0, math.sqrt(1.5)), (math.inf, 1)):
        rows = F.compute_fbank_matrix(1600, 16, 3, norm=order).numpy()
        np.testing.assert_allclose(rows, wanted / norm, rtol=1e-6)
    assert F.compute_fbank_matrix(1600, 16, 3, f_min=300.0, f_max=200.0).abs().sum().item() == 0


def test_powers_are_decibels_within_what_is_told_apart():
    x = paddle.to_tensor([0.0, 1e-3, 1.0, 100.0])
    assert F.power_to_db(x, top_db=None).tolist() == pytest.approx([-100, -30, 0, 20], abs=1e-5)
    assert F.power_to_db(x).tolist() == pytest.approx([-60, -30, 0, 20], abs=1e-5)
    assert F.power_to_db(x, 10.0, 1e-2, 25).tolist() == pytest.approx([-15, -15, -10, 10], abs=1e-5)
    x.stop_gradient = False
    F.power_to_db(x, top_db=None).sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[1:], 10 / math.log(10) / x.numpy()[1:], rtol=1e-5)
    assert x.grad[0].item() == 0.0


def test_columns_of_cosines_are_orthonormal():
    matrix = F.create_dct(8, 8, dtype="float64").numpy()
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(8), atol=1e-12)
    plain = F.create_dct(2, 4, norm=None).numpy()
    np.testing.assert_allclose(plain[:, 0], 2)
    np.testing.assert_allclose(plain[:, 1], 2 * np.cos(np.pi * np.array([1, 3, 5, 7]) / 8), 1e-6)


@pytest.mark.parametrize(
    ("name", "known"),
    [("hann", np.hanning), ("hamming", np.hamming), ("blackman", np.blackman)],
)
@pytest.mark.parametrize("size", [2, 7, 8])
def test_windows_of_cosines_are_those_of_numpy(name, known, size):
    symmetric = F.get_window(name, size, fftbins=False).numpy()
    np.testing.assert_allclose(symmetric, known(size), atol=1e-12)
    np.testing.assert_allclose(F.get_window(name, size).numpy(), known(size + 1)[:-1], atol=1e-12)


PLACES = np.arange(7) - 3
SEVEN = {
    ("gaussian", 2.0): np.exp(-(PLACES**2) / 8),
    ("general_gaussian", 1.0, 2.0): np.exp(-(PLACES**2) / 8),
    ("general_gaussian", 0.5, 2): np.exp(-abs(PLACES) / 4),
    ("exponential", None, 2.0): np.exp(-abs(PLACES) / 2),
    "triang": [0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25],
    "cosine": np.sin(np.pi * np.arange(1, 14, 2) / 14),
    ("tukey", 0.0): np.ones(7),
    ("tukey", 1.0): np.hanning(7),
    ("tukey", 3.0): np.hanning(7),
    ("tukey", 2 / 3): [0, 0.5, 1, 1, 1, 0.5, 0],
    "bohman": [0, 0.1089977, 0.6089977, 1, 0.6089977, 0.1089977, 0],
    ("general_hamming", 0.54): np.hamming(7),
    ("general_cosine", (0.42, 0.5, 0.08)): np.blackman(7),
    ("hann",): np.hanning(7),
}


@pytest.mark.parametrize("window", SEVEN, ids=str)
def test_a_window_has_the_factors_of_its_formula(window):
    found = F.get_window(window, 7, fftbins=False)
    assert found.dtype == paddle.float64 and found.stop_gradient
    np.testing.assert_allclose(found.numpy(), SEVEN[window], atol=1e-7)
    again = F.get_window(window, 6, dtype="float32")
    np.testing.assert_allclose(again.numpy(), SEVEN[window][:6], atol=1e-6)


def test_the_side_lobes_of_a_taylor_window_are_as_low_as_it_says():
    found = F.get_window(("taylor", 6, 40), 64, fftbins=False).numpy()
    spectrum = np.abs(np.fft.rfft(found, 4096))
    rising = np.flatnonzero(np.diff(spectrum) > 0)
    highest = 20 * math.log10(spectrum[rising[0] :].max() / spectrum[0])
    assert -41 < highest < -39
    assert F.get_window("taylor", 65, fftbins=False)[32].item() == pytest.approx(1.0)
    assert F.get_window(("taylor", 4, 30, False), 65, fftbins=False)[32].item() > 1.1


def test_a_window_of_one_place_shows_it_whole():
    assert F.get_window("hann", 1).tolist() == [1.0]
    assert F.get_window(("gaussian", 7), 0).shape == [0]


@pytest.mark.parametrize(
    ("kind", "law", "call"),
    [
        (ArgumentError, "Unknown window type 'kaiser'", lambda: F.get_window("kaiser", 8)),
        (ArgumentError, "needs parameters: pass a tuple", lambda: F.get_window("gaussian", 8)),
        (ArgumentError, "from 0 to 16777216, not -1", lambda: F.get_window("hann", -1)),
        (ArgumentError, "non-negative integer", lambda: F.get_window("hann", 2.5)),
        (ArgumentTypeError, "as window type is not", lambda: F.get_window(["hann"], 8)),
        (TypeError, "positional argument", lambda: F.get_window(("gaussian",), 8)),
        (ArgumentError, "in the middle", lambda: F.get_window(("exponential", 3, 1.0), 8, False)),
        (ArgumentError, "an `nbar` of 2 at least", lambda: F.get_window(("taylor", 1), 8)),
        (DtypeError, "not int64", lambda: F.get_window("hann", 8, dtype="int64")),
        (ArgumentTypeError, "`freq` is a number", lambda: F.hz_to_mel("high")),
        (ArgumentError, "from 1 to 16777216, not 0", lambda: F.mel_frequencies(0)),
        (ArgumentError, "from 1 to 16777216, not 0", lambda: F.compute_fbank_matrix(8000, 64, 0)),
        (ArgumentError, "a pitch below 10000", lambda: F.mel_to_hz(1e5)),
        (ArgumentError, "amin must be", lambda: F.power_to_db(paddle.ones([1]), amin=0)),
        (ArgumentError, "ref_value must", lambda: F.power_to_db(paddle.ones([1]), -1.0)),
        (ArgumentError, "top_db must", lambda: F.power_to_db(paddle.ones([1]), top_db=-1.0)),
        (DtypeError, "not int64", lambda: F.power_to_db(paddle.to_tensor([1]))),
        (ArgumentTypeError, "must be Tensor", lambda: F.power_to_db(1.0)),
        (AssertError, '`norm` is "ortho" or None', lambda: F.create_dct(3, 4, "slaney")),
    ],
)
def test_what_means_nothing_is_refused(kind, law, call):
    with pytest.raises(kind, match=law):
        call()
