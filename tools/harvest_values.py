"""Numbers for the parameters and inputs of a network that are the same on every machine."""

import math
import zlib

import numpy as np

BOUNDS = {"_mean": (-0.1, 0.1), "_variance": (0.5, 1.5), "bias": (-0.1, 0.1), "weight": (0.5, 1.5)}


def filled(name: str, shape: list[int]) -> np.ndarray:
    """The float32 values of a parameter, from its name in a state dict and its shape."""
    generator = np.random.RandomState(zlib.crc32(name.encode()))
    if len(shape) > 1:  # a convolution sees the axes behind the first, a linear layer the first
        bound = math.sqrt(4.5 / (math.prod(shape[1:]) if len(shape) > 2 else shape[0]))
        return generator.uniform(-bound, bound, shape).astype(np.float32)
    return generator.uniform(*BOUNDS[name.rsplit(".", 1)[-1]], shape).astype(np.float32)


def images(shape: list[int]) -> np.ndarray:
    """Images of float32 between -1 and 1."""
    generator = np.random.RandomState(sum(shape))
    return generator.uniform(-1.0, 1.0, shape).astype(np.float32)


def sampled(array: np.ndarray, most: int = 24) -> list[float]:
    """The norm of an array, then some of its numbers, evenly spaced, or all if there are few."""
    flat = array.astype(np.float64).ravel()
    return [float(np.linalg.norm(flat)), *flat[:: -(-flat.size // most)].tolist()]
