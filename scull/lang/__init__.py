"""The loop language: what one element of each result is, and what that means to the bit.

A lowering is a function of an index; `trace` makes a Kernel of it, `run` computes that with NumPy.
Compilers work on the same nodes (`expression.py`). Lowerings run long after operators are declared,
so the modules load when a name is first used.
"""

from scull.deferred import deferred

NAMES = {
    "body": "Map Scatter",
    "emulate": "run",
    "expand": "expanded",
    "expression": (
        "Apply Array Axis Constant Expression Guard Load Reduce axis bitcast cast constant guarded"
    ),
    "function": (
        "all any argmax argmin at both ceil cos equal erf exp expm1 floor inside log "
        "log1p max maximum min minimum multiply_add multiply_high multiply_wide normal_cdf "
        "not_equal padded pair pair_dot pick prod random_bits random_half round rsqrt scale "
        "scatter_add scatter_set select sin sqrt sum sure tanh trunc within"
    ),
    "kernel": "Kernel trace",
    "position": "flat ravel unravel",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
