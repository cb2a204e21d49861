"""What programs around scull use: unique names, nested structures, exchange of memory."""

import importlib
from typing import Any

import numpy as np

from scull.core.absent import absent
from scull.core.door import doors
from scull.core.op import op_of
from scull.core.tensor import Tensor
from scull.ir.variable import Variable
from scull.utils import cpp_extension, dlpack, download, layers_utils, unique_name
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


def try_set_static_shape_tensor(tensor: Any, shape: Any) -> None:
    """Let a Variable have the sizes that are known of a shape that operators compute.

    Args:
        tensor (Variable): made of `shape`; its sizes may be unknown.
        shape (Variable): what `paddle.shape` gave.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     sizes = paddle.shape(paddle.static.data("x", [-1, 2]))
        ...     y = paddle.uniform(sizes)
        ...     paddle.utils.try_set_static_shape_tensor(y, sizes)
        >>> y.shape
        (-1, 2)
        >>> paddle.disable_static()
    """
    maker = getattr(shape, "op", None)
    if isinstance(tensor, Variable) and -1 in tensor.shape and maker and maker.type == "shape":
        tensor.shape = maker.operands()[0].shape


__getattr__ = absent(
    __name__,
    {
        "nothing is downloaded": "image_util",
        "operators have one version": "op_version",
    },
)

doors(__name__, "flops", "scull.profiler.flops")

__all__ = [
    "assert_same_structure",
    "convert_to_list",
    "cpp_extension",
    "deprecated",
    "dlpack",
    "download",
    "flatten",
    "is_sequence",
    "layers_utils",
    "map_structure",
    "pack_sequence_as",
    "require_version",
    "run_check",
    "to_sequence",
    "try_import",
    "try_set_static_shape_tensor",
    "unique_name",
]
