"""The sparse tensor: places, which are arrays of NumPy, and one dense Tensor of the values there.

The tape knows the values alone, so every function here is made of operators over them, and
gradients come by themselves. What takes dense tensors asks for their array and is refused.
"""

import copy
import math
from typing import Any, ClassVar, NoReturn

import numpy as np

from scull.core.dtype import DType
from scull.core.meta import Meta
from scull.core.session import unique_name
from scull.core.tensor import Leaf, Tensor, new
from scull.eager.property import set_total, tensor_of
from scull.eager.text import array_text
from scull.errors import ArgumentTypeError, AssertError, UnsupportedError
from scull.ir.variable import Variable
from scull.ops.create import assign
from scull.tensor.method import Method
from scull.tensor.size import is_static

EAGER_ONLY = "sparse tensors are computed with in eager mode: call paddle.disable_static() first"
DENSE_ASKED = (
    "this takes a dense tensor, and the tensor is sparse: take a function of paddle.sparse, "
    "or to_dense() first"
)


class SparseTensor(Tensor):
    """What both kinds of sparse tensors have in common.

    `held` is the Tensor of values, which stands for this one on the tape; `sizes` the shape.
    `rules` holds what was worked out of the places, for all tensors that share them.
    """

    __slots__ = ("held", "rules", "sizes")
    held: Tensor
    rules: dict[Any, Any]
    sizes: tuple[int, ...]
    lists: ClassVar[dict[str, str]] = {}  # the attributes that hold places, by what users call them

    @property
    def array(self) -> NoReturn:
        raise UnsupportedError(DENSE_ASKED)

    @property
    def node(self) -> Any:
        return self.held.node

    @node.setter
    def node(self, node: Any) -> None:
        self.held.node = node

    shape = property(lambda self: list(self.sizes))
    ndim = property(lambda self: len(self.sizes))
    size = property(lambda self: math.prod(self.sizes))
    type = None

    @property
    def dtype(self) -> DType:
        return self.held.dtype

    @property
    def meta(self) -> Meta:
        return Meta(self.sizes, self.dtype)

    def like(self, values: Tensor) -> Any:
        """A tensor with other values at the same places."""
        made = new(type(self))
        for name in ("sizes", "rules", *self.lists.values()):
            setattr(made, name, getattr(self, name))
        made.held = tensor_of(values.array, values.node)
        return made

    def numel(self) -> Tensor:
        """The number of elements, those that are not stored too."""
        return Tensor(np.array(self.size))

    def numpy(self, *_: Any) -> Any:
        """All elements as a NumPy array."""
        return self.to_dense().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.to_dense().__array__(dtype)

    def tolist(self) -> Any:
        """All elements as nested lists."""
        return self.numpy().tolist()

    def __len__(self) -> int:
        return self.sizes[0]

    def is_sparse(self) -> bool:
        """Whether only some elements are stored."""
        return True

    def is_dense(self) -> bool:
        return False

    is_selected_rows = is_dense

    def is_contiguous(self) -> bool:
        return True

    def clone(self) -> Any:
        """A copy through which gradients flow."""
        return self.like(assign(self.held))

    def detach(self) -> Any:
        """The same values off the tape."""
        return self.like(tensor_of(self.held.array))

    def astype(self, dtype: Any) -> Any:
        """The values as `dtype`."""
        return self.cast(None, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = self.like(tensor_of(self.held.array.copy(), self.node and Leaf()))
        for name in self.lists.values():
            setattr(made, name, copy.deepcopy(getattr(self, name), memo))
        made.rules, made.name = {}, self.name + unique_name("_deepcopy")
        memo[id(self)] = made
        return made

    @property
    def grad(self) -> Any:
        """The gradient that arrived, as a sparse tensor of the same places; or None."""
        found = Tensor.grad.fget(self)
        return None if found is None else self.like(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        set_total(self, None if value is None else tensor_of(self.values_of(value).array))

    def values_of(self, other: Any) -> Tensor:
        """The values of a gradient of this tensor: those of a sparse one of the same places."""
        same = isinstance(other, SparseTensor) and type(other) is type(self)
        if not same or other.sizes != self.sizes or not self.lies_as(other):
            raise ArgumentTypeError("a gradient of a sparse tensor is one with the same places")
        return other.held

    def lies_as(self, other: Any) -> bool:
        """Whether another tensor of the same kind stores its elements at the same places."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in self.lists.values()]
        return all(a is b or np.array_equal(a, b) for a, b in pairs)

    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of the values to the `grad` of every leaf they depend on.

        Args:
            grad_tensor (Tensor, optional): a sparse tensor of the same places; ones when None.
            retain_graph (bool): keep the tape for another pass.
        """
        start = None if grad_tensor is None else self.values_of(grad_tensor)
        self.held.backward(start, retain_graph)

    def register_hook(self, hook: Any) -> Any:
        """Call `hook` with the gradient, a sparse tensor; what it returns replaces it."""

        def around(values: Tensor) -> Any:
            found = hook(self.like(values))
            return None if found is None else self.values_of(found)

        return self.held.register_hook(around)

    def __repr__(self) -> str:
        text = (
            f"Tensor(shape={self.shape}, dtype=paddle.{self.dtype.name}, place={self.place!r}, "
            f"stop_gradient={self.stop_gradient}, "
        )
        shown = {word: getattr(self, name) for word, name in self.lists.items()}
        shown["values"] = self.held.array
        parts = [f"{name}={array_text(a, 8 + len(name))}" for name, a in shown.items()]
        return text + "\n       " + ", \n       ".join(parts) + ")"

    __str__ = __repr__


class CooTensor(SparseTensor):
    """Elements by their coordinates: `places` is ``[sparse axes, stored elements]``.

    The axes behind the sparse ones are dense: each stored element is a tensor of them.
    """

    __slots__ = ("places",)
    lists: ClassVar[dict[str, str]] = {"indices": "places"}
    places: Any

    def is_sparse_coo(self) -> bool:
        """Whether elements are stored by their coordinates."""
        return True


class CsrTensor(SparseTensor):
    """The rows of a matrix, or of several: where each begins, and the columns of its elements."""

    __slots__ = ("columns", "starts")
    lists: ClassVar[dict[str, str]] = {"crows": "starts", "cols": "columns"}
    columns: Any
    starts: Any

    def is_sparse_csr(self) -> bool:
        """Whether elements are stored row by row."""
        return True


def coo(places: Any, values: Tensor, sizes: Any) -> CooTensor:
    """The tensor of elements by their coordinates."""
    made = new(CooTensor)
    made.places, made.held = places, tensor_of(values.array, values.node)
    made.sizes, made.rules = tuple(map(int, sizes)), {}
    return made


def csr(starts: Any, columns: Any, values: Tensor, sizes: Any) -> CsrTensor:
    """The tensor of elements row by row."""
    made = new(CsrTensor)
    made.starts, made.columns = starts, columns
    made.held = tensor_of(values.array, values.node)
    made.sizes, made.rules = tuple(map(int, sizes)), {}
    return made


def refuse_static(*values: Any) -> None:
    """Refuse Programs and their Variables."""
    if is_static() or any(isinstance(x, Variable) for x in values):
        raise AssertError(EAGER_ONLY)


def needs_sparse(x: Any, function: str, *kinds: type, parameter: str = "x") -> None:
    """Refuse what is no sparse tensor, or of none of some kinds."""
    refuse_static(x)
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(
            f"{function}(): argument `{parameter}` must be Tensor, but got {type(x).__name__}"
        )
    if not isinstance(x, kinds or SparseTensor):
        names = " or ".join(KINDS[kind] for kind in kinds or (CooTensor, CsrTensor))
        raise UnsupportedError(f"{function}(): `{parameter}` is no {names}")


KINDS = {CooTensor: "SparseCooTensor", CsrTensor: "SparseCsrTensor"}
METHODS = {
    "binary": "add divide masked_matmul matmul multiply mv subtract",
    "order": "reshape slice sum transpose",
    "unary": """
        abs asin asinh atan atanh cast deg2rad expm1 isnan log1p neg pow rad2deg sin sinh sqrt
        square tan tanh""",
}
OPERATORS = {
    "binary": {
        "__add__": "add",
        "__radd__": "add",
        "__sub__": "subtract",
        "__mul__": "multiply",
        "__rmul__": "multiply",
        "__truediv__": "divide",
        "__matmul__": "matmul",
        "__rmatmul__": "matmul_from_left",
    },
    "unary": {"__neg__": "neg", "__abs__": "abs", "__pow__": "pow"},
}
for module, names in METHODS.items():
    for name in names.split():
        setattr(SparseTensor, name, Method(f"scull.sparse.{module}", name))
for module, pairs in OPERATORS.items():
    for operator, name in pairs.items():
        setattr(SparseTensor, operator, Method(f"scull.sparse.{module}", name))
