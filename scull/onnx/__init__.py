"""Networks as files of ONNX, which the package paddle2onnx writes."""

from typing import Any, NoReturn

from scull.errors import MissingModuleError


def export(
    layer: Any, path: str, input_spec: Any = None, opset_version: int = 9, **configs: Any
) -> NoReturn:
    """Refuse: files of ONNX are written by paddle2onnx, which works with PaddlePaddle.

    `paddle.jit.save` writes the files that paddle2onnx reads elsewhere.

    Args:
        layer (Layer): the network.
        path (str): where the file would be, without its suffix.
        input_spec (list, optional): what the network takes.
        opset_version (int): which operators of ONNX it would use.
        configs: what else paddle2onnx takes.

    Raises:
        MissingModuleError: always; it is an ImportError.

    Examples:
        >>> import scull as paddle
        >>> try:
        ...     paddle.onnx.export(paddle.nn.Linear(2, 2), "linear")
        ... except ImportError as error:
        ...     print(str(error)[:39])
        paddle.onnx.export needs paddle2onnx, w
    """
    raise MissingModuleError(
        "paddle.onnx.export needs paddle2onnx, which works with PaddlePaddle and is not there: "
        "write the network with paddle.jit.save, and let `paddle2onnx` make the file of these "
        "where PaddlePaddle is installed"
    )


__all__ = ["export"]
