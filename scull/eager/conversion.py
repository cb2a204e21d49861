"""A Tensor as an array, as numbers of Python, and as another Tensor."""

import copy
import hashlib
from typing import Any

import numpy as np

from scull.core.dtype import DType, dtype_of
from scull.core.op import op_of
from scull.core.place import Place
from scull.core.session import unique_name
from scull.core.tensor import Leaf, Parameter, Rows, Tensor
from scull.eager.attach import attach
from scull.eager.property import tensor_of
from scull.errors import ArgumentError, ArgumentTypeError, AssertError, located
from scull.ir.program import main_program
from scull.ir.variable import Variable


def dense(tensor: Tensor) -> Any:
    """The array of a tensor, with every row if only some are stored."""
    return tensor.array.dense() if type(tensor.array) is Rows else tensor.array


def only_element(tensor: Tensor, kind: str) -> Any:
    """The one element of a tensor as a number of Python."""
    if tensor.array.size != 1:
        raise AssertError(f"only one element variable can be converted to {kind}.")
    return tensor.array.item()


@attach(Tensor)
class Converted:
    """Arrays and numbers."""

    def numpy(self: Any, *_: Any) -> Any:
        """The elements as a NumPy array of their own."""
        return dense(self).copy()

    def __array__(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
        found = dense(self)
        return found.astype(dtype or found.dtype, copy=copy is not False)

    def item(self: Any, *places: int) -> Any:
        """One element as a number of Python: the only one, or the one at `places`."""
        array = self.array
        if not places and array.size != 1:
            raise ArgumentError(
                "only one element tensors can be converted to Python scalars "
                "when no input coordinates"
            )
        if len(places) == 1 and not 0 <= places[0] < array.size:
            raise ArgumentError(f"index {places[0]} is out of bounds for size {array.size}")
        if len(places) > 1 and len(places) != array.ndim:
            raise ArgumentError(f"{len(places)} indices are given for {array.ndim} axes")
        found = array.item(*places)
        return float(found) if array.dtype.kind == "V" else found

    def tolist(self: Any) -> Any:
        """The elements as a number or as nested lists."""
        return dense(self).tolist()

    def __float__(self: Any) -> float:
        return float(only_element(self, "float"))

    def __int__(self: Any) -> int:
        return int(only_element(self, "int"))

    def __index__(self: Any) -> int:
        return int(only_element(self, "python index"))

    def __complex__(self: Any) -> complex:
        return complex(only_element(self, "complex"))

    def __bool__(self: Any) -> bool:
        if self.array.size != 1:
            law = f"a condition has one element, and this is {self.meta}"
            raise located(ArgumentTypeError(law), "  use paddle.all or paddle.any")
        return bool(self.array.item())

    def __len__(self: Any) -> int:
        if not self.array.ndim:
            raise ArgumentTypeError("len() of a 0-D tensor is wrong")
        return int(self.array.shape[0])

    def __iter__(self: Any) -> Any:
        return (self[i] for i in range(len(self)))

    def __contains__(self: Any, value: Any) -> bool:
        return any(bool(v == value) for v in self)

    def __dlpack__(self: Any, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self: Any) -> Any:
        return self.array.__dlpack_device__()

    def __reduce_ex__(self: Any, protocol: int) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object; use paddle.save")

    def __reduce__(self: Any) -> Any:
        return self.__reduce_ex__(2)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Tensor:
        made: Any = tensor_of(self.array.copy(), None if self.node is None else Leaf())
        if isinstance(self, Parameter):
            kept = {k: v for k, v in self.__dict__.items() if k not in ("_name", "_stopped")}
            made = Parameter(made.array, stop_gradient=self.node is None)
            made.__dict__.update(copy.deepcopy(kept, memo))
        made.name = self.name + unique_name("_deepcopy")
        memo[id(self)] = made
        return made


@attach(Tensor)
class Moved:
    """Copies, element types and places."""

    def clone(self: Any) -> Tensor:
        """A copy through which gradients flow."""
        return op_of("assign").call(self)

    def detach(self: Any) -> Tensor:
        """The same elements off the tape."""
        return tensor_of(self.array)

    def detach_(self: Any) -> Tensor:
        """Take the tensor off the tape."""
        self.node = None
        return self

    def _copy_to(self: Any, place: Any, blocking: bool = True) -> Tensor:
        return self.clone()

    def _slice(self: Any, begin: int, end: int) -> Tensor:
        return self[begin:end]

    def astype(self: Any, dtype: Any) -> Tensor:
        """The elements as `dtype`."""
        return op_of("cast").call(self, in_dtype=self.dtype, out_dtype=dtype_of(dtype))

    def cpu(self: Any) -> Tensor:
        """The tensor on the host."""
        return self

    def _md5sum(self: Any) -> str:
        """The MD5 sum of the bytes of the elements."""
        return hashlib.md5(self.numpy().tobytes(), usedforsecurity=False).hexdigest()

    def _to_static_var(self: Any, to_parameter: bool = False, **options: Any) -> Variable:
        """A Variable of this name, shape and dtype in the main Program, without the elements.

        Args:
            to_parameter (bool): make a parameter, which parameters become in any case.
            options: what is to be otherwise: `name`, `shape`, `dtype`, `persistable` ...
        """
        block = main_program().current_block()
        own = {n: getattr(self, n) for n in ("name", "shape", "dtype", "persistable")}
        own["stop_gradient"] = self.stop_gradient
        if to_parameter or isinstance(self, Parameter):
            return block.create_parameter(**own | options)
        return block.create_var(**own | options)

    def cuda(self: Any, device_id: int | None = None, blocking: bool = True) -> Tensor:
        """The tensor on a GPU."""
        raise ArgumentError("there is no GPU in this process: scull runs on the CPU")

    def pin_memory(self: Any, blocking: bool = True) -> Tensor:
        """The tensor itself, which lives on the host."""
        return self

    def to(self: Any, *args: Any, **options: Any) -> Tensor:
        """The tensor with another place, another element type, or both; or those of another tensor.

        Args:
            device (str | Place, optional): the place.
            dtype (str | DType, optional): the element type.
            blocking (bool, optional): whether to wait for the copy.
            other (Tensor): a tensor whose place and element type are taken.

        Examples:
            >>> import scull as paddle
            >>> paddle.to_tensor([1.5]).to("int32").tolist()
            [1]
        """
        wanted = wanted_type(args, options)
        return self if wanted is None or dtype_of(wanted) is self.dtype else self.astype(wanted)

    _to = to


def wanted_type(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The element type that arguments of `to` ask for, if they do."""
    unknown = options.keys() - {"device", "dtype", "blocking", "other"}
    if unknown:
        raise ArgumentTypeError(f"to() has no parameter {', '.join(sorted(unknown))}")
    wanted = options.get("dtype")
    for given in (*args, options.get("other"), options.get("device")):
        if isinstance(given, Tensor | Variable):
            wanted = given.dtype
        elif isinstance(given, DType | np.dtype | type) or (
            isinstance(given, str) and not is_device(given)
        ):
            wanted = given
        elif not isinstance(given, str | Place | bool | None):
            raise ArgumentTypeError(
                f"to() takes a place, an element type or a Tensor, not {given!r}"
            )
    return wanted


def is_device(name: str) -> bool:
    """Whether `name` is that of a device scull has; one of another device is refused."""
    kind = name.split(":")[0]
    if kind in ("gpu", "cuda", "xpu", "npu"):
        raise ArgumentError(f"there is no device {name} in this process")
    return kind == "cpu"
