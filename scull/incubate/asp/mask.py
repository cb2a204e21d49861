"""Masks of n:m sparsity: of every m neighbours in an array, n are zero."""

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scull.errors import ArgumentError, AssertError

Array = NDArray[Any]


class MaskAlgo(Enum):
    """How a mask is made.

    `MASK_1D` keeps the largest of each row's groups; the other two look at blocks of m x m:
    `MASK_2D_GREEDY` keeps the largest first, `MASK_2D_BEST` the mask whose sum is the largest.
    """

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(Enum):
    """How an array is checked: `CHECK_1D` by groups of rows, `CHECK_2D` by blocks of m x m."""

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: Any) -> "CheckMethod":
        """What checks the masks of an algorithm.

        Args:
            mask_algo (MaskAlgo): the algorithm.

        Raises:
            AssertError: it is none.

        Examples:
            >>> CheckMethod.get_checking_method(MaskAlgo.MASK_2D_BEST).name
            'CHECK_2D'
        """
        if not isinstance(mask_algo, MaskAlgo):
            raise AssertError("mask_algo should be MaskAlgo type")
        one = mask_algo is MaskAlgo.MASK_1D
        return CheckMethod.CHECK_1D if one else CheckMethod.CHECK_2D


def calculate_density(x: Any) -> float:
    """The share of elements that are not zero.

    Args:
        x (ndarray): of any shape and dtype; a Tensor is taken, too.

    Examples:
        >>> import numpy as np
        >>> calculate_density(np.array([[0, 1, 3, 0], [1, 1, 0, 1]]))
        0.625
    """
    flat = np.asarray(x).reshape(-1)
    return float(np.count_nonzero(flat)) / flat.size


def grouped(mat: Array, m: int) -> Array:
    """The rows of a matrix in groups of `m`, one a row; zeros fill the last of each."""
    return np.pad(mat, ((0, 0), (0, -mat.shape[1] % m))).reshape(-1, m)


def ungrouped(groups: Array, mat: Array) -> Array:
    """The matrix whose groups these are, without what filled them."""
    rows, columns = mat.shape
    return groups.reshape(rows, columns + -columns % groups.shape[1])[:, :columns]


def blocks(mat: Array, m: int) -> Array:
    """The blocks of m x m of a matrix [count, m, m], row by row; zeros fill the last ones."""
    full = np.pad(mat, ((0, -mat.shape[0] % m), (0, -mat.shape[1] % m)))
    rows, columns = (n // m for n in full.shape)
    return full.reshape(rows, m, columns, m).swapaxes(1, 2).reshape(-1, m, m)


def unblocked(parts: Array, mat: Array) -> Array:
    """The matrix whose blocks these are, without what filled them."""
    m = parts.shape[-1]
    rows, columns = (-(-n // m) for n in mat.shape)
    full = parts.reshape(rows, columns, m, m).swapaxes(1, 2).reshape(rows * m, columns * m)
    return full[: mat.shape[0], : mat.shape[1]]


def check_mask_1d(mat: Array, n: int, m: int) -> bool:
    """Whether each row has `n` zeros at least among every `m` neighbours.

    Args:
        mat (ndarray): a matrix, or one row of it; zeros fill its last groups.
        n (int): how many are zero.
        m (int): of how many.

    Raises:
        AssertError: `mat` has more than two axes.

    Examples:
        >>> import numpy as np
        >>> check_mask_1d(np.array([[0, 1, 3, 0], [1, 0, 0, 1]]), 2, 4)
        True
    """
    rows = mat.reshape(1, -1) if mat.ndim <= 1 else matrix(mat)
    return bool(((grouped(rows, m) != 0).sum(axis=1) <= m - n).all())


def check_mask_2d(mat: Array, n: int, m: int) -> bool:
    """Whether in each block of m x m all rows, or all columns, have `n` zeros at least.

    As in Paddle one of the two is enough; a mask of two dimensions has both.

    Args:
        mat (ndarray): a matrix; zeros fill its last blocks.
        n (int): how many are zero.
        m (int): of how many.

    Raises:
        AssertError: `mat` is no matrix.

    Examples:
        >>> import numpy as np
        >>> check_mask_2d(np.array([[0, 8, 9, 0], [9, 0, 0, 10]]), 2, 4)
        True
    """
    kept = blocks(matrix(mat), m) != 0
    columns, rows = ((kept.sum(axis=i) <= m - n).all(axis=1) for i in (1, 2))
    return bool((columns | rows).all())


def get_mask_1d(mat: Array, n: int, m: int) -> Array:
    """A mask that takes the `n` smallest magnitudes out of every `m` neighbours in a row.

    Args:
        mat (ndarray): a matrix; zeros fill the last group of each row.
        n (int): how many are taken out.
        m (int): of how many.

    Returns:
        ndarray: 0 and 1, of the shape and dtype of `mat`; of equal ones the first are taken out.

    Raises:
        AssertError: `mat` is no matrix.

    Examples:
        >>> import numpy as np
        >>> get_mask_1d(np.array([[0, 1, 5, 4], [2, 7, 3, 6]]), 2, 4)
        array([[0, 0, 1, 1],
               [0, 1, 0, 1]])
    """
    groups = grouped(matrix(mat), m)
    mask = np.ones_like(groups)
    least = np.argsort(np.abs(groups), axis=1, kind="stable")[:, :n]
    np.put_along_axis(mask, least, 0, axis=1)
    return ungrouped(mask, mat)


def get_mask_2d_greedy(mat: Array, n: int, m: int) -> Array:
    """A mask that keeps `n` of every row and column of blocks of m x m, the largest first.

    A magnitude is kept unless its row or its column has `n` already. Paddle counts here what is
    kept, and in `get_mask_1d` what is not: where `n` is half of `m`, these are the same.

    Args:
        mat (ndarray): a matrix; zeros fill its last blocks.
        n (int): how many are kept.
        m (int): of how many.

    Returns:
        ndarray: float64 0 and 1, of the shape of `mat`.

    Raises:
        AssertError: `mat` is no matrix.

    Examples:
        >>> import numpy as np
        >>> get_mask_2d_greedy(np.array([[9, 8, 3, 7], [9, 2, 1, 10]]), 2, 4)
        array([[1., 1., 0., 0.],
               [1., 0., 0., 1.]])
    """
    parts = blocks(matrix(mat), m)
    mask = np.zeros(parts.shape)
    order = np.argsort(np.abs(parts).reshape(-1, m * m), axis=1, kind="stable")[:, ::-1]
    for block, places in zip(mask, order, strict=True):
        for i, j in zip(*np.unravel_index(places, (m, m)), strict=True):
            block[i, j] = block[i].sum() < n and block[:, j].sum() < n
    return unblocked(mask, mat)


@lru_cache
def patterns(n: int, m: int) -> Array:
    """The masks of m x m with `n` ones in every row and column [count, m, m].

    They come in the order of a set, as in Paddle, where the first of several that are as good
    is taken; no row occurs more than twice.
    """
    rows = list({*permutations([1] * n + [0] * (m - n))})
    found = [p for p in {*permutations(rows * 2, m)} if {*map(sum, zip(*p, strict=True))} == {n}]
    return np.array(found, "float64")


def get_mask_2d_best(mat: Array, n: int, m: int) -> Array:
    """A mask that keeps `n` of every row and column of blocks of m x m: the largest sum of all.

    As in Paddle it is the sum of the elements with their signs: give magnitudes where the signs
    shall not count. `n` is the number of those that are kept.

    Args:
        mat (ndarray): a matrix; zeros fill its last blocks.
        n (int): how many are kept.
        m (int): of how many; all masks are tried, which takes long for more than 4.

    Returns:
        ndarray: float64 0 and 1, of the shape of `mat`.

    Raises:
        ArgumentError: there is no such mask, as for `n` of 0 or `m`.
        AssertError: `mat` is no matrix.

    Examples:
        >>> import numpy as np
        >>> mat = np.array([[2, 8, 9, 9], [9, 1, 3, 9], [5, 6, 3, 9], [2, 4, 6, 9]])
        >>> float((mat * get_mask_2d_best(mat, 2, 4)).sum())
        61.0
        >>> float((mat * get_mask_2d_greedy(mat, 2, 4)).sum())
        56.0
    """
    matrix(mat)
    if not 0 < n < m:
        raise ArgumentError(f"{n}:{m} is no pattern: `n` lies between 0 and `m`")
    known = patterns(n, m)
    parts = blocks(mat, m).reshape(-1, m * m)
    return unblocked(known[np.argmax(parts @ known.reshape(-1, m * m).T, axis=1)], mat)


MASKS: dict[MaskAlgo, Callable[[Array, int, int], Array]] = {
    MaskAlgo.MASK_1D: get_mask_1d,
    MaskAlgo.MASK_2D_GREEDY: get_mask_2d_greedy,
    MaskAlgo.MASK_2D_BEST: get_mask_2d_best,
}
CHECKS: dict[CheckMethod, Callable[[Array, int, int], bool]] = {
    CheckMethod.CHECK_1D: check_mask_1d,
    CheckMethod.CHECK_2D: check_mask_2d,
}


def matrix(mat: Array) -> Array:
    """`mat`, which has two axes."""
    if mat.ndim != 2:
        raise AssertError("The input mat should be a 2D matrix!")
    return mat


def create_mask(
    tensor: Any, func_name: MaskAlgo = MaskAlgo.MASK_1D, n: int = 2, m: int = 4
) -> Array:
    """A mask of `n`:`m` sparsity along the last axis; of four axes along the third.

    Args:
        tensor (ndarray): of one to four axes; a Tensor is taken, too.
        func_name (MaskAlgo): how it is made.
        n (int): how many are zero; how many are kept where blocks are looked at.
        m (int): of how many.

    Returns:
        ndarray: 0 and 1, of the shape and dtype of `tensor`.

    Raises:
        ArgumentError: `tensor` has no or more than four axes.
        AssertError: `func_name` is no `MaskAlgo`.

    Examples:
        >>> import numpy as np
        >>> create_mask(np.array([[2, 8, 9, 9], [9, 1, 3, 9]]))
        array([[0, 0, 1, 1],
               [1, 0, 0, 1]])
    """
    if not isinstance(func_name, MaskAlgo):
        raise AssertError(f"func_name of create_mask is a MaskAlgo, not {type(func_name)}")
    array = np.asarray(tensor)
    flat, moved = flattened(array)
    mask = MASKS[func_name](flat, n, m).reshape(moved).astype(array.dtype)
    return mask.swapaxes(2, 3) if array.ndim == 4 else mask


def check_sparsity(
    tensor: Any, func_name: CheckMethod = CheckMethod.CHECK_1D, n: int = 2, m: int = 4
) -> bool:
    """Whether an array has `n`:`m` sparsity along the axis of which `create_mask` makes masks.

    Args:
        tensor (ndarray): of one to four axes; a Tensor is taken, too.
        func_name (CheckMethod): how it is checked.
        n (int): how many are zero.
        m (int): of how many.

    Raises:
        ArgumentError: `tensor` has no or more than four axes.
        AssertError: `func_name` is no `CheckMethod`.

    Examples:
        >>> import numpy as np
        >>> check_sparsity(np.array([[0.0, 2.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]))
        False
    """
    if not isinstance(func_name, CheckMethod):
        raise AssertError(f"func_name of check_sparsity is a CheckMethod, not {type(func_name)}")
    return CHECKS[func_name](flattened(np.asarray(tensor))[0], n, m)


def flattened(array: Array) -> tuple[Array, tuple[int, ...]]:
    """An array as a matrix, and the shape of which that is: the last two of four axes swapped."""
    if not 1 <= array.ndim <= 4:
        raise ArgumentError(f"arrays of one to four axes have masks, not of {array.ndim}")
    moved = array.swapaxes(2, 3) if array.ndim == 4 else array
    return moved.reshape(-1, moved.shape[-1]), moved.shape
