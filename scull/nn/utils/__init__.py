"""Clipping of gradients, weights in parts, and parameters as one vector."""

from scull.core.door import doors
from scull.deferred import deferred, listed

NAMES = {
    "gradient": "clip_grad_norm_ clip_grad_value_ parameters_to_vector vector_to_parameters",
    "reparameterization": "remove_weight_norm spectral_norm weight_norm",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
doors(__name__, "spectral_norm_hook transform_parameters weight_norm_hook")
__all__ = listed(NAMES)
