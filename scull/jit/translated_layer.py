"""TranslatedLayer: a loaded model as a layer."""

from collections.abc import Callable
from functools import cache
from types import MethodType
from typing import Any

from scull.core import session
from scull.core.tensor import Parameter, Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.files.saved import FORWARD, INFORMATION, MODEL, PARAMETERS, PROPERTIES
from scull.ir.clone import copied
from scull.ir.program import Program
from scull.jit.method import Method
from scull.jit.opened import Opened
from scull.nn import Layer

INFER_MODEL_SUFFIX, INFER_PARAMS_SUFFIX = MODEL, PARAMETERS
INFER_PARAMS_INFO_SUFFIX, INFER_PROPERTY_SUFFIX = INFORMATION, PROPERTIES
PARAMETER_NAME_PREFIX, BUFFER_NAME_PREFIX = "param", "buffer"


class TranslatedLayer(Layer):
    """A layer whose methods run loaded Programs; `paddle.jit.load` makes it.

    It begins in eval mode, in which its results stop gradients, as in Paddle. After `train()` they
    do not, dropout drops and batch norm counts: it can be trained further. A method takes Tensors
    or arrays, without names, and returns a Tensor or a list of Tensors.

    Args:
        programs (dict): the Programs, by method.
        persistable_vars (dict): Tensors by the names of their variables; parameters are called
            `param_0`, `param_1` and so on here, the others `buffer_0`.
        properties (dict, optional): numbers, texts and lists of these, each returned by a method.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> net = paddle.nn.Linear(2, 3)
        >>> x = paddle.static.InputSpec([None, 2], name="x")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paddle.jit.save(net, os.path.join(folder, "net"), input_spec=[x])
        ...     loaded = paddle.jit.load(os.path.join(folder, "net"))
        >>> loaded(paddle.ones([5, 2])).shape
        [5, 3]
        >>> list(loaded.state_dict())
        ['param_0', 'param_1']
    """

    def __init__(
        self,
        programs: dict[str, Opened],
        persistable_vars: dict[str, Any],
        properties: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(programs, dict) or not isinstance(persistable_vars, dict):
            raise ArgumentTypeError("a TranslatedLayer is made by `paddle.jit.load`")
        names, called = session.Names(), dict[str, str]()
        for name, tensor in persistable_vars.items():
            if isinstance(tensor, Parameter):
                called[name] = names(PARAMETER_NAME_PREFIX)
                self.add_parameter(called[name], tensor)
            else:
                called[name] = names(BUFFER_NAME_PREFIX)
                self.register_buffer(called[name], tensor)
        self._persistable_var_name_dict = called
        self._methods = {
            name: Method(name, program, read_by(program, called))
            for name, program in programs.items()
        }
        self._properties = dict(properties or {})
        self.eval()

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name in own.get("_methods", ()):
            return MethodType(caller(name), self)
        if name in own.get("_properties", ()):
            return MethodType(reader(name), self)
        return super().__getattr__(name)

    def __dir__(self) -> Any:
        return [*super().__dir__(), *self._methods, *self._properties]

    def forward(self, *inputs: Any) -> Any:  # type: ignore[override]
        """What the method `forward` of the saved layer computes."""
        return self._method(FORWARD)(self, inputs)

    def _method(self, name: str) -> Method:
        """A method by name."""
        if name not in self._methods:
            has = ", ".join(f"`{n}`" for n in self._methods)
            raise ArgumentError(
                f"The method `{name}` does not exist in loaded TranslatedLayer; it has {has}"
            )
        return self._methods[name]

    def program(self, method_name: str = FORWARD) -> Program:
        """A copy of the Program of a method.

        Args:
            method_name (str): the method.

        Raises:
            ArgumentError: the model has no such method.
        """
        return copied(self._method(method_name).testing.program)

    def _input_spec(self, method_name: str = FORWARD) -> list[Any]:
        """Descriptions of what a method takes."""
        return self._method(method_name).specs()

    def _output_spec(self, method_name: str = FORWARD) -> list[Any]:
        """Descriptions of what a method returns."""
        return self._method(method_name).specs(outputs=True)


def read_by(program: Opened, called: dict[str, str]) -> dict[str, str]:
    """Those of the values that `program` reads."""
    block = program.program.global_block()
    return {name: own for name, own in called.items() if name in block.vars}


@cache
def caller(name: str) -> Callable[..., Any]:
    """The method `name` of loaded layers."""

    def method(self: TranslatedLayer, *inputs: Any) -> Any:
        return self._methods[name](self, inputs)

    method.__name__ = name
    return method


@cache
def reader(name: str) -> Callable[..., Any]:
    """The method of loaded layers that returns the property `name`."""

    def method(self: TranslatedLayer) -> Any:
        return self._properties[name]

    method.__name__ = name
    return method


def made_of(array: Any, name: str, known: dict[str, Any]) -> Tensor:
    """A value as a Tensor of a layer, as what is `known` of it tells."""
    made = (Tensor if known.get("trainable") is None else Parameter)(array)
    made.name, made.persistable = name, True  # type: ignore[attr-defined]
    made.stop_gradient = known["stop_gradient"]
    return made
