"""From how many elements on machine code is faster than the NumPy kernel of an operator.

`python -m benchmarks.thresholds` measures both; small operands are never worth a look.
"""

LEAST = {
    "conv2d": 1 << 14,
    "convolution_to_filter": 1 << 14,
    "convolution_to_input": 1 << 14,
    "where": 1 << 14,
    "batch_norm": 1 << 14,
    "batch_norm_grad": 1 << 14,
    "layer_norm": 1 << 14,
    "layer_norm_grad": 1 << 14,
    "gelu": 1 << 14,
    "gelu_grad": 1 << 14,
    "softmax": 1 << 14,
    "adam": 1 << 14,
    "adamw": 1 << 14,
    "momentum": 1 << 14,
    "sgd": 1 << 14,
    "pool2d": 1 << 14,
    "pool_spread": 1 << 14,
    "mean_cross_entropy": 1 << 14,
    "mean_cross_entropy_grad": 1 << 14,
}
