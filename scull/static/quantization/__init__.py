"""Programs of whole numbers made of Programs: what users import from here, to say that it lacks."""

from scull.core.absent import absent
from scull.core.door import doors

LACKING = """
    AddQuantDequantForInferencePass AddQuantDequantPass AddQuantDequantPassV2 ConvertToInt8Pass
    OutScaleForInferencePass OutScaleForTrainingPass PostTrainingQuantization
    PostTrainingQuantizationProgram Quant2Int8MkldnnPass QuantInt8MkldnnPass QuantWeightPass
    QuantizationFreezePass QuantizationTransformPass QuantizationTransformPassV2
    ReplaceFakeQuantDequantPass TransformForMobilePass WeightQuantization convert quant_aware"""
PARTS = """
    BaseQuantizer ARMCPUQuantizer MKLDNNQuantizer TensorRTQuantizer bias_correction_w
    calculate_quant_cos_error dequant_tensor l2_loss load_variable_data quant_tensor
    set_variable_data stable_sigmoid cal_kl_threshold run_adaround"""

# The types of operators that a Program can have in whole numbers, with their slots: none.
SUPPORT_WEIGHT_QUANTIZATION_OP_DICT: dict[str, list[list[str]]] = {}
SUPPORT_ACT_QUANTIZATION_OP_DICT: dict[str, list[list[str]]] = {}
SUPPORT_QUANTIZATION_OP_DICT: dict[str, list[list[str]]] = {}

doors(
    __name__,
    "adaround cal_kl_threshold post_training_quantization quant_config quantization_pass quanter"
    " utils",
)
__getattr__ = absent(
    __name__, {"a network is quantized as layers, by paddle.quantization": LACKING + PARTS}
)
__all__: list[str] = []
