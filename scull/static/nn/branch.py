"""Branches: of several functions one runs, as a condition says."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from scull.core.dtype import int32, int64
from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, DtypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program
from scull.ir.variable import Variable
from scull.static.nn.block import ConditionalBlock, one_truth_value
from scull.tensor.creation import assign, full
from scull.tensor.function import cast
from scull.tensor.logic import equal, logical_not
from scull.utils.layers_utils import (
    assert_same_structure,
    flatten,
    map_structure,
    pack_sequence_as,
)

Branch = Callable[[], Any]
NUMBERS = (bool, float, int)


def cond(
    pred: Any,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """What `true_fn` returns if `pred` holds, else what `false_fn` returns.

    In a Program each function is recorded once, as a block of its own; both return one structure.

    Args:
        pred (Tensor | Variable): one bool.
        true_fn (callable, optional): without parameters.
        false_fn (callable, optional): without parameters.
        name (str, optional): of no effect.
        return_names (list, optional): what errors call the results; with names there are zeros
            in the place of None that one function returns, and a warning.

    Returns:
        Tensor | Variable | list | tuple | dict: the structure that the functions return.

    Raises:
        ArgumentTypeError: `pred` is no tensor or has not one element, a function is not callable,
            or results at one place are of kinds that do not go together.
        DtypeError: `pred` is no bool.
        ArgumentError: the functions return differing structures.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor(2.0)
        >>> paddle.static.nn.cond(x < 3.0, lambda: x + 1.0, lambda: x - 1.0).item()
        3.0
    """
    for word, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise ArgumentTypeError(
                f"The {word} in cond must be callable, but received {type(function).__name__}"
            )
    if in_dynamic_mode() and not isinstance(pred, Variable):
        if not isinstance(pred, Tensor) or pred.size != 1:
            raise ArgumentTypeError("The pred in cond must be a Tensor of one element")
        chosen = true_fn if pred.item() else false_fn
        return None if chosen is None else chosen()
    one_truth_value(pred, "'pred' in cond")
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(f"The name in cond must be a str, but received {type(name)}.")
    true_out = None if true_fn is None else recorded(pred, true_fn)
    false_out = None if false_fn is None else recorded(logical_not(pred), false_fn)
    if true_out is None and false_out is None:
        return None
    lines = f"true_fn: {line_of(true_fn)}, false_fn: {line_of(false_fn)}"
    refuse_other_structure(true_out, false_out, return_names, lines)
    mask = cast(pred, int32)
    if return_names is not None:
        false_out, true_out = without_none(false_out, true_out)
    found = map_structure(partial(merged, mask, lines), entries(false_out), entries(true_out))
    return pack_sequence_as(false_out, flatten(found))


def recorded(condition: Variable, function: Branch) -> Any:
    """What `function` returns, recorded as a block, in variables around that block."""
    with ConditionalBlock([condition], is_scalar_condition=True).block():
        found = function()
        return None if found is None else map_structure(handed_out, found)


def handed_out(value: Any) -> Any:
    """A variable of the block around the current one with this value; what is none stays."""
    if not isinstance(value, Variable):
        return value
    around = main_program().current_block().parent
    if value.kind is Kind.ARRAY and around.find(value.name) is not None:
        return value
    made = around.create_var(shape=value.shape, dtype=value.dtype, type=value.kind)
    assign(value, made)
    return made


def entries(value: Any) -> list[Any]:
    """The results that a branch returns: one by itself is a list of one."""
    return list(value) if isinstance(value, list | tuple) else [value]


def line_of(function: Branch | None) -> str:
    """Where a user wrote a function; what it is where that is no function."""
    while isinstance(function, partial):
        written = [v for v in (function.func, *function.args) if callable(v)]
        function = next((v for v in written if v is not cond), None)
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else described(function)


def refuse_other_structure(true_out: Any, false_out: Any, names: Any, lines: str) -> None:
    """Refuse branches that do not return one structure."""
    law = "Incompatible return values of true_fn and false_fn in cond: "
    both = f"{described(true_out)} and {described(false_out)}; {lines}"
    if true_out is None or false_out is None:
        pair = ("None", "non-None") if true_out is None else ("non-None", "None")
        raise ArgumentError(
            f"{law}true_fn returns {pair[0]} while false_fn returns {pair[1]}: {both}"
        )
    first, second = entries(true_out), entries(false_out)
    if len(first) != len(second):
        raise ArgumentError(
            f"true fn returns {len(first)} vars, but false fn returns {len(second)} vars, which is "
            f"not equals: {both}"
        )
    try:
        assert_same_structure(first, second, check_types=False)
    except ValueError:
        called = "" if names is None else f" ({names})"
        raise ArgumentError(
            f"{law}true_fn returns {described(true_out)} while false_fn returns "
            f"{described(false_out)}{called}; {lines}"
        ) from None


def described(value: Any) -> str:
    """A structure with the metas of its variables and the lines that made them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{n!r}: {described(v)}" for n, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        marks = "[]" if isinstance(value, list) else "()"
        return marks[0] + ", ".join(map(described, value)) + marks[1]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{type(value).__name__} `{value.__qualname__}`"
    if value is None:
        return "None"
    if not isinstance(value, Variable):
        return f"{type(value).__name__} {value!r}"
    return f"{value.meta} made at {value.op.line}" if value.op else str(value.meta)


def without_none(false_out: Any, true_out: Any) -> tuple[Any, Any]:
    """Both results, with zeros where one is None and the other a variable."""

    def filled(value: Any, other: Any) -> Any:
        if value is not None or not isinstance(other, Variable):
            return value
        warnings.warn(
            f"one function of cond returns None and the other {described(other)}. A Program has "
            "zeros for None: Set var to 'None' in ifelse block might lead to error.",
            stacklevel=6,
        )
        return full([1 if n == -1 else n for n in other.shape], 0, other.dtype)

    return map_structure(filled, false_out, true_out), map_structure(filled, true_out, false_out)


def merged(mask: Variable, lines: str, false_value: Any, true_value: Any) -> Any:
    """The one of two results that `mask` chooses."""
    pair = [false_value, true_value]
    if false_value is None and true_value is None:
        return None
    of_numbers = [isinstance(v, NUMBERS) for v in pair]
    if all(of_numbers) and isinstance(false_value, type(true_value)):
        if false_value == true_value:
            return false_value
    elif any(of_numbers) and any(map(is_dense, pair)):
        warnings.warn(
            "Return results from different branches in cond are not same type: false_var returned "
            f"by false_fn is '{type(false_value)}' and true_var of true_fn is '{type(true_value)}'",
            stacklevel=6,
        )
    elif not all(isinstance(v, Variable) for v in pair) or pair[0].kind is not pair[1].kind:
        raise ArgumentTypeError(
            "Unsupported return type of true_fn and false_fn in cond: false_fn returns "
            f"{described(false_value)} and true_fn returns {described(true_value)}; {lines}"
        )
    return select_input([as_variable(v) for v in pair], mask)


def is_dense(value: Any) -> bool:
    """Whether this is a Variable with a tensor, in whose place a number may stand."""
    return isinstance(value, Variable) and value.kind is Kind.DENSE


def as_variable(value: Any) -> Variable:
    """A number as a variable."""
    if isinstance(value, Variable):
        return value
    kinds = {bool: "bool", int: "int64", float: "float64"}
    found: Variable = full([], value, kinds[type(value)])
    return found


def select_input(inputs: list[Variable], mask: Variable) -> Variable:
    """That of `inputs` whose number `mask` holds."""
    several(inputs, "inputs", "select_input")
    number(mask, "select_input")
    first, second = inputs[:2]
    shape = tuple(a if a == b else -1 for a, b in zip(first.shape, second.shape, strict=False))
    if first.ndim != second.ndim:
        warnings.warn(
            "the input shapes of select_input should have the same rank, but get "
            f"{first.shape}, {second.shape}",
            stacklevel=7,
        )
        shape = second.shape
    block = main_program().current_block()
    made: Variable = block.create_var(shape=shape, dtype=second.dtype, type=second.kind)
    block.append_op("select_input", {"X": inputs, "Mask": mask}, {"Out": made})
    return made


def select_output(input: Variable, outputs: list[Variable], mask: Variable) -> list[Variable]:
    """`outputs`, of which the one whose number `mask` holds gets `input`."""
    if not isinstance(input, Variable):
        raise wrong_type("input", "select_output", "Variable", input)
    several(outputs, "outputs", "select_output")
    number(mask, "select_output")
    block = main_program().current_block()
    block.append_op("select_output", {"X": input, "Mask": mask}, {"Out": outputs})
    return outputs


def several(values: Any, parameter: str, where: str) -> None:
    """Refuse what is no list of variables."""
    if not isinstance(values, list | tuple):
        raise wrong_type(parameter, where, "list or tuple", values)


def number(mask: Any, where: str) -> None:
    """Refuse a mask that is no variable of int32."""
    if not isinstance(mask, Variable):
        raise wrong_type("mask", where, "Variable", mask)
    if mask.dtype is not int32:
        raise DtypeError(
            f"The data type of 'mask' in {where} must be int32, but received {mask.dtype.name}."
        )


def wrong_type(parameter: str, where: str, expected: str, given: Any) -> ArgumentTypeError:
    """The error that says of which type a parameter should be."""
    return ArgumentTypeError(
        f"The type of '{parameter}' in {where} must be {expected}, but received {type(given)}."
    )


def case(pred_fn_pairs: Any, default: Branch | None = None, name: str | None = None) -> Any:
    """What the function beside the first predicate that holds returns.

    Args:
        pred_fn_pairs (list[tuple]): pairs of one bool and a function without parameters.
        default (callable, optional): what runs when none holds; the last function when None.
        name (str, optional): of no effect.

    Returns:
        Tensor | Variable | list | tuple | dict: the structure that all functions return.

    Raises:
        ArgumentTypeError: what is given is no list of such pairs.

    Examples:
        >>> import scull as paddle
        >>> x = paddle.to_tensor(2.0)
        >>> pairs = [(x < 1.0, lambda: x + 1.0), (x < 3.0, lambda: x + 2.0)]
        >>> paddle.static.nn.case(pairs, lambda: x).item()
        4.0
    """
    several(pred_fn_pairs, "pred_fn_pairs", "case")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple):
            raise unlike("The elements' type", "pred_fn_pairs", "case", tuple, type(pair))
        if len(pair) != 2:
            raise unlike("The tuple's size", "pred_fn_pairs", "case", 2, f"{len(pair)}-tuple")
        if not isinstance(pair[0], Variable | Tensor):
            kind = type(pair[0])
            raise unlike("The pred's type", "pred_fn_pairs", "case", "boolean Variable", kind)
        if not callable(pair[1]):
            raise ArgumentTypeError("The fn of pred_fn_pairs in Op(case) must be callable.")
    if default is not None and not callable(default):
        raise ArgumentTypeError("The default in Op(case) must be callable.")
    if not pred_fn_pairs:
        raise ArgumentError("pred_fn_pairs in case should not be empty")
    pairs = list(pred_fn_pairs)
    otherwise = pairs.pop()[1] if default is None else default
    for pred, function in reversed(pairs):
        otherwise = partial(cond, pred, function, otherwise)
    return otherwise()


def unlike(what: str, parameter: str, where: str, expected: Any, given: Any) -> ArgumentTypeError:
    """The error that says what a parameter should hold."""
    return ArgumentTypeError(
        f"{what} of '{parameter}' in {where} must be {expected}, but received: {given}."
    )


def switch_case(
    branch_index: Any, branch_fns: Any, default: Branch | None = None, name: str | None = None
) -> Any:
    """What the function of the number in `branch_index` returns.

    Args:
        branch_index (Tensor | Variable): one number of uint8, int32 or int64.
        branch_fns (dict | list | tuple): functions without parameters by their numbers: a dict,
            pairs (number, function), or functions whose places are their numbers.
        default (callable, optional): what runs when there is no such number; the function of the
            largest one when None.
        name (str, optional): of no effect.

    Returns:
        Tensor | Variable | list | tuple | dict: the structure that all functions return.

    Raises:
        ArgumentTypeError: what is given is no tensor, or no functions by numbers.
        DtypeError: `branch_index` is of another element type.
        ArgumentError: a number stands there twice.

    Examples:
        >>> import scull as paddle
        >>> index = paddle.to_tensor([1])
        >>> paddle.static.nn.switch_case(index, [lambda: "zero", lambda: "one"])
        'one'
    """
    if not isinstance(branch_index, Variable | Tensor):
        raise wrong_type("branch_index", "switch_case", "Tensor or Variable", branch_index)
    if branch_index.dtype.name not in ("uint8", "int32", "int64"):
        raise DtypeError(
            "The data type of 'branch_index' in switch_case must be uint8, int32 or int64, but "
            f"received {branch_index.dtype.name}."
        )
    if branch_index.dtype is not int64:
        branch_index = cast(branch_index, int64)
    pairs = numbered(branch_fns)
    if default is not None and not callable(default):
        raise ArgumentTypeError("The default in Op(case) must be callable.")
    if default is None:
        pairs = sorted(pairs, key=lambda pair: pair[0])
    otherwise = pairs.pop()[1] if default is None else default
    tested = [(equal(branch_index, full([1], number, "int64")), f) for number, f in pairs]
    for pred, function in tested:
        otherwise = partial(cond, pred, function, otherwise)
    return otherwise()


def numbered(branch_fns: Any) -> list[tuple[int, Branch]]:
    """Functions with their numbers, as a user gave them."""
    if not isinstance(branch_fns, list | tuple | dict):
        raise wrong_type("branch_fns", "switch_case", "list, tuple or dict", branch_fns)
    given = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if not given:
        raise ArgumentError("branch_fns in switch_case should not be empty")
    if all(map(callable, given)):
        given = list(enumerate(given))
    seen: set[int] = set()
    where = ("branch_fns", "switch_case")
    for pair in given:
        if not isinstance(pair, tuple):
            raise unlike("The elements' type", *where, tuple, type(pair))
        if len(pair) != 2:
            raise unlike("The tuple's size", *where, 2, f"{len(pair)}-tuple")
        number, function = pair
        if not isinstance(number, int):
            raise unlike("The key's type", *where, int, type(number))
        if number in seen:
            raise ArgumentError(
                f"The key in 'branch_fns' must be unique, but '{number}' appears more than once."
            )
        if not callable(function):
            raise unlike(
                f"The type of function for key {number}", *where, "callable", type(function)
            )
        seen.add(number)
    return given
