"""Samples of hashes; the numbers are PaddlePaddle's, from 2.6.2."""

from scull.errors import ArgumentError, DtypeError, ShapeError
from tests.ops.sample import array, call, f32, fails, i64, samples

HASHES = {
    (1, "int64", 2, 100000): [45603, 37336, 34475, 82814],
    (3, "int64", 1, 1 << 40): [452729387847, 70847462186],
    (4, "int64", 2, 1 << 40): [641586833201, 346876120717, 583285642883, 276789641762],
    (9, "int64", 3, 1 << 40): [138419099320, 1058941683244, 864662056276]
    + [1078459022573, 479450221067, 965265088938],
    (1, "int32", 2, 100000): [68602, 52721, 9369, 34525],
    (3, "int32", 1, 100000): [74693, 93594],
    (11, "int32", 2, 1 << 30): [206313942, 503083703, 923819887, 249531042],
}


@samples("hash")
def hash_samples():
    for (columns, dtype, number, below), hashes in HASHES.items():
        x = array([[7 * (columns * i + k) - 3 for k in range(columns)] for i in range(2)], dtype)
        expected = array(hashes, dtype).reshape(2, number, 1)
        attrs = {"num_hash": number, "mod_by": below}
        yield call(x, reference=lambda x, expected=expected, **_: expected, **attrs)
    yield fails(DtypeError, "x is float32, not int32 or int64", f32(2, 3))
    yield fails(ShapeError, "x has 1 axes, 2 are needed", i64(3))
    law = "num_hash is 0 and mod_by 100000; both are above 0"
    yield fails(ArgumentError, law, i64(2, 3), num_hash=0)
