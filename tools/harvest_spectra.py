"""Write spectra.json: transforms and signals of the reference, with gradients and refusals.

Run with the Python that has the reference installed; tests/data/reference/README.md says what
the fields mean.
"""

import numpy as np
import paddle
from harvest_describe import isolated
from harvest_types import REFERENCE, repeatable, write_lines

DATA = {
    "f": "np.sin(np.arange(12.0)).reshape(3, 4).astype('float32')",
    "d": "np.cos(np.arange(24.0)).reshape(2, 3, 4)",
    "c": "np.exp(1j * np.arange(12.0)).reshape(3, 4).astype('complex64')",
    "z": "np.exp(1j * np.arange(24.0)).reshape(2, 3, 4)",
    "i": "np.arange(12).reshape(3, 4)",
    "b": "np.arange(12).reshape(3, 4) > 5",
    "u": "np.arange(20.0)",
    "v": "np.sin(np.arange(40.0)).reshape(2, 20)",
    "w": "np.array([0.5, 1.0, 1.0, 0.5])",
    "p": "np.exp(1j * np.arange(10.0)).reshape(5, 2)",
    "q": "np.exp(1j * np.arange(60.0) ** 2).reshape(2, 5, 6)",
    "r": "np.exp(1j * np.arange(48.0) ** 2).reshape(8, 6)",
}

FUNCTIONS = {
    "fft": "fdciz",
    "ifft": "fcz",
    "rfft": "fdi",
    "irfft": "cfz",
    "hfft": "cfz",
    "ihfft": "fdi",
}
LINES = ("{}", "{}, 3", "{}, n=7, axis=0, norm='ortho'", "{}, 1, norm='forward'")
PLANES = ("{}", "{}, (2, 5)", "{}, axes=(1, 0), norm='forward'", "{}, (5, 2), (1, 0), 'ortho'")
SPACES = ("{}", "{}, [5]", "{}, axes=[0], norm='forward'", "{}, (5, 2), (-1, -2), 'ortho'")

OTHERS = """
fft.fftfreq(5, 0.5)
fft.fftfreq(4)
fft.fftfreq(4, dtype='float64')
fft.rfftfreq(5, 0.5)
fft.rfftfreq(4)
fft.fftshift(f)
fft.fftshift(z, axes=1)
fft.fftshift(i, axes=(0, 1))
fft.fftshift(f, axes=[0, 0])
fft.ifftshift(f)
fft.ifftshift(z, axes=-1)
fft.ifftshift(i, axes=(0,))
signal.frame(u, 4, 3)
signal.frame(d, 2, 1)
signal.frame(d, 2, 1, axis=0)
signal.frame(z, 3, 5)
signal.frame(i, 2, 2)
signal.overlap_add(d, 2)
signal.overlap_add(d, 2, axis=0)
signal.overlap_add(z, 1)
signal.overlap_add(i, 3)
signal.stft(u, 8)
signal.stft(v, 8)
signal.stft(v, 7, 3)
signal.stft(v, 8, 3, 5)
signal.stft(v, 8, 2, 4, w)
signal.stft(v, 4, window=w, center=False)
signal.stft(v, 8, pad_mode='constant', normalized=True)
signal.stft(v, 8, onesided=False)
signal.stft(v, 20)
signal.stft(q[0], 4, onesided=False)
signal.stft(i, 4)
signal.istft(p, 8)
signal.istft(q, 8)
signal.istft(q, 8, 3)
signal.istft(q, 8, 2, 4, w)
signal.istft(q, 8, length=7)
signal.istft(q, 8, length=50)
signal.istft(q, 8, center=False, normalized=True)
signal.istft(r, 8, onesided=False)
signal.istft(r, 8, onesided=False, return_complex=True)
"""

REFUSED = """
fft.fft(b)
fft.fft(f.astype('float16'))
fft.rfft(c)
fft.ihfft(c)
fft.irfft(f.astype('float16'))
fft.fft(f, n=0)
fft.fft(f, n=-1)
fft.fft(f, n=2.0)
fft.fft(f, n=True)
fft.fft(f, axis=2)
fft.fft(f, axis=-3)
fft.fft(f, axis=1.0)
fft.fft(f, axis=(1,))
fft.fft(f, norm=None)
fft.fft(f, norm='backwards')
fft.fft(f[0, 0])
fft.fft([1.0, 2.0])
fft.fft(f[:, :0])
fft.irfft(c[:, :1])
fft.fftn(f, s=(6,), axes=[1, 0])
fft.fftn(f, s=(6, 2, 1))
fft.fftn(f, s=(6, -1))
fft.fftn(f, s=(6, 2.0))
fft.fftn(f, s=5)
fft.fftn(f, axes=1)
fft.fftn(f, axes=[])
fft.fftn(f, axes=(0, 2))
fft.fftn(f, axes=(0, 1, 0))
fft.irfftn(c, s=[])
fft.fft2(u)
fft.fft2(f, s=(1,))
fft.fft2(f, s=3)
fft.fft2(f, axes=(1,))
fft.fftfreq(0)
fft.fftfreq(5, 0)
fft.fftfreq(-5)
fft.fftfreq(4.0)
fft.fftfreq('a')
fft.fftshift(f, axes=2)
fft.fftshift(f, axes=[])
fft.fftshift(f, axes=(-1,))
fft.fftshift(f[0, 0])
signal.frame(f, 2, 1, axis=1)
signal.frame(f, 5, 1)
signal.frame(f, 0, 1)
signal.frame(f, 2.0, 1)
signal.frame(f, 2, 0)
signal.overlap_add(f, 9)
signal.overlap_add(f, 0)
signal.overlap_add(f, 1, axis=1)
signal.overlap_add(u, 1)
signal.stft(v, 8, window=w)
signal.stft(v, 8, pad_mode='replicate')
signal.stft(v, 21)
signal.stft(v, 0)
signal.stft(v, 8, 0)
signal.stft(v, 8, 2, 9)
signal.stft(v, 8, 2, 0)
signal.stft(v, 8, 2.0)
signal.stft(z, 2)
signal.stft(q[0], 4)
signal.stft(f[0, 0], 8)
signal.istft(q, 8, 9)
signal.istft(q, 8, 0)
signal.istft(q, 8, 2, 9)
signal.istft(q, 8, 2, 8, w)
signal.istft(q, 8, 2, 4, w * 0)
signal.istft(q, 8, onesided=False)
signal.istft(q, 10)
signal.istft(q, 9)
signal.istft(q, 8, return_complex=True)
signal.istft(q, 8, 2, 4, w.astype('complex128'))
signal.istft(q[0, 0], 8)
"""


def calls() -> list:
    """Return every call whose result is taken."""
    found = []
    for name, operands in FUNCTIONS.items():
        for suffix, arguments in (("", LINES), ("2", PLANES), ("n", SPACES)):
            for number, each in enumerate(arguments):
                operand = operands[number % len(operands)]
                found.append(f"fft.{name}{suffix}({each.format(operand)})")
    return found + OTHERS.split("\n")[1:-1] + REFUSED.split("\n")[1:-1]


def numbers(array) -> list:
    """Return the elements in one row, complex ones as pairs; in seven digits they are alike."""
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    return [float(f"{each:.7g}") + 0.0 for each in flat.tolist()]


def weighted(out):
    """Return a sum over `out` whose gradient differs from element to element."""
    parts = paddle.as_real(out) if "complex" in str(out.dtype) else out
    return (
        parts * paddle.cos(paddle.arange(parts.size, dtype=parts.dtype)).reshape(parts.shape)
    ).sum()


def taken(text: str) -> dict:
    """Return what a call gives or raises, and the gradients of its operands."""
    given = {name: paddle.to_tensor(eval(code)) for name, code in DATA.items()}
    for each in given.values():
        each.stop_gradient = "float" not in str(each.dtype) and "complex" not in str(each.dtype)
    try:
        out = eval(text, {"fft": paddle.fft, "signal": paddle.signal, **given})
    except Exception as error:
        return {"raises": type(error).__name__}
    dtype = str(out.dtype).removeprefix("paddle.")
    fact = {"dtype": dtype, "shape": out.shape, "values": numbers(out.numpy())}
    if not out.stop_gradient:
        weighted(out).backward()
        gradients = {name: each.grad for name, each in given.items() if each.grad is not None}
        fact["gradients"] = {name: numbers(each.numpy()) for name, each in gradients.items()}
    return fact


def main() -> None:
    repeatable()
    rows = {text: isolated(taken, text) or {"crashes": True} for text in calls()}
    write_lines(REFERENCE / "spectra.json", {"": DATA} | rows)


if __name__ == "__main__":
    main()
