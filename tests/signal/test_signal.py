"""Spectra of signals beside NumPy's, and the signals found again."""

import numpy as np
import pytest

import scull as paddle
from scull.core import session
from scull.errors import ArgumentError, AssertError

GENERATOR = np.random.default_rng(1)
SIGNALS = GENERATOR.normal(size=(2, 40))
WINDOW = GENERATOR.uniform(0.5, 1.0, 6)


def spectra(x, n_fft, hop_length, window):
    """Of each place where the whole window fits: the transform of what it shows."""
    starts = range(0, x.shape[-1] - n_fft + 1, hop_length)
    found = [np.fft.rfft(x[..., s : s + n_fft] * window, axis=-1) for s in starts]
    return np.stack(found, -1)


@pytest.mark.parametrize("n_fft", [7, 8])
def test_a_window_moves_over_the_signal_and_what_it_shows_is_transformed(n_fft):
    before = (n_fft - 6) // 2
    window = np.pad(WINDOW, (before, n_fft - 6 - before))
    found = paddle.signal.stft(
        paddle.to_tensor(SIGNALS), n_fft, 3, 6, paddle.to_tensor(WINDOW), pad_mode="reflect"
    )
    wide = np.pad(SIGNALS, [(0, 0), (n_fft // 2, n_fft // 2)], mode="reflect")
    np.testing.assert_allclose(found.numpy(), spectra(wide, n_fft, 3, window), atol=1e-12)


@pytest.mark.parametrize("n_fft", [6, 7, 8])
@pytest.mark.parametrize("onesided", [False, True])
def test_a_signal_is_found_again_from_its_spectra(n_fft, onesided):
    how = {"hop_length": 2, "win_length": 6, "window": paddle.to_tensor(WINDOW)}
    how |= {"normalized": True, "onesided": onesided}
    x = paddle.to_tensor(SIGNALS)
    found = paddle.signal.istft(paddle.signal.stft(x, n_fft, **how), n_fft, length=40, **how)
    np.testing.assert_allclose(found.numpy(), SIGNALS, atol=1e-12)
    alone = paddle.signal.istft(paddle.signal.stft(x[0], n_fft, **how), n_fft, length=40, **how)
    np.testing.assert_allclose(alone.numpy(), SIGNALS[0], atol=1e-12)


def test_a_complex_signal_is_found_again_from_all_of_its_spectra():
    x = SIGNALS[0] + 1j * SIGNALS[1]
    found = paddle.signal.stft(paddle.to_tensor(x), 8, onesided=False)
    again = paddle.signal.istft(found, 8, onesided=False, return_complex=True)
    assert again.dtype == paddle.complex128
    np.testing.assert_allclose(again.numpy(), x, atol=1e-12)


def test_a_program_finds_signals_of_a_length_that_only_a_run_tells():
    main = paddle.static.Program()
    paddle.enable_static()
    try:
        with session.guarded(names=session.Names()), paddle.static.program_guard(main):
            x = paddle.static.data("x", [-1], "float64")
            found = paddle.signal.stft(x, 8)
            again = paddle.signal.istft(found, 8)
        shapes = [found.shape, again.shape]
        run = paddle.static.Executor().run
        for n in (16, 40):
            values = run(main, feed={"x": SIGNALS[0, :n]}, fetch_list=[found, again])
            np.testing.assert_allclose(values[1], SIGNALS[0, :n], atol=1e-12)
    finally:
        paddle.disable_static()
    assert shapes == [(5, -1), (-1,)]


def test_tensors_and_variables_have_these_as_methods():
    for holder in (paddle.Tensor, paddle.static.Variable):
        assert holder.stft is paddle.signal.stft
        assert holder.istft is paddle.signal.istft


def test_what_no_window_shows_is_not_found():
    found = paddle.signal.stft(paddle.to_tensor(SIGNALS), 8)
    with pytest.raises(ArgumentError, match="no window shows some element"):
        paddle.signal.istft(found, 8, window=paddle.zeros([8], "float64"))


def test_windows_do_not_move_further_than_they_reach():
    found = paddle.signal.stft(paddle.to_tensor(SIGNALS), 8)
    with pytest.raises(AssertError, match=r"hop_length should be in \(0, win_length\(4\)\]"):
        paddle.signal.istft(found, 8, 5, 4)
