"""Distributions: draws, probabilities, entropies, divergences, and transformations of them."""

from scull.distribution import constraint, kl, transform, variable
from scull.distribution.bernoulli import Bernoulli
from scull.distribution.beta import Beta
from scull.distribution.categorical import Categorical
from scull.distribution.cauchy import Cauchy
from scull.distribution.dirichlet import Dirichlet
from scull.distribution.distribution import Distribution
from scull.distribution.exponential_family import ExponentialFamily
from scull.distribution.geometric import Geometric
from scull.distribution.gumbel import Gumbel
from scull.distribution.independent import Independent
from scull.distribution.kl import kl_divergence, register_kl
from scull.distribution.laplace import Laplace
from scull.distribution.lognormal import LogNormal
from scull.distribution.multinomial import Multinomial
from scull.distribution.normal import Normal
from scull.distribution.transform import (
    AbsTransform,
    AffineTransform,
    ChainTransform,
    ExpTransform,
    IndependentTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
)
from scull.distribution.transformed_distribution import TransformedDistribution
from scull.distribution.uniform import Uniform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Cauchy",
    "ChainTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "ExponentialFamily",
    "Geometric",
    "Gumbel",
    "Independent",
    "IndependentTransform",
    "Laplace",
    "LogNormal",
    "Multinomial",
    "Normal",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraint",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform",
    "variable",
]
