"""What is saved of one method: its Program, the values it reads, and what is said of these."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from scull.core.tensor import Node, Parameter, Part, Rows, Tensor
from scull.errors import ArgumentError, ArgumentTypeError, RunError, UninitializedError
from scull.files.model import persistables
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.jit.concrete import ConcreteProgram, record
from scull.jit.convert import converted
from scull.jit.error import told
from scull.jit.exits import Held
from scull.jit.function import StaticFunction
from scull.jit.piece import Derivative
from scull.jit.signature import Signature, leaves, mapped, serves
from scull.nn import Layer
from scull.static.input import InputSpec
from scull.static.model import inference_program
from scull.static.portable import portable
from scull.utils.layers_utils import flatten


class Settings(NamedTuple):
    """The settings of `jit.save`."""

    output_spec: Any = None
    with_hook: bool = False
    combine_params: bool = False
    clip_extra: bool = True
    skip_forward: bool = False
    input_names_after_prune: Any = None
    skip_prune_program: bool = False


class Export(NamedTuple):
    """One method, ready to be written."""

    program: Program
    values: dict[str, Any]
    information: dict[str, dict[str, Any]]


def exported(
    static: StaticFunction, specs: list[Any] | None, settings: Settings, state: Mapping[str, Tensor]
) -> Export:
    """The method as it is saved; `state` are the Tensors of its layer, by what this calls them."""
    concrete = recorded(static, specs, settings.with_hook)
    inputs = chosen_inputs(concrete, specs, settings)
    outputs = chosen_outputs(concrete, settings)
    program = inference_program(
        concrete.main_program,
        [concrete.main_program.global_block().var(name) for name in inputs],
        outputs,
        settings.skip_prune_program,
        strict=False,
    )
    if settings.clip_extra:
        program = portable(program)
    known = {v.name: tensor for v, tensor in concrete.captured.tensors.items()}
    values = {v.name: value_of(v, known) for v in persistables(program)}
    return Export(program, values, information(known, state))


# ---- recording ----


def recorded(static: StaticFunction, specs: list[Any] | None, hooked: bool) -> ConcreteProgram:
    """The function recorded anew: on inputs that let gradients pass, in the mode of its layer."""
    args, kwargs = arguments(static, specs)
    names = [p.name for p in static.function_spec.parameters]
    owner = static._instance
    first = () if owner is None else (owner,)
    function = static._dygraph_function
    through = converted(function)
    if hooked and isinstance(owner, Layer) and static.__name__ == "forward":
        through = between_hooks(through)
    try:
        return record(function, through, args, kwargs, names, first)
    except Exception as error:
        raise told(error) from None


def arguments(static: StaticFunction, specs: list[Any] | None) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with an InputSpec for each tensor: as was said beforehand, or called last."""
    own = static.function_spec
    last = next(reversed(static.program_cache.concrete_programs()), None)
    if own.specs is not None:
        if specs is not None:
            refuse_conflict(specs, own.specs)
        found = own.expected()
    elif specs is not None:
        bound = static._instance is not None
        found = Signature(static._dygraph_function, specs, bound).expected()
    elif last is not None:
        found = list(last.inputs[static._instance is not None :]), last.kwargs
    elif any(p.default is p.empty for p in own.parameters):
        raise ArgumentError(
            f"No valid transformed program for `{static.__name__}`: say by `input_spec` what its "
            "arguments are, or call it once"
        )
    else:
        found = own.expected()
    return mapped(described, list(found[0])), mapped(described, dict(found[1]))


def described(value: Any) -> Any:
    """The InputSpec of a variable or of another InputSpec, that lets gradients pass."""
    if isinstance(value, Variable | InputSpec):
        return InputSpec(list(value.shape), value.dtype, value.name, stop_gradient=False)
    return value


def refuse_conflict(specs: list[Any], own: list[Any]) -> None:
    """Refuse descriptions that contradict those given to `to_static`, which hold."""
    pairs = list(zip(leaves(specs), leaves(own), strict=False))
    if len(leaves(specs)) != len(leaves(own)):
        return  # a choice of inputs, by their names
    for spec, known in pairs:
        described = [isinstance(v, InputSpec) for v in (spec, known)]
        if not (same_tensors(spec, known) if all(described) else serves(known, spec)):
            raise ArgumentError(
                f"`input_spec` says {spec}, and that of `to_static` was {known}: they conflict"
            )


def same_tensors(spec: InputSpec, known: InputSpec) -> bool:
    """Whether two descriptions may be of one tensor."""
    sizes = list(zip(spec.shape, known.shape, strict=False))
    alike = all(-1 in (n, m) or n == m for n, m in sizes)
    return alike and len(spec.shape) == len(known.shape) and spec.dtype is known.dtype


def between_hooks(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, the `forward` of a layer, with what the hooks of the layer do around it."""

    def called(layer: Any, *inputs: Any, **kwargs: Any) -> Any:
        for hook in list(layer._forward_pre_hooks.values()):
            replaced = converted(hook)(layer, inputs)
            if replaced is not None:
                inputs = replaced if isinstance(replaced, tuple) else (replaced,)
        outputs = function(layer, *inputs, **kwargs)
        for hook in list(layer._forward_post_hooks.values()):
            replaced = converted(hook)(layer, inputs, outputs)
            outputs = outputs if replaced is None else replaced
        return outputs

    return called


# ---- what goes in and comes out ----


def chosen_inputs(
    concrete: ConcreteProgram, specs: list[Any] | None, settings: Settings
) -> list[str]:
    """The names of the inputs of the saved Program."""
    names = [v.name for v in variables([*concrete.inputs, concrete.kwargs])]
    if specs is None:
        return names
    asked = [s for s in leaves(specs) if isinstance(s, InputSpec)]
    if settings.input_names_after_prune is not None:
        asked = [s for s in asked if s.name in settings.input_names_after_prune]
    unknown = [s for s in asked if s.name not in names]
    if len(asked) == len(names):
        for spec in unknown:
            if spec.name is not None:
                warnings.warn(
                    f"`input_spec` describes `{spec.name}`, and the inputs are called "
                    f"{', '.join(f'`{n}`' for n in names)}; these names stay",
                    stacklevel=5,
                )
        return names
    if unknown:
        raise ArgumentError(
            f"The tensor `{unknown[0].name}` does not exists: to save {len(asked)} of the inputs "
            f"name each in `input_spec`; they are {', '.join(f'`{n}`' for n in names)}"
        )
    return [s.name for s in asked if s.name is not None]


def variables(value: Any) -> list[Variable]:
    """The variables in nested containers; those of a dictionary in the order of its keys."""
    found = [v.variable if isinstance(v, Held) else v for v in flatten(value)]
    return [v for v in found if isinstance(v, Variable)]


def chosen_outputs(concrete: ConcreteProgram, settings: Settings) -> list[Variable]:
    """The variables that the saved Program gives."""
    found = {v.name: v for v in variables(concrete.result)}
    asked = settings.output_spec
    if not found:
        raise ArgumentError(f"`{concrete.function.__name__}` returns no tensor to be saved")
    if asked is None:
        return list(found.values())
    if not isinstance(asked, list):
        raise ArgumentTypeError(
            "The config `output_spec` should be 'list', but received input type is "
            f"{type(asked).__name__}"
        )
    if settings.with_hook:
        raise RunError("`output_spec` names results of `forward`, and hooks replace these")
    wanted = [called(v) for v in asked]
    unknown = [name for name in wanted if name not in found]
    has = ", ".join(f"`{n}`" for n in found)
    if len(asked) == len(found):
        for name in unknown:
            warnings.warn(f"`output_spec` names `{name}`; the results are {has}", stacklevel=5)
        return list(found.values())
    if unknown:
        raise ArgumentError(f"The tensor `{unknown[0]}` does not exists; the results are {has}")
    return [found[name] for name in wanted]


def called(v: Any) -> str:
    """The name of a result: that of a variable, also of the one that a Tensor on the tape was."""
    if not isinstance(v, Tensor | Variable | InputSpec):
        raise ArgumentTypeError(f"`output_spec` holds a {type(v).__name__}, and takes tensors")
    node = getattr(v, "node", None)
    made, place = (node.node, node.index) if isinstance(node, Part) else (node, 0)
    if isinstance(made, Node) and isinstance(made.op, Derivative):
        return made.op.piece.exits[place]
    return str(v.name)


# ---- values ----


def value_of(v: Variable, known: Mapping[str, Tensor]) -> Any:
    """The array of a variable that is saved."""
    if v.name not in known:
        raise UninitializedError(
            f"`{v.name}` is made while `{v.block.ops[-1].type}` is recorded and has no value: make "
            "it before, in the layer"
        )
    array: Any = known[v.name].array
    array = array.dense() if isinstance(array, Rows) else array
    return np.ascontiguousarray(array).reshape(array.shape)


def information(
    known: Mapping[str, Tensor], state: Mapping[str, Tensor]
) -> dict[str, dict[str, Any]]:
    """By the names of variables: what the layer calls them, whether they stop gradients, train."""
    called = {id(tensor): name for name, tensor in state.items()}
    names = {id(tensor): name for name, tensor in known.items()}
    everything = {names.get(id(t), t.name): t for t in state.values()}  # type: ignore[attr-defined]
    found = {}
    for name, tensor in (everything | dict(known)).items():
        told_of: dict[str, Any] = {}
        if id(tensor) in called:
            told_of["structured_name"] = called[id(tensor)]
        told_of["stop_gradient"] = tensor.stop_gradient
        if isinstance(tensor, Parameter):
            told_of["trainable"] = tensor.trainable  # type: ignore[attr-defined]
        found[name] = told_of
    return found
