"""The state of a layer as a dictionary, and back."""

import inspect
import warnings
from collections import OrderedDict
from typing import Any

import numpy as np

from scull.core import session
from scull.core.tensor import Tensor
from scull.errors import ArgumentTypeError
from scull.runtime.scope import global_scope


def state_dict(
    self: Any,
    destination: Any = None,
    include_sublayers: bool = True,
    structured_name_prefix: str = "",
    use_hook: bool = True,
) -> Any:
    """All parameters and persistable buffers of a layer by name.

    Args:
        destination (dict, optional): where to put them; a new dictionary when None.
        include_sublayers (bool): also those of the layers in it.
        structured_name_prefix (str): put before every name.
        use_hook (bool): whether hooks of `register_state_dict_hook` see the result.

    Returns:
        dict: the tensors themselves, not copies.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.nn.Linear(2, 3).state_dict())
        ['weight', 'bias']
    """
    return collected(
        self, destination, include_sublayers, structured_name_prefix, use_hook, transient=False
    )


def to_static_state_dict(
    self: Any,
    destination: Any = None,
    include_sublayers: bool = True,
    structured_name_prefix: str = "",
    use_hook: bool = True,
) -> Any:
    """All parameters and buffers of a layer by name, also those that `state_dict` leaves out.

    Args:
        destination (dict, optional): where to put them; a new dictionary when None.
        include_sublayers (bool): also those of the layers in it.
        structured_name_prefix (str): put before every name.
        use_hook (bool): whether hooks of `register_state_dict_hook` see the result.

    Examples:
        >>> import scull as paddle
        >>> list(paddle.nn.Linear(2, 3).to_static_state_dict())
        ['weight', 'bias']
    """
    return collected(
        self, destination, include_sublayers, structured_name_prefix, use_hook, transient=True
    )


def collected(
    layer: Any, found: Any, deep: bool, prefix: str, use_hook: bool, *, transient: bool
) -> Any:
    """The state of `layer` in `found`; with `transient` buffers that are not persistable too."""
    found = OrderedDict() if found is None else found
    for name, value in layer._parameters.items():
        if value is not None:
            found[prefix + name] = value
    left_out = () if transient else layer._non_persistable_buffer_names_set
    for name, value in layer._buffers.items():
        if value is not None and name not in left_out:
            found[prefix + name] = value
    if deep:
        for name, child in layer._sub_layers.items():
            if child is not None:
                collected(child, found, deep, f"{prefix}{name}.", use_hook, transient=transient)
    if use_hook:
        for hook in layer._state_dict_hooks.values():
            replaced = hook(found)
            if replaced is not None:
                found = replaced
    return found


def set_state_dict(
    self: Any, state_dict: dict[str, Any], use_structured_name: bool = True
) -> tuple[list[str], list[str]]:
    """Give the parameters and persistable buffers of a layer the values of `state_dict`.

    What does not fit is left as it is, with a warning.

    Args:
        state_dict (dict): tensors or arrays by name.
        use_structured_name (bool): whether names are those of `state_dict()`, or of parameters.

    Returns:
        tuple[list[str], list[str]]: the names that found no value, and those nobody asked for.

    Examples:
        >>> import scull as paddle
        >>> a, b = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
        >>> a.set_state_dict(b.state_dict())
        ([], [])
    """
    missing, used, pairs = [], set(), []
    for key, target in collected(self, None, True, "", False, transient=False).items():
        name = key if use_structured_name else target.name
        value = state_dict.get(name)
        problem = mismatch(name, target, value)
        if problem:
            missing.append(name)
            warnings.warn(f"Skip loading for {key}. {problem}", stacklevel=2)
        else:
            used.add(name)
            pairs.append((target, value))
    for target, value in pairs:
        put_value(target, value)
    return missing, [name for name in state_dict if name not in used]


def mismatch(name: str, target: Any, value: Any) -> str:
    """Why `value` cannot become that of `target`; nothing when it can."""
    if value is None:
        return f"{name} is not found in the provided dict."
    if isinstance(value, dict | list):
        if len(value) != len(target):
            return (
                f"{name} receieves the length of {len(value)}, "
                f"but the expected shape is {len(target)}"
            )
        return ""
    shape = value.shape() if inspect.ismethod(value.shape) else value.shape
    if list(shape) != list(target.shape):
        needed = list(target.shape)
        return f"{name} receives a shape {list(shape)}, but the expected shape is {needed}."
    return ""


def put_value(target: Any, value: Any) -> None:
    """Write `value` into a parameter: a Tensor, or the cell of the global scope of its name."""
    if isinstance(target, Tensor):
        target.set_value(value)
        return
    array = value.array if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype == object:
        raise ArgumentTypeError(f"the value of `{target.name}` is not of numbers")
    scope = session.get("scope") or global_scope()
    scope.var(target.name).set_value(array.astype(target.dtype.array))
