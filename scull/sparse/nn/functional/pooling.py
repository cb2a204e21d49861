"""Windows of sparse solids made one element."""

from typing import Any

import numpy as np

from scull.errors import AssertError, UnsupportedError
from scull.nn.functional.window import pair
from scull.sparse.nn.functional.conv import check_image, even
from scull.sparse.nn.functional.rule import reaching
from scull.sparse.place import coordinates, picked, pooled
from scull.sparse.tensor import CooTensor, coo, refuse_static


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The greatest stored element of every window that meets any; others do not count as 0.

    Args:
        x (Tensor): sparse, in coordinates of solid, layer, row and column, with the channels as
            the dense axis behind: ``[solids, layers, rows, columns, channels]``.
        kernel_size (int | list[int]): the size of a window.
        stride (int | list[int], optional): how far apart windows lie; as far as they are long when
            None.
        padding (int | str | list): the border around the solids: one number an axis, or "VALID".
        ceil_mode (bool): False: windows lie within the border.
        data_format (str): "NDHWC".
        name (str, optional): not used.

    Returns:
        Tensor: sparse, in rising coordinates, with the channels as the dense axis. Each of several
        greatest elements has the whole gradient.

    Raises:
        AssertError: `x` is not in coordinates, or `data_format` another.
        ShapeError: `x` has other axes, or no window fits.
        UnsupportedError: `ceil_mode`, or the padding is not the same on both sides.

    Examples:
        >>> import scull as paddle
        >>> places = [[0, 0], [1, 1], [1, 1], [0, 1]]
        >>> x = paddle.sparse.sparse_coo_tensor(places, [[-2.0], [-3.0]], [1, 4, 4, 4, 1])
        >>> y = paddle.sparse.nn.functional.max_pool3d(x, 2)
        >>> y.shape, y.values().tolist()
        ([1, 2, 2, 2, 1], [[-2.0]])
    """
    refuse_static(x)
    if not isinstance(x, CooTensor):
        raise AssertError("sparse.max_pool3d takes a SparseCooTensor")
    if data_format != "NDHWC":
        raise AssertError(f"sparse.max_pool3d takes data_format 'NDHWC', not {data_format!r}")
    check_image(x, 3, data_format, "max_pool3d")
    if ceil_mode:
        raise UnsupportedError("Paddle's sparse max_pool3d does without ceil_mode, though it asks")
    kernel = pair(kernel_size, "pool_size", 3)
    steps = kernel if stride is None else pair(stride, "pool_stride", 3)
    how = kernel, steps, even(padding, 3), (1, 1, 1)
    rules, every, counts = reaching(x.places, x.sizes[:-1], *how)
    sources, targets = map(np.concatenate, (rules.sources, rules.targets))
    order = targets.argsort(kind="stable")
    held = pooled(picked(x.held, sources[order]), targets[order], "MAX")
    sizes = (x.sizes[0], *counts)
    return coo(coordinates(every, sizes, x.places.dtype), held, (*sizes, x.sizes[-1]))
