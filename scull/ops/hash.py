"""Numbers that rows of numbers are hashed to."""

from typing import Any

import numpy as np

from scull.core.attribute import Long
from scull.core.eager import primitive
from scull.core.meta import Meta
from scull.errors import ArgumentError, DtypeError, ShapeError

# The primes of XXH64 (Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
PRIMES = [
    np.uint64(p)
    for p in (
        11400714785074694791,
        14029467366897019727,
        1609587929392839161,
        9650029242287828579,
        2870177450012600261,
    )
]


@primitive(fixed={"@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@": True}, infer_first=True)
def hash(x: Meta, *, num_hash: int = 1, mod_by: Long = 100000) -> Meta:
    """For each row `num_hash` numbers below `mod_by`: XXH64 of its bytes, seed by seed."""
    if x.dtype.name not in ("int32", "int64"):
        raise DtypeError(f"x is {x.dtype.name}, not int32 or int64")
    if x.ndim < 2:
        raise ShapeError(f"x has {x.ndim} axes, 2 are needed")
    if num_hash < 1 or mod_by < 1:
        raise ArgumentError(f"num_hash is {num_hash} and mod_by {mod_by}; both are above 0")
    return Meta((*x.shape[:-1], num_hash, 1), x.dtype)


@hash.kernel
def hash_kernel(xp: Any, x: Any, *, out: Any = None, num_hash: int, mod_by: int) -> Any:
    rows = np.ascontiguousarray(x.reshape(-1, x.shape[-1]))
    with np.errstate(over="ignore"):
        found = np.stack([hashed(rows, seed) % np.uint64(mod_by) for seed in range(num_hash)], 1)
    found = found.astype(x.dtype).reshape(*x.shape[:-1], num_hash, 1)
    if out is None:
        return found
    out[...] = found
    return out


def hashed(rows: Any, seed: int) -> Any:
    """XXH64 of the bytes of each row."""
    first, second, third, fourth, fifth = PRIMES
    words = rows.view("uint32")
    size, done = words.shape[1], words.shape[1] // 8 * 8
    longs = np.ascontiguousarray(words[:, : size // 2 * 2]).view("uint64")
    start = np.uint64(seed)
    if size >= 8:
        starts = start + first + second, start + second, start, start - first
        lanes = [np.full(len(rows), v) for v in starts]
        for k in range(done // 2):
            lanes[k % 4] = mixed(lanes[k % 4], longs[:, k])
        found = sum((turned(v, n) for v, n in zip(lanes, (1, 7, 12, 18), strict=True)), np.uint64())
        for lane in lanes:
            found = (found ^ mixed(np.uint64(), lane)) * first + fourth
    else:
        found = np.full(len(rows), start + fifth)
    found = found + np.uint64(4 * size)
    for k in range(done // 2, size // 2):
        found = turned(found ^ mixed(np.uint64(), longs[:, k]), 27) * first + fourth
    if size % 2:
        found = turned(found ^ (words[:, -1].astype("uint64") * first), 23) * second + third
    found = (found ^ (found >> np.uint64(33))) * second
    found = (found ^ (found >> np.uint64(29))) * third
    return found ^ (found >> np.uint64(32))


def mixed(lane: Any, word: Any) -> Any:
    """A lane with the next word in it."""
    return turned(lane + word * PRIMES[1], 31) * PRIMES[0]


def turned(x: Any, bits: int) -> Any:
    """The bits of numbers, so many places further on."""
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


hash.no_grad("a hash carries none")
hash.no_lowering("its words are as many as a row has bytes")
