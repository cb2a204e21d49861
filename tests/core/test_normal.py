"""Normal numbers: quantiles, and what their draws look like."""

from statistics import NormalDist

import numpy as np

from scull.core import random
from scull.core.normal import EDGE, quantile


def test_quantiles_are_those_of_the_standard_library():
    q = np.concatenate([np.linspace(-0.4999, 0.4999, 4001), [-EDGE, EDGE, 0.5 - 2.0**-54]])
    expected = [NormalDist().inv_cdf(0.5 + v) for v in q[:-1]]
    np.testing.assert_allclose(quantile(q)[:-1], expected, rtol=1e-13, atol=1e-15)
    assert abs(quantile(q)[-1] - 8.292361075813595) < 1e-11
    assert (quantile(-q) == -quantile(q)).all()


def test_draws_are_normal_at_the_edges_of_53_bits():
    assert abs(quantile(np.array([random.MIDST]))[0] + 8.292361075813595) < 1e-11
    assert np.isfinite(quantile(np.array([1 - 2.0**-53 + random.MIDST]))).all()


def test_draws_have_the_shares_of_normal_numbers():
    x = random.gaussian(random.Draw(3, 4), (1 << 20,), np.float64)
    edges = np.linspace(-4.0, 4.0, 17)
    shares = np.diff(np.searchsorted(np.sort(x), edges)) / x.size
    expected = np.diff([NormalDist().cdf(v) for v in edges])
    assert np.abs(shares - expected).max() < 4 * np.sqrt(expected.max() / x.size)


def test_a_draw_is_the_same_whatever_is_drawn_with_it():
    whole = random.gaussian(random.Draw(1, 2), (random.PORTION + 5,), np.float32)
    assert (random.gaussian(random.Draw(1, 2), (7,), np.float32) == whole[:7]).all()
