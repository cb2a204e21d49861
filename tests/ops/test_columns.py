"""Convolutions in bands and in portions: whatever they are cut into, the sums are the same."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from scull.ops.columns import convolve, convolve_across, convolve_back
from scull.ops.geometry import geometry

SHAPES = (  # images, filters, groups
    ((5, 6, 7, 9), (4, 6, 3, 3), 1),
    ((5, 4, 5, 2), (6, 2, 3, 2), 2),
    ((9, 2, 4, 1), (2, 2, 5, 1), 1),
    ((2, 3, 4, 5, 3), (2, 3, 3, 2, 2), 1),
)
STEPS = ((1, 1, 1), (2, 1, 1), (3, 2, 1))  # strides
PADDINGS = ((0, 0, 0), (2, 1, 0))
DILATIONS = ((1, 1, 1), (2, 1, 1))


def by_taps(x, w, dout, g):
    """The convolution and its two gradients, one element of the windows after the other."""
    sides = [(0, 0), (0, 0), *[(a.before, a.padded - a.before - a.size) for a in g.along]]
    wide, c, f = np.pad(x, sides), *g.share
    out, dwide, dw = np.zeros(dout.shape), np.zeros(wide.shape), np.zeros(w.shape)
    for place in np.ndindex(*g.kernel):
        spots = [a.tap(i) for a, i in zip(g.along, place, strict=True)]
        for n in range(g.groups):
            own, made = slice(n * c, n * c + c), slice(n * f, n * f + f)
            seen, tap = (slice(None), own, *spots), (made, slice(None), *place)
            out[:, made] += np.einsum("nc...,fc->nf...", wide[seen], w[tap])
            dwide[seen] += np.einsum("nf...,fc->nc...", dout[:, made], w[tap])
            dw[tap] = np.einsum(
                "nfp,ncp->fc", *[v.reshape(*v.shape[:2], -1) for v in (dout[:, made], wide[seen])]
            )
    return out, dwide[(slice(None), *g.inside)], dw


@pytest.mark.parametrize("chunk", [1 << 18, 40], ids=["in one portion", "in many"])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("image", "filter", "groups"), SHAPES)
def test_elements_of_windows_apart_or_together_give_the_same_sums(
    image, filter, groups, apart, chunk
):
    rng, axes, count = np.random.default_rng(0), len(image) - 2, 0
    x, w = rng.standard_normal(image), rng.standard_normal(filter)
    for strides, paddings, dilations in product(STEPS, PADDINGS, DILATIONS):
        law = [v[:axes] for v in (strides, paddings)]
        try:
            known = geometry(image, filter, *law, "EXPLICIT", dilations[:axes], groups)
        except ValueError:  # no window fits
            continue
        together, g = replace(known), replace(known)
        vars(together)["apart"], vars(g)["apart"], vars(g)["chunk"] = False, apart, chunk
        dout = rng.standard_normal((image[0], filter[0], *g.counts))
        found = [np.full(s, np.nan) for s in (dout.shape, image, filter)]
        convolve(np, x, w, found[0], g)
        convolve_back(np, dout, w, found[1], g)
        convolve_across(np, x, dout, found[2], g)
        for one, other in zip(found, by_taps(x, w, dout, together), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
        count += 1
    assert count >= 3


def test_rows_of_windows_are_apart_where_that_copies_less():
    image = (32, 32, 32, 32)
    same = [(1, 1), (1, 1), "EXPLICIT", (1, 1), 1]
    assert geometry(image, (32, 32, 3, 3), *same).apart
    assert not geometry(image, (96, 32, 3, 3), *same).apart  # each element makes 96 results
    assert not geometry((1, 32, 5, 5), (32, 32, 3, 3), *same).apart  # to turn filters costs more
    assert not geometry(image, (32, 32, 1, 3), *same).apart  # there is one row


def test_a_batch_of_tiny_images_is_copied_with_the_images_last():
    same = [(1, 1), (1, 1), "EXPLICIT", (1, 1), 1]
    assert geometry((64, 8, 4, 4), (8, 8, 3, 3), *same).images_last
    assert not geometry((64, 8, 32, 32), (8, 8, 3, 3), *same).images_last
