"""Numbers made of a name and a shape, the same on every machine: parameters, inputs."""

import hashlib

import numpy as np


def uniform(name: str, shape: tuple[int, ...], low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """float32 numbers from `low` up to `high`, of Philox with the SHA-256 of `name` as its key."""
    digest = hashlib.sha256(name.encode()).digest()
    words = np.random.Philox(key=np.frombuffer(digest[:16], "<u8")).random_raw(int(np.prod(shape)))
    steps = (words >> np.uint64(40)).astype("float32") / np.float32(1 << 24)
    return (np.float32(low) + np.float32(high - low) * steps).reshape(shape)


def integers(name: str, shape: tuple[int, ...], high: int, dtype: str = "int64") -> np.ndarray:
    """Whole numbers from 0 up to `high`."""
    return np.minimum(uniform(name, shape, 0, high), high - 1).astype(dtype)


def parameter(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """What a parameter or buffer of this name holds.

    A matrix or a kernel has the range that keeps the size of what goes through it (He et al. 2015
    with the gain of a linear layer, over the mean of both fans); a variance and a scale are about
    one, anything else is small.
    """
    if len(shape) >= 2:
        around = int(np.prod(shape[2:]))
        reach = float(np.sqrt(6 / (around * (shape[0] + shape[1]))))
        return uniform(name, shape, -reach, reach)
    if name.endswith(".w_2"):
        return uniform(name, shape, 0.5, 1.5)
    if name.endswith(".w_0"):
        return uniform(name, shape, 0.75, 1.25)
    return uniform(name, shape, -0.1, 0.1)
