"""Transformations of random variables."""

from scull.distribution.composition import ChainTransform, IndependentTransform, StackTransform
from scull.distribution.mapping import Transform, Type
from scull.distribution.pointwise import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    TanhTransform,
)
from scull.distribution.vector import ReshapeTransform, SoftmaxTransform, StickBreakingTransform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "ChainTransform",
    "ExpTransform",
    "IndependentTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "Type",
]
