"""Spectra over time beside NumPy's, eagerly, in Programs and made static."""

import numpy as np
import pytest

import scull as paddle
from scull.audio import features
from scull.audio import functional as F
from scull.core import session
from scull.errors import AssertError

SIGNALS = np.random.default_rng(4).normal(size=(2, 200)).astype("float32")
SETTINGS = {"sr": 8000, "n_fft": 32, "hop_length": 8, "n_mels": 6, "f_min": 0.0}
LAYERS = {
    "magnitudes": lambda: features.Spectrogram(32, 8),
    "pitches": lambda: features.MelSpectrogram(**SETTINGS),
    "decibels": lambda: features.LogMelSpectrogram(**SETTINGS, top_db=20.0),
    "coefficients": lambda: features.MFCC(**SETTINGS, n_mfcc=5),
}


def spectra(power):
    wide = np.pad(SIGNALS.astype("float64"), [(0, 0), (16, 16)], mode="reflect")
    window = np.hanning(33)[:-1]
    seen = np.stack([wide[:, i : i + 32] * window for i in range(0, 201, 8)], -1)
    return np.abs(np.fft.rfft(seen, axis=1)) ** power


def expected():
    """What each layer gives, by NumPy."""
    pitches = F.compute_fbank_matrix(8000, 32, 6, dtype="float64").numpy() @ spectra(2)
    decibels = 10 * np.log10(np.maximum(pitches, 1e-10))
    matrix = F.create_dct(5, 6, dtype="float64").numpy()
    return {
        "magnitudes": spectra(1),
        "pitches": pitches,
        "decibels": np.maximum(decibels, decibels.max() - 20),
        "coefficients": matrix.T @ decibels,
    }


@pytest.mark.parametrize("name", LAYERS)
def test_signals_have_the_spectra_that_numpy_finds(name):
    layer, wanted = LAYERS[name](), expected()[name]
    found = layer(paddle.to_tensor(SIGNALS))
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-5 * np.abs(wanted).max())
    if name != "decibels":  # whose least depends on all signals
        alone = layer(paddle.to_tensor(SIGNALS[1]))
        np.testing.assert_allclose(alone.numpy(), found[1].numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_the_same_in_a_program_and_made_static(name):
    eager = LAYERS[name]()(paddle.to_tensor(SIGNALS)).numpy()
    static = paddle.jit.to_static(LAYERS[name]())(paddle.to_tensor(SIGNALS)).numpy()
    np.testing.assert_allclose(static, eager, rtol=1e-5, atol=1e-5)
    main, startup = paddle.static.Program(), paddle.static.Program()
    paddle.enable_static()
    try:
        with session.guarded(names=session.Names()), paddle.static.program_guard(main, startup):
            found = LAYERS[name]()(paddle.static.data("x", [2, 200], "float32"))
        executor = paddle.static.Executor()
        executor.run(startup)
        (ran,) = executor.run(main, feed={"x": SIGNALS}, fetch_list=[found])
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(ran, eager, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_signals_have_gradients_as_small_steps_find_them(name):
    layer = LAYERS[name]()
    x = paddle.to_tensor(SIGNALS, stop_gradient=False)
    layer(x).sum().backward()
    wide = layer.to(dtype="float64")
    step = np.zeros_like(SIGNALS, "float64")
    step[1, 77] = 1e-4
    up, down = (wide(paddle.to_tensor(SIGNALS + s)).sum().item() for s in (step, -step))
    assert x.grad[1, 77].item() == pytest.approx((up - down) / 2e-4, rel=1e-3, abs=1e-3)


def test_windows_and_matrices_are_buffers_that_are_saved():
    layer = features.MFCC(**SETTINGS, n_mfcc=5)
    names = ["dct_matrix", "_log_melspectrogram._melspectrogram.fbank_matrix"]
    names.append("_log_melspectrogram._melspectrogram._spectrogram.fft_window")
    assert [*layer.state_dict()] == names and not layer.parameters()
    assert str(features.MelSpectrogram(**SETTINGS)) == (
        "MelSpectrogram(\n  (_spectrogram): Spectrogram()\n)"
    )


def test_what_means_nothing_is_refused():
    with pytest.raises(AssertError, match="Power of spectrogram must be > 0"):
        features.Spectrogram(power=0)
    with pytest.raises(AssertError, match="n_mfcc cannot be larger than n_mels: 7 vs 6"):
        features.MFCC(**SETTINGS, n_mfcc=7)
