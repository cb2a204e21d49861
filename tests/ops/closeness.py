"""How close two results must be: tolerances belong to element types, not to tests."""

from typing import Any

import numpy as np

from tests.ops.case import flat

# The relative and the absolute difference that rounding may make in results of an element type.
TOLERANCES = {
    "float64": (1e-9, 1e-11),
    "complex128": (1e-9, 1e-11),
    "float32": (2e-5, 2e-6),
    "complex64": (2e-5, 2e-6),
    "float16": (1e-2, 4e-3),
    "bfloat16": (6e-2, 3e-2),
}
NUMERIC = (2e-5, 2e-7)  # of differences in float64 that stand for derivatives


def check_close(found: Any, expected: Any, what: str, dtype: str = "") -> None:
    """Assert that results agree as far as the element type of `found` allows, or `dtype`."""
    pairs = list(flat(found)), list(flat(expected))
    assert len(pairs[0]) == len(pairs[1]), (
        f"{what}: {len(pairs[0])} results, {len(pairs[1])} expected"
    )
    for i, (x, y) in enumerate(zip(*pairs, strict=True)):
        y = np.asarray(y)
        assert x.shape == y.shape, f"{what}: result {i} has shape {x.shape}, expected {y.shape}"
        relative, absolute = TOLERANCES.get(dtype or x.dtype.name, (0.0, 0.0))
        if x.dtype.kind in "fcV" and y.dtype.kind in "fc":
            y = y.astype(x.dtype)  # what is too large for it is infinite
        np.testing.assert_allclose(
            wide(x), wide(y), rtol=relative, atol=absolute, err_msg=f"{what}: result {i}"
        )


def check_same(found: Any, expected: Any, what: str) -> None:
    """Assert that results have the same element types, shapes and bits."""
    pairs = list(flat(found)), list(flat(expected))
    assert len(pairs[0]) == len(pairs[1]), (
        f"{what}: {len(pairs[0])} results, {len(pairs[1])} expected"
    )
    for i, (x, y) in enumerate(zip(*pairs, strict=True)):
        assert x.dtype == y.dtype, f"{what}: result {i} is {x.dtype}, expected {y.dtype}"
        assert x.shape == y.shape, f"{what}: result {i} has shape {x.shape}, expected {y.shape}"
        np.testing.assert_array_equal(wide(x), wide(y), f"{what}: result {i}")


def wide(x: Any) -> Any:
    """`x` in the widest element type of its kind."""
    kinds = {"c": "complex128", "b": "bool", "i": "int64", "u": "uint64"}
    return x.astype(kinds.get(x.dtype.kind, "float64"))
