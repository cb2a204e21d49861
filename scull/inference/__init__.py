"""Predictors: saved models, loaded with their values and run on arrays."""

from scull import version
from scull.core.absent import absent
from scull.inference.config import Config
from scull.inference.handle import Tensor
from scull.inference.kind import DataType, PlaceType, PrecisionType, get_num_bytes_of_data_type
from scull.inference.predictor import Predictor, PredictorPool, create_predictor


def get_version() -> str:
    """The release whose predictors these are."""
    return f"version: {version.full_version}\n"


def get_trt_compile_version() -> tuple[int, int, int]:
    """The version of TensorRT that is built in: none, which is (0, 0, 0)."""
    return (0, 0, 0)


get_trt_runtime_version = get_trt_compile_version

__getattr__ = absent(
    __name__,
    {
        "models run in the element types they were saved with": "convert_to_mixed_precision",
        "scull runs on the CPU": "XpuConfig",
    },
)

__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_trt_compile_version",
    "get_trt_runtime_version",
    "get_version",
]
