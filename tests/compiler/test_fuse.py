"""What is computed where it is read, and what is stored for it."""

import pytest

from scull.compiler.decision import observed
from scull.compiler.fuse import fused
from scull.compiler.trace import Statement
from scull.lang import axis, sum
from scull.lang.body import Map
from scull.lang.expression import Array

IMAGES, CHANNELS, SIZE, TIMES = 4, 16, 8, 2


def product(images):
    """A sum of products for every place of images of four times as many channels."""
    many = CHANNELS * TIMES * TIMES
    x, w = Array("x", (images, 32, SIZE, SIZE), "float32"), Array("w", (many, 32), "float32")
    made = Array("made", (images, many, SIZE, SIZE), "float32")
    n, c, i, j, k = (axis(s) for s in (*made.shape, 32))
    return Statement(made, Map((n, c, i, j), sum(x[n, k, i, j] * w[c, k], k)), "conv2d")


def shuffled(made):
    """Its channels as places of larger images: `pixel_shuffle`."""
    shape = (made.shape[0], CHANNELS, TIMES * SIZE, TIMES * SIZE)
    n, c, i, j = axes = tuple(map(axis, shape))
    channel = (c * TIMES + i % TIMES) * TIMES + j % TIMES
    return Map(axes, made[n, channel, i // TIMES, j // TIMES] * 2.0)


def gathered(made):
    """Places of its images as channels of smaller ones: `pixel_unshuffle`."""
    shape = (made.shape[0], made.shape[1] * TIMES * TIMES, SIZE // TIMES, SIZE // TIMES)
    n, c, i, j = axes = tuple(map(axis, shape))
    row, column = i * TIMES + c // TIMES % TIMES, j * TIMES + c % TIMES
    return Map(axes, made[n, c // (TIMES * TIMES), row, column] * 2.0)


def turned(made):
    """Its channels as the last axis."""
    axes = tuple(axis(made.shape[n]) for n in (0, 2, 3, 1))
    n, i, j, c = axes
    return Map(axes, made[n, c, i, j] * 2.0)


@pytest.mark.parametrize(
    ("images", "reader", "stored"),
    [
        (IMAGES, shuffled, True),
        (IMAGES, gathered, True),
        (IMAGES, turned, False),
        (64, shuffled, False),  # lanes may run along images
    ],
)
def test_a_product_is_stored_where_its_reader_takes_all_axes_of_lanes_apart(images, reader, stored):
    first = product(images)
    body = reader(first.out)
    out = Array("out", tuple(x.size for x in body.axes), "float32")
    found = fused([first, Statement(out, body, "scale")], [out])
    assert [s.out for s in found] == ([first.out, out] if stored else [out])


@pytest.mark.parametrize("vectors", [1, 3])
def test_a_few_operations_are_done_again_unless_they_read_vectors_besides(vectors):
    """A row of a layer norm, of which others want the sum and each element."""
    x, made = Array("x", (64, 256), "float32"), Array("made", (64, 256), "float32")
    scale, shift = (Array(name, (256,), "float32") for name in ("scale", "shift"))
    row, column = axes = axis(64), axis(256)
    value = (x[row, column] - 0.5) * 2.0
    value = value * scale[column] + shift[column] if vectors == 3 else value * 3.0 + 1.0
    first = Statement(made, Map(axes, value), "layer_norm")
    r, c, k = axis(64), axis(256), axis(256)
    total = Statement(Array("total", (64,), "float32"), Map((r,), sum(made[r, k], k)), "sum")
    r = axis(64)
    out = Array("out", (64, 256), "float32")
    last = Statement(out, Map((r, c), made[r, c] / total.out[r]), "divide")
    with observed() as decisions:
        found = [s.out.name for s in fused([first, total, last], [out])]
    assert ("made" in found) == (vectors == 3)
    why = {d.why for d in decisions() if d.array == "made"}
    assert any(x.startswith("4 operations on 3 vectors") for x in why) == (vectors == 3)
