"""Learning-rate schedulers: objects that give an optimizer its rate and move it on at `step()`."""

from scull.optimizer.lr.annealing import CosineAnnealingDecay, CosineAnnealingWarmRestarts
from scull.optimizer.lr.cycle import CyclicLR, OneCycleLR
from scull.optimizer.lr.decay import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    MultiplicativeDecay,
    NaturalExpDecay,
    NoamDecay,
    PolynomialDecay,
)
from scull.optimizer.lr.function import (  # noqa: F401  older code asks for them here
    cosine_decay,
    exponential_decay,
    inverse_time_decay,
    linear_lr_warmup,
    natural_exp_decay,
    noam_decay,
    piecewise_decay,
    polynomial_decay,
)
from scull.optimizer.lr.plateau import ReduceOnPlateau
from scull.optimizer.lr.scheduler import LRScheduler
from scull.optimizer.lr.stage import MultiStepDecay, PiecewiseDecay, StepDecay
from scull.optimizer.lr.warmup import LinearLR, LinearWarmup

__all__ = [
    "LRScheduler",
    "NoamDecay",
    "PiecewiseDecay",
    "NaturalExpDecay",
    "InverseTimeDecay",
    "PolynomialDecay",
    "LinearWarmup",
    "ExponentialDecay",
    "MultiStepDecay",
    "StepDecay",
    "LambdaDecay",
    "ReduceOnPlateau",
    "CosineAnnealingDecay",
    "MultiplicativeDecay",
    "OneCycleLR",
    "CyclicLR",
    "LinearLR",
    "CosineAnnealingWarmRestarts",
]
