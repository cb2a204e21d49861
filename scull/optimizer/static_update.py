"""Updates as operators of a Program, one a parameter; the startup Program fills the states."""

from typing import Any

from scull.core import session
from scull.core.attribute import normalised
from scull.core.dtype import float32
from scull.core.interpreter import current, interpreting
from scull.core.meta import Meta
from scull.core.op import Op, op_of
from scull.core.tensor import Tensor
from scull.ir.block import stamp
from scull.ir.operator import Operator
from scull.ir.program import Program, main_program, startup_program
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable

OPTIMIZE, SCHEDULE = 2, 16


def persistent(
    name: str, meta: Meta, value: float, *, device: str = "", stop_gradient: bool = False
) -> Variable:
    """A variable that outlives runs; the startup Program fills it with `value`."""
    made = (
        main_program()
        .global_block()
        .variable(name, meta, persistable=True, stop_gradient=stop_gradient)
    )
    startup: Program = startup_program()
    twin = startup.global_block().variable(name, meta, persistable=True, stop_gradient=True)
    recorder = Recorder(startup.global_block())
    with interpreting(recorder), recorder.into(twin):
        op_of("fill_constant").call(
            shape=meta.shape, value=value, dtype=meta.dtype, str_value=str(float(value))
        )
    startup.global_block().ops[-1].device = device
    return made


def master_variable(name: str, param: Any) -> Variable:
    """The float32 copy of a parameter of fewer digits, made by the startup Program."""
    meta = Meta(param.meta.shape, float32)
    made = persistent(name, meta, 0.0, stop_gradient=True)
    block = startup_program().global_block()
    twin = block.var(name)
    recorder = Recorder(block)
    with interpreting(recorder), recorder.into(twin):
        op_of("cast").call(block.var(param.name), out_dtype=float32, in_dtype=param.dtype)
    return made


def global_rate(optimizer: Any) -> Any:
    """The variable that holds the learning rate of the main Program."""
    program = main_program()
    if isinstance(optimizer._learning_rate, Variable):
        return optimizer._learning_rate
    rate = optimizer._rates.get(id(program))
    if rate is None:
        name = session.unique_name("learning_rate")
        rate = persistent(name, Meta((), float32), optimizer.get_lr(), stop_gradient=True)
        optimizer._rates[id(program)] = rate
        if not isinstance(optimizer._learning_rate, float | int):
            program.lr_scheduler, program.lr_var = optimizer._learning_rate, rate
            optimizer._learning_rate._var_name = name
    return rate


def apply_statically(
    optimizer: Any, pairs: list[Any], group: dict[str, Any] | None = None
) -> list[Operator]:
    """Append clipping, decay and updates, by the settings of a `group` if any.

    Returns the operators that update.
    """
    block = main_program().current_block()
    mode: Any = current()
    recorder = mode if mode.captures else Recorder(block)
    program: Program = block.program
    with interpreting(recorder):
        given = [(p, g) for p, g in pairs if g is not None]
        with program.serving(OPTIMIZE):
            given = optimizer.prepared(given, group or {})
            global_rate(optimizer)
        optimizer._create_accumulators(block, [p for p, _ in given])
        first = len(block.ops)
        for p, g in given:
            with program.serving(OPTIMIZE, (p.name, g.name), f"/{numbered(program, 'optimizer')}/"):
                optimizer._append_optimize_op(block, optimizer.with_settings((p, g)))
        optimizer._finish_update(block, given)
        for p, g in given if optimizer.finish else ():
            scope = f"/{numbered(program, optimizer.type)}/"
            with program.serving(OPTIMIZE, (p.name, g.name), scope):
                optimizer.finish(p)
    return list(block.ops[first:])


def numbered(program: Any, word: str) -> str:
    """`word`, `word_1`, `word_2`: the name scopes of one Program."""
    counts = program.scope_counts
    n = counts[word] = counts.get(word, -1) + 1
    return f"{word}_{n}" if n else word


def parameter_rate(optimizer: Any, recorder: Recorder, param: Any, rate: Any) -> Any:
    """The learning rate of one parameter: the global one, scaled if the parameter asks for it."""
    factor = optimizer.rate_multiplier(param)
    if factor == 1.0:
        return rate
    program = param.block.program
    scope = program.namescope + "scale_with_param_lr/"
    with program.serving(OPTIMIZE | SCHEDULE, (), scope), recorder.naming("tmp"):
        return op_of("scale").call(rate, scale=factor)


def append_update(optimizer: Any, recorder: Any, param: Any, grad: Any, rate: Any) -> Operator:
    """Append the update operator of one parameter; states of eager mode are captured."""
    op: Op = optimizer.operator.op
    block = recorder.block
    given = optimizer.operands(param, rate) | {"grad": grad}
    given = {n: recorder.capture(v) if isinstance(v, Tensor) else v for n, v in given.items()}
    slots = {n: [v] if n in op.lists and v is not None else v for n, v in given.items()}
    inputs = tuple(slots.get(n) for n in op.inputs)
    outputs = tuple(slots.get(op.in_place[n]) for n in op.outputs)
    attrs = optimizer.all_attributes(param)
    normal = {n: normalised(op.kinds[n], n, v) for n, v in attrs.items()}
    operator = Operator(block, op, inputs, outputs, normal)
    stamp(operator, block.program)
    return block.append(operator)  # type: ignore[no-any-return]
