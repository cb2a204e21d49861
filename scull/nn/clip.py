"""Gradient clipping: by value, by norm, by the norm of all gradients together."""

from functools import partial
from typing import Any

from scull.core import session
from scull.core.dtype import float32, float64
from scull.core.interpreter import current
from scull.core.op import op_of
from scull.core.tensor import Rows, Tensor
from scull.errors import ArgumentError, ArgumentTypeError
from scull.ir.block import Block
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program
from scull.ir.recorder import Recorder
from scull.tensor.creation import full
from scull.tensor.size import needs_tensor

OPTIMIZE = 2


class ClipGradBase:
    """Clips the gradients of pairs (parameter, gradient).

    A subclass says how by `_dygraph_clip`, and by `_static_clip` for Programs.
    """

    def __call__(self, params_grads: list[Any]) -> list[Any]:
        """The pairs with their gradients clipped."""
        return (self._dygraph_clip if in_dynamic_mode() else self._static_clip)(params_grads)

    def _dygraph_clip(self, params_grads: list[Any]) -> list[Any]:
        """The pairs that have a gradient, clipped unless the parameter's `need_clip` is false."""
        kept = [(p, g) for p, g in params_grads if g is not None]
        chosen = [getattr(p, "need_clip", True) for p, _ in kept]
        done = iter(self.clipped([pair for pair, clips in zip(kept, chosen, strict=True) if clips]))
        return [next(done) if clips else pair for pair, clips in zip(kept, chosen, strict=True)]

    _static_clip = _dygraph_clip

    def clipped(self, pairs: list[Any]) -> list[Any]:
        raise NotImplementedError


def clip_by_norm(x: Any, max_norm: float, name: str | None = None) -> Any:
    """`x`, scaled down where its norm is above `max_norm`.

    Args:
        x (Tensor): floats of any shape.
        max_norm (float): the largest norm.
        name (str, optional): the name of the output in a Program.

    Returns:
        Tensor: of the shape and dtype of `x`.

    Raises:
        ArgumentTypeError: `x` is no tensor.
        ArgumentError: `max_norm` is not above 0.

    Examples:
        >>> import scull as paddle
        >>> paddle.nn.clip.clip_by_norm(paddle.to_tensor([3.0, 4.0]), 1.0).tolist()
        [0.6000000238418579, 0.800000011920929]
    """
    needs_tensor(x, "clip_by_norm")
    return op_of("clip_by_norm").call(x, max_norm=float(max_norm), name=name)


def rewritten(param: Any, grad: Any, compute: Any) -> Any:
    """The new gradient: a Tensor, or operators of a Program whose result keeps its name."""
    if isinstance(grad, Tensor):
        return compute(grad)
    recorder = current()
    assert isinstance(recorder, Recorder)
    with (
        grad.block.program.serving(OPTIMIZE, (param.name, grad.name), "/gradient_clip/"),
        recorder.into(grad),
    ):
        compute(grad)
    return grad


def renewed(param: Any, grad: Any, compute: Any) -> Any:
    """The new gradient: a Tensor, or the result of an operator of a Program, under its own name."""
    if isinstance(grad, Tensor):
        return compute(grad)
    with grad.block.program.serving(OPTIMIZE, (param.name, grad.name), "/gradient_clip/"):
        made = compute(grad)
    made.op.role_var = (param.name, made.name)
    return made


def merged(grad: Any) -> Any:
    """A row-sparse gradient with each row once."""
    if isinstance(grad, Tensor) and isinstance(grad.array, Rows):
        return Tensor(grad.array.merged())
    return grad


class ClipGradByValue(ClipGradBase):
    """Every element is brought into [min, max].

    Args:
        max (float): the largest value.
        min (float, optional): the smallest; ``-max`` when None.
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None:
            if not max > 0.0:
                raise ArgumentError(f"max is {max}; without min it must be positive")
            min = -max
        self.max, self.min = float(max), float(min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def clipped(self, pairs: list[Any]) -> list[Any]:
        clip = op_of("clip").call
        return [(p, renewed(p, g, lambda g: clip(g, min=self.min, max=self.max))) for p, g in pairs]


class ClipGradByNorm(ClipGradBase):
    """Each gradient is scaled down to a norm of at most `clip_norm`.

    Args:
        clip_norm (float): the largest norm.
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def clipped(self, pairs: list[Any]) -> list[Any]:
        clip = op_of("clip_by_norm").call
        return [
            (p, renewed(p, merged(g), lambda g: clip(g, max_norm=self.clip_norm))) for p, g in pairs
        ]


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients are scaled by one factor, so that their joint norm is at most `clip_norm`.

    Args:
        clip_norm (float): the largest joint norm.
        group_name (str): kept for Paddle's signature.
        auto_skip_clip (bool): leave gradients alone whose joint norm is small enough (eager mode).
    """

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        self.clip_norm, self.group_name, self.auto_skip_clip = (
            float(clip_norm),
            group_name,
            auto_skip_clip,
        )

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def clipped(self, pairs: list[Any]) -> list[Any]:
        if not pairs:
            return pairs
        pairs = [(p, merged(g)) for p, g in pairs]
        if isinstance(pairs[0][1], Tensor):
            return self.scaled_eagerly(pairs)
        return self.recorded(pairs)

    def factor(self, squares: list[Any]) -> Any:
        """``clip_norm / max(clip_norm, norm)``, in float32 at least unless `pure_half`."""
        wide = float64 if any(v.dtype is float64 for v in squares) else float32
        kinds = dict.fromkeys(v.dtype for v in squares)
        if session.get("pure_half") and len(kinds) == 1:
            wide = next(iter(kinds))
        sums = [op_of("sum").call([v for v in squares if v.dtype is kind]) for kind in kinds]
        sums = [v if v.dtype is wide else v.astype(wide) for v in sums]
        norm = op_of("sqrt").call(sums[0] if len(sums) == 1 else op_of("sum").call(sums))
        top = full([1], self.clip_norm, wide)
        return op_of("elementwise_div").call(top, op_of("elementwise_max").call(top, norm))

    def scaled_eagerly(self, pairs: list[Any]) -> list[Any]:
        square, multiply = op_of("squared_l2_norm").call, op_of("elementwise_mul").call
        factor = self.factor([square(g) for _, g in pairs])
        if self.auto_skip_clip and float(factor.array.reshape(())) >= 1.0:
            return pairs
        result = []
        for p, g in pairs:
            if isinstance(g.array, Rows):
                result.append((p, Tensor(g.array * factor.array.astype(g.array.dtype))))
            else:
                result.append((p, multiply(g, like(g, factor))))
        return result

    def recorded(self, pairs: list[Any]) -> list[Any]:
        square, multiply = op_of("squared_l2_norm").call, op_of("elementwise_mul").call
        squares = []
        for p, g in pairs:
            program = g.block.program
            with program.serving(OPTIMIZE, (p.name, g.name), "/gradient_clip/"):
                squares.append(square(g))
        with program.serving(OPTIMIZE, (p.name, g.name), "/gradient_clip/"):
            factor = self.factor(squares)
        result = []
        for p, g in pairs:
            with program.serving(OPTIMIZE, (p.name, g.name), "/gradient_clip/"):
                own = like(g, factor)
            result.append((p, rewritten(p, g, partial(multiply, y=own))))
        return result


def like(grad: Any, factor: Any) -> Any:
    """`factor` in the element type of a gradient, and without axes where that has none."""
    own = factor if factor.dtype is grad.dtype else factor.astype(grad.dtype)
    return own if grad.shape else op_of("reshape").call(own, shape=())


def _allow_pure_fp16_global_norm_clip(*value: bool) -> bool:
    before: bool = session.get("pure_half")
    if value:
        session.put("pure_half", bool(value[0]))
    return before


def set_gradient_clip(clip: Any, param_list: Any = None, program: Any = None) -> None:
    """Give parameters a clip of their own, which `append_gradient_clip_ops` applies.

    Args:
        clip (ClipGradBase): how gradients are clipped.
        param_list (list, optional): parameters or names; all of the Program when None.
        program (Program, optional): the default main Program when None.
    """
    if not isinstance(clip, ClipGradBase):
        raise ArgumentTypeError("'clip' should be an instance of ClipGradBase's derived class")
    program = main_program() if program is None else program
    given = program.all_parameters() if param_list is None else param_list
    block = program.global_block()
    for p in [block.var(p) if isinstance(p, str) else p for p in given]:
        p.gradient_clip_attr = clip


def append_gradient_clip_ops(param_grads: list[Any]) -> list[Any]:
    """Pairs (parameter, gradient), clipped as `set_gradient_clip` said."""
    clip = next(
        (getattr(p, "gradient_clip_attr", None) for p, g in param_grads if g is not None), None
    )
    return param_grads if clip is None else clip(param_grads)


GradientClipBase = ClipGradBase
GradientClipByValue = ClipGradByValue
GradientClipByNorm = ClipGradByNorm
GradientClipByGlobalNorm = ClipGradByGlobalNorm


class BaseErrorClipAttr:
    """How the gradient of one variable of a Program is clipped; see `ErrorClipByValue`."""

    def _append_clip_op(self, block: Block, grad_name: str) -> None:
        raise NotImplementedError


class ErrorClipByValue(BaseErrorClipAttr):
    """Clips the gradient that an optimizer makes of a variable before others are made of it.

    Args:
        max (float): the largest element.
        min (float, optional): the least; ``-max`` when None.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4)
        ...     y._set_error_clip(paddle.nn.clip.ErrorClipByValue(max=0.01))
        ...     _ = paddle.optimizer.SGD(0.1).minimize(y.sum())
        ...     [op.type for op in y.block.ops if "max" in op.attr_names]
        ['clip']
        >>> paddle.disable_static()
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def __str__(self) -> str:
        return f"ByValue, min={self.min:f}, max={self.max:f}"

    def _append_clip_op(self, block: Block, grad_name: str) -> None:
        ends = {"X": grad_name}, {"Out": grad_name}
        block.append_op("clip", *ends, {"min": self.min, "max": self.max})


def error_clip_callback(block: Block, context: Any) -> None:
    """Stands in `append_backward(callbacks=...)` for clipping as `_set_error_clip` says."""


def merge_selected_rows(x: Any, name: str | None = None) -> Any:
    """A row-sparse matrix with each row at most once: what stands for one row is added up.

    Args:
        x (Variable | Tensor): row-sparse, such as the gradient of a sparse embedding.
        name (str, optional): the name of the output in a Program.

    Returns:
        Variable | Tensor: row-sparse, of the shape and dtype of `x`, rows in rising order.

    Raises:
        ArgumentTypeError: `x` is no tensor, or not row-sparse.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Embedding(9, 2, sparse=True)
        >>> layer(paddle.to_tensor([5, 3, 5])).sum().backward()
        >>> grad = merge_selected_rows(layer.weight.grad)
        >>> get_tensor_from_selected_rows(grad).tolist()
        [[1.0, 1.0], [2.0, 2.0]]
    """
    needs_tensor(x, "merge_selected_rows")
    return op_of("merge_selected_rows").call(x, name=name)


def get_tensor_from_selected_rows(x: Any, name: str | None = None) -> Any:
    """The rows that a row-sparse matrix stores, in their order.

    Args:
        x (Variable | Tensor): row-sparse, such as the gradient of a sparse embedding.
        name (str, optional): the name of the output in a Program.

    Returns:
        Variable | Tensor: dense, of the dtype of `x`: a row for each one that is stored.

    Raises:
        ArgumentTypeError: `x` is no tensor, or not row-sparse.

    Examples:
        >>> import scull as paddle
        >>> layer = paddle.nn.Embedding(9, 2, sparse=True)
        >>> layer(paddle.to_tensor([5, 3, 5])).sum().backward()
        >>> get_tensor_from_selected_rows(layer.weight.grad).shape
        [3, 2]
    """
    needs_tensor(x, "get_tensor_from_selected_rows")
    return op_of("get_tensor_from_selected_rows").call(x, name=name)
