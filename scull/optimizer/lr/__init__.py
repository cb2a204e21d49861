"""Learning-rate schedulers: objects that give an optimizer its rate and move it on at `step()`."""

import importlib

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

FUNCTIONS = (
    "noam_decay exponential_decay natural_exp_decay inverse_time_decay polynomial_decay"
    " piecewise_decay cosine_decay linear_lr_warmup autoincreased_step_counter"
)


def __getattr__(name):
    """What counts in Programs or gives them rates needs more than schedulers, and is rare."""
    if name in FUNCTIONS.split():
        return getattr(importlib.import_module("scull.optimizer.schedule"), name)
    raise AttributeError(f"module 'scull.optimizer.lr' has no attribute '{name}'")
