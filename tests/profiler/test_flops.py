"""Counts of operations, told by shapes."""

import pytest

from scull.profiler.flops import flops

CONVOLUTION = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1}


@pytest.mark.parametrize(
    ("kind", "shapes", "attributes", "count"),
    [
        ("relu", {"X": [[12, 12]]}, {}, 144),
        ("gelu", {"X": [[12, 12]]}, {}, 5 * 144),
        ("softmax", {"x": [[12, 12]]}, {}, 3 * 144),
        ("layer_norm", {"X": [[4, 5]], "Scale": [[5]]}, {"epsilon": 0.1}, 160),
        ("layer_norm", {"X": [[4, 5]]}, {"epsilon": 0.0}, 140),
        ("elementwise_add", {"X": [[12, 12, 12]], "Y": [[2, 2, 12]]}, {}, 12**3),
        ("add", {"x": [[3, 1]], "y": [[4]]}, {}, 12),
        ("matmul", {"X": [[2, 3]], "Y": [[3, 4]]}, {}, 48),
        ("matmul_v2", {"X": [[3, 12, 8]], "Y": [[12, 8]]}, {"trans_y": True}, 2 * 3 * 12 * 8 * 12),
        ("matmul", {"X": [[8, 2]], "Y": [[8, 5]]}, {"transpose_X": True}, 160),
        ("linear", {"x": [[7, 2]], "weight": [[2, 3]], "bias": [[3]]}, {}, 84 + 21),
        ("linear", {"x": [[7, 2]], "weight": [[2, 3]]}, {}, 84),
        ("mul", {"X": [[2, 3, 4]], "Y": [[12, 5]]}, {"y_num_col_dims": 1}, 240),
        ("conv2d", {"Input": [[8, 3, 4, 4]], "Filter": [[3, 3, 2, 2]]}, CONVOLUTION, 14400),
        (
            "conv2d",
            {"Input": [[8, 3, 4, 4]], "Filter": [[3, 3, 2, 2]], "Bias": [[3]]},
            CONVOLUTION,
            14400 + 3 * 8 * 25,
        ),
        (
            "conv2d",
            {"input": [[1, 4, 4, 2]], "filter": [[2, 1, 3, 3]]},
            {
                "strides": [2, 2],
                "paddings": [0, 1, 1, 0],
                "dilations": [1, 1],
                "groups": 2,
                "data_format": "NHWC",
            },
            2 * 4 * 9 * 2,
        ),
        (
            "conv2d",
            {"input": [[1, 1, 5, 5]], "filter": [[1, 1, 3, 3]]},
            {**CONVOLUTION, "strides": [2, 2], "padding_algorithm": "SAME"},
            2 * 9 * 9,
        ),
        (
            "conv2d",
            {"input": [[1, 1, 5, 5]], "filter": [[1, 1, 3, 3]]},
            {**CONVOLUTION, "padding_algorithm": "VALID"},
            2 * 9 * 9,
        ),
    ],
)
def test_an_operator_takes_so_many_operations(kind, shapes, attributes, count):
    assert flops(kind, shapes, attributes) == count


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [("relu", {}), ("matmul", {"X": [[3]]}), ("reshape2", {"X": [[3]]}), ("unheard_of", {})],
)
def test_what_cannot_be_counted_counts_as_nothing(kind, shapes):
    assert flops(kind, shapes, {}) == 0
