"""Layers of quantized networks, and products with weights of few bits."""

from scull.deferred import deferred

NAMES = {
    "": "format qat",
    "functional_layers": """
        FloatFunctionalLayer add concat divide flatten matmul multiply reshape subtract
        transpose""",
    "quant_layers": "QuantStub",
    "quantized_linear": "llm_int8_linear weight_dequantize weight_only_linear weight_quantize",
    "stub": "Stub",
}
__all__ = [
    "Stub",
    "llm_int8_linear",
    "weight_dequantize",
    "weight_only_linear",
    "weight_quantize",
]

__getattr__, __dir__ = deferred(__name__, NAMES)
