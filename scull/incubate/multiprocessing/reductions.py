"""How a Tensor goes to another process: as a place in memory that both of them have."""

from multiprocessing.heap import Arena
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from scull.core.dtype import dtype_of
from scull.core.tensor import Leaf, Parameter, Rows, Tensor
from scull.errors import TapeError, UnsupportedError


class Shared:
    """Memory that processes share; arrays over it keep it."""

    def __init__(self, arena: Any) -> None:
        self.arena = arena
        address = np.frombuffer(arena.buffer, "uint8").__array_interface__["data"]
        self.__array_interface__ = {
            "data": address,
            "shape": (arena.size,),
            "typestr": "|u1",
            "version": 3,
        }


def shared_by(array: Any) -> Shared | None:
    """The shared memory in which an array lies, if it does."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, Shared) else None


def placed(shared: Shared, dtype: Any, offset: int, shape: Any, strides: Any) -> Any:
    """The array at a place of shared memory."""
    return np.ndarray(shape, dtype, np.asarray(shared), offset, strides)


def share(tensor: Any) -> Shared:
    """Let a Tensor have its elements in shared memory."""
    shared = shared_by(tensor.array)
    if shared is None:
        array = tensor.array
        shared = Shared(Arena(max(array.nbytes, 1)))
        tensor.array = placed(shared, array.dtype, 0, array.shape, None)
        tensor.array[...] = array
    return shared


def sent(tensor: Any) -> tuple[Any, ...]:
    """What a Tensor goes to another process as.

    Raises:
        TapeError: it was computed from what wants a gradient, which stays in this process.
        UnsupportedError: only some of its rows are stored.
    """
    if tensor.node is not None and not isinstance(tensor.node, Leaf):
        raise TapeError(
            "Refusing to serialize non-leaf tensor which not stop_gradient, you can detach it!"
        )
    if isinstance(tensor.array, Rows):
        raise UnsupportedError("a Tensor of some rows does not go to another process")
    shared, array = share(tensor), tensor.array
    offset = array.__array_interface__["data"][0] - shared.__array_interface__["data"][0]
    place = (tensor.dtype.name, offset, array.shape, array.strides)
    return received, (shared.arena, place, tensor.node is None, isinstance(tensor, Parameter))


def received(arena: Any, place: Any, stop_gradient: bool, is_parameter: bool) -> Any:
    """The Tensor that another process sent."""
    name, *where = place
    array = placed(Shared(arena), dtype_of(name).array, *where)
    return (Parameter if is_parameter else Tensor)(array, stop_gradient=stop_gradient)


def init_reductions() -> None:
    """Let queues and processes of this process take Tensors."""
    ForkingPickler.register(Tensor, sent)
    ForkingPickler.register(Parameter, sent)
