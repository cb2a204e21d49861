"""Sequences of words and tags."""

from scull.text.decoding import ViterbiDecoder, viterbi_decode

__all__ = ["ViterbiDecoder", "viterbi_decode"]
