"""What every optimizer shares: groups, states, clipping, decay, and updates in both modes."""

from collections import defaultdict
from typing import Any

import numpy as np

from scull.autograd.interface import no_grad
from scull.autograd.program import append_backward
from scull.core import session
from scull.core.dtype import float32
from scull.core.interpreter import current, interpreting
from scull.core.meta import Meta
from scull.core.op import Op
from scull.core.tensor import Tensor
from scull.core.timeline import UPDATE, spanned
from scull.errors import ArgumentError, ArgumentTypeError, AssertError
from scull.ir.mode import in_dynamic_mode
from scull.ir.program import main_program, program_guard
from scull.ir.program import startup_program as default_startup
from scull.ir.variable import Variable
from scull.nn.clip import ClipGradBase
from scull.optimizer.decay import decayed, regularizer_of
from scull.optimizer.lr import LRScheduler
from scull.optimizer.overwrite import overwrite
from scull.optimizer.protocol import UpdateProtocol, says_how, update_by
from scull.optimizer.static_update import apply_statically, master_variable, persistent

MINIMIZED = "`minimize(loss)` appends gradients and updates, once"
SCHEDULED = "an LRScheduler, given when the optimizer is made, decides the learning rate"


class Optimizer(UpdateProtocol):
    """Updates parameters by their gradients.

    Args:
        learning_rate (float | LRScheduler): the step size.
        parameters (list, optional): Parameters, or dictionaries with "params" and settings of
            their own; needed in eager mode.
        weight_decay (float | WeightDecayRegularizer, optional): added to gradients; a number is L2.
        grad_clip (GradientClipBase, optional): applied to the gradients before the update.
        name (str, optional): stands in the names of its states.
    """

    operator: Any = None  # the operator that updates one parameter
    finish: Any = None  # what is left to do for each parameter when all are updated
    states: tuple[str, ...] = ()  # its states, each an input of the operator of the same name
    wide_states = False  # whether those of float16 and bfloat16 parameters are of float32
    called: dict[str, str] = {}  # noqa: RUF012  states whose variables are called otherwise

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if not isinstance(learning_rate, float | int | LRScheduler) and not isinstance(
            learning_rate, Variable
        ):
            raise ArgumentTypeError(
                "learning rate should be float or LRScheduler, got "
                f"{type(learning_rate).__name__} here"
            )
        if isinstance(parameters, Tensor | dict):
            raise ArgumentTypeError(
                "`parameters` argument given to the optimizer should be an iterable of Tensors or "
                "dict"
            )
        if not isinstance(grad_clip, ClipGradBase | None):
            raise ArgumentTypeError(
                "'grad_clip' should be an instance of GradientClipBase's derived class"
            )
        if parameters is None and in_dynamic_mode():
            raise ArgumentError(
                "parameters argument given to the Optimizer should not be None in dygraph mode."
            )
        self._learning_rate, self._grad_clip, self._name = learning_rate, grad_clip, name
        self.regularization = regularizer_of(weight_decay)
        self._parameter_list = None if parameters is None else list(parameters)
        self._param_groups = self.grouped(self._parameter_list or [])
        self._group_by_name = {p.name: g for g in self._param_groups for p in g["params"]}
        self._accumulators: dict[str, dict[str, Any]] = defaultdict(dict)
        self._master_weights: dict[str, Any] = {}
        self._held_states: dict[str, Any] = {}
        self._rates: dict[Any, Any] = {}
        self._multi_precision = False
        self._auxiliary_vars: dict[str, Any] = {}  # what else updates read: `found_inf`
        self.helper = None

    # ---- parameters ----

    def grouped(self, parameters: list[Any]) -> list[dict[str, Any]]:
        """Groups of parameters; what a group says goes before what a ParamAttr said."""
        if parameters and isinstance(parameters[0], dict):
            groups = []
            for g in parameters:
                group = dict(g)
                group["params"] = (
                    [g["params"]] if isinstance(g["params"], Tensor) else list(g["params"])
                )
                for p in group["params"]:
                    p.optimize_attr = {"learning_rate": group.get("learning_rate", 1.0)}
                self.impose_decay(group)
                groups.append(group)
            own = [{id(p) for p in g["params"]} for g in groups]
            if sum(map(len, own)) > len(set().union(*own)):
                raise ArgumentError("some parameters appear in more than one parameter group")
            return groups
        return [{"params": parameters}]

    def impose_decay(self, group: dict[str, Any]) -> None:
        """Give the decay of a group to its parameters, in place of their own."""
        decay = regularizer_of(group.get("weight_decay", self.regularization))
        for p in group["params"]:
            p.regularizer = decay

    def parameters(self) -> list[Any]:
        """All parameters of all groups."""
        return [p for g in self._param_groups for p in g["params"]]

    def group_of(self, param: Any) -> dict[str, Any]:
        """The group `param` belongs to; a variable stands for the parameter of its name."""
        return self._group_by_name.get(param.name, {})

    def setting(self, param: Any, name: str) -> Any:
        """A setting of the group `param` is in, else of the optimizer."""
        return self.group_of(param).get(name, getattr(self, "_" + name))

    # ---- learning rate ----

    def _global_learning_rate(self, program: Any = None) -> Any:
        """The variable that holds the learning rate in a Program; None before it has updates."""
        if isinstance(self._learning_rate, Variable):
            return self._learning_rate
        if in_dynamic_mode() and program is None:
            return Tensor(np.array(self.get_lr(), "float32"))
        return self._rates.get(id(main_program() if program is None else program))

    def get_lr(self) -> float:
        """The learning rate now."""
        if isinstance(self._learning_rate, LRScheduler):
            return float(self._learning_rate())
        return float(self._learning_rate)

    def set_lr(self, value: float) -> None:
        """Change the learning rate; refused where a scheduler decides it, and in static mode."""
        needs_eager_mode("set_lr", SCHEDULED)
        if not isinstance(value, int | float):
            raise ArgumentTypeError(
                "The type of 'value' in optimizer.set_lr must be float, but received "
                f"{type(value)}."
            )
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "optimizer's learning rate can't be LRScheduler when invoke this API, "
                "because this will lead to conflict."
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let `scheduler` decide the learning rate; refused in static mode."""
        needs_eager_mode("set_lr_scheduler", SCHEDULED)
        if not isinstance(scheduler, LRScheduler):
            raise ArgumentTypeError(
                "The type of 'scheduler' in optimizer.set_lr_schduler must be LRScheduler, "
                f"but received {type(scheduler)}."
            )
        self._learning_rate = scheduler

    def rate_multiplier(self, param: Any) -> float:
        """The learning rate of `param` relative to the optimizer's."""
        return float((getattr(param, "optimize_attr", None) or {}).get("learning_rate", 1.0))

    # ---- eager ----

    @spanned("Optimization Step", UPDATE)
    def step(self) -> None:
        """Update every parameter that has a gradient.

        Examples:
            >>> import scull as paddle
            >>> layer = paddle.nn.Linear(2, 1)
            >>> opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
            >>> layer(paddle.ones([1, 2])).sum().backward()
            >>> opt.step()
            >>> opt.clear_grad()
        """
        mode: Any = current()
        if mode.setting is not None:
            with interpreting(mode.below):
                self.step()
            return
        if mode.captures:
            mode.gradients.update(self)
            return
        needs_eager_mode("step", MINIMIZED)
        mode.settle()
        with no_grad():
            for group in self._param_groups:
                pairs = [(p, p.node.total) for p in group["params"] if has_gradient(p)]
                self.update_eagerly(self.prepared(pairs, group))

    def update_eagerly(self, pairs: list[Any]) -> None:
        """Run the update operator of each parameter in place."""
        if says_how(self):
            update_by(self, main_program().global_block(), pairs)
            return
        rate = self.get_lr()
        for p, g in pairs:
            self.run_update(p, g.array, np.array(rate * self.rate_multiplier(p), "float32"))
        for p, _ in pairs if self.finish else ():
            self.finish(p)

    def run_update(self, param: Any, grad: Any, rate: Any) -> None:
        """Call the kernel on the arrays of one parameter and its states."""
        op: Op = self.operator.op
        given = self.operands(param, rate)
        values = {n: v.array if isinstance(v, Tensor) else v for n, v in given.items()}
        values["grad"] = grad
        overwrite(op, values, self.all_attributes(param))

    def operands(self, param: Any, rate: Any) -> dict[str, Any]:
        """What the update operator reads besides the gradient, by the names of its inputs."""
        given: dict[str, Any] = {"param": param, "learning_rate": rate}
        given |= {name: self.state(name, param) for name in self.states}
        if self.keeps_master(param):
            given["master_param"] = self.master(param)
        if "found_inf" in self._auxiliary_vars and "skip_update" in self.operator.op.inputs:
            given["skip_update"] = self._auxiliary_vars["found_inf"]
        return given

    def keeps_master(self, param: Any) -> bool:
        """Whether a parameter of fewer digits is updated by a float32 copy."""
        return self._multi_precision and param.dtype.name in ("float16", "bfloat16")

    def _set_auxiliary_var(self, key: str, value: Any) -> None:
        """Let updates read something else: under `found_inf` whether to do nothing."""
        self._auxiliary_vars[key] = value

    def _get_auxiliary_var(self, key: str) -> Any:
        """What `_set_auxiliary_var` set; None where it did not."""
        return self._auxiliary_vars.get(key)

    def attributes(self, param: Any) -> dict[str, Any]:
        """The attributes of the update operator for one parameter, where they are no defaults."""
        return {}

    def all_attributes(self, param: Any) -> dict[str, Any]:
        """All attributes of the update operator for one parameter."""
        wide = {"multi_precision": self.keeps_master(param)}
        return {**self.operator.op.attrs, **self.attributes(param), **wide}

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Make the gradients of all parameters zeros, or forget them.

        Args:
            set_to_zero (bool): zeros, with which a later step still moves what has moments.
        """
        mode: Any = current()
        if mode.captures:
            mode.gradients.clear(self.parameters())
            return
        needs_eager_mode("clear_grad", MINIMIZED)
        for p in self.parameters():
            if p.node is not None:
                p.node.clear(set_to_zero)

    clear_gradients = clear_grad

    # ---- states ----

    def __init_subclass__(cls) -> None:
        """Let each state be found by Paddle's attribute: `_moment1_acc_str` is its name."""
        for name in cls.states:
            setattr(cls, f"_{name}_acc_str", cls.spelt(name))

    @property
    def _dtype(self) -> Any:
        """The element type of its parameters."""
        return next((p.dtype for p in self.parameters()), None)

    def start(self, name: str, param: Any) -> tuple[float, Any]:
        """The first value of a state, and its shape when it is not the parameter's."""
        return 0.0, None

    def state(self, name: str, param: Any) -> Any:
        """A state of one parameter; made when first asked for."""
        found = self._accumulators[self.spelt(name)].get(param.name)
        return self.make_state(name, param) if found is None else found

    def _get_accumulator(self, name: str, param: Any) -> Any:
        """The state of one parameter by the name it has in names of variables."""
        if param.name not in self._accumulators.get(name, {}):
            raise ArgumentError(
                f"Accumulator {name} does not exist for parameter {param.name}; there are "
                f"{', '.join(self._accumulators) or 'none'}"
            )
        return self._accumulators[name][param.name]

    @classmethod
    def spelt(cls, name: str) -> str:
        """How a state is called in names of variables."""
        return cls.called.get(name) or (name + "_acc" if name.endswith("_pow") else name)

    def make_state(self, name: str, param: Any) -> Any:
        """A new state: a Tensor, or a persistable variable that the startup Program fills."""
        value, shape = self.start(name, param)
        shape = tuple(param.shape) if shape is None else shape
        wide = self.keeps_master(param)
        half = param.dtype.name in ("float16", "bfloat16")
        dtype = float32 if wide or (half and self.wide_states) else param.dtype
        owner = self.master(param) if wide else param
        device = "cpu" if name.endswith("_pow") else ""
        return self.called_state(self.spelt(name), param, owner, dtype, value, shape, device)

    def called_state(
        self, called: str, param: Any, owner: Any, dtype: Any, value: float, shape: Any, device: str
    ) -> Any:
        """A new state of `param` called so, named after its `owner`."""
        prefix = f"{self._name}_" if self._name else ""
        full = session.unique_name(f"{owner.name}_{prefix}{called}")
        if isinstance(param, Variable):
            made = persistent(full, Meta(shape, dtype), value, device=device)
        else:
            made = Tensor(np.full(shape, value, dtype.array))
            made.name, made.persistable = full, True
            if self._held_states:  # training goes on: nothing begins anew unsaid
                if full not in self._held_states:
                    raise AssertError(f"Optimizer set error, {full} should in state dict")
                fill(made, self._held_states.pop(full))
        self._accumulators[called][param.name] = made
        return made

    def master(self, param: Any) -> Any:
        """The float32 copy of a parameter of fewer digits."""
        if param.name not in self._master_weights:
            full = session.unique_name(param.name + "_fp32_master")
            if isinstance(param, Variable):
                made: Any = master_variable(full, param)
            else:
                made = Tensor(param.array.astype("float32"))
                made.name = full
            self._master_weights[param.name] = made
        return self._master_weights[param.name]

    def state_dict(self) -> dict[str, Any]:
        """All states by their names, and the scheduler's under `LR_Scheduler`."""
        result = {v.name: v for by_param in self._accumulators.values() for v in by_param.values()}
        if self._master_weights:
            result["master_weights"] = dict(self._master_weights)
        if isinstance(self._learning_rate, LRScheduler):
            result["LR_Scheduler"] = self._learning_rate.state_dict()
        return result

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over saved states; those of parameters not met yet wait for them."""
        given = dict(state_dict)
        schedule = given.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler) and schedule is not None:
            self._learning_rate.set_state_dict(schedule)
        for name, value in given.pop("master_weights", {}).items():
            copy = Tensor(np.array(value, "float32"))
            copy.name = getattr(value, "name", name)
            self._master_weights[name] = copy
        states = [v for by_param in self._accumulators.values() for v in by_param.values()]
        own = {v.name: v for v in states if isinstance(v, Tensor)}
        for name in own:
            if name not in given:
                raise AssertError(f"optimizer Tensor {name} not found")
        for name, value in given.items():
            if name in own:
                fill(own[name], value)
            else:
                self._held_states[name] = np.array(value)

    set_dict = set_state_dict

    def get_opti_var_name_list(self) -> list[str]:
        return [v.name for by_param in self._accumulators.values() for v in by_param.values()]

    # ---- both modes ----

    def append_regularization_ops(
        self, parameters_and_grads: list[Any], regularization: Any = None
    ) -> list[Any]:
        """Pairs whose gradients have the decay: the parameter's own, else `regularization`."""
        own = [(p, g, getattr(p, "regularizer", None)) for p, g in parameters_and_grads]
        return [(p, g if g is None else decayed(p, g, r or regularization)) for p, g, r in own]

    def by_group(self, pairs: list[Any]) -> list[tuple[dict[str, Any], list[Any]]]:
        """The pairs of each group; those of no group come last."""
        owner = {id(p): i for i, g in enumerate(self._param_groups) for p in g["params"]}
        groups = [*self._param_groups, {}]
        own: list[list[Any]] = [[] for _ in groups]
        for pair in pairs:
            own[owner.get(id(pair[0]), -1)].append(pair)
        return [(g, found) for g, found in zip(groups, own, strict=True) if found]

    def prepared(self, pairs: list[Any], group: dict[str, Any]) -> list[Any]:
        """The gradients after clipping and decay."""
        clip = group.get("grad_clip", self._grad_clip)
        if clip is not None and pairs:
            pairs = clip(pairs)
        return [(p, decayed(p, g, self.own_decay(p))) for p, g in pairs]

    def own_decay(self, param: Any) -> Any:
        """The decay added to the gradient of `param`: its own, else the optimizer's."""
        return getattr(param, "regularizer", None) or self.regularization

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """Differentiate `loss` (in a Program) and update; eager code calls `backward` first."""
        if current().captures:
            loss.backward()
            self.step()
            return [], []
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        return self._apply_optimize(loss, startup_program, pairs), pairs

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[Any]:
        """Pairs (parameter, gradient) of `loss`."""
        if isinstance(loss, Tensor):
            chosen = parameters or self.parameters()
            return [(p, p.grad) for p in chosen if has_gradient(p)]
        if any(n != 1 for n in loss.shape):
            raise ArgumentError(
                "The number of elements of loss should be 1, but the current loss.shape is "
                f"{tuple(loss.shape)}; reduce it, for example by paddle.mean"
            )
        names = {v if isinstance(v, str) else v.name for v in no_grad_set or ()}
        wanted = parameters or self._parameter_list
        return list(append_backward(loss, wanted, names, clips=True))

    def apply_gradients(self, params_grads: list[Any]) -> list[Any]:
        """Append or run clipping, decay and one update a parameter, parameters in name order."""
        pairs = sorted(params_grads, key=lambda pair: pair[0].name)
        if pairs and isinstance(pairs[0][0], Tensor):
            return self._apply_eagerly(pairs)
        return apply_statically(self, pairs)

    def _apply_eagerly(self, pairs: list[Any]) -> list[Any]:
        """Update in the order of the parameters, as `step` does."""
        with no_grad():
            for group, own in self.by_group(pairs):
                self.update_eagerly(self.prepared(own, group))
        return []

    def _apply_optimize(self, loss: Any, startup: Any, params_grads: list[Any]) -> list[Any]:
        if isinstance(loss, Tensor):
            return self._apply_eagerly(params_grads)
        if not params_grads:
            return self.apply_gradients(params_grads)
        with program_guard(loss.block.program, startup or default_startup()):
            return self.apply_gradients(params_grads)


def fill(state: Tensor, value: Any) -> None:
    """Give a state what was saved of it."""
    given = np.asarray(value)
    if given.size != state.array.size:
        raise AssertError(
            f"Variable Shape not match, Variable [ {state.name} ] need tensor with shape "
            f"{list(state.array.shape)} but load set tensor with shape {list(given.shape)}"
        )
    state.array[...] = given.reshape(state.array.shape)


def has_gradient(param: Any) -> bool:
    """Whether a parameter is to be updated and a gradient reached it."""
    return (
        param.node is not None
        and getattr(param, "trainable", True)
        and param.node.total is not None
    )


def needs_eager_mode(method: str, instead: str) -> None:
    """Refuse what does nothing to the updates in a Program."""
    if not in_dynamic_mode():
        raise AssertionError(
            f"We only support '{method}()' in dynamic graph mode, please call "
            f"'paddle.disable_static()' to enter dynamic graph mode. In a Program {instead}"
        )
