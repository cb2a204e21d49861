"""The Executor under its older name."""

from typing import Any

import numpy as np

from scull.base import core
from scull.core.absent import absent
from scull.core.dtype import dtype_of
from scull.errors import ArgumentTypeError
from scull.executor.executor import Executor
from scull.executor.pass_over import FetchHandler
from scull.runtime.scope import Scope, ScopeTensor, global_scope
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


def _as_lodtensor(data: Any, place: Any, dtype: Any = None) -> ScopeTensor:
    """A number, a list or an array as a tensor to feed."""
    if isinstance(data, list) and any(isinstance(v, ScopeTensor) for v in data):
        raise RuntimeError("Some of your feed data hold LoD information. Feed LoDTensors instead.")
    if not isinstance(data, np.ndarray):
        assert dtype is not None, "The dtype should be given when feed data is not np.ndarray"
        data = np.array(data, ndmin=int(np.isscalar(data)))
        if data.dtype == object:
            raise ArgumentTypeError(
                "Failed to convert data to a NumPy array: it holds what is no number, or lists of "
                "differing lengths"
            )
        data = data.astype(dtype_of(dtype).array)
    made = ScopeTensor()
    made.set(data, place)
    return made


__getattr__ = absent(
    __name__,
    {
        "scull.static.Executor keeps its plans with the Program": (
            "_ExecutorCache _StandaloneExecutor _add_feed_fetch_ops _get_program_cache_key"
            " _get_strong_program_cache_key"
        ),
    },
)

__all__ = ["Executor", "FetchHandler", "as_numpy", "core", "global_scope", "scope_guard"]
