"""Every case by its name, and how its parameters are filled."""

from tests.files.saved import detection, flow, layers, programs, quantized, vision
from tests.files.saved.framework import paddle, static
from tests.files.saved.values import parameter

MODULES = {
    "layers": layers,
    "flow": flow,
    "detection": detection,
    "quantized": quantized,
    "vision": vision,
}
LAYERS = {case.__name__: case for module in MODULES.values() for case in module.CASES}
PROGRAMS = {case.__name__: case for case in programs.CASES}


def is_learned(name: str) -> bool:
    """Whether a variable of this name is a parameter, or a statistic of a layer that normalises."""
    return ".w_" in name or ".b_" in name


def layer_of(name):
    """A layer in evaluation with its parameters filled, its descriptions and its inputs."""
    with paddle.utils.unique_name.guard():
        layer, specs, arrays = LAYERS[name]()
    for value in layer.state_dict().values():
        if is_learned(value.name):
            value.set_value(parameter(value.name, tuple(value.shape)))
    layer.eval()
    return layer, specs, arrays


def program_of(name):
    """The Program of a case, run up to its parameters: its executor, ends and inputs."""
    main, startup = static.Program(), static.Program()
    executor = static.Executor()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        inputs, arrays, results = PROGRAMS[name]()
    executor.run(startup)
    for value in main.list_vars():
        if value.persistable and is_learned(value.name):
            shape = tuple(value.shape)
            found = static.global_scope().find_var(value.name).get_tensor()
            found.set(parameter(value.name, shape), paddle.CPUPlace())
    return main, executor, inputs, arrays, results
