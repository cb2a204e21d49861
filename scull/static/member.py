"""Members of Variables, Operators, Blocks and Programs that old code uses: values, roles, texts."""

import warnings
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from scull.core.interpreter import current
from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.deferred import load
from scull.eager.attach import attach
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.block import Block
from scull.ir.clone import PARAMETER
from scull.ir.operator import Operator
from scull.ir.program import Program
from scull.ir.text import block_text, operator_text, program_text
from scull.ir.variable import ParameterVariable, Variable
from scull.ops.static_method import LISTS
from scull.runtime.scope import Cell, Scope, ScopeTensor, global_scope

BACKWARD, OPTIMIZE, SCHEDULE = 1, 2, 16


def cell_of(variable: Variable, scope: Any) -> Cell:
    """Where a scope holds the value of `variable`; ValueError when it does not."""
    if scope is not None and not isinstance(scope, Scope):
        raise ArgumentTypeError(
            f"`scope` should be None or `paddle.static.Scope` type, but received {type(scope)}."
        )
    cell = (scope or global_scope()).find_var(variable.name)
    if cell is None or cell.value is None:
        raise ArgumentError(f"Can not find Variable '{variable.name}' in the Scope.")
    return cell


def source(program: Any) -> Program:
    """`program`, refused when it is none."""
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            "Function Program._copy_param_info_from() needs to pass in a source Program, but "
            f"received {type(program)}"
        )
    return program


def details(v: Variable) -> list[str]:
    """What files do not hold of a variable, in lines."""
    names = ("error_clip", *(PARAMETER if isinstance(v, ParameterVariable) else ()))
    return [f"{name}: {getattr(v, name)}" for name in names]


def detailed(block: Block, message: Any) -> str:
    """A block as the text of its message, with what files do not hold of variables."""
    lines = ["blocks {", f"  idx: {block.idx}", f"  parent_idx: {block.parent_idx}"]
    described = {m.name: m for m in message.vars}
    for v in block.vars.values():
        lines += braced("vars", [*str(described[v.name]).splitlines(), *details(v)])
    for operator in message.ops:
        lines += braced("ops", str(operator).splitlines())
    return "\n".join([*lines, "}\n"])


def braced(word: str, lines: list[str]) -> list[str]:
    """The lines of one field within a block."""
    return [f"  {word} {{", *(f"    {line}" for line in lines), "  }"]


REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}


def unknown(variable: Any, who: str) -> ArgumentTypeError:
    """The error of what needs the values of a Variable."""
    name = variable.name.split(".")[2] if variable.name.startswith("_jst.") else variable.name
    return ArgumentTypeError(
        f"{who} asks for the values of `{name}` ({variable.meta}), which are known only when the "
        "Program runs"
    )


def eager_only(name: str) -> Any:
    """A method that a Variable does not have, since it holds no value."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        mode: Any = current()
        if mode.captures and mode.lenient and name == "numpy":
            return self
        if mode.captures:
            raise unknown(self, f"`{name}`")
        raise AssertionError(
            f"'{name}' only can be called by `paddle.Tensor` in dynamic graph mode. A Variable "
            "holds no value: fetch it from an Executor, or call paddle.disable_static()"
        )

    method.__name__ = name
    return method


def backward(self: Any, grad_tensor: Any = None, retain_graph: bool = False) -> None:
    """Send the gradient back, while a function is recorded; else refuse: Programs append theirs."""
    mode: Any = current()
    if mode.captures:
        mode.gradients.send(self, grad_tensor)
        return
    raise AssertionError(
        "We only support 'backward()' in dynamic graph mode, please call 'paddle.disable_static()' "
        "to enter dynamic graph mode; in a Program call paddle.static.append_backward(loss)"
    )


def of_lists(name: str) -> Any:
    """A function of lists of tensors that is loaded when it is called."""

    def function(array: Any, other: Any) -> Any:
        return load("scull.static.growing", name)(array, other)

    return function


LISTS["__add__"], LISTS["__radd__"] = map(of_lists, ("followed", "preceded"))
LISTS["__mul__"] = LISTS["__rmul__"] = of_lists("repeated")


@attach(Variable)
class OfVariable:
    """What a Variable says of itself and of its value in a scope."""

    def __array_ufunc__(self: Any, function: Any, method: str, *operands: Any, **_: Any) -> Any:
        """An array on the left of an operator leaves it to the Variable."""
        reflected = getattr(self, REFLECTED.get(function.__name__, ""), None)
        if method == "__call__" and reflected is not None and operands[0] is not self:
            return reflected(operands[0])
        raise unknown(self, f"NumPy's `{function.__name__}`")

    def __array_function__(self: Any, function: Any, _: Any, args: Any, options: Any) -> Any:
        """What NumPy tells of an array without its elements; the rest is refused."""
        if function in (np.shape, np.ndim):
            return self.shape if function is np.shape else len(self.shape)
        raise unknown(self, f"NumPy's `{function.__name__}`")

    def __array__(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        raise unknown(self, "an array of NumPy")

    def __format__(self: Any, spec: str) -> str:
        if not spec:
            return str(self)
        raise unknown(self, f"the format `{spec}`")

    def __float__(self: Any) -> float:
        raise unknown(self, "a number of Python")

    def __complex__(self: Any) -> complex:
        raise unknown(self, "a number of Python")

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        raise unknown(self, "`round`")

    @property
    def desc(self: Any) -> Any:
        """A view for code that looks there."""
        return load("scull.static.desc", "VariableView")(self)

    @property
    def type(self: Any) -> Kind:
        """What it holds."""
        return self.kind

    @property
    def grad_name(self: Any) -> str:
        """What its gradient is called."""
        return self.name + "@GRAD"

    def element_size(self: Any) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    def register_hook(self: Any, hook: Any) -> Any:
        """Call `hook` with the gradient of this variable in every run; what it returns replaces it.

        Args:
            hook (callable): takes a Tensor, returns a Tensor or None.
        """
        return load("scull.static.hook", "register_hook")(self, hook)

    def append(self: Any, x: Any) -> None:
        """Write a tensor behind the last of the list it holds.

        Args:
            x (Variable): the tensor.
        """
        load("scull.static.growing", "append")(self, x)

    def pop(self: Any, index: Any = -1) -> Any:
        """Take a tensor out of the list it holds.

        Args:
            index (int | Variable): its place.
        """
        return load("scull.static.growing", "pop")(self, index)

    def extend(self: Any, values: Any) -> None:
        """Write tensors behind the last one of a list of tensors.

        Args:
            values (list[Variable] | Variable): a list of Python or of the Program.
        """
        load("scull.static.growing", "extend")(self, values)

    def insert(self: Any, index: Any, x: Any) -> None:
        """Put a tensor into a list of tensors.

        Args:
            index (int | Variable): before which place.
            x (Variable): the tensor.
        """
        load("scull.static.growing", "insert")(self, index, x)

    def clear(self: Any) -> None:
        """Take all tensors out of the list it holds."""
        load("scull.static.growing", "clear")(self)

    def copy(self: Any) -> Any:
        """A list of the tensors that it holds."""
        return load("scull.static.growing", "part")(self, None, None)

    def __delitem__(self: Any, index: Any) -> None:
        """Take a tensor out of the list it holds.

        Args:
            index (int | Variable): its place.
        """
        load("scull.static.growing", "pop")(self, index)

    def get_value(self: Any, scope: Scope | None = None) -> ScopeTensor:
        """The value that a scope holds for it.

        Args:
            scope (Scope, optional): the global one when None.
        """
        return cell_of(self, scope).get_tensor()

    def set_value(self: Any, value: Any, scope: Scope | None = None) -> None:
        """Replace the value that a scope holds for it.

        Args:
            value (ndarray | LoDTensor): of the same shape.
            scope (Scope, optional): the global one when None.
        """
        mode: Any = current()
        if mode.captures:
            mode.rewritten(self, load("scull.tensor.creation", "assign")(value))
            return
        if not isinstance(value, np.ndarray | ScopeTensor | Tensor):
            raise ArgumentTypeError(
                f"`value` should be `numpy.ndarray` or `LoDTensor`, but received {type(value)}."
            )
        cell, array = cell_of(self, scope), np.asarray(value)
        if array.shape != cell.value.shape:
            raise ArgumentError(
                f"{self.name} expected a shape {list(cell.value.shape)}, but the received shape is "
                f"{list(array.shape)}."
            )
        cell.value = array.astype(cell.value.dtype)

    def _set_info(self: Any, key: str, value: Any) -> None:
        """Note `value` under `key`."""
        vars(self).setdefault("info", {})[key] = value

    def _get_info(self: Any, key: str) -> Any:
        """What was noted under `key`."""
        return vars(self).get("info", {}).get(key)

    def to_string(self: Any, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The Variable as the text of its message.

        Args:
            throw_on_error (bool): kept for Paddle's signature.
            with_details (bool): say what files do not hold, such as `trainable`.
        """
        message = load("scull.files.proto", "VarDesc")()
        load("scull.files.program", "fill_variable")(message, self)
        return str(message) + "".join(f"{line}\n" for line in details(self) if with_details)

    def _to_readable_code(self: Any) -> str:
        return str(self)

    def _set_error_clip(self: Any, error_clip: Any) -> None:
        """Let `error_clip` clip the gradient that an optimizer makes of this variable."""
        self.error_clip = error_clip

    numpy, gradient, clear_gradient = map(eager_only, ("numpy", "gradient", "clear_gradient"))
    tolist = eager_only("tolist")
    backward = backward


@attach(Operator)
class OfOperator:
    """What an Operator is for."""

    @property
    def desc(self: Any) -> Any:
        """A view for code that looks there."""
        return load("scull.static.desc", "OperatorView")(self)

    def attr_type(self: Any, name: str) -> Any:
        """The kind of an attribute, as `core.AttrType` names it."""
        kind = load("scull.files.program", "attribute_values")(self)[name][0]
        number = load("scull.files.wire", "AttributeKind")[kind]
        return load("scull.framework.var_desc", "AttrType")(number)

    def _is_optimize_op(self: Any) -> bool:
        return bool(self.role & OPTIMIZE)

    def _is_backward_op(self: Any) -> bool:
        return bool(self.role & BACKWARD)

    def _to_readable_code(self: Any, skip_op_callstack: bool = True) -> str:
        return operator_text(self, skip_op_callstack)

    def _block_attr(self: Any, name: str) -> Block:
        return self.spelt()[name]

    def _blocks_attr_ids(self: Any, name: str) -> list[int]:
        return [block.idx for block in self.spelt()[name]]


@attach(Block)
class OfBlock:
    """Copies of Variables, and the Block as text."""

    def _to_readable_code(self: Any, skip_op_callstack: bool = True) -> str:
        return block_text(self, skip_op_callstack)

    @property
    def desc(self: Any) -> Any:
        """A view for code that looks there."""
        return load("scull.static.desc", "BlockView")(self)

    def _clone_variable(self: Any, var: Variable, force_persistable: bool = True) -> Variable:
        return self.variable(
            var.name,
            var.meta,
            persistable=force_persistable or var.persistable,
            stop_gradient=var.stop_gradient,
            is_data=var.is_data,
            need_check_feed=var.need_check_feed,
            lod_level=var.lod_level,
        )

    def _sync_with_cpp(self: Any) -> None:
        """Nothing is kept elsewhere."""


@attach(Program)
class OfProgram:
    """Values, roles and bytes of a Program."""

    @property
    def desc(self: Any) -> Any:
        """A view for code that looks there."""
        return load("scull.static.desc", "ProgramView")(self)

    def _get_desc(self: Any) -> Any:
        return self.desc

    @staticmethod
    def parse_from_string(binary_str: bytes, allow_ops: Any = ()) -> Program:
        """The Program of the bytes of a file.

        Args:
            binary_str (bytes): what `program.desc.serialize_to_string()` gave.
            allow_ops (list): the types of operators with effects outside that it may have.
        """
        return load("scull.files.program", "program_of")(binary_str, allow_ops)

    def state_dict(self: Any, mode: str = "all", scope: Scope | None = None) -> dict[str, Any]:
        """The values of its persistable variables by name.

        Args:
            mode (str): "param" for parameters, "opt" for the others, "all".
            scope (Scope, optional): where they are; the global one when None.
        """
        if not isinstance(mode, str):
            raise ArgumentTypeError(f"Type of `mode` should be string, but received {type(mode)}.")
        if mode not in ("param", "opt", "all"):
            raise ArgumentError(
                f"`mode` string should be 'param', 'opt' or 'all', but received {mode}."
            )
        wanted = {"param": (True,), "opt": (False,), "all": (True, False)}[mode]
        kept = load("scull.files.model", "saved_variables")(self)
        found = [v for v in kept if isinstance(v, ParameterVariable) in wanted]
        return {v.name: cell_of(v, scope).get_tensor() for v in found}

    def set_state_dict(self: Any, state_dict: Any, scope: Scope | None = None) -> None:
        """Put values into a scope; those that fit no persistable variable are left, with a warning.

        Args:
            state_dict (dict): values by name.
            scope (Scope, optional): the global one when None.
        """
        if not isinstance(state_dict, dict):
            raise ArgumentTypeError(
                f"Type of `state_dict` should be dict, but received {type(state_dict)}."
            )
        known: dict[str, Any] = {v.name: v for v in load("scull.files.model", "persistables")(self)}
        for name, value in state_dict.items():
            try:
                if name not in known:
                    raise ArgumentError(f"Because '{name}' not in the program.")
                known[name].set_value(value, scope)
            except (ArgumentError, ArgumentTypeError) as error:
                warnings.warn(f"Skip loading for '{name}'. {error}", stacklevel=2)

    def _copy_param_info_from(self: Any, other: Any) -> None:
        """Give its parameters the settings that those of the same name have in `other`."""
        for v in source(other).all_parameters():
            own = self.global_block().vars.get(v.name)
            if isinstance(own, ParameterVariable):
                for setting in PARAMETER:
                    setattr(own, setting, getattr(v, setting))

    def _copy_data_info_from(self: Any, other: Any, pruned_origin_block_id_map: Any = None) -> None:
        """Note of its variables what is fed, as `other` does."""
        for v in source(other).variables():
            own = self.global_block().vars.get(v.name)
            if own is not None:
                own.is_data, own.need_check_feed = v.is_data, v.need_check_feed

    def _copy_dist_param_info_from(self: Any, other: Any) -> None:
        """Take over how parameters are spread over processes: they are not."""
        source(other)

    def to_string(self: Any, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The Program as the text of its message.

        Args:
            throw_on_error (bool): kept for Paddle's signature.
            with_details (bool): say of variables what files do not hold, such as `trainable`.
        """
        for name, value in (("throw_on_error", throw_on_error), ("with_details", with_details)):
            if not isinstance(value, bool):
                raise AssertionError(
                    f"The type of {name} parameter is wrong, expected bool, but received "
                    f"{type(value)}."
                )
        message = load("scull.files.program", "message_of")(self)
        if not with_details:
            return str(message)
        text = "".join(map(detailed, self.blocks, message.blocks))
        message.ClearField("blocks")
        return text + str(message)

    @property
    def _op_role(self: Any) -> int:
        return self.role

    @_op_role.setter
    def _op_role(self: Any, role: int) -> None:
        self.role = int(role)

    _current_role = _op_role

    @property
    def _op_role_var(self: Any) -> list[str]:
        return list(self.role_var)

    def _optimized_guard(self: Any, param_and_grads: Any) -> AbstractContextManager[None]:
        names = [v if isinstance(v, str) else v.name for v in param_and_grads if v is not None]
        return self.serving(OPTIMIZE, tuple(names))

    def _lr_schedule_guard(self: Any, is_with_opt: bool = False) -> AbstractContextManager[None]:
        return self.serving(SCHEDULE | (OPTIMIZE if is_with_opt else 0))

    def _backward_role_guard(self: Any) -> AbstractContextManager[None]:
        return self.serving(BACKWARD)

    def _to_readable_code(self: Any, skip_op_callstack: bool = True) -> str:
        return program_text(self, skip_op_callstack)

    def _version(self: Any) -> int:
        return load("scull.files.program", "VERSION")  # type: ignore[no-any-return]

    def _sync_with_cpp(self: Any) -> None:
        """Nothing is kept elsewhere."""
