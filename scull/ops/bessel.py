"""The modified Bessel functions of the first kind, of the orders 0 and 1, plain and scaled.

Each is a Chebyshev series: up to `FAR` of the scaled function (of order 1 divided by x) in
``x / 4 - 1``, beyond of it times the square root of x in ``16 / x - 1``.
"""

from typing import Any

from scull.ops.compare import equal, where
from scull.ops.like import full_like
from scull.ops.special import size, special

FAR = 8

I0 = (
    (
        0.33839763720473803, -0.3046826723431984, 0.17162090152220877, -0.09490109704804764,
        0.04930528423967071, -0.02373741480589947, 0.010546460394594998, -0.004324309995050576,
        0.0016394756169413357, -0.0005763755745385824, 0.00018850288509584165,
        -5.754195010082104e-05, 1.6448448070728896e-05, -4.4167383584587505e-06,
        1.1173875391201037e-06, -2.670793853940612e-07, 6.046995022541919e-08,
        -1.300025009986248e-08, 2.6598237246823866e-09, -5.189795601635263e-10,
        9.675809035373237e-11, -1.726826291441556e-11, 2.95505266312964e-12,
        -4.856446783111929e-13, 7.676185498604936e-14, -1.1685332877993451e-14,
        1.715391285555133e-15, -2.4312798465479524e-16, 3.330794518822241e-17,
        -4.415341646479503e-18,
    ),
    (
        0.4022452055070544, 0.0033691164782556943, 6.889758346916825e-05, 2.8913705208347567e-06,
        2.0489185894690638e-07, 2.266668990498178e-08, 3.3962320257083865e-09,
        4.94060238822497e-10, 1.1889147107846439e-11, -3.1499165279632416e-11,
        -1.3215811840447713e-11, -1.7941785315068062e-12, 7.180124451383666e-13,
        3.8527783827421426e-13, 1.54008621752141e-14, -4.150569347287222e-14,
        -9.554846698828307e-15, 3.8116806693526224e-15, 1.7725601330565263e-15,
        -3.42548561967722e-16, -2.8276239805165836e-16, 3.4612228676974637e-17,
        4.4656214202967554e-17, -4.8305044859440286e-18, -7.233180487874839e-18,
    ),
)  # fmt: skip

I1 = (
    (
        0.12629359322181682, -0.17641651835783406, 0.1026436586898471, -0.05294598120809499,
        0.024726449030626516, -0.010564084894626197, 0.004156422944312888, -0.0015135724506312532,
        0.0005122859561685758, -0.00016176081582589674, 4.781565107550054e-05,
        -1.3273163656039436e-05, 3.4702513081376785e-06, -8.568720264695455e-07,
        2.0032947535521353e-07, -4.445059128796328e-08, 9.381537386495773e-09,
        -1.8872497517228294e-09, 3.625590281552117e-10, -6.663489723502027e-11,
        1.1736186298890901e-11, -1.9839743977649436e-12, 3.223793365945575e-13,
        -5.042185504727912e-14, 7.600684294735406e-15, -1.1055969477353864e-15,
        1.5536319577362003e-16, -2.1114212143581536e-17, 2.777914112761052e-18,
    ),
    (
        0.38928811750914005, -0.009761097491361469, -0.00011058893876262371,
        -3.882564808877691e-06, -2.512236237870209e-07, -2.6314688468895196e-08,
        -3.835380385964237e-09, -5.589743462196584e-10, -1.8974958123505413e-11,
        3.2526035830154884e-11, 1.4125807436613782e-11, 2.0356285441470896e-12,
        -7.198551776245908e-13, -4.0835511110921974e-13, -2.1015418427726643e-14,
        4.272440016711951e-14, 1.0420276984128802e-14, -3.8144030724370075e-15,
        -1.8803547755107825e-15, 3.3082023109209275e-16, 2.96262899764595e-16,
        -3.2095259219934225e-17, -4.650305368489363e-17, 4.414348323071859e-18,
        7.517296310842027e-18,
    ),
)  # fmt: skip


def series(f: Any, x: Any, coefficients: Any) -> Any:
    """The sum of Chebyshev polynomials at `x`, by Clenshaw's recurrence."""
    first, *rest = coefficients
    found, before = f.constant(rest[-1], "float64"), f.constant(0.0, "float64")
    for c in rest[-2::-1]:
        found, before = c + 2 * x * found - before, found
    return first + x * found - before


def scaled_size(f: Any, z: Any, order: int) -> Any:
    """The function of `z`, not negative, times ``exp(-z)``."""
    close, distant = (I0, I1)[order]
    near = series(f, f.select(z > FAR, FAR, z) * 0.25 - 1, close)
    beyond = f.select(z > FAR, z, FAR)
    far = series(f, 16 / beyond - 1, distant) / f.sqrt(beyond)
    return f.select(z > FAR, far, near * z if order else near)


def i0e_of(f: Any, x: Any) -> Any:
    """The function of order 0 times ``exp(-|x|)``."""
    return scaled_size(f, size(f, x), 0)


def i0_of(f: Any, x: Any) -> Any:
    """The function of order 0."""
    z = size(f, x)
    return f.exp(z) * scaled_size(f, z, 0)


def i1e_of(f: Any, x: Any) -> Any:
    """The function of order 1 times ``exp(-|x|)``."""
    found = scaled_size(f, size(f, x), 1)
    return f.select(x < 0, 0 - found, found)


def i1_of(f: Any, x: Any) -> Any:
    """The function of order 1."""
    z = size(f, x)
    found = f.exp(z) * scaled_size(f, z, 1)
    return f.select(x < 0, 0 - found, found)


SPELT = {"slots": {"x": "x", "out": "out"}}
i0, i0e = special("i0", i0_of, **SPELT), special("i0e", i0e_of, **SPELT)
i1, i1e = special("i1", i1_of, **SPELT), special("i1e", i1e_of, **SPELT)

i0.grad(lambda x, dout: dout * i1(x))
i0e.grad(lambda x, out, dout: dout * (i1e(x) - side(x) * out))


def side(x: Any) -> Any:
    """1 from 0 on, -1 below."""
    return where(x < 0, -1.0, full_like(x, value=1.0))


def share(x: Any, out: Any) -> Any:
    """``out / x``, and at 0 what it comes near there."""
    at_0 = equal(x, 0.0)
    return where(at_0, 0.5, out / where(at_0, 1.0, x))


i1.grad(lambda x, out, dout: dout * (i0(x) - share(x, out)))
i1e.grad(lambda x, out, dout: dout * (i0e(x) - share(x, out) - side(x) * out))
