"""LayerHelper: how a layer written by hand makes parameters, variables and operators."""

from typing import Any

from scull.core import session
from scull.core.dtype import dtype_of
from scull.core.meta import Meta
from scull.core.op import as_outputs
from scull.core.tensor import Tensor
from scull.eager.change import adopt
from scull.errors import ArgumentTypeError
from scull.ir.mode import in_dynamic_mode
from scull.ir.operator import program_outputs
from scull.ir.program import Program, main_program, startup_program
from scull.ir.variable import with_batch
from scull.nn.parameter import create_parameter
from scull.tensor.blank import waiting


def computed(type: str, inputs: Any, outputs: Any, attrs: Any) -> None:
    """Let the Tensors in the slots `outputs` have the results of an operator, and its gradient."""
    operator = Program().global_block().made(type, inputs, outputs, attrs)
    op = operator.op
    given = {n: v for n, v in zip(op.inputs, operator.inputs, strict=True) if v is not None}
    found = as_outputs(op, op.call(**given, **operator.attrs))
    named = dict(zip(op.outputs, found, strict=True))
    for name, slot in zip(program_outputs(op), operator.outputs, strict=True):
        results = named.get(name)
        pairs = zip(slot, results, strict=True) if isinstance(slot, list) else [(slot, results)]
        for tensor, result in pairs:
            if tensor is not None and result is not None:
                adopt(tensor, result, type)


class LayerHelper:
    """Makes parameters, variables and operators for one layer, named after it.

    Args:
        layer_type (str): the word its names begin with.
        name (str, optional): the whole name instead.
        kwargs: `param_attr`, `bias_attr`, `act`, `input`, ..., kept for the methods.
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.kwargs, self.layer_type = kwargs, layer_type
        name = kwargs.get("name")
        self.name = session.unique_name(layer_type) if name is None else name

    @staticmethod
    def get_default_dtype() -> str:
        """The name of the element type of parameters of which nothing is said."""
        return session.default_dtype().name

    @property
    def main_program(self) -> Any:
        return main_program()

    @property
    def startup_program(self) -> Any:
        return startup_program()

    def append_op(
        self,
        type: str,
        inputs: Any = None,
        outputs: Any = None,
        attrs: Any = None,
        **options: Any,
    ) -> Any:
        """Append an operator to the current block; in eager mode compute what it gives."""
        if in_dynamic_mode():
            return computed(type, inputs, outputs, attrs)
        block = main_program().current_block()
        return block.append_op(type, inputs, outputs, attrs, **options)

    def input(self, input_param_name: str = "input") -> Any:
        """The one input given."""
        inputs = self.multiple_input(input_param_name)
        if len(inputs) != 1:
            raise ArgumentTypeError(f"{self.layer_type} layer only takes one input")
        return inputs[0]

    def multiple_input(self, input_param_name: str = "input") -> list[Any]:
        """The inputs given, as a list."""
        given = self.kwargs.get(input_param_name, [])
        return list(given) if isinstance(given, list | tuple) else [given]

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The element type all inputs have."""
        dtypes = {v.dtype for v in self.multiple_input(input_param_name)}
        if len(dtypes) > 1:
            raise ArgumentTypeError(
                f"the inputs of {self.layer_type} differ in dtype: {sorted(d.name for d in dtypes)}"
            )
        return dtypes.pop()

    @property
    def param_attr(self) -> Any:
        return self.kwargs.get("param_attr")

    @property
    def bias_attr(self) -> Any:
        return self.kwargs.get("bias_attr")

    def create_parameter(
        self,
        attr: Any,
        shape: Any,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Any = None,
        stop_gradient: bool = False,
        type: Any = None,
    ) -> Any:
        """A parameter called after the layer: `conv2d_0.w_0`, `conv2d_0.b_0`."""
        made = create_parameter(
            self.name,
            shape,
            attr=attr,
            dtype=dtype or session.default_dtype(),
            is_bias=is_bias,
            default_initializer=default_initializer,
        )
        if stop_gradient and made is not None:
            made.stop_gradient = True
        return made

    def create_variable_for_type_inference(
        self, dtype: Any = None, stop_gradient: bool = False, shape: Any = None
    ) -> Any:
        """A variable for a result; its shape is inferred by the operator that writes it."""
        meta = Meta(
            with_batch(() if shape is None else shape),
            dtype_of(dtype) if dtype is not None else session.default_dtype(),
        )
        if in_dynamic_mode():
            return waiting(meta.dtype)
        name = session.unique_name(self.name + ".tmp")
        return main_program().current_block().variable(name, meta, stop_gradient=stop_gradient)

    create_tmp_variable = create_variable_for_type_inference

    def create_variable(self, *arguments: Any, **options: Any) -> Any:
        return main_program().current_block().create_var(*arguments, **options)

    def create_global_variable(
        self, persistable: bool = False, *arguments: Any, **options: Any
    ) -> Any:
        """A variable of block 0."""
        name = options.pop("name", None) or session.unique_name(self.name + ".tmp")
        return (
            main_program()
            .global_block()
            .create_var(
                name, *arguments, persistable=persistable, **{"stop_gradient": True, **options}
            )
        )

    def create_or_get_global_variable(
        self, name: str, *arguments: Any, **options: Any
    ) -> tuple[Any, bool]:
        block = main_program().global_block()
        if block.has_var(name):
            return block.var(name), False
        return self.create_global_variable(name=name, *arguments, **options), True  # noqa: B026

    def set_variable_initializer(self, var: Any, initializer: Any) -> Any:
        """Let the startup Program fill `var`."""
        if isinstance(var, Tensor):
            initializer(var)
            return var
        block = startup_program().global_block()
        twin = block.variable(var.name, var.meta, persistable=True, stop_gradient=var.stop_gradient)
        return initializer(twin, block)

    def append_bias_op(self, input_var: Any, dim_start: int = 1, dim_end: int | None = None) -> Any:
        """`input_var` plus a bias of its sizes from `dim_start` to `dim_end`."""
        if self.bias_attr is False:
            return input_var
        shape = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(self.bias_attr, shape, input_var.dtype, is_bias=True)
        if bias is None:
            return input_var
        out = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op(
            "elementwise_add", {"X": [input_var], "Y": [bias]}, {"Out": [out]}, {"axis": dim_start}
        )
        return out

    def append_activation(self, input_var: Any) -> Any:
        """`input_var` after the activation `act` of the layer."""
        act = self.kwargs.get("act")
        if act is None:
            return input_var
        act = {"type": act} if isinstance(act, str) else dict(act)
        if self.kwargs.get("use_cudnn"):
            act["use_cudnn"] = True
        out = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op(act.pop("type"), {"X": [input_var]}, {"Out": [out]}, act)
        return out
