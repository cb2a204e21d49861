"""The methods of tensors: the functions of the package, but for a few."""

from collections.abc import Mapping
from typing import Any

import scull.tensor
from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.deferred import load
from scull.eager.index import called_after, getitem, refuse_setitem, renamed
from scull.errors import ArgumentTypeError
from scull.ir.variable import Variable
from scull.ops.create import assign
from scull.ops.static_method import as_temporary
from scull.ops.transfer import memcpy, share_data

NO_METHODS = """
    arange array_length array_read array_write assign broadcast_shape clone complex create_array
    create_tensor crop eigh einsum empty empty_like eye fill_constant full full_like
    get_rng_state linspace logspace meshgrid normal ones ones_like poisson rand randint
    randint_like randn randperm searchsorted seed set_rng_state shape standard_normal svd
    tensor_array_to_tensor to_tensor tolist tril_indices triu_indices uniform zeros zeros_like"""


class Method:
    """A method whose module loads when it is first looked up; the function then takes its place."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        function = load(self.module, self.name)
        for holder in (Tensor, Variable):
            if vars(holder).get(self.name) is self:
                setattr(holder, self.name, function)
        return function if instance is None else function.__get__(instance, kind)


def attach(names: Mapping[str, str], package: str = "scull.tensor") -> None:
    """Make the functions of a table, by module of a package, methods of tensors."""
    others = set(NO_METHODS.split())
    for module, listed in names.items():
        for name in listed.split():
            if name not in others:
                for holder in (Tensor, Variable):
                    setattr(holder, name, Method(f"{package}.{module}", name))


def transposed(x: Any) -> Any:
    """`x` with all its axes in reverse order."""
    ndim = len(x.shape)
    name = x.name if isinstance(x, Variable) else None
    return x if ndim < 2 else x.transpose(list(range(ndim))[::-1], name)


def cloned(x: Any) -> Any:
    """A copy of a Variable through which gradients flow."""
    return called_after(x, "clone", scull.tensor.clone(x, f"{x.name}_clone"))


def astype(x: Any, dtype: Any) -> Any:
    """A Variable as elements of another type."""
    with as_temporary(x):
        return x.cast(dtype)


def detached(x: Any) -> Any:
    """A Variable with the same value that no gradient goes through."""
    return renamed(share_data(x), f"detach_{x.name}")


def counted(x: Any) -> Any:
    """How many elements a Variable has, as a Variable."""
    return called_after(x, "size", scull.tensor.numel(x))


def alone(x: Any) -> Any:
    """A Variable of one element, which stands for the number it will be."""
    if len(x.shape) > 1:
        shape = tuple(x.shape)
        raise ArgumentTypeError(f"Required input var should be 1-D Variable, but received {shape}")
    return share_data(x) if current().captures else x


def moved(kind: int) -> Any:
    """The method that copies a Variable to a place by the number of its kind."""

    def move(self: Any) -> Any:
        with as_temporary(self):  # in eager mode a gradient goes back, in a Program it does not
            return assign(self) if current().captures else memcpy(self, dst_place_type=kind)

    return move


for kind in (Tensor, Variable):
    holder: Any = kind
    holder.T = property(transposed)
    holder.dim = holder.ndimension = lambda self: len(self.shape)
Variable.__getitem__ = getitem
Variable.__setitem__ = refuse_setitem
Variable.astype = astype
Variable.clone = cloned
Variable.detach, Variable.size, Variable.item = detached, counted, alone
Variable.cpu, Variable.cuda = moved(0), moved(1)
