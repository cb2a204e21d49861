"""Optimizers that rewrite the Program they train to mixed precision."""

import warnings
from typing import Any

from scull.core import session
from scull.core.dtype import bfloat16, float16, float32, int32
from scull.core.meta import Meta
from scull.errors import ArgumentError, ArgumentTypeError, RunError
from scull.ir.operator import Operator
from scull.ir.program import Program, program_guard
from scull.ir.program import startup_program as default_startup
from scull.ir.variable import Variable
from scull.optimizer import Optimizer
from scull.optimizer.static_update import OPTIMIZE, persistent
from scull.static.amp.amp_nn import check_finite_and_unscale, update_loss_scaling
from scull.static.amp.fp16_lists import AutoMixedPrecisionLists, check_amp_dtype, half_of
from scull.static.amp.fp16_utils import cast_model_to_fp16, cast_parameters_to_fp16
from scull.static.layer_helper import LayerHelper
from scull.tensor.join import concat
from scull.tensor.logic import any as any_of

BACKWARD = 1
LEVELS = ("O0", "OD", "O1", "O2")
OLDER = {"use_pure_fp16", "use_fp16_guard", "use_bf16"}  # arguments of `by_flags` alone
NEWER = {"level", "dtype", "master_weight", "master_grad", "use_amp_guard"}  # of `by_level`


class OptimizerWithMixedPrecision:
    """An optimizer whose `minimize` rewrites a Program, scales its loss and skips bad steps.

    `decorate` makes it. `options` are those of the factor of the loss.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: Any,
        level: str,
        dtype: str,
        *,
        use_amp_guard: bool,
        use_promote: bool,
        use_master_grad: bool = False,
        init_loss_scaling: float,
        use_dynamic_loss_scaling: bool,
        **options: Any,
    ) -> None:
        self._optimizer, self._amp_lists, self._amp_level = optimizer, amp_lists, level
        self._dtype = half_of(dtype)
        self._use_pure_fp16 = level == "O2"
        self._use_fp16_guard, self.use_promote = use_amp_guard, use_promote
        self._use_master_grad = use_master_grad and self._use_pure_fp16
        self._init_loss_scaling = init_loss_scaling
        self._use_dynamic_loss_scaling = use_dynamic_loss_scaling
        self._options = options
        if self._dtype is bfloat16 and use_dynamic_loss_scaling:
            self._use_dynamic_loss_scaling, self._init_loss_scaling = False, 1.0
            warnings.warn(
                "Dynamic loss scaling for bfloat16 amp training is disabled, and the "
                "init_loss_scaling is changed to 1.0 automatically by PaddlePaddle.",
                stacklevel=4,
            )
        self._train_program: Program | None = None
        self._scaled_loss: Variable | None = None
        self._loss_scaling: Variable | None = None
        self._num_good_steps: Variable | None = None
        self._num_bad_steps: Variable | None = None
        self._to_fp16_var_names: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_optimizer" not in vars(self):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    @property
    def scales(self) -> bool:
        """Whether the loss is scaled at all."""
        return self._use_dynamic_loss_scaling or self._init_loss_scaling != 1.0

    def get_loss_scaling(self) -> Variable:
        """The variable of the factor."""
        if self._loss_scaling is None:
            raise RunError("Please call minimize() before calling get_loss_scaling().")
        return self._loss_scaling

    def get_scaled_loss(self) -> Variable | None:
        """The loss times the factor; None before `minimize`."""
        return self._scaled_loss

    def states(self) -> dict[str, Any]:
        """The factor and its counts: what each is called, its element type and first value."""
        factor = {"loss_scaling": (float32, float(self._init_loss_scaling))}
        if not self._use_dynamic_loss_scaling:
            return factor
        return factor | {"num_good_steps": (int32, 0), "num_bad_steps": (int32, 0)}

    def make_states(self, program: Program) -> None:
        """The states and the learning rate as persistable variables."""
        made = self.states()
        rate = self._optimizer._learning_rate
        if isinstance(rate, float):
            made["learning_rate"] = (float32, rate)
        states = {
            name: persistent(
                session.unique_name(name), Meta((1,), dtype), value, stop_gradient=True
            )
            for name, (dtype, value) in made.items()
        }
        self._loss_scaling = states.get("loss_scaling")
        self._num_good_steps = states.get("num_good_steps")
        self._num_bad_steps = states.get("num_bad_steps")
        if "learning_rate" in states:
            self._optimizer._rates[id(program)] = states["learning_rate"]

    def rewritten(self, program: Program, startup: Program | None = None) -> set[str]:
        """Cast a Program as asked; the names of what has 16 bits."""
        pure = self._use_pure_fp16
        guard = self._use_fp16_guard and pure  # other levels have no guard
        level = "O2" if pure else self._amp_level
        return cast_model_to_fp16(
            program, self._amp_lists, guard, self._dtype, level, self.use_promote
        )

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Variable, Variable]]:
        """Rewrite the Program of a loss and append the gradients of the scaled loss.

        Args:
            loss (Variable): one element.
            startup_program (Program, optional): fills new variables.
            parameter_list (list, optional): what gets gradients.
            no_grad_set (set, optional): what gets none.
            callbacks: kept for Paddle's signature.

        Returns:
            list[tuple[Variable, Variable]]: parameters and scaled gradients.
        """
        program = self._train_program = loss.block.program
        startup = startup_program or default_startup()
        with program_guard(program, startup):
            self.make_states(program)
            self._to_fp16_var_names = self.rewritten(program, startup_program)
            wide = loss if loss.dtype is float32 else loss.astype("float32")
            self._scaled_loss = wide * self._loss_scaling if self.scales else wide
            return list(
                self._optimizer.backward(
                    self._scaled_loss, startup, parameter_list, no_grad_set, callbacks
                )
            )

    def apply_gradients(self, params_grads: Any) -> list[Any]:
        """Append what unscales gradients and looks at them, and the updates.

        Args:
            params_grads (list): what `backward` returned.

        Returns:
            list[Operator]: the operators that update.
        """
        program = self._train_program
        if program is None:
            raise RunError("Please call backward() before calling apply_gradients().")
        late_casts(program, params_grads)
        if self._use_master_grad:
            params_grads = [(p, widened(program, g)) for p, g in params_grads]
        if not self.scales:
            return list(self._optimizer.apply_gradients(params_grads))
        found = self.checked(program, [g for _, g in params_grads])
        if self._optimizer.operator is not None:
            self._optimizer._set_auxiliary_var("found_inf", found)
        return list(self._optimizer.apply_gradients(params_grads))

    def checked(self, program: Program, grads: list[Variable]) -> Variable:
        """Unscale gradients, let the factor follow; whether one was not finite."""
        groups = {"": grads}
        if self._use_pure_fp16:
            wide = [g for g in grads if g.dtype is float32]
            narrow = [g for g in grads if g.dtype is self._dtype]
            if len(wide) + len(narrow) != len(grads):
                raise ArgumentTypeError("gradients are of float32, or of the 16 bits asked for")
            groups = {name: g for name, g in (("_fp32", wide), ("_fp16", narrow)) if g}
        found = []
        for name, group in groups.items():
            with program.serving(OPTIMIZE, tuple(g.name for g in group)):
                word = f"find_infinite_scale{name}"
                found.append(check_finite_and_unscale(group, self._loss_scaling, name=word)[1])
        with program.serving(OPTIMIZE):
            bad: Variable = any_of(concat(found)) if self._use_pure_fp16 else found[0]
            if self._use_dynamic_loss_scaling and self._dtype is float16:
                for i, group in enumerate(groups.values()):
                    self.follow(group, bad, i > 0)
            if has_skip(self._optimizer):
                return on_host(bad)
        return bad

    def follow(self, grads: list[Variable], bad: Variable, stays: bool) -> None:
        """Let the factor follow what was found; `stays`: it did so for other gradients."""
        states = (self._loss_scaling, self._num_good_steps, self._num_bad_steps)
        update_loss_scaling(grads, bad, *states, **self._options, stop_update=stays)

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Any
    ) -> list[Any]:
        """`apply_gradients` into the Program of a loss."""
        with program_guard(loss.block.program, startup_program or default_startup()):
            return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """`backward`, then `apply_gradients`.

        Args:
            loss, startup_program, parameter_list, no_grad_set: as for `backward`.

        Returns:
            tuple[list, list]: the operators that update; parameters and scaled gradients.
        """
        if type(self._optimizer).minimize is not Optimizer.minimize:
            warnings.warn(
                "The decorated optimizer has its own `minimize` method, but it will not be "
                "executed.",
                stacklevel=2,
            )
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs

    def amp_init(
        self,
        place: Any,
        scope: Any = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """Round the parameters that the startup Program filled, and rewrite a Program for tests.

        Args:
            place: kept for Paddle's signature.
            scope (Scope, optional): the global one when None.
            test_program (Program, optional): rewritten as the one that trains.
            use_fp16_test (bool): whether that is done with level O1, too.
            rewrite_master_weight (bool): whether float32 copies are rounded, too.
        """
        if self._train_program is None:
            raise RunError("Please call the minimize method first.")
        if self._use_pure_fp16:
            cast_parameters_to_fp16(
                place,
                self._train_program,
                scope,
                self._to_fp16_var_names,
                self._dtype,
                rewrite_master_weight,
                self._optimizer._master_weights,
            )
        if test_program is not None and (self._use_pure_fp16 or use_fp16_test):
            self.rewritten(test_program)


def late_casts(program: Program, params_grads: Any) -> None:
    """Move casts of gradients to float32 behind all gradients: they belong to the updates."""
    block = program.global_block()
    for p, g in params_grads:
        cast = g.op
        if g.dtype is not float32 or cast.type != "cast" or not cast.role & BACKWARD:
            continue
        (narrow,) = cast.operands()
        maker: Operator = narrow.op
        maker.role_var = (p.name, narrow.name, *maker.role_var)
        cast.role, cast.role_var = OPTIMIZE, ()
        block.remove(cast)
        block.append(cast)


def widened(program: Program, grad: Variable) -> Variable:
    """A gradient of 16 bits in float32."""
    if grad.dtype not in (float16, bfloat16):
        return grad
    name = session.unique_name(f"{grad.name}_fp32_master")
    block = program.global_block()
    made = block.variable(name, Meta(grad.meta.shape, float32))
    attrs = {"in_dtype": grad.dtype, "out_dtype": float32}
    block.append_op(type="cast", inputs={"X": [grad]}, outputs={"Out": [made]}, attrs=attrs)
    return made


def has_skip(optimizer: Any) -> bool:
    """Whether the update operator of an optimizer can be told to do nothing."""
    operator = optimizer.operator
    return operator is not None and "skip_update" in operator.op.inputs


def on_host(v: Variable) -> Variable:
    """A copy where updates look at it."""
    helper = LayerHelper("memcpy")
    made: Variable = helper.create_variable_for_type_inference(v.dtype)
    attrs = {"dst_place_type": 0}
    helper.append_op(type="memcpy", inputs={"X": v}, outputs={"Out": made}, attrs=attrs)
    return made


def by_flags(
    optimizer: Any,
    amp_lists: Any = None,
    init_loss_scaling: float = 2**15,
    incr_every_n_steps: int = 1000,
    decr_every_n_nan_or_inf: int = 2,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.8,
    use_dynamic_loss_scaling: bool = True,
    use_pure_fp16: bool = False,
    use_fp16_guard: bool | None = None,
    use_bf16: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    """The older form of `decorate`."""
    dtype = "bfloat16" if use_bf16 else "float16"
    return OptimizerWithMixedPrecision(
        optimizer,
        amp_lists or AutoMixedPrecisionLists(dtype=dtype),
        "O2" if use_pure_fp16 else "O1",
        dtype,
        use_amp_guard=use_pure_fp16 if use_fp16_guard is None else use_fp16_guard,
        use_promote=use_promote,
        init_loss_scaling=init_loss_scaling,
        use_dynamic_loss_scaling=use_dynamic_loss_scaling,
        incr_every_n_steps=incr_every_n_steps,
        decr_every_n_nan_or_inf=decr_every_n_nan_or_inf,
        incr_ratio=incr_ratio,
        decr_ratio=decr_ratio,
    )


def by_level(
    optimizer: Any,
    amp_lists: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float = 2**16,
    incr_every_n_steps: int = 2000,
    decr_every_n_nan_or_inf: int = 1,
    incr_ratio: float = 2.0,
    decr_ratio: float = 0.5,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False,
    use_promote: bool = False,
) -> OptimizerWithMixedPrecision:
    """The newer form of `decorate`."""
    level, dtype = level.upper(), check_amp_dtype(dtype)
    if level not in LEVELS:
        raise ArgumentError("level should be O0, OD, O1 or O2.")
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(f"an Optimizer is decorated, not {type(optimizer).__name__}")
    optimizer._multi_precision = optimizer._multi_precision or master_weight is not False
    dynamic = dtype == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    return OptimizerWithMixedPrecision(
        optimizer,
        amp_lists or AutoMixedPrecisionLists(dtype=dtype),
        level,
        dtype,
        use_amp_guard=use_amp_guard,
        use_promote=use_promote,
        use_master_grad=master_grad,
        init_loss_scaling=init_loss_scaling,
        use_dynamic_loss_scaling=dynamic,
        incr_every_n_steps=incr_every_n_steps,
        decr_every_n_nan_or_inf=decr_every_n_nan_or_inf,
        incr_ratio=incr_ratio,
        decr_ratio=decr_ratio,
    )


def decorate(*args: Any, **kwargs: Any) -> OptimizerWithMixedPrecision:
    """An optimizer that trains a Program in mixed precision.

    Its `minimize` inserts casts by the lists, scales the loss, and leaves steps out whose gradients
    overflow; with level O2 the parameters have 16 bits and updates keep copies of float32: call its
    `amp_init` after the startup Program.

    Args:
        optimizer (Optimizer): what updates.
        amp_lists (CustomOpLists, optional): which operators compute in 16 bits.
        level (str): "O1"; "O2" with parameters in 16 bits; "OD": the white list alone in 16 bits;
            or, as older code says it, `use_pure_fp16` (bool) for O2.
        dtype (str): "float16" or "bfloat16"; older code says `use_bf16` (bool).
        master_weight (bool, optional): whether updates keep float32 copies; None does so.
        master_grad (bool): whether gradients of 16 bits become float32 before the updates.
        init_loss_scaling (float): the factor of the loss at first.
        incr_every_n_steps (int): how many good steps in a row it grows after.
        decr_every_n_nan_or_inf (int): how many bad ones it shrinks after.
        incr_ratio (float): what it grows by.
        decr_ratio (float): what it shrinks by.
        use_dynamic_loss_scaling (bool, optional): whether it changes; None: for float16.
        use_amp_guard (bool): whether with O2 only operators made within `fp16_guard` have 16 bits;
            older code says `use_fp16_guard`.
        use_promote (bool): whether operators of no list compute in float32 where an operand is.

    Returns:
        OptimizerWithMixedPrecision: has `minimize`, `backward`, `apply_gradients`, `amp_init`,
        `get_loss_scaling`, `get_scaled_loss`.

    Raises:
        ArgumentError: level or dtype is none of these.

    Examples:
        >>> import scull as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 4])
        ...     loss = paddle.mean(paddle.static.nn.fc(x, 2))
        ...     opt = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), dtype="bfloat16")
        ...     ops, pairs = opt.minimize(loss)
        >>> [o.type for o in main.global_block().ops][:3]
        ['cast', 'cast', 'mul']
        >>> paddle.disable_static()
    """
    older = bool(OLDER & kwargs.keys())
    if not older and not NEWER & kwargs.keys():
        older = len(args) > 2 and isinstance(args[2], float)
    return by_flags(*args, **kwargs) if older else by_level(*args, **kwargs)
