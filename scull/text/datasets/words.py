"""Words and their numbers."""

import numpy as np

UNKNOWN = "<unk>"


def numbered(words):
    """Words with their numbers in order, from 0 on."""
    return {word: number for number, word in enumerate(words)}


def by_frequency(counts, least):
    """The words that occur more than `least` times, frequent ones first, then all others as one."""
    kept = [word for word, count in counts.items() if count > least]
    kept.sort(key=lambda word: (-counts[word], word if isinstance(word, bytes) else word.encode()))
    return numbered(kept) | {UNKNOWN: len(kept)}


def reversed_if(reverse, words):
    """Words by their numbers, or the numbers of words."""
    return {number: word for word, number in words.items()} if reverse else words


def arrays(*rows):
    """Rows of numbers as arrays."""
    return tuple(np.array(row) for row in rows)
