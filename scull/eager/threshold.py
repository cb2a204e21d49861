"""From and up to how many elements of its largest operand a hot operator is machine code.

`python -m benchmarks.thresholds` measures what that gains: all of these are faster from there on,
most by twice and more; the largest products of matrices are faster by NumPy's library. Making a
kernel takes some ten milliseconds, once for all processes.
"""

LEAST = {
    "conv2d": 1 << 11,
    "depthwise_conv2d": 1 << 11,
    "conv2d_transpose": 1 << 11,
    "convolution_to_filter": 1 << 11,
    "convolution_to_input": 1 << 11,
    "batch_norm": 1 << 17,
    "batch_norm_grad": 1 << 12,
    "layer_norm": 1 << 12,
    "layer_norm_grad": 1 << 12,
    "group_norm": 1 << 12,
    "instance_norm": 1 << 12,
    "pool_spread": 1 << 10,
    "scatter_rows": 1 << 10,
    "scatter_axis": 1 << 10,
    "scatter_nd_add": 1 << 8,
    "index_add": 1 << 8,
    "send_u_recv": 1 << 12,
    "scatter": 1 << 8,
    "linear": 1 << 12,
    "linear_grad": 1 << 12,
    "matmul": 1 << 12,
    "gelu": 1 << 11,
    "gelu_grad": 1 << 11,
    "silu": 1 << 15,
    "mish": 1 << 14,
    "softmax": 1 << 13,
    "log_softmax": 1 << 13,
    "mean_cross_entropy": 1 << 13,
    "where": 1 << 14,
    "adam": 1 << 15,
    "adamw": 1 << 15,
    "momentum": 1 << 15,
    "sgd": 1 << 16,
}
MOST = {"linear": 1 << 21, "linear_grad": 1 << 20, "matmul": 1 << 21}
