"""Make `tests/data/safetensors` with the `safetensors` package (0.8.0 made those that are there).

It needs that package and NumPy: `python tools/make_safetensors_fixtures.py`.
"""

from pathlib import Path

import numpy as np
import safetensors
from safetensors.numpy import save_file

FOLDER = Path(__file__).parents[1] / "tests" / "data" / "safetensors"
PLAIN = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


def bytes_of(dtype: str, array: np.ndarray) -> bytes:
    """A file of one array `x` of a dtype that NumPy lacks."""
    spec = safetensors.TensorSpec(
        dtype=dtype, shape=list(array.shape), data_ptr=array.ctypes.data, data_len=array.nbytes
    )
    return bytes(safetensors.serialize({"x": spec}, metadata=None))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    arrays = {name: np.arange(6).reshape(2, 3).astype(name) for name in PLAIN}
    arrays["complex64"] = np.array([1 + 2j, -3j], "complex64")
    arrays["scalar"] = np.array(7, "float32")
    arrays["empty"] = np.zeros((0, 3), "int64")
    arrays["ä.ß"] = arrays["int8"]
    save_file(arrays, FOLDER / "dtypes.safetensors", {"format": "np", "note": "äöü"})
    save_file({}, FOLDER / "nothing.safetensors")
    halves = (np.array([1.0, -2.5], "float32").view("uint32") >> 16).astype("uint16")
    others = {
        "bfloat16": ("bfloat16", halves),
        "float8": ("float8_e4m3fn", np.ones(2, "uint8")),
        "unsigned": ("uint16", np.ones(2, "uint16")),
    }
    for name, (dtype, array) in others.items():
        (FOLDER / f"{name}.safetensors").write_bytes(bytes_of(dtype, array))


if __name__ == "__main__":
    main()
