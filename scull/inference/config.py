"""What a predictor is made of: the files of a model, and switches."""

import os
import warnings
from typing import Any

from scull.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from scull.inference.kind import PrecisionType


class Config:
    """The files of a saved model and how to run it.

    A model is computed on the CPU, in the element types it was saved with. Switches for other
    devices, for passes and for memory are accepted, so that code for them runs; what Paddle's CPU
    release refuses is refused here too.

    Args:
        model (str | Config, optional): the file of the Program; alone, a folder with `__model__`
            and a file a value; or what to copy.
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
        self.switches: dict[str, Any] = dict(DEFAULTS)
        self.valid = True
        if isinstance(model, Config):
            self.__dict__.update(model.__dict__, switches=dict(model.switches))
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
        """Note how many threads libraries may use; results do not depend on it."""
        self.switches["cpu_math_library_num_threads"] = int(cpu_math_library_num_threads)

    def pass_builder(self) -> "Config":
        """What passes are left out of: there is none."""
        return self

    def all_passes(self) -> list[str]:
        """The names of the passes that a model goes through: none."""
        return []

    def summary(self) -> str:
        """The files and switches as a table."""
        rows = [("model_dir", self.folder)] if self.folder else []
        rows += [("model_file", self.program), ("params_file", self.values)]
        rows += sorted((n, str(v)) for n, v in self.switches.items())
        width = max(len(n) for n, _ in rows)
        return "\n".join(f"{n:<{width}}  {v}" for n, v in rows) + "\n"


OFF = """
    collect_shape_range_info glog_info_disabled lite_engine_enabled mkldnn_enabled
    mkldnn_int8_enabled onnxruntime_enabled shape_range_info_collected specify_input_name
    tensorrt_dla_enabled tensorrt_dynamic_shape_enabled tensorrt_engine_enabled
    tensorrt_varseqlen_enabled tuned_tensorrt_dynamic_shape use_feed_fetch_ops_enabled use_gpu
    use_opencl use_xpu"""
DEFAULTS = {  # switches by the function that tells them, with what they are at first
    **dict.fromkeys(OFF.split(), False),
    "cpu_math_library_num_threads": 1,
    "fraction_of_gpu_memory_for_pool": 0.0,
    "gpu_device_id": 0,
    "ir_optim": True,
    "memory_pool_init_size_mb": 100,
    "tensorrt_precision_mode": PrecisionType.Float32,
    "xpu_device_id": 0,
}
SETTERS = {  # functions that set one of them: to what they are given, or to this
    "disable_glog_info": ("glog_info_disabled", True),
    "disable_gpu": ("use_gpu", False),
    "disable_mkldnn": ("mkldnn_enabled", False),
    "disable_onnxruntime": ("onnxruntime_enabled", False),
    "enable_mkldnn": ("mkldnn_enabled", True),
    "enable_mkldnn_int8": ("mkldnn_int8_enabled", True),
    "switch_ir_optim": ("ir_optim", None),
    "switch_specify_input_names": ("specify_input_name", None),
    "switch_use_feed_fetch_ops": ("use_feed_fetch_ops_enabled", None),
}
IDLE = """
    delete_pass disable_mkldnn_fc_passes enable_low_precision_io enable_memory_optim
    enable_mkldnn_bfloat16 enable_new_executor enable_ort_optimization enable_profile
    enable_save_optim_model exp_disable_mixed_precision_ops exp_disable_tensorrt_ops
    exp_enable_mixed_precision_ops exp_enable_use_cutlass set_bfloat16_op
    set_mkldnn_cache_capacity set_mkldnn_op set_optim_cache_dir set_trt_dynamic_shape_info
    switch_ir_debug"""
REFUSED = {
    "there is no TensorRT": """
        enable_tensorrt_dla enable_tensorrt_engine enable_tensorrt_explicit_quantization
        enable_tensorrt_inspector enable_tensorrt_memory_optim enable_tensorrt_varseqlen
        enable_tuned_tensorrt_dynamic_shape""",
    "scull runs on the CPU": """
        enable_custom_device enable_dlnne enable_ipu enable_lite_engine enable_onnxruntime
        enable_opencl enable_xpu""",
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


for word in DEFAULTS:
    attached(word, told(word), f"What `{word}` is set to.")
for word, (switch, value) in SETTERS.items():
    attached(word, setter(switch, value), f"Set what `{switch}` tells; results do not change.")
for word in IDLE.split():
    setattr(Config, word, idle)
for why, group in REFUSED.items():
    for word in group.split():
        attached(word, refusing(word, why), f"Refused: {why}.")
