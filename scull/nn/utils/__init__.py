"""Clipping of gradients, weights in parts, and parameters as one vector."""

from scull.nn.utils.gradient import (
    clip_grad_norm_,
    clip_grad_value_,
    parameters_to_vector,
    vector_to_parameters,
)
from scull.nn.utils.weight_norm import remove_weight_norm, spectral_norm, weight_norm

__all__ = [
    "weight_norm",
    "remove_weight_norm",
    "spectral_norm",
    "parameters_to_vector",
    "vector_to_parameters",
    "clip_grad_norm_",
    "clip_grad_value_",
]
