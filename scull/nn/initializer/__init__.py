"""First values of parameters."""

from scull.nn.initializer.assign import Assign, NumpyArrayInitializer
from scull.nn.initializer.bilinear import Bilinear
from scull.nn.initializer.constant import Constant, ConstantInitializer
from scull.nn.initializer.dirac import Dirac
from scull.nn.initializer.initializer import Initializer, calculate_gain, set_global_initializer
from scull.nn.initializer.kaiming import KaimingNormal, KaimingUniform, MSRAInitializer
from scull.nn.initializer.normal import (
    Normal,
    NormalInitializer,
    TruncatedNormal,
    TruncatedNormalInitializer,
)
from scull.nn.initializer.orthogonal import Orthogonal
from scull.nn.initializer.uniform import Uniform, UniformInitializer
from scull.nn.initializer.xavier import XavierInitializer, XavierNormal, XavierUniform

__all__ = [
    "Bilinear",
    "Constant",
    "KaimingUniform",
    "KaimingNormal",
    "XavierNormal",
    "XavierUniform",
    "Assign",
    "Normal",
    "TruncatedNormal",
    "Uniform",
    "Orthogonal",
    "Dirac",
    "set_global_initializer",
    "calculate_gain",
    "Initializer",
    "ConstantInitializer",
    "NormalInitializer",
    "TruncatedNormalInitializer",
    "UniformInitializer",
    "XavierInitializer",
    "MSRAInitializer",
    "NumpyArrayInitializer",
]
