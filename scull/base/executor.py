"""The Executor under its older name."""

from typing import Any

import numpy as np

from scull.base import core
from scull.core.absent import absent
from scull.executor.executor import Executor
from scull.runtime.scope import Scope, global_scope
from scull.static.scope import scope_guard


def as_numpy(tensor: Any, copy: bool = False) -> Any:
    """The elements of a tensor as an array; of each tensor of a list.

    Args:
        tensor: a Tensor, a LoDTensor or a list of them.
        copy (bool): whether the array has memory of its own.
    """
    if isinstance(tensor, list):
        return [as_numpy(t, copy) for t in tensor]
    array = np.asarray(tensor)
    return array.copy() if copy else array


def _fetch_var(name: str, scope: Scope | None = None, return_numpy: bool = True) -> Any:
    cell = (scope or global_scope()).find_var(name)
    assert cell is not None, (
        f"Cannot find {name} in scope. Perhaps you need to make the variable persistable by using "
        "var.persistable = True in your program."
    )
    return as_numpy(cell.get_tensor(), copy=True) if return_numpy else cell.get_tensor()


__getattr__ = absent(
    __name__,
    {
        "scull.static.Executor keeps its plans with the Program": (
            "_ExecutorCache _StandaloneExecutor _add_feed_fetch_ops _get_program_cache_key"
            " _get_strong_program_cache_key FetchHandler"
        ),
    },
)

__all__ = ["Executor", "as_numpy", "core", "global_scope", "scope_guard"]
