"""What a predictor is made of: the files of a model, and switches."""

import os
import warnings
from typing import Any

from scull.core.cpus import usable_cpus
from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.inference.builder import PassBuilder
from scull.inference.kind import PrecisionType


class Config:
    """The files of a saved model and how to run it.

    A model is computed on the CPU, in the element types it was saved with. Switches for other
    devices, for passes and for memory are accepted, so that code for them runs; what Paddle's CPU
    release refuses is refused here too.

    Args:
        model (str | Config, optional): the file of the Program; alone, a folder with `__model__`
            and a file a value, or a folder, a file or the prefix of one model; or what to copy.
        params (str, optional): the file of the values.

    Examples:
        >>> from scull.inference import Config
        >>> config = Config("net.pdmodel", "net.pdiparams")
        >>> config.disable_gpu()
        >>> config.prog_file(), config.use_gpu()
        ('net.pdmodel', False)
    """

    Precision = PrecisionType

    def __init__(self, model: Any = None, params: Any = None) -> None:
        self.folder = self.program = self.values = ""
        self.buffers: tuple[bytes, bytes] | None = None
        self.allowed: tuple[str, ...] = ()
        self.switches: dict[str, Any] = dict(DEFAULTS)
        self.builder = PassBuilder()
        self.valid = True
        if isinstance(model, Config):
            builder = PassBuilder(model.builder.all_passes())
            self.__dict__.update(model.__dict__, switches=dict(model.switches), builder=builder)
        elif model is not None:
            self.set_model(model, *([] if params is None else [params]))

    def set_model(self, model: str, params: str | None = None) -> None:
        """Say which files, as the constructor does."""
        for path in (model, params):
            if path is not None and not isinstance(path, str | os.PathLike):
                raise ArgumentTypeError(f"a path is a text, not {type(path).__name__} {path!r}")
        if params is None:
            self.folder = os.fspath(model)
        else:
            self.program, self.values = os.fspath(model), os.fspath(params)

    def set_prog_file(self, path: str) -> None:
        """Say which file holds the Program."""
        self.program = os.fspath(path)

    def set_params_file(self, path: str) -> None:
        """Say which file holds the values."""
        self.values = os.fspath(path)

    def set_model_buffer(
        self, prog: bytes, prog_size: int, params: bytes, params_size: int
    ) -> None:
        """Take the model from memory.

        Args:
            prog (bytes): the Program.
            prog_size (int): how many bytes of it count.
            params (bytes): the values.
            params_size (int): how many bytes of them count.
        """
        for data, size in ((prog, prog_size), (params, params_size)):
            if not 0 <= size <= len(data):
                raise ArgumentError(f"{size} bytes were announced and {len(data)} are there")
        self.buffers = bytes(prog[:prog_size]), bytes(params[:params_size])

    def allow_ops(self, *types: str) -> None:
        """Let the model have operators of these types, which reach outside of it.

        A model that prints, calls Python or reads files is refused otherwise.
        """
        self.allowed += types

    def model_dir(self) -> str:
        """The folder of the model."""
        return self.folder

    def prog_file(self) -> str:
        """The file of the Program."""
        return self.program

    def params_file(self) -> str:
        """The file of the values."""
        return self.values

    def model_from_memory(self) -> bool:
        """Whether the model comes from memory."""
        return self.buffers is not None

    def is_valid(self) -> bool:
        """Whether no predictor was made of this yet: each is made of a Config of its own."""
        return self.valid

    def enable_use_gpu(
        self,
        memory_pool_init_size_mb: int,
        device_id: int = 0,
        precision_mode: PrecisionType = PrecisionType.Float32,
    ) -> None:
        """Warn that there is no GPU; the CPU is used."""
        warnings.warn("scull runs on the CPU: enable_use_gpu changes nothing", stacklevel=2)

    def set_cpu_math_library_num_threads(self, cpu_math_library_num_threads: int) -> None:
        """Say on how many threads a run may compute; results do not depend on it."""
        count = int(cpu_math_library_num_threads)
        if count < 1:
            raise ArgumentError(f"a run takes 1 thread at least, not {count}")
        self.switches["cpu_math_library_num_threads"] = count

    def cpu_math_library_num_threads(self) -> int:
        """On how many threads a run may compute: the CPUs this process may use, unless set."""
        return int(self.switches["cpu_math_library_num_threads"] or usable_cpus())

    def collect_shape_range_info(self, shape_range_info_path: str) -> None:
        """Note where shapes would be written; any shape runs without that."""
        self.switches["shape_range_info_path"] = os.fspath(shape_range_info_path)
        self.switches["shape_range_info_collected"] = True

    def pass_builder(self) -> PassBuilder:
        """The passes that the model goes through."""
        return self.builder

    def delete_pass(self, pass_name: str) -> None:
        """Leave a pass out."""
        self.builder.delete_pass(pass_name)

    def passes(self) -> list[str]:
        """The passes that a predictor of this runs: none with `switch_ir_optim(False)`."""
        return self.builder.all_passes() if self.ir_optim() else []  # type: ignore[attr-defined]

    def summary(self) -> str:
        """The files and switches as a table."""
        groups = [
            [("model_dir", self.folder)]
            if self.folder
            else [("model_file", self.program), ("params_file", self.values)],
            [("cpu_math_thread", self.cpu_math_library_num_threads())],
            [(name, self.switches[switch]) for name, switch in SHOWN.items()],
        ]
        rows = [(name, shown(value)) for group in groups for name, value in group]
        left, right = (
            max(map(len, column)) for column in zip(("Option", "Value"), *rows, strict=True)
        )
        rule = f"+{'-' * (left + 2)}+{'-' * (right + 2)}+\n"
        lines = [f"| {'Option':<{left}} | {'Value':<{right}} |\n"]
        for group in groups:
            lines.append(
                "".join(f"| {name:<{left}} | {shown(value):<{right}} |\n" for name, value in group)
            )
        return rule + rule.join(lines) + rule


OFF = """
    glog_info_disabled lite_engine_enabled memory_optim_enabled mkldnn_enabled
    mkldnn_int8_enabled onnxruntime_enabled shape_range_info_collected specify_input_name
    profile_enabled tensorrt_dla_enabled tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
    tensorrt_explicit_quantization_enabled tensorrt_inspector_enabled tensorrt_varseqlen_enabled
    trt_allow_build_at_runtime tuned_tensorrt_dynamic_shape use_feed_fetch_ops_enabled use_gpu
    use_opencl use_xpu"""
DEFAULTS = {  # switches by the function that tells them, with what they are at first
    **dict.fromkeys(OFF.split(), False),
    "cpu_math_library_num_threads": 0,  # as many as there are CPUs
    "fraction_of_gpu_memory_for_pool": 0.0,
    "gpu_device_id": 0,
    "ir_optim": True,
    "memory_pool_init_size_mb": 100,
    "shape_range_info_path": "",
    "tensorrt_optimization_level": 3,
    "tensorrt_precision_mode": PrecisionType.Float32,
    "xpu_device_id": 0,
}
SHOWN = {  # switches by what a summary calls them
    "enable_mkldnn": "mkldnn_enabled",
    "use_gpu": "use_gpu",
    "use_xpu": "use_xpu",
    "ir_optim": "ir_optim",
    "memory_optim": "memory_optim_enabled",
    "enable_profile": "profile_enabled",
    "disable_log": "glog_info_disabled",
    "collect_shape_range_info": "shape_range_info_collected",
}
SETTERS = {  # functions that set one of them: to what they are given, or to this
    "disable_glog_info": ("glog_info_disabled", True),
    "disable_gpu": ("use_gpu", False),
    "disable_mkldnn": ("mkldnn_enabled", False),
    "disable_onnxruntime": ("onnxruntime_enabled", False),
    "enable_memory_optim": ("memory_optim_enabled", None),
    "enable_mkldnn": ("mkldnn_enabled", True),
    "enable_mkldnn_int8": ("mkldnn_int8_enabled", True),
    "enable_profile": ("profile_enabled", True),
    "switch_ir_optim": ("ir_optim", None),
    "switch_specify_input_names": ("specify_input_name", None),
    "switch_use_feed_fetch_ops": ("use_feed_fetch_ops_enabled", None),
}
IDLE = """
    disable_mkldnn_fc_passes enable_low_precision_io enable_mkldnn_bfloat16
    enable_new_executor enable_ort_optimization enable_save_optim_model
    exp_disable_mixed_precision_ops exp_disable_tensorrt_ops exp_enable_mixed_precision_ops
    exp_enable_use_cutlass set_bfloat16_op
    set_mkldnn_cache_capacity set_mkldnn_op set_optim_cache_dir set_trt_dynamic_shape_info
    switch_ir_debug"""
REFUSED = {
    "there is no TensorRT": """
        enable_tensorrt_dla enable_tensorrt_engine enable_tensorrt_explicit_quantization
        enable_tensorrt_inspector enable_tensorrt_memory_optim enable_tensorrt_varseqlen
        enable_tuned_tensorrt_dynamic_shape mark_trt_engine_outputs
        set_tensorrt_optimization_level""",
    "scull runs on the CPU": """
        enable_custom_device enable_dlnne enable_ipu enable_lite_engine enable_onnxruntime
        enable_opencl enable_xpu load_ipu_config nnadapter set_ipu_config set_ipu_custom_info
        set_xpu_config set_xpu_device_id xpu_config""",
    "models run in the element types they were saved with": """
        enable_quantizer quantizer_config""",
    "a predictor runs in one process": "dist_config set_dist_config to_native_config",
}


def told(name: str) -> Any:
    """A function that tells one switch."""

    def tell(self: Config) -> Any:
        return self.switches[name]

    return tell


def setter(switch: str, fixed: Any) -> Any:
    """A function that sets one switch."""

    def put(self: Config, x: Any = True) -> None:
        self.switches[switch] = bool(x) if fixed is None else fixed

    return put


def idle(self: Config, *arguments: Any, **options: Any) -> None:
    """Accepted and without effect on the CPU."""


def refusing(name: str, reason: str) -> Any:
    """A function that says why it cannot be."""

    def refuse(self: Config, *arguments: Any, **options: Any) -> None:
        raise UnsupportedError(f"`Config.{name}` is not in scull: {reason}")

    return refuse


def attached(name: str, function: Any, text: str) -> None:
    """Make `function` the method `name` of Config."""
    function.__name__, function.__doc__ = name, text
    setattr(Config, name, function)


def shown(value: Any) -> str:
    """A value as a summary shows it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


for precision in PrecisionType:
    setattr(Config, precision.name, precision)
for word in DEFAULTS.keys() - {"cpu_math_library_num_threads"}:
    attached(word, told(word), f"What `{word}` is set to.")
for word, (switch, value) in SETTERS.items():
    attached(word, setter(switch, value), f"Set what `{switch}` tells; results do not change.")
for word in IDLE.split():
    setattr(Config, word, idle)
for why, group in REFUSED.items():
    for word in group.split():
        attached(word, refusing(word, why), f"Refused: {why}.")
