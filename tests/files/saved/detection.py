"""Heads of networks that find things in pictures."""

import numpy as np

from tests.files.saved.framework import InputSpec, paddle
from tests.files.saved.layers import called, made
from tests.files.saved.values import uniform

ops = paddle.vision.ops


def boxes(name, count):
    """Corners of rectangles within 8 by 8."""
    first = uniform(f"{name}.first", (count, 2), 0, 4)
    return np.concatenate([first, first + uniform(f"{name}.size", (count, 2), 1, 4)], 1)


def yolo():
    def forward(self, x, size):
        return ops.yolo_box(x, size, [10, 13, 16, 30], 3, 0.01, 8)

    layer = called(forward)
    specs = [InputSpec([None, 16, 4, 4], "float32", "x"), InputSpec([None, 2], "int32", "size")]
    return layer, specs, [uniform("yolo", (2, 16, 4, 4)), np.array([[32, 32], [40, 24]], "int32")]


def priors():
    def forward(self, x, image):
        found = ops.prior_box(x, image, [2.0, 4.0], [5.0, 8.0], [2.0], flip=True, clip=True)
        return tuple(found)

    return made("priors", called(forward), (1, 3, 4, 4), (1, 3, 32, 32))


def regions():
    def forward(self, x, found, counts):
        return (
            ops.roi_align(x, found, counts, 3, spatial_scale=0.5),
            ops.roi_pool(x, found, counts, 2),
        )

    layer = called(forward)
    specs = [
        InputSpec([None, 3, 8, 8], "float32", "x"),
        InputSpec([None, 4], "float32", "found"),
        InputSpec([None], "int32", "counts"),
    ]
    return layer, specs, [uniform("regions", (2, 3, 8, 8)), boxes("regions", 3), np.int32([1, 2])]


def coder():
    def forward(self, prior, target):
        return ops.box_coder(prior, [0.1, 0.1, 0.2, 0.2], target, "encode_center_size")

    layer = called(forward)
    specs = [InputSpec([None, 4], "float32", name) for name in ("prior", "target")]
    return layer, specs, [boxes("coder.prior", 4), boxes("coder.target", 3)]


def deformed():
    def forward(self, x, offset):
        return self.convolution(x, offset)

    layer = called(forward, convolution=ops.DeformConv2D(2, 3, 3, padding=1))
    return made("deformed", layer, (1, 2, 5, 5), (1, 18, 5, 5))


def suppressed():
    def forward(self, found, scores):
        return ops.nms(found, 0.3, scores)

    layer = called(forward)
    specs = [InputSpec([None, 4], "float32", "found"), InputSpec([None], "float32", "scores")]
    return layer, specs, [boxes("suppressed", 6), uniform("suppressed.scores", (6,), 0, 1)]


def lowered():
    def forward(self, found, scores):
        plain = ops.matrix_nms(found, scores, 0.3, 0.1, 12, 9, return_index=True)
        options = {"use_gaussian": True, "background_label": -1, "normalized": False}
        return plain[:2] + ops.matrix_nms(found, scores, 0.2, 0.2, -1, -1, **options)[:2]

    specs = [InputSpec([None, 15, 4], "float32", "found")]
    specs.append(InputSpec([None, 3, 15], "float32", "scores"))
    arrays = [boxes("lowered", 30).reshape(2, 15, 4), uniform("lowered.scores", (2, 3, 15), 0, 1)]
    return called(forward), specs, arrays


def proposed():
    def forward(self, scores, deltas, sizes, anchors, variances):
        given = scores, deltas, sizes, anchors, variances
        rois, chances, counts = ops.generate_proposals(
            *given, 40, 10, 0.5, 1.5, pixel_offset=True, return_rois_num=True
        )
        levels, places, shares = ops.distribute_fpn_proposals(rois, 2, 4, 3, 4, rois_num=counts)
        return (chances, counts, *levels, places, *shares)

    anchors = boxes("proposed", 60).reshape(4, 5, 3, 4)
    arrays = [uniform("proposed.scores", (2, 3, 4, 5), 0, 1), uniform("proposed", (2, 12, 4, 5))]
    arrays += [np.float32([[8, 8], [6, 7]]), anchors, np.full_like(anchors, 0.5)]
    names = "scores", "deltas", "sizes", "anchors", "variances"
    pairs = zip(names, arrays, strict=True)
    return called(forward), [InputSpec(list(v.shape), "float32", n) for n, v in pairs], arrays


CASES = (yolo, priors, regions, coder, deformed, suppressed, lowered, proposed)
