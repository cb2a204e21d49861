"""Philox4x64-10 (Salmon et al., SC 2011): the random words of a key, for any kind of words.

The words come in blocks of four; the first block is that of counter 1.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from scull.lang.expression import Expression, cast, constant
from scull.lang.function import equal, multiply_high, select

Word = TypeVar("Word")

MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS = 10


def block_of(
    counter: Word,
    zero: Word,
    keys: Sequence[tuple[Word, Word]],
    product: Callable[[Word, int], tuple[Word, Word]],
    exclusive: Callable[[Word, Word], Word],
) -> tuple[Word, Word, Word, Word]:
    """The four words of a counter, whose upper words are `zero`, from the keys of all rounds.

    `product` gives the upper and the lower half of a word times a number, `exclusive` the bits
    that are set in one of two words alone.
    """
    a, b, c, d = counter, zero, zero, zero
    for first, second in keys:
        high0, low0 = product(a, MULTIPLIERS[0])
        high1, low1 = product(c, MULTIPLIERS[1])
        a, b = exclusive(exclusive(high1, b), first), low1
        c, d = exclusive(exclusive(high0, d), second), low0
    return a, b, c, d


def round_keys(key0: Expression, key1: Expression) -> list[tuple[Expression, Expression]]:
    """The two keys of every round."""
    whole = 1 << 64
    steps = [[constant(n * step % whole, "uint64") for step in WEYL] for n in range(ROUNDS)]
    return [(key0 + first, key1 + second) for first, second in steps]


def random_half_of(key0: Expression, key1: Expression, place: Expression) -> Expression:
    """Half a word by operations on words."""
    word = random_bits_of(key0, key1, place >> 1)
    return cast(word >> cast((place & 1) << 5, "uint64"), "uint32")


def random_bits_of(key0: Expression, key1: Expression, place: Expression) -> Expression:
    """One word by operations on words."""

    def product(x: Expression, number: int) -> tuple[Expression, Expression]:
        return multiply_high(x, number), x * number

    counter, zero = cast((place >> 2) + 1, "uint64"), constant(0, "uint64")
    keys = round_keys(key0, key1)
    a, b, c, d = block_of(counter, zero, keys, product, lambda x, y: x ^ y)
    word = place & 3
    upper = select(equal(word, 2), c, d)
    return select(equal(word, 0), a, select(equal(word, 1), b, upper))
