"""Files of MATLAB give the arrays of numbers that SciPy wrote into them."""

import struct
import zlib

import numpy as np
import pytest
from scipy.io import savemat

from scull.errors import FileError
from scull.files.matlab import read_matlab

ARRAYS = {
    "bytes": np.arange(6, dtype="uint8").reshape(1, 6),
    "whole": np.array([[-3, 70000]], "int32"),
    "doubles": np.arange(6.0).reshape(2, 3) / 4,
    "singles": np.ones((2, 1, 3), "float32"),
    "one": np.array([[7]], "uint16"),
    "none": np.zeros((0, 3)),
    "large": np.array([[2**60, -1]], "int64"),
}


@pytest.mark.parametrize("packed", [False, True])
def test_arrays_of_numbers_are_read_by_their_names(packed, tmp_path):
    others = {"text": "words", "complex": np.array([[1j]]), "cells": np.array([["a", 1]], object)}
    savemat(tmp_path / "a.mat", ARRAYS | others, do_compression=packed)
    found = read_matlab(tmp_path / "a.mat")
    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and np.array_equal(found[name], array)


def test_the_other_order_of_bytes_is_read(tmp_path):
    part = struct.pack(">4I", 6, 8, 9, 0) + struct.pack(">4I", 5, 8, 1, 2)
    part += struct.pack(">I4s", 1 << 16 | 1, b"x") + struct.pack(">HHBB2x", 2, 2, 5, 6)
    data = b"MATLAB".ljust(124) + b"\x01\x00MI" + struct.pack(">2I", 14, len(part)) + part
    (tmp_path / "a.mat").write_bytes(data)
    assert read_matlab(tmp_path / "a.mat")["x"].tolist() == [[5, 6]]


def test_what_is_packed_twice_is_refused(tmp_path):
    inner = zlib.compress(b"")
    twice = zlib.compress(struct.pack("<2I", 15, len(inner)) + inner)
    data = b"MATLAB".ljust(124) + b"\x00\x01IM" + struct.pack("<2I", 15, len(twice)) + twice
    (tmp_path / "a.mat").write_bytes(data)
    with pytest.raises(FileError, match="packed again"):
        read_matlab(tmp_path / "a.mat")


def test_any_bytes_give_arrays_or_an_error(tmp_path):
    path = tmp_path / "a.mat"
    for packed in (False, True):
        savemat(path, {"labels": ARRAYS["bytes"]}, do_compression=packed)
        whole = path.read_bytes()
        for end in range(0, len(whole), 3):
            check(path, whole[:end])
        for at in range(126, len(whole)):
            check(path, whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])


def check(path, data):
    """Reading is refused, or gives arrays."""
    path.write_bytes(data)
    try:
        found = read_matlab(path)
    except FileError:
        return
    assert all(isinstance(array, np.ndarray) for array in found.values())
