"""One tensor, or some rows of one, in a file of its own: the form of Paddle's own operators."""

from io import BytesIO
from pathlib import Path

import numpy as np

from scull.core.tensor import Rows
from scull.errors import RunError
from scull.files.atomic import atomic_file
from scull.files.tensor_stream import read_rows, read_tensor
from scull.framework.storage import write_binary
from scull.runtime.scope import ScopeTensor
from scull.runtime.selected_rows import SelectedRows


def save_lod_tensor(tensor: ScopeTensor | SelectedRows, file_name: str) -> int:
    """Write a tensor to a file; return how many bytes that took.

    Args:
        tensor (LoDTensor): what is written.
        file_name (str): where.
    """
    if not Path(file_name).parent.is_dir():
        raise RunError(f"Cannot open {file_name} to save variables: its folder does not exist")
    stream = BytesIO()
    write_binary(tensor, stream)
    with atomic_file(file_name) as file:
        return int(file.write(stream.getvalue()))


save_selected_rows = save_lod_tensor


def opened(file_name: str) -> BytesIO:
    """The bytes of a file."""
    try:
        return BytesIO(Path(file_name).read_bytes())
    except OSError as error:
        raise RunError(f"Cannot open {file_name} to load variables: {error.strerror}") from None


def load_lod_tensor(tensor: ScopeTensor, file_name: str) -> int:
    """Fill a tensor from a file; return how many bytes that took.

    Args:
        tensor (LoDTensor): what is filled.
        file_name (str): what `save_lod_tensor` wrote.
    """
    stream = opened(file_name)
    found = read_tensor(stream)
    tensor.set(found.array)
    tensor.set_lod(found.lod)
    return stream.tell()


def load_selected_rows(rows: SelectedRows, file_name: str) -> int:
    """Fill some rows from a file; return how many bytes that took.

    Args:
        rows (SelectedRows): what is filled.
        file_name (str): what `save_selected_rows` wrote.
    """
    stream = opened(file_name)
    found = read_rows(stream)
    rows.cell.value = Rows(np.array(found.rows, "int64"), found.array, found.height)
    return stream.tell()
