"""Updates of many parameters at once; each is updated as by the operator for one."""

from typing import Any

from scull.core.attribute import Floats, Strings
from scull.core.eager import composite
from scull.errors import ArgumentError
from scull.ops.update import adam, momentum

ADAM_STATES = ("param", "moment1", "moment2", "beta1_pow", "beta2_pow", "master_param")
MOMENTUM_STATES = ("param", "velocity", "master_param")


def alike(**lists: list[Any] | None) -> int:
    """How many parameters there are; every list that is given has an entry for each."""
    counts = {name: len(values) for name, values in lists.items() if values}
    if len(set(counts.values())) != 1:
        given = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise ArgumentError(f"there are {given or 'no parameters'}")
    return next(iter(counts.values()))


def entries(values: list[Any] | None, count: int) -> list[Any]:
    """The entries of a list; None for each where it is not given."""
    return list(values) if values else [None] * count


def lists(results: list[Any], kept: tuple[bool, ...]) -> tuple[Any, ...]:
    """The results of updates, by output; an output is empty whose input is not given."""
    rows = zip(*results, strict=True)
    return tuple(list(row) if keep else [] for row, keep in zip(rows, kept, strict=True))


@composite(
    outputs=tuple(f"{name}_out[]" for name in ADAM_STATES),
    in_place={f"{name}_out": name for name in ADAM_STATES},
    infer_first=True,
)
def merged_adam(
    param: list[Any],
    grad: list[Any],
    learning_rate: list[Any],
    moment1: list[Any],
    moment2: list[Any],
    beta1_pow: list[Any],
    beta2_pow: list[Any],
    master_param: list[Any] | None = None,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    multi_precision: bool = False,
    use_global_beta_pow: bool = False,
) -> Any:
    """`adam` of many parameters."""
    given = {"param": param, "grad": grad, "learning_rate": learning_rate}
    given |= {"moment1": moment1, "moment2": moment2}
    given |= {"beta1_pow": beta1_pow, "beta2_pow": beta2_pow, "master_param": master_param}
    count = alike(**given)
    rows = zip(*(entries(values, count) for values in given.values()), strict=True)
    options = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon}
    options |= {"multi_precision": multi_precision, "use_global_beta_pow": use_global_beta_pow}
    found = [adam(*row, **options) for row in rows]
    return lists(found, (True, True, True, True, True, bool(master_param)))


@merged_adam.kernel
def merged_adam_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    learning_rate: Any,
    moment1: Any,
    moment2: Any,
    beta1_pow: Any,
    beta2_pow: Any,
    master_param: Any = None,
    *,
    out: Any = None,
    **attrs: Any,
) -> Any:
    states = (moment1, moment2, beta1_pow, beta2_pow, master_param)
    rows = zip(
        *(entries(v, len(param)) for v in (param, grad, learning_rate, *states)), strict=True
    )
    outs = targets(out, len(param), len(ADAM_STATES))
    update, attrs = adam.op.cpu, {**adam.op.attrs, **attrs}
    found = [update(*row, out=place, **attrs) for row, place in zip(rows, outs, strict=True)]
    return lists(found, (True, True, True, True, True, bool(master_param)))


def targets(out: Any, count: int, outputs: int) -> list[Any]:
    """For each parameter where its results go."""
    if out is None:
        return [None] * count
    columns = [entries(values, count) for values in out]
    assert len(columns) == outputs
    return list(zip(*columns, strict=True))


@composite(
    outputs=tuple(f"{name}_out[]" for name in MOMENTUM_STATES),
    in_place={f"{name}_out": name for name in MOMENTUM_STATES},
    infer_first=True,
)
def merged_momentum(
    param: list[Any],
    grad: list[Any],
    velocity: list[Any],
    learning_rate: list[Any],
    master_param: list[Any] | None = None,
    *,
    mu: float,
    use_nesterov: bool = False,
    regularization_method: Strings = (),
    regularization_coeff: Floats = (),
    multi_precision: bool = False,
    rescale_grad: float = 1.0,
) -> Any:
    """`momentum` of many parameters; the lists of attributes have an entry for each, or none."""
    given = {"param": param, "grad": grad, "velocity": velocity, "learning_rate": learning_rate}
    count = alike(**given, master_param=master_param)
    for name, values in (("method", regularization_method), ("coeff", regularization_coeff)):
        if values and len(values) != count:
            law = f"regularization_{name} has {len(values)} entries for {count} parameters"
            raise ArgumentError(law)
    columns = [*given.values(), entries(master_param, count)]
    options = {"mu": mu, "use_nesterov": use_nesterov, "multi_precision": multi_precision}
    methods = regularization_method or [""] * count
    factors = regularization_coeff or [0.0] * count
    found = []
    for *row, method, factor in zip(*columns, methods, factors, strict=True):
        decay = {"regularization_method": method, "regularization_coeff": factor}
        found.append(momentum(*row, **options, **decay, rescale_grad=rescale_grad))
    return lists(found, (True, True, bool(master_param)))


@merged_momentum.kernel
def merged_momentum_kernel(
    xp: Any,
    param: Any,
    grad: Any,
    velocity: Any,
    learning_rate: Any,
    master_param: Any = None,
    *,
    out: Any = None,
    regularization_method: tuple[str, ...],
    regularization_coeff: tuple[float, ...],
    **attrs: Any,
) -> Any:
    count = len(param)
    columns = [param, grad, velocity, learning_rate, entries(master_param, count)]
    methods = list(regularization_method) or [""] * count
    factors = list(regularization_coeff) or [0.0] * count
    places = targets(out, count, len(MOMENTUM_STATES))
    found = []
    for *row, method, factor, place in zip(*columns, methods, factors, places, strict=True):
        decay = {"regularization_method": method, "regularization_coeff": factor}
        found.append(momentum.op.cpu(*row, out=place, **attrs, **decay))
    return lists(found, (True, True, bool(master_param)))


for update in (merged_adam, merged_momentum):
    update.no_grad("it ends a step of training")
