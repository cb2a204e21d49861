"""Nested lists, tuples and dictionaries, walked as if they were flat; and attributes of layers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scull.errors import ArgumentError, ArgumentTypeError


def is_sequence(seq: Any) -> bool:
    """Whether `seq` is walked into: a dictionary, a list or a tuple."""
    return isinstance(seq, Mapping) or (isinstance(seq, Sequence) and not isinstance(seq, str))


def members(structure: Any) -> list[Any]:
    """What `structure` holds, a dictionary in the order of its keys."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    return list(structure)


def leaves(structure: Any) -> Iterator[Any]:
    """The values that are not walked into, from the first to the last."""
    for member in members(structure):
        if is_sequence(member):
            yield from leaves(member)
        else:
            yield member


def flatten(nest: Any) -> list[Any]:
    """The values of a nested structure in a list.

    Args:
        nest: lists, tuples and dictionaries within each other, or one value.

    Examples:
        >>> import scull as paddle
        >>> paddle.utils.flatten({"b": [1, 2], "a": (3,)})
        [3, 1, 2]
    """
    return list(leaves(nest)) if is_sequence(nest) else [nest]


def to_sequence(nest: Any) -> Any:
    """`nest`, in a list if it is one value."""
    return nest if is_sequence(nest) else [nest]


def like(structure: Any, values: list[Any]) -> Any:
    """A container as `structure` with other members."""
    if isinstance(structure, Mapping):
        found = dict(zip(sorted(structure), values, strict=True))
        return type(structure)((key, found[key]) for key in structure)  # type: ignore[call-arg]
    if hasattr(structure, "_fields"):
        return type(structure)(*values)
    return type(structure)(values)


def packed(structure: Any, values: Iterator[Any]) -> Any:
    """`structure` with its leaves taken from `values`."""
    return like(
        structure,
        [packed(m, values) if is_sequence(m) else next(values) for m in members(structure)],
    )


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """The values of a list in the form of `structure`, the contrary of `flatten`.

    Args:
        structure: the form.
        flat_sequence (list): the values.
    """
    if not is_sequence(flat_sequence):
        raise ArgumentTypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ArgumentError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ArgumentError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, "
            f"flat_sequence: {flat_sequence}."
        )
    return packed(structure, iter(flat_sequence))


def map_structure(func: Any, *structure: Any) -> Any:
    """`func` of the corresponding values of structures, in the form of the first.

    Args:
        func: takes one value of each structure.
        structure: nested structures of one form.

    Examples:
        >>> import scull as paddle
        >>> paddle.utils.map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)])
        [4, (6,)]
    """
    rows = zip(*map(flatten, structure), strict=False)
    return pack_sequence_as(structure[0], [func(*row) for row in rows])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Refuse structures of differing form.

    Args:
        nest1, nest2: nested structures.
        check_types (bool): whether containers are of one type, too.
    """
    first, second = len(flatten(nest1)), len(flatten(nest2))
    if is_sequence(nest1) != is_sequence(nest2) or first != second:
        raise ArgumentError(
            "The two structures don't have the same number of elements.\n\n"
            f"First structure ({first} elements): {nest1}\n\n"
            f"Second structure ({second} elements): {nest2}"
        )
    compare(nest1, nest2, check_types)


def compare(nest1: Any, nest2: Any, check_types: bool) -> None:
    """Refuse a difference at this level or below."""
    if is_sequence(nest1) != is_sequence(nest2):
        raise ArgumentError(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {nest1}\n\nSecond structure: {nest2}."
        )
    if not is_sequence(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise ArgumentTypeError(
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(nest1)}, while second structure has type {type(nest2)}."
        )
    if isinstance(nest1, Mapping) and set(nest1) != set(nest2):
        raise ArgumentError("The two dictionaries don't have the same set of keys.")
    for one, other in zip(members(nest1), members(nest2), strict=True):
        compare(one, other, check_types)


def convert_to_list(value: Any, n: int, name: str, dtype: Any = int) -> list[Any]:
    """`value` for each of `n` axes, or the `n` values given.

    Args:
        value: one of `dtype`, or `n` of them.
        n (int): how many.
        name (str): what an error calls it.
        dtype (type): of each.
    """
    if isinstance(value, dtype):
        return [value] * n
    try:
        values = list(value)
    except TypeError:
        raise ArgumentError(f"The {name}'s type must be list or tuple. Received: {value}") from None
    if len(values) != n:
        raise ArgumentError(f"The {name}'s length must be {n}. Received: {value}")
    for v in values:
        if not isinstance(v, dtype | np.integer if dtype is int else dtype):
            raise ArgumentError(f"The {name} must hold {dtype.__name__}, not {v!r}")
    return values


__all__ = [
    "assert_same_structure",
    "convert_to_list",
    "flatten",
    "is_sequence",
    "map_structure",
    "pack_sequence_as",
    "to_sequence",
]
