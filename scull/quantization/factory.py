"""Factories: a class of quanters with the arguments for it, to make one a layer."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any


class ClassWithArguments(ABC):
    """A class and what it will be called with.

    Args:
        args, kwargs: these arguments.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args, self._kwargs = args, kwargs

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments without names."""
        return self._args

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments with names."""
        return self._kwargs

    @abstractmethod
    def _get_class(self) -> Any:
        """The class."""

    def __str__(self) -> str:
        said = [str(v) for v in self.args] + [f"{k}={v}" for k, v in self.kwargs.items()]
        return f"{type(self).__name__}({','.join(said)})"

    __repr__ = __str__


class QuanterFactory(ClassWithArguments):
    """Makes a quanter for a layer."""

    def _instance(self, layer: Any) -> Any:
        """A quanter for `layer`, which comes behind the arguments without names."""
        return partial(self._get_class(), *self.args, **self.kwargs)(layer)


ObserverFactory = QuanterFactory


def quanter(class_name: str) -> Callable[[type], type]:
    """A decorator of a class of quanters that puts a factory of it beside it.

    The class is called with the arguments of the factory and, behind those without names, the
    layer; so its other parameters are best given by name.

    Args:
        class_name (str): the name of the factory.

    Returns:
        Callable: gives the class as it is.

    Examples:
        >>> import scull as paddle
        >>> from scull.quantization.quanters.abs_max import FakeQuanterWithAbsMaxObserverLayer
        >>> @paddle.quantization.quanter("Coarse")
        ... class CoarseLayer(FakeQuanterWithAbsMaxObserverLayer):
        ...     def __init__(self, layer, bits=2):
        ...         super().__init__(layer, bit_length=bits)
        >>> paddle.quantization.factory.Coarse(bits=3)
        Coarse(bits=3)
    """

    def wrapper(target: type) -> type:
        def get_class(self: Any) -> type:
            return target

        module = sys.modules[target.__module__]
        members = {"_get_class": get_class, "__module__": target.__module__}
        made = type(class_name, (QuanterFactory,), members)
        setattr(module, class_name, made)
        if "__all__" in vars(module):
            module.__all__.append(class_name)
        return target

    return wrapper
