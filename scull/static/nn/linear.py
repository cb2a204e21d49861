"""Layers that multiply by matrices, and tables of rows."""

import math
from typing import Any

from scull.errors import ArgumentError
from scull.static.layer_helper import LayerHelper
from scull.static.nn.operand import checked


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """A fully connected layer: the axes from `num_flatten_dims` on meet a matrix.

    The products of several inputs, in a list, are summed.

    Args:
        x (Variable | list): float tensors.
        size (int): how many outputs.
        num_flatten_dims (int): how many axes stay.
        weight_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.
        activation (str, optional): the type of an activation operator.
        name (str, optional): its name.

    Returns:
        Variable: of shape ``x.shape[:num_flatten_dims] + [size]``.
    """
    helper = LayerHelper(
        "fc", param_attr=weight_attr, bias_attr=bias_attr, act=activation, name=name
    )
    products = []
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    attrs = (
        list(weight_attr) if isinstance(weight_attr, list | tuple) else [weight_attr] * len(inputs)
    )
    for one, attr in zip(inputs, attrs, strict=True):
        checked(one, "x", "fc")
        axis = num_flatten_dims + len(one.shape) if num_flatten_dims == -1 else num_flatten_dims
        rows = math.prod(one.shape[axis:])
        if rows < 0:
            raise ArgumentError(
                f"fc needs the sizes of `{one.name}` from axis {axis} on, which is {one.meta}"
            )
        weight = helper.create_parameter(attr, [rows, size], one.dtype)
        product = helper.create_variable_for_type_inference(one.dtype)
        helper.append_op(
            "mul",
            {"X": [one], "Y": [weight]},
            {"Out": [product]},
            {"x_num_col_dims": axis, "y_num_col_dims": 1},
        )
        products.append(product)
    if len(products) > 1:
        total = helper.create_variable_for_type_inference(products[0].dtype)
        helper.append_op("sum", {"X": products}, {"Out": [total]}, {"use_mkldnn": False})
        products = [total]
    return helper.append_activation(helper.append_bias_op(products[0], num_flatten_dims))


def embedding(
    input: Any,
    size: Any,
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """Rows of a table by their numbers.

    Args:
        input (Variable): int64 numbers of rows.
        size (list): rows and columns of the table.
        is_sparse (bool): gradients hold only the rows used.
        padding_idx (int, optional): a row that stays zero.
        param_attr (ParamAttr, optional): of the table.
        dtype (str): its element type.

    Returns:
        Variable: of shape ``input.shape + [size[1]]``.
    """
    checked(input, "input", "embedding")
    helper = LayerHelper("embedding", param_attr=param_attr)
    weight = helper.create_parameter(param_attr, size, dtype)
    out = helper.create_variable_for_type_inference(dtype)
    row = -1 if padding_idx is None else padding_idx if padding_idx >= 0 else size[0] + padding_idx
    helper.append_op(
        "lookup_table_v2",
        {"Ids": [input], "W": [weight]},
        {"Out": [out]},
        {"is_sparse": is_sparse, "is_distributed": is_distributed, "padding_idx": row},
    )
    return out


def bilinear_tensor_product(
    x: Any,
    y: Any,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Any:
    """Products of two rows with a matrix between them, one matrix for each output.

    Args:
        x (Variable): of shape [N, m].
        y (Variable): of shape [N, n].
        size (int): how many outputs.
        act (str, optional): the type of an activation operator.
        name (str, optional): its name.
        param_attr, bias_attr (ParamAttr, optional): of the parameters; `bias_attr=False` for none.

    Returns:
        Variable: of shape [N, size].
    """
    checked(x, "x", "bilinear_tensor_product")
    checked(y, "y", "bilinear_tensor_product")
    options = {"param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    helper = LayerHelper("bilinear_tensor_product", **options)
    shape = [size, x.shape[1], y.shape[1]]
    given = {"X": [x], "Y": [y], "Weight": [helper.create_parameter(param_attr, shape, x.dtype)]}
    out = helper.create_variable_for_type_inference(x.dtype)
    bias = helper.create_parameter(bias_attr, [1, size], x.dtype, is_bias=True)
    if bias is not None:
        given["Bias"] = [bias]
    helper.append_op("bilinear_tensor_product", given, {"Out": [out]})
    return helper.append_activation(out)


def row_conv(
    input: Any, future_context_size: int, param_attr: Any = None, act: str | None = None
) -> Any:
    """Each row of a sequence with those after it, multiplied by weights and summed.

    Args:
        input (Variable): of shape [N, length, size].
        future_context_size (int): how many rows after its own count.
        param_attr (ParamAttr, optional): of the weights.
        act (str, optional): the type of an activation operator.

    Returns:
        Variable: of the shape of `input`.
    """
    checked(input, "input", "row_conv")
    helper = LayerHelper("row_conv", param_attr=param_attr, act=act)
    shape = [future_context_size + 1, input.shape[-1]]
    weight = helper.create_parameter(param_attr, shape, input.dtype)
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op("row_conv", {"X": [input], "Filter": [weight]}, {"Out": [out]})
    return helper.append_activation(out)
