"""Calls: what a function stands for when it is called from converted code."""

import functools
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scull.core.interpreter import current
from scull.core.tensor import Tensor
from scull.errors import ForwardError
from scull.ir.variable import Variable
from scull.jit.convert.convertible import is_left
from scull.jit.convert.function import converted
from scull.jit.convert.run.builtin import BUILTINS, CALL
from scull.jit.convert.run.item import CHANGES
from scull.jit.convert.run.journal import changing, writing
from scull.jit.convert.run.reads import reading
from scull.jit.convert.run.value import is_array
from scull.jit.convert.scope import MUTATORS
from scull.nn.layer.layers import Layer
from scull.optimizer.lr.scheduler import LRScheduler
from scull.static.growing import backwards
from scull.tensor.creation import assign

VALUES = frozenset(["item", "numpy", "tolist"])  # methods that ask a Tensor for its value


def call(function: Any) -> Any:
    """`function` as converted code calls it."""
    kind = type(function)
    if kind is types.FunctionType:
        return converted(function)
    if kind is types.MethodType:
        inner = function.__func__
        if function.__name__ in VALUES and isinstance(function.__self__, Tensor):
            return asking(function)
        if function.__name__ == "flip" and is_array(function.__self__):
            return functools.partial(reverse, function.__self__)
        if function.__name__ == "step" and isinstance(function.__self__, LRScheduler):
            return scheduling(function)
        if type(inner) is not types.FunctionType or is_left(function):
            return function
        return types.MethodType(converted(inner), function.__self__)
    if kind is types.BuiltinFunctionType and function.__name__ in MUTATORS:
        changing(function.__self__)
        return function
    if kind is types.BuiltinFunctionType or kind is type:
        return found_builtin(function)
    if isinstance(function, type):
        return function
    if kind is functools.partial:
        inner = call(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, Layer) and not is_left(function):
        return functools.partial(layer_call, function)
    return object_call(function)


def scheduling(step: Any) -> Any:
    """The step of a schedule of learning rates, which every run of a recorded function makes."""
    mode: Any = current()
    if not mode.captures:
        return step
    return lambda *args, **options: mode.gradients.schedule(step, args, options)


def reverse(array: Variable) -> None:
    """`array.reverse()`, which is `flip` of tensors, of a list that a Program holds."""
    assign(backwards(array), array)


def asking(method: Any) -> Any:
    """A method that asks a Tensor for its value, or a variable where runs change that."""
    mode: Any = current()
    if not mode.captures or mode.knows(method.__self__):
        return method
    return getattr(mode.capture(method.__self__), method.__name__)


def found_builtin(function: Any) -> Any:
    """A function of Python, or what it means when values of a Program are given to it."""
    try:
        return BUILTINS.get(function, function)
    except TypeError:  # it has no hash
        return function


def attribute(owner: Any, name: str) -> Any:
    """`owner.name`; what a property of a user's class computes is converted."""
    reading(owner, name)
    found = getattr(type(owner), name, None)
    if type(found) is property and type(found.fget) is types.FunctionType:
        return converted(found.fget)(owner)
    if type(found) is functools.cached_property and name not in vars(owner):
        vars(owner)[name] = converted(found.func)(owner)
    return getattr(owner, name)


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`; what a property of a user's class does with it is converted."""
    found = getattr(type(owner), name, None)
    if type(found) is property and type(found.fset) is types.FunctionType:
        converted(found.fset)(owner, value)
    else:
        writing(owner, name)
        setattr(owner, name, value)


def change_attribute(owner: Any, name: str, sign: str, value: Any) -> None:
    """`owner.name += value` and the like."""
    set_attribute(owner, name, CHANGES[sign](attribute(owner, name), value))


def object_call(value: Any) -> Any:
    """An object that a user's class made callable."""
    if not callable(value) or is_left(value):
        return value
    method = type(value).__call__
    changed = converted(method)
    return value if changed is method else types.MethodType(changed, value)


def layer_call(layer: Layer, *arguments: Any, **options: Any) -> Any:
    """A call of a Layer, in which it and the Layers within it have what users wrote converted."""
    with converted_forwards(layer), converted_hooks(layer):
        return calling(type(layer))(layer, *arguments, **options)


def calling(kind: type) -> Callable[..., Any]:
    """The `__call__` of a class."""
    return converted(kind.__call__)


@contextmanager
def converted_forwards(layer: Layer) -> Iterator[None]:
    """Within, the forward of Layers that users wrote is the converted one."""
    changed = []
    if not callable(layer.forward):
        kind = type(layer.forward).__name__
        raise ForwardError(f"`forward` of {type(layer).__name__} is {kind}, and cannot be called")
    for inner in layer.sublayers(include_self=True):
        own = vars(inner)
        if "forward" in own or is_left(inner):
            continue
        forward = inner.forward
        if type(forward) is types.MethodType and type(forward.__func__) is types.FunctionType:
            made = converted(forward.__func__)
            if made is not forward.__func__:
                own["forward"] = types.MethodType(made, inner)
                changed.append(own)
    try:
        yield
    finally:
        for own in changed:
            del own["forward"]


@contextmanager
def converted_hooks(layer: Layer) -> Iterator[None]:
    """Within, the hooks of Layers are the converted ones."""
    changed = []
    for inner in layer.sublayers(include_self=True):
        for table in (inner._forward_pre_hooks, inner._forward_post_hooks):
            for key, hook in table.items():
                made = call(hook)
                if made is not hook:
                    changed.append((table, key, hook))
                    table[key] = made
    try:
        yield
    finally:
        for table, key, hook in changed:
            if key in table:
                table[key] = hook


CALL.append(call)
