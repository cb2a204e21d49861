"""Decoding step by step."""

from itertools import product

import numpy as np
import pytest

import scull as paddle
from scull.errors import UnsupportedError
from scull.nn.decode import Decoder

TABLE = np.random.default_rng(5).standard_normal((5, 5)).astype("float32")


class Table(paddle.nn.Layer):
    """The scores of the next token depend on the last one alone."""

    def forward(self, tokens, states):
        return paddle.to_tensor(TABLE)[tokens], states + 1


def decoded(beams, steps):
    decoder = paddle.nn.BeamSearchDecoder(Table(), 0, 4, beams)
    return paddle.nn.dynamic_decode(decoder, paddle.zeros([1, 2]), steps - 1, return_length=True)


def test_many_beams_find_the_most_likely_sequence():
    chances = TABLE - np.log(np.exp(TABLE).sum(1, keepdims=True))

    def likely(path):
        total, last = 0.0, 0
        for token in path:
            if last == 4:
                return total if set(path[path.index(4) :]) == {4} else -np.inf
            total, last = total + chances[last, token], token
        return total

    best = max(product(range(5), repeat=3), key=likely)
    tokens, states, _ = decoded(25, 3)
    assert tuple(tokens[0, :, 0].tolist()) == best
    assert abs(states.log_probs[0, 0].item() - likely(best)) < 1e-5


def test_lengths_count_the_tokens_up_to_the_end():
    tokens, states, lengths = decoded(5, 4)
    for beam in range(5):
        path = tokens[0, :, beam].tolist()
        assert lengths[0, beam].item() == (path.index(4) + 1 if 4 in path else 4)
    assert states.cell_states.tolist() == [[[4.0, 4.0]] * 5]


class Counting(Decoder):
    """Row i is finished at step i."""

    def initialize(self, inits):
        return inits, inits, paddle.zeros([3], "bool")

    def step(self, time, inputs, states, **kwargs):
        return inputs, states + 1, inputs, paddle.arange(3) <= time


def test_a_decoder_of_ones_own_keeps_what_is_finished():
    start = paddle.zeros([3, 2])
    outputs, states, lengths = paddle.nn.dynamic_decode(
        Counting(), start, impute_finished=True, return_length=True
    )
    assert outputs.shape == [3, 3, 2]
    assert lengths.tolist() == [1, 2, 3]
    assert states[:, 0].tolist() == [0.0, 1.0, 2.0]


def test_a_program_does_not_decode():
    paddle.enable_static()
    try:
        with pytest.raises(UnsupportedError, match="eager mode only"):
            paddle.nn.dynamic_decode(Counting())
    finally:
        paddle.disable_static()
