"""`jit.load`: a saved model as a layer."""

from collections.abc import Iterable
from typing import Any

from scull.autograd.program import gradients
from scull.core import session
from scull.core.meta import Kind
from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.files.model import persistables
from scull.files.saved import Saved, read_model
from scull.ir.program import Program
from scull.ir.variable import Variable
from scull.jit.opened import Opened, opened, training
from scull.jit.translated_layer import TranslatedLayer, made_of


def load(path: Any, **configs: Any) -> TranslatedLayer:
    """The model that `jit.save` or `static.save_inference_model` wrote, of scull or of Paddle.

    No code of the files runs. Methods that were saved together share their values.

    Args:
        path (str): folder and name, without suffix; or the folder of an older model.
        configs: `model_filename=`, `params_filename=` of an older model in a folder;
            `allow_ops=` the types of operators with effects outside that the model may have.

    Returns:
        TranslatedLayer: in eval mode.

    Raises:
        ArgumentError: there is no such model, or a setting is unknown.
        FileError: the files are damaged, or would reach outside (UnsafeFileError).

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> @paddle.jit.to_static
        ... def twice(x):
        ...     return x * 2.0
        >>> x = twice(paddle.ones([2]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paddle.jit.save(twice, os.path.join(folder, "twice"))
        ...     loaded = paddle.jit.load(os.path.join(folder, "twice"))
        >>> loaded(x).tolist()
        [4.0, 4.0]
    """
    names = [named(configs, "model_filename"), named(configs, "params_filename")]
    allow_ops = configs.pop("allow_ops", ())
    if configs:
        raise ArgumentError(
            f"The additional config ({', '.join(configs)}) of `paddle.jit.load` is not supported."
        )
    return translated(read_model(path, *names, allow_ops))


def named(configs: dict[str, Any], key: str) -> str | None:
    """The name of a file among the settings, which is taken out of them."""
    value = configs.pop(key, None)
    if not isinstance(value, str | None):
        raise ArgumentTypeError(
            f"The config `{key}` should be str, but received {type(value).__name__}"
        )
    if value == "":
        raise ArgumentError(f"The config `{key}` is empty string.")
    return value


def translated(saved: Saved) -> TranslatedLayer:
    """The layer of what was read from files."""
    programs = {}
    tensors: dict[str, Tensor] = {}
    renamed: dict[str, list[str]] = {}
    for method, program in saved.programs.items():
        values = saved.values[method]
        own = rename(program, values, tensors, renamed)
        programs[method] = opened(program)
        if saved.information is None:
            known = guessed(programs[method], own.values())
        else:
            known = {new: saved.information[old] for old, new in own.items()}
        for old, new in own.items():
            if new not in tensors:
                tensors[new] = made_of(values[old], new, known[new])
    properties = {name.rpartition(".")[2]: v for name, v in saved.properties.items()}
    return TranslatedLayer(programs, tensors, properties)


def rename(
    program: Program,
    values: dict[str, Any],
    tensors: dict[str, Tensor],
    renamed: dict[str, list[str]],
) -> dict[str, str]:
    """Give the values of `program` names that nothing else has, by their old ones.

    What another method read under the same name is the same value, unless it differs.
    """
    taken = {n for b in program.blocks for n in b.vars}
    own: dict[str, str] = {}
    for old, value in sorted(values.items()):
        free = (n for n in renamed.get(old, ()) if n == old or n not in taken)
        new = next((n for n in free if same(tensors[n].array, value)), None) or fresh(old, taken)
        if new not in renamed.setdefault(old, []):
            renamed[old].append(new)
        own[old] = new
    for v in persistables(program):
        for block in program.blocks:
            if block.vars.get(v.name) is v and v.name in own and v.name != own[v.name]:
                block._rename_var(v.name, own[v.name])
    return own


def fresh(name: str, taken: set[str]) -> str:
    """A name like `name` that nothing else has."""
    stem, _, number = name.rpartition("_")
    while True:
        made = session.unique_name(stem if stem and number.isdigit() else name)
        if made == name or made not in taken:
            return made


def same(a: Any, b: Any) -> bool:
    """Whether two arrays hold the same bytes."""
    alike = a.shape == b.shape and a.dtype == b.dtype
    return alike and bool((a.reshape(-1).view("uint8") == b.reshape(-1).view("uint8")).all())


def guessed(method: Opened, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What a file would say of values: those train that a gradient of the results reaches.

    A parameter is written by no operator but such as read it.
    """
    written: set[str] = set()
    for o in (o for b in method.program.blocks for o in b.ops):
        written |= {v.name for v in o.results()} - {v.name for v in o.operands()}
    reached = reached_by_gradients(method)
    found = {}
    for name in names:
        found[name] = {"stop_gradient": name not in reached}
        if name not in written:
            found[name]["trainable"] = name in reached
    return found


def reached_by_gradients(method: Opened) -> set[str]:
    """The values by which the results have a gradient."""
    made = method.on(training(method.program))
    sources = [v for v in made.program.global_block().vars.values() if is_floating(v)]
    sources = [v for v in sources if v.persistable]
    for v in sources:
        v.stop_gradient = False
    targets = [v for v in made.exits() if is_floating(v)]
    found = gradients(targets, sources) if targets and sources else []
    return {v.name for v, g in zip(sources, found, strict=False) if g is not None}


def is_floating(v: Variable) -> bool:
    """Whether a variable may have a gradient."""
    return v.kind is Kind.DENSE and v.dtype.array.kind not in "iub"
