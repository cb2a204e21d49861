"""First values of parameters."""

from scull.deferred import deferred, listed

NAMES = {
    "assign": "Assign NumpyArrayInitializer",
    "bilinear": "Bilinear",
    "constant": "Constant ConstantInitializer",
    "dirac": "Dirac",
    "initializer": "Initializer calculate_gain set_global_initializer",
    "kaiming": "KaimingNormal KaimingUniform MSRAInitializer",
    "normal": "Normal NormalInitializer TruncatedNormal TruncatedNormalInitializer",
    "orthogonal": "Orthogonal",
    "uniform": "Uniform UniformInitializer",
    "xavier": "XavierInitializer XavierNormal XavierUniform",
}

__getattr__, __dir__ = deferred(__name__, NAMES)
__all__ = listed(NAMES)
