"""Philox4x64-10: random words from a key and a counter."""

from scull.lang.expression import Expression, constant
from scull.lang.function import equal, multiply_high, select

MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS = 10


def random_bits_of(
    key0: Expression,
    key1: Expression,
    c0: Expression,
    c1: Expression,
    c2: Expression,
    c3: Expression,
    word: Expression,
) -> Expression:
    """Word 0 to 3 of the block that a key and a counter give."""
    first, second = (constant(each, "uint64") for each in MULTIPLIERS)
    for number in range(ROUNDS):
        if number:
            key0, key1 = key0 + STEPS[0], key1 + STEPS[1]
        high0, low0 = multiply_high(first, c0), first * c0
        high1, low1 = multiply_high(second, c2), second * c2
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
    upper = select(equal(word, 2), c2, c3)
    return select(equal(word, 0), c0, select(equal(word, 1), c1, upper))
