"""Typical public calls of further functions, by operator type; see `harvest_records.py`."""

CALLS = {
    "i0": ["x=2,3 : paddle.i0(x)"],
    "i0e": ["x=2,3 : paddle.i0e(x)"],
    "i1": ["x=2,3 : paddle.i1(x)"],
    "i1e": ["x=2,3 : paddle.i1e(x)"],
    "renorm": ["x=2,3 : paddle.renorm(x, 2.0, 0, 1.0)"],
    "nanmedian": ["x=2,3 : paddle.nanmedian(x)", "x=2,3 : paddle.nanmedian(x, 1, True)"],
    "nextafter": ["x=2,3 y=2,3 : paddle.nextafter(x, y)"],
    "poisson": ["x=2,3 : paddle.poisson(x)"],
    "lu": ["x=3,3 : paddle.linalg.lu(x)[0]"],
    "lu_unpack": ["x=3,3 : paddle.linalg.lu_unpack(*paddle.linalg.lu(x)[:2])[2]"],
    "eig": ["x=3,3 : paddle.linalg.eig(x)[0]"],
    "fft_c2c": [
        "x=complex64:3,4 : paddle.fft.fft(x)",
        "x=complex64:3,4 : paddle.fft.ifftn(x, (2, 6), (1, 0), 'ortho')",
    ],
    "fft_r2c": [
        "x=3,4 : paddle.fft.fft(x, 6)",
        "x=3,4 : paddle.fft.rfftn(x, (2, 2))",
        "x=3,4 : paddle.fft.fftshift(paddle.fft.fft(x))",
        "x=3,4 : paddle.fft.ifftshift(paddle.fft.ihfft(x), [0])",
    ],
    "fft_c2r": [
        "x=complex64:3,4 : paddle.fft.irfft(x)",
        "x=complex64:3,4 : paddle.fft.hfft(x, 5, 0, 'forward')",
    ],
    "frame": [
        "x=2,6 : paddle.signal.frame(x, 3, 2)",
        "x=3,40 : paddle.signal.stft(x, 4, pad_mode='constant')",
    ],
    "overlap_add": [
        "x=2,3,4 : paddle.signal.overlap_add(x, 2)",
        "x=complex64:3,3,40 : paddle.signal.istft(x, 4)",
    ],
}
