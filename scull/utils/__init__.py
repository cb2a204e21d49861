"""What programs around scull use: unique names, nested structures, exchange of memory."""

import importlib
from typing import Any

import numpy as np

from scull.core.absent import absent
from scull.core.op import op_of
from scull.core.tensor import Tensor
from scull.utils import dlpack, layers_utils, unique_name
from scull.utils.deprecation import deprecated, require_version
from scull.utils.layers_utils import (
    assert_same_structure,
    convert_to_list,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
    to_sequence,
)


def try_import(module_name: str, err_msg: str | None = None) -> Any:
    """A module that may not be installed; the error says how to get it.

    Args:
        module_name (str): its name.
        err_msg (str, optional): what to say instead when it is missing.

    Examples:
        >>> import scull as paddle
        >>> paddle.utils.try_import("math").pi > 3.1
        True
    """
    try:
        return importlib.import_module(module_name)
    except ImportError:
        name = module_name.partition(".")[0]
        raise ImportError(
            err_msg
            or f"Failed importing {module_name}. This likely means that some paddle modules "
            "require additional dependencies that have to be manually installed (usually with "
            f"`pip install {name}`). "
        ) from None


def run_check() -> None:
    """Multiply two matrices, differentiate, and say that scull works here."""
    x = Tensor(np.ones((2, 3), "float32"), stop_gradient=False)
    y = op_of("matmul_v2").call(x, Tensor(np.ones((3, 2), "float32")))
    op_of("mean").call(y).backward()
    assert y.numpy().tolist() == [[3.0, 3.0], [3.0, 3.0]] and x.grad.numpy().tolist()[0][0] == 0.5
    print("Running verify PaddlePaddle program ... \nscull works well on 1 CPU.")


__getattr__ = absent(
    __name__,
    {
        "Python's own `ast` is used": "gast",
        "operators are written in Python, nothing is compiled with a C++ compiler": "cpp_extension",
        "nothing is downloaded": "download image_util",
        "operators are not counted": "flops op_version",
    },
)

__all__ = [
    "assert_same_structure",
    "convert_to_list",
    "deprecated",
    "dlpack",
    "flatten",
    "is_sequence",
    "layers_utils",
    "map_structure",
    "pack_sequence_as",
    "require_version",
    "run_check",
    "to_sequence",
    "try_import",
    "unique_name",
]
