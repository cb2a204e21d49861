"""The old layers as functions: they are in `paddle.static.nn` and `paddle.tensor`."""

from scull.core.absent import absent

__getattr__ = absent(
    __name__,
    {"Variables have their methods from the start": "math_op_patch layer_function_generator io"},
)
