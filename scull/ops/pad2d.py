"""Images made larger at their edges, as older Programs spell it."""

from typing import Any

from scull.core.attribute import Ints
from scull.core.eager import composite
from scull.errors import ArgumentError, ShapeError
from scull.ops.join import concat
from scull.ops.like import full_like, squeeze, unsqueeze
from scull.ops.pad3d import fold_pad3d, pad3d
from scull.ops.slicing import slice

MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}
VOLUMES = {"NCHW": ("NCDHW", 2), "NHWC": ("NDHWC", 1)}  # with a depth of 1, and where it stands


def volume(x: Any, tensor: Any, paddings: Any, mode: str, data_format: str) -> dict[str, Any]:
    """How the volumes are padded that images are."""
    if len(x.shape) != 4:
        raise ShapeError(f"images have 4 axes, not {len(x.shape)}")
    if mode not in MODES:
        raise ArgumentError(f"mode is {mode!r}, not constant, reflect or edge")
    if data_format not in VOLUMES:
        raise ArgumentError(f"data_format is {data_format!r}, not NCHW or NHWC")
    if tensor is None and len(paddings) != 4:
        raise ArgumentError(f"two axes need 4 paddings, not {len(paddings)}")
    found = (*paddings[2:], *paddings[:2], 0, 0) if tensor is None else ()
    return {"paddings": found, "mode": MODES[mode], "data_format": VOLUMES[data_format][0]}


def in_order(tensor: Any) -> Any:
    """Paddings of rows and columns as those of columns, rows and depth."""
    if tensor is None:
        return None
    rows, columns = (slice(tensor, axes=(0,), starts=(i,), ends=(i + 2,)) for i in (0, 2))
    return concat([columns, rows, full_like(rows, value=0.0)])


@composite(
    enlarges=("paddings",),
    slots={"paddings_tensor": "Paddings"},
    fixed={"use_mkldnn": False},
    printed=("use_mkldnn",),
)
def pad2d(
    x,
    paddings_tensor=None,
    *,
    paddings: Ints,
    pad_value: float = 0.0,
    mode: str = "constant",
    data_format: str = "NCHW",
):
    """`x` with rows above and below, and columns left and right, of its images."""
    how = volume(x, paddings_tensor, paddings, mode, data_format)
    axes = VOLUMES[data_format][1:]
    found = pad3d(unsqueeze(x, axes=axes), in_order(paddings_tensor), value=pad_value, **how)
    return squeeze(found, axes=axes)


@pad2d.grad("x")
def pad2d_grad(
    x: Any, paddings_tensor: Any, dout: Any, paddings: Any, mode: str, data_format: str
) -> Any:
    how = volume(x, paddings_tensor, paddings, mode, data_format)
    axes = VOLUMES[data_format][1:]
    dvolume = unsqueeze(dout, axes=axes)
    found = fold_pad3d(dvolume, unsqueeze(x, axes=axes), in_order(paddings_tensor), **how)
    return squeeze(found, axes=axes)
