"""What a Tensor says of itself."""

from typing import Any

import numpy as np

from scull.autograd.version import changes_of
from scull.core.dtype import DType, of_array
from scull.core.interpreter import current
from scull.core.meta import Kind
from scull.core.op import op_of
from scull.core.place import CPU, Place
from scull.core.session import unique_name
from scull.core.tensor import Leaf, Parameter, Rows, Tensor, new
from scull.eager.attach import attach
from scull.eager.grad_node import GradNode
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.runtime.cell import ScopeTensor, TensorCell


def tensor_of(array: Any, node: Any = None) -> Tensor:
    """A Tensor around `array`, at `node` of the tape."""
    made: Tensor = new(Tensor)
    made.array, made.node = array, node
    return made


@attach(Tensor)
class Described:
    """Shape, element type, place and name."""

    @property
    def shape(self: Any) -> list[int]:
        """The sizes, as a list."""
        return list(self.array.shape)

    @property
    def dtype(self: Any) -> DType:
        """The element type."""
        return of_array(self.array.dtype)

    @property
    def size(self: Any) -> int:
        """The number of elements."""
        return int(self.array.size) if type(self.array) is not Rows else self.array.dense().size

    def dim(self: Any) -> int:
        """The number of axes."""
        return len(self.array.shape)

    ndimension = dim

    @property
    def place(self: Any) -> Place:
        """Where the elements live."""
        return CPU

    @property
    def name(self: Any) -> str:
        """A name of its own, given when first asked for."""
        names = self.__dict__
        if "_name" not in names:
            names["_name"] = unique_name("eager_tmp")
        return names["_name"]

    @name.setter
    def name(self: Any, name: str) -> None:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a name is a string, not a {type(name).__name__}")
        self.__dict__["_name"] = name

    @property
    def persistable(self: Any) -> bool:
        """Whether it belongs to a model's state."""
        return self.__dict__.get("_persistable", False)

    @persistable.setter
    def persistable(self: Any, value: bool) -> None:
        self.__dict__["_persistable"] = bool(value)

    @property
    def type(self: Any) -> Kind:
        """What it holds: a dense tensor, or some rows of one."""
        return Kind.ROWS if type(self.array) is Rows else Kind.DENSE

    layout = "NCHW"
    block = None

    @property
    def offset(self: Any) -> int:
        """How many bytes its first element lies behind the start of the memory it is a view of."""
        whole = self.array if self.array.base is None else self.array.base
        return self.data_ptr() - int(whole.ctypes.data) if isinstance(whole, np.ndarray) else 0

    @property
    def strides(self: Any) -> list[int]:
        """How many elements apart neighbours along each axis lie in memory."""
        return [n // self.array.itemsize for n in self.array.strides]

    def get_strides(self: Any) -> list[int]:
        """How many elements apart neighbours along each axis lie in memory."""
        return self.strides

    def is_contiguous(self: Any) -> bool:
        """Whether the elements lie in memory in their own order."""
        return bool(self.array.flags.c_contiguous)

    def contiguous(self: Any) -> Tensor:
        """The tensor itself where it is contiguous, else a copy that is."""
        return self if self.is_contiguous() else op_of("assign").call(self)

    def element_size(self: Any) -> int:
        """The bytes of one element."""
        return int(self.array.dtype.itemsize)

    @property
    def inplace_version(self: Any) -> int:
        """How often its memory was overwritten, through any tensor that shares it."""
        return changes_of(self.array)

    @property
    def data(self: Any) -> Tensor:
        """The tensor itself; assigned, it takes the elements of another."""
        return self

    @data.setter
    def data(self: Any, other: Tensor) -> None:
        self.array = other.array

    def reconstruct_from_(self: Any, other: Tensor) -> None:
        """Be `other` from now on: its memory and its place on the tape; the name stays.

        Args:
            other (Tensor): may differ in shape and element type.
        """
        self.array, self.node = other.array, other.node
        for name in ("_stopped", "_retained"):
            self.__dict__.pop(name, None)

    def data_ptr(self: Any) -> int:
        """The address of the first element."""
        return int(self.array.ctypes.data)

    def is_dense(self: Any) -> bool:
        """Whether every element is stored."""
        return type(self.array) is not Rows

    def is_selected_rows(self: Any) -> bool:
        """Whether only some rows are stored, as gradients of embeddings are."""
        return type(self.array) is Rows

    def is_sparse(self: Any) -> bool:
        return False

    is_sparse_coo = is_sparse_csr = is_dist = is_sparse

    def _is_initialized(self: Any) -> bool:
        awaited = self.__dict__.get("_awaited")
        return awaited is None or awaited[0] is not self.array

    _is_dense_tensor_hold_allocation = _is_initialized

    def _inplace_version(self: Any) -> int:
        return self.inplace_version

    def _place_str(self: Any) -> str:
        return str(self.place)

    def _numel(self: Any) -> int:
        return self.size

    def _is_shared_buffer_with(self: Any, other: Tensor) -> bool:
        return self.array is other.array or self.array.base is not None is not other.array.base

    def is_same_shape(self: Any, other: Tensor) -> bool:
        """Whether `other` has the same sizes."""
        return self.shape == other.shape

    def value(self: Any) -> Tensor:
        """The tensor itself."""
        return self

    def get_tensor(self: Any) -> ScopeTensor:
        """What it holds, as Paddle's LoDTensor: set, shape, lod; what is set here is seen there."""
        return TensorCell("", self).get_tensor()


@attach(Tensor)
class OnTheTape:
    """Its place on the tape."""

    @property
    def stop_gradient(self: Any) -> bool:
        """Whether no gradient is wanted. Stopped and started again, a tensor keeps its gradient."""
        return self.node is None

    @stop_gradient.setter
    def stop_gradient(self: Any, stop: bool) -> None:
        if stop and self.node is not None:
            self.__dict__["_stopped"] = self.node
            self.node = None
        elif not stop and self.node is None:
            kept = self.__dict__.pop("_stopped", None)
            self.node = Leaf() if kept is None else kept

    @property
    def is_leaf(self: Any) -> bool:
        """Whether nothing on the tape computed it."""
        return self.node is None or type(self.node) is Leaf

    @property
    def grad_fn(self: Any) -> Any:
        """The node of the tape that its gradient reaches first."""
        return None if self.node is None else GradNode(self.node)

    @property
    def grad(self: Any) -> Any:
        """The gradient that arrived, or None."""
        mode: Any = current()
        if mode.captures:
            return mode.gradients.of(self)
        total = total_of(self)
        if total is None or total.node is not None:
            return total
        return tensor_of(total.array, Leaf())

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        mode: Any = current()
        if mode.captures:
            mode.gradients.replace(self, value)
            return
        if value is not None and not isinstance(value, Tensor):
            raise ArgumentTypeError(f"a gradient is a Tensor, not a {type(value).__name__}")
        if value is not None and value.array.shape != self.array.shape:
            raise ArgumentError(f"the gradient has shape {value.shape} and the tensor {self.shape}")
        set_total(self, None if value is None else tensor_of(value.array))


def leaf_of(tensor: Any) -> Any:
    """The Leaf of a tensor, also while its gradient is stopped; None if it has none."""
    node = tensor.node if tensor.node is not None else tensor.__dict__.get("_stopped")
    return node if type(node) is Leaf else None


def total_of(tensor: Any) -> Any:
    """What has arrived at a leaf, or was retained."""
    leaf = leaf_of(tensor)
    return tensor.__dict__.get("_retained") if leaf is None else leaf.total


def set_total(tensor: Any, total: Any) -> None:
    """Replace the gradient that arrived."""
    leaf = leaf_of(tensor)
    if leaf is not None:
        leaf.total, leaf.cleared = total, False
    else:
        tensor.__dict__["_retained"] = total


@attach(Parameter)
class Trained:
    """What a Parameter has besides."""

    def initialize(self: Any) -> None:
        """Give a parameter that was made under `LazyGuard` its first value."""
        if self._is_initialized():
            raise AssertError(f"parameter {self.name} has its value")
        array, first = self.__dict__.pop("_awaited")
        self.array = np.empty(array.shape, array.dtype)
        first(self)

    @property
    def trainable(self: Any) -> bool:
        """Whether an optimizer updates it: the contrary of `stop_gradient`."""
        return self.node is not None

    @trainable.setter
    def trainable(self: Any, value: bool) -> None:
        self.stop_gradient = not value
