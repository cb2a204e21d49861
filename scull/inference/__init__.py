"""Predictors: `paddle.static.load_inference_model` and an Executor run a saved model instead."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {
        "run a saved model by paddle.static.load_inference_model and an Executor": (
            "Config DataType PlaceType PrecisionType Tensor Predictor PredictorPool XpuConfig"
            " create_predictor convert_to_mixed_precision"
        ),
        "there is no TensorRT": "get_trt_compile_version get_trt_runtime_version",
        "the release is paddle.version.full_version": "get_version",
    },
)
