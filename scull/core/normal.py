"""The normal quantile, by which random numbers become normal ones."""

from typing import Any

import numpy as np

# Two of its parts, from the highest power down: algorithm AS 241 (Wichura, "The percentage points
# of the normal distribution", Applied Statistics 37, 1988).
CENTRAL = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080),
    (5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
     5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0),
)  # fmt: skip
MIDDLE = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
     1.27045825245236838258, 3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590,
     1.42343711074968357734),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
     1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940,
     2.05319162663775882187, 1.0),
)  # fmt: skip
EDGE = 0.425  # where they meet
FROM = 0.180625  # its square
BEGIN = 1.6  # of the part behind it


def quantile(q: Any) -> Any:
    """The normal number below which ``q + 1/2`` of all lie, for `q` less than 1/2 by 2**-54.

    Beyond ``exp(-25)`` from there it has errors of up to 1e-12.
    """
    near = FROM - q * q
    found = ratio(CENTRAL, near)
    found *= q
    beyond = (np.abs(q) > EDGE).nonzero()
    few = q[beyond]
    far = np.sqrt(-np.log(0.5 - np.abs(few)))
    far -= BEGIN
    found[beyond] = np.copysign(ratio(MIDDLE, far), few)
    return found


def ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Any) -> Any:
    """The quotient of two polynomials."""
    above, below = (polynomial(factors, x) for factors in parts)
    above /= below
    return above


def polynomial(factors: tuple[float, ...], x: Any) -> Any:
    """The sum of the powers of `x` by their factors."""
    total = np.full(x.shape, factors[0])
    for factor in factors[1:]:
        total *= x
        total += factor
    return total
