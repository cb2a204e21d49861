"""`jit.save`: the Programs of a layer or a function, and the values they read, in files."""

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any, BinaryIO

from scull.core.tensor import Tensor
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.files.file_set import write_set
from scull.files.pickles import dump
from scull.files.program import bytes_of
from scull.files.property import property_bytes
from scull.files.saved import FORWARD, INFORMATION, MODEL, PARAMETERS, PROPERTIES, suffix_of
from scull.files.tensor_stream import write_combined
from scull.flags import PADDLE
from scull.ir.variable import Variable
from scull.jit.export import Export, Settings, exported
from scull.jit.function import StaticFunction
from scull.jit.signature import mapped
from scull.jit.translated_layer import TranslatedLayer
from scull.nn import Layer
from scull.static.input import InputSpec

_save_pre_hooks: list[Callable[..., Any]] = []  # called before anything is saved


def _run_save_pre_hooks(func: Callable[..., None]) -> Callable[..., None]:
    """`func`, which saves something, after all that is to be called before."""

    @functools.wraps(func)
    def called(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
        for hook in list(_save_pre_hooks):
            hook(layer, input_spec, configs)
        func(layer, path, input_spec, **configs)

    return called


@_run_save_pre_hooks
def save(layer: Any, path: str, input_spec: Any = None, **configs: Any) -> None:
    """Write what `layer` computes, and the values it reads, as `jit.load` and Paddle load it.

    Its `forward` becomes `path.pdmodel`; every other method that was made static
    `path.<method>.pdmodel`, its values the `.pdiparams` beside it. `path.pdiparams.info` says which
    values train, `path.meta` holds the properties. All files are replaced together or not at all.

    Args:
        layer (Layer | StaticFunction | function): what is saved; it need not be static before.
        path (str): folder and name; the folder is made.
        input_spec (list, optional): an InputSpec or an example Tensor for each tensor that
            `forward` takes, other values as they are. Not needed by what has been called, or was
            given descriptions by `to_static`; then it may name the inputs that are kept.
        configs: `output_spec=` the results that are kept, of several; `combine_params=True` one
            file for the values of all methods; `skip_forward=True` leaves out a `forward` that was
            not made static; `with_hook=True` includes the hooks of the layer, as is done anyway
            when it has some; `input_names_after_prune=` the names of the inputs that are kept;
            `skip_prune_program=True` keeps operators that the results do not need;
            `clip_extra=False` keeps the shapes that are recorded for gradients.

    Raises:
        ArgumentError: nothing says what the inputs are, they conflict, a name or a setting is
            unknown, or a property is no number, text or list.
        ArgumentTypeError: `layer` is something else.
        RunError: `enable_to_static(False)` was called.

    Examples:
        >>> import os, tempfile
        >>> import scull as paddle
        >>> net = paddle.nn.Linear(2, 3)
        >>> x = paddle.static.InputSpec([None, 2], "float32", "x")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paddle.jit.save(net, os.path.join(folder, "net"), input_spec=[x])
        ...     print(sorted(f for f in os.listdir(folder) if f[0] != "."))
        ['net.pdiparams', 'net.pdiparams.info', 'net.pdmodel']
    """
    if not PADDLE["FLAGS_enable_to_static"]:
        raise RunError("jit.save needs Programs: call paddle.jit.enable_to_static(True) before")
    if not isinstance(layer, Layer | StaticFunction) and not inspect.isfunction(layer):
        raise ArgumentTypeError(
            "The input of paddle.jit.save should be 'Layer' or 'Function', but received input type "
            f"is {type(layer)}."
        )
    if not os.path.basename(path):
        raise ArgumentError(
            "The input path MUST be format of dirname/file_prefix [dirname\\file_prefix in Windows "
            "system], but received file_prefix is empty string."
        )
    settings, specs = settings_of(configs, layer), specs_of(input_spec)
    methods, properties = members(layer, specs, settings)
    state = state_of(layer)
    made = {name: exported(static, own, settings, state) for name, (static, own) in methods.items()}
    files = contents(made, properties, settings.combine_params)
    if files:
        write_set(path, files)


def settings_of(configs: dict[str, Any], layer: Any) -> Settings:
    """The settings, checked; hooks of the layer count when there are some."""
    for name in configs:
        if name not in Settings._fields:
            raise ArgumentError(
                f"The additional config ({name}) of `paddle.jit.save` is not supported."
            )
    settings = Settings(**configs)
    if isinstance(layer, Layer) and (layer._forward_pre_hooks or layer._forward_post_hooks):
        return settings._replace(with_hook=True)
    return settings


def specs_of(input_spec: Any) -> list[Any] | None:
    """`input_spec` with a description in the place of each tensor."""
    if input_spec is None:
        return None
    if not isinstance(input_spec, list | tuple):
        raise ArgumentTypeError(
            "The input input_spec should be 'list', but received input_spec's type is "
            f"{type(input_spec)}."
        )

    def described(value: Any) -> Any:
        return InputSpec.from_tensor(value) if isinstance(value, Tensor | Variable) else value

    return list(mapped(described, list(input_spec)))


Methods = dict[str, tuple[StaticFunction, list[Any] | None]]


def members(
    layer: Any, specs: list[Any] | None, settings: Settings
) -> tuple[Methods, dict[str, Any]]:
    """The methods to be saved with what is known of their arguments, and the properties."""
    if not isinstance(layer, Layer):
        static = layer if isinstance(layer, StaticFunction) else StaticFunction(layer)
        if static.is_property:
            return {}, {property_name(static): static.dygraph_function()}
        return {FORWARD: (static, specs)}, {}
    if isinstance(layer, TranslatedLayer):
        return loaded_members(layer, specs)
    methods: Methods = {}
    properties: dict[str, Any] = {}
    for name in sorted(set(dir(layer))):
        found = inspect.getattr_static(layer, name, None)
        if not isinstance(found, StaticFunction):
            continue
        static = getattr(layer, name)
        if static.is_property:
            properties[f"{type(layer).__name__}.{name}"] = static.dygraph_function()
        else:
            methods[name] = static, specs
    others = [name for name in methods if name != FORWARD]
    if specs is not None and others:
        raise ArgumentError(
            f"`input_spec` describes `forward`, and `{others[0]}` is saved as well: leave it out, "
            "and give each its own by to_static(input_spec=...)"
        )
    if FORWARD not in methods and not settings.skip_forward:
        methods[FORWARD] = StaticFunction(layer.forward), specs
    return methods, properties


def loaded_members(
    layer: TranslatedLayer, specs: list[Any] | None
) -> tuple[Methods, dict[str, Any]]:
    """The methods and properties of a loaded layer, whose files said what they take."""
    methods: Methods = {}
    for name in layer._methods:
        static = getattr(layer, name)
        if not isinstance(static, StaticFunction):
            static = StaticFunction(static, input_spec=layer._input_spec(name))
        methods[name] = static, specs if name == FORWARD else None
    own = type(layer).__name__
    return methods, {f"{own}.{name}": value for name, value in layer._properties.items()}


def property_name(static: StaticFunction) -> str:
    """What a property is called that is saved by itself."""
    owner = static._instance
    return static.__name__ if owner is None else f"{type(owner).__name__}.{static.__name__}"


def state_of(layer: Any) -> dict[str, Tensor]:
    """The Tensors of a layer, or of the one whose method a function is, by name."""
    owner = layer if isinstance(layer, Layer) else getattr(layer, "_instance", None)
    if not isinstance(owner, Layer):
        return {}
    return dict(owner.to_static_state_dict())  # type: ignore[attr-defined]


def contents(
    made: dict[str, Export], properties: dict[str, Any], combined: bool
) -> dict[str, Callable[[BinaryIO], object]]:
    """What writes each file, by its suffix; the Program of `forward` first."""
    files: dict[str, Callable[[BinaryIO], object]] = {}
    for name in sorted(made, key=lambda n: (n != FORWARD, n)):
        files[suffix_of(name, MODEL)] = writing(bytes_of(made[name].program))
    values = {
        suffix_of(FORWARD if combined else name, PARAMETERS): dict[str, Any]() for name in made
    }
    known: dict[str, dict[str, Any]] = {}
    for name, export in made.items():
        values[suffix_of(FORWARD if combined else name, PARAMETERS)] |= export.values
        known |= export.information
    for suffix, arrays in values.items():
        if arrays:
            files[suffix] = combining(arrays)
    if known:
        files[INFORMATION] = lambda stream: dump(known, stream, 2)
    if properties or combined:
        files[PROPERTIES] = writing(property_bytes(properties))
    return files


def writing(data: bytes) -> Callable[[BinaryIO], object]:
    """What writes some bytes."""
    return lambda stream: stream.write(data)


def combining(arrays: dict[str, Any]) -> Callable[[BinaryIO], object]:
    """What writes arrays one after another."""
    return lambda stream: write_combined(stream, arrays)


# ---- hooks ----


class HookRemoveHelper:
    """Takes a hook back: `remove()`."""

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook

    def remove(self) -> None:
        """Do not call it any more."""
        _remove_save_pre_hook(self.hook)


def _register_save_pre_hook(hook: Callable[..., Any]) -> HookRemoveHelper:
    """Call `hook(layer, input_spec, configs)` before anything is saved."""
    if hook not in _save_pre_hooks:
        _save_pre_hooks.append(hook)
    return HookRemoveHelper(hook)


def _remove_save_pre_hook(hook: Callable[..., Any]) -> None:
    """Do not call `hook` any more."""
    if hook in _save_pre_hooks:
        _save_pre_hooks.remove(hook)


def _clear_save_pre_hooks() -> None:
    """Do not call any hook any more."""
    _save_pre_hooks.clear()
