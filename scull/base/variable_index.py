"""Indexing of Variables under its older names."""

from typing import Any

from scull.static.input import setitem


def _getitem_static(x: Any, indices: Any) -> Any:
    return x[indices]


def _setitem_static(x: Any, indices: Any, values: Any) -> Any:
    return setitem(x, indices, values)
