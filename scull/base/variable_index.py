"""Indexing of Variables under its older names."""

from typing import Any


def _getitem_static(x: Any, indices: Any) -> Any:
    return x[indices]


def _setitem_static(x: Any, indices: Any, values: Any) -> Any:
    x[indices] = values
    return x
