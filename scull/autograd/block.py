"""Gradients of operators with blocks: each block gets a block that computes its gradients."""

from typing import Any

from scull.autograd.opening import BACKWARD
from scull.autograd.program import MAKERS, TAKERS, Backward, make_gradient
from scull.core import session
from scull.core.dtype import int32
from scull.core.meta import Kind
from scull.core.op import op_of
from scull.ir.block import Block
from scull.ir.operator import Operator, each
from scull.ir.reach import blocks_within
from scull.ir.recorder import Recorder
from scull.ir.variable import Variable

Arrived = dict[Variable, Any]
Wanted = dict[int, list[Variable]]
Results = dict[Variable, Variable]


def has_gradient(v: Variable) -> bool:
    """Whether values like that of `v` have gradients: numbers with fractions, and lists of such."""
    known = v.kind in (Kind.DENSE, Kind.ROWS, Kind.ARRAY)
    return known and (v.dtype.is_float or v.dtype.is_complex)


def append(pass_: Backward, like: Operator, type: str, ins: Any, outs: Any, attrs: Any) -> Operator:
    """Append an operator for the gradient of `like`."""
    op = op_of(type)
    made = Operator(pass_.into, op, ins, outs, {**op.attrs, **attrs})
    made.role, made.device, made.line = BACKWARD, like.device, like.line
    made.namescope = like.namescope
    return pass_.into.append(made)


def zeros(pass_: Backward, like: Variable, into: Variable) -> Variable:
    """Let `into` be zeros in the shape of `like`."""
    attrs = {"value": 0.0, "dtype": None}
    pass_.recorder.append(op_of("fill_any_like"), (like,), (into,), attrs)
    return into


# ---- blocks ----


def takes_input(o: Operator) -> list[tuple[int, Variable]]:
    """What gets a gradient of a branch: what it reads, and what it perhaps leaves as it was."""
    (block,) = o.blocks()
    reads = each(o.inputs[1])
    rest = [v for v in each(o.outputs[0]) if v not in set(reads) and kept_from_before(v, o, block)]
    return [(1, v) for v in (*reads, *rest) if has_gradient(v)]


def kept_from_before(v: Variable, o: Operator, block: Block) -> bool:
    """Whether `v`, which a branch writes, has a value before it."""
    if v.persistable or v.is_data or v.block is not o.block:
        return True
    before = o.block.ops[: o.block.ops.index(o)]
    return any(v in set(other.results()) for other in before)


def takes_loop(o: Operator) -> list[tuple[int, Variable]]:
    """What gets a gradient of a loop."""
    return [(0, v) for v in each(o.inputs[0]) if has_gradient(v)]


def completed(inner: Backward, takers: list[Variable]) -> None:
    """Zeros for what no gradient reached within a block, under the names of gradients.

    Of a list of tensors it is an empty one: a variable of the block without a value.
    """
    for v in takers:
        name = v.name + "@GRAD"
        if v.kind is not Kind.ARRAY and (v, 0) not in inner.final:
            zeros(inner, v, inner.called(name, v.meta))
        elif v.kind is Kind.ARRAY and v not in inner.arrays:
            inner.called(name, v.meta)


def is_filled(pass_: Backward, d: Variable) -> bool:
    """Whether the gradient `d` has a value already."""
    return d in set(pass_.seeds.values()) or any(d in set(m.results()) for m in pass_.into.ops)


def apart(pass_: Backward, results: dict[Variable, Variable], some: list[Variable]) -> None:
    """Put new variables into `results` for `some`: they are merged with others afterwards."""
    for v in some:
        name = session.unique_name(results[v].name + "@BLOCK")
        results[v] = pass_.into.variable(name, v.meta)


def free_names(block: Block, takers: list[Variable]) -> None:
    """Call gradients that are computed within a block otherwise than those of `takers` will be."""
    names = [v.name + "@GRAD" for v in takers]
    for within in blocks_within(block):
        for name in names:
            if name in within.vars:
                within._rename_var(name, session.unique_name(name + "@PAST"))


def make_branch_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """Append `conditional_block_grad` for `o`; what it may have left alone is chosen after it."""
    (block,), outs, inputs = o.blocks(), each(o.outputs[0]), each(o.inputs[1])
    takers = [v for _, v in pass_.receivers(o)]
    seeds = {v: arrived[v] for v in outs if arrived.get(v) is not None}
    free_names(block, takers)
    into = pass_.into.program.block_inside(pass_.into, block.idx)
    block.backward_block_idx = into.idx
    seeds.update({v: named_there(into, v, seeds[v]) for v in takers if v in seeds})
    inner = Backward(
        block,
        seeds,
        pass_.no_grad,
        into=into,
        sources=takers,
        nested=True,
        clips=pass_.clips,
        told=pass_.told,
    )
    inner.run(list(seeds))
    completed(inner, takers)
    final = dict(zip(takers, wanted.get(1, ()), strict=True))
    kept = [v for v in takers if v in set(outs) and (v in seeds or v.kind is not Kind.ARRAY)]
    added = [v for v in arrays_read(takers, outs) if is_filled(pass_, final[v])]
    results = dict(final)
    apart(pass_, results, [*kept, *added])
    given = [*inputs, *(v for v in takers if v not in set(inputs))]
    append(
        pass_,
        o,
        "conditional_block_grad",
        (list(o.inputs[0]), given, outs, [arrived.get(v) for v in outs], o.outputs[1]),
        ([results.get(v) for v in given],),
        {"sub_block": into, "is_scalar_condition": o.attrs["is_scalar_condition"]},
    )
    for v in kept:
        choose(pass_, o, arrived.get(v), results[v], final[v])
    for v in added:
        pass_.recorder.append(op_of("sum"), ([final[v], results[v]],), (final[v],), {})


def named_there(into: Block, v: Variable, d: Variable) -> Variable:
    """The gradient `d` of `v` under the name by which a gradient block hands it back."""
    name = v.name + "@GRAD"
    if d.name == name:
        return d
    made = into.variable(name, d.meta)
    Recorder(into).append(op_of("assign"), (d,), (made,), {})
    return made


def arrays_read(takers: list[Variable], outs: list[Variable]) -> list[Variable]:
    """The lists of tensors that a block reads and does not write."""
    return [v for v in takers if v.kind is Kind.ARRAY and v not in set(outs)]


def choose(pass_: Backward, o: Operator, left: Any, ran: Variable, into: Variable) -> None:
    """The gradient `ran` where the branch ran, else what it `left` alone."""
    if left is None:
        left = zeros(pass_, ran, pass_.into.variable(ran.name + "@NONE", ran.meta))
    mask = op_of("cast").call(o.inputs[0][0], out_dtype=int32)
    pass_.recorder.append(op_of("select_input"), ([left, ran], mask), (into,), {})


def make_loop_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """Append `while_grad` for `o`: in every round back it takes what the next round left."""
    (block,), outs, inputs = o.blocks(), each(o.outputs[0]), each(o.inputs[0])
    takers = [v for _, v in pass_.receivers(o)]
    final = dict(zip(takers, wanted.get(0, ()), strict=True))
    free_names(block, takers)
    into = pass_.into.program.block_inside(pass_.into, block.idx)
    block.backward_block_idx = into.idx
    given: dict[Variable, Variable] = {}
    seeds: dict[Variable, Variable] = {}
    for v in [v for v in takers if v in set(outs)]:
        name = v.name + "@GRAD"
        d = arrived.get(v)
        if d is None and v.kind is not Kind.ARRAY:
            d = zeros(pass_, v, pass_.into.variable(session.unique_name(name + "@NONE"), v.meta))
        if d is not None:
            given[v] = d
        d = d or final[v]
        seeds[v] = d if d.name == name else into.variable(name, v.meta)
    inner = Backward(
        block,
        seeds,
        pass_.no_grad,
        into=into,
        sources=takers,
        nested=True,
        again=True,
        clips=pass_.clips,
        told=pass_.told,
    )
    inner.run(list(seeds))
    completed(inner, takers)
    added = [v for v in arrays_read(takers, outs) if is_filled(pass_, final[v])]
    results = dict(final)
    apart(pass_, results, added)
    append(
        pass_,
        o,
        "while_grad",
        (inputs, outs, list(given.values()), o.outputs[1]),
        ([results.get(v) for v in inputs],),
        {
            "sub_block": into,
            "is_test": o.attrs["is_test"],
            "original_output_grad": tuple(v.name + "@GRAD" for v in given),
        },
    )
    for v in added:
        pass_.recorder.append(op_of("sum"), ([final[v], results[v]],), (final[v],), {})


# ---- lists of tensors ----


def takes_write(o: Operator) -> list[tuple[int, Variable]]:
    """What is written, and the list as it was before."""
    found = [(0, o.inputs[0]), (2, o.outputs[0])]
    return [(i, v) for i, v in found if has_gradient(v)]


def make_write_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The gradient of what was written stands where it was written; of what was there it is 0."""
    x, i, d = o.inputs[0], o.inputs[1], arrived[o.outputs[0]]
    for dx in wanted.get(0, ()):
        append(pass_, o, "read_from_array", (d, i, x), (dx,), {})
    if not alone(pass_, o, o.outputs[0]):
        name = session.unique_name(d.name + "@ZERO")
        nothing = zeros(pass_, x, pass_.into.variable(name, x.meta))
        append(pass_, o, "write_to_array", (nothing, i, None), (d,), {})


def make_read_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The gradient of what was read is added to what stands where it was read."""
    i, out, (d,) = o.inputs[1], o.outputs[0], wanted[0]
    dout = arrived[out]
    if not alone(pass_, o, o.inputs[0]):
        name = session.unique_name(d.name + "@READ")
        there = pass_.into.variable(name, out.meta)
        append(pass_, o, "read_from_array", (d, i, out), (there,), {})
        whole = pass_.into.variable(name + "@SUM", out.meta)
        pass_.recorder.append(op_of("sum"), ([there, dout],), (whole,), {})
        dout = whole
    append(pass_, o, "write_to_array", (dout, i, None), (d,), {})


def make_joined_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The pieces of a gradient are added to what the list of gradients holds."""
    (d,), dout = wanted[0], arrived[o.outputs[0]]
    results = {o.inputs[0]: d}
    if is_filled(pass_, d):
        apart(pass_, results, [o.inputs[0]])
    made = results[o.inputs[0]]
    append(pass_, o, "tensor_array_to_tensor_grad", (o.inputs[0], dout), (made,), dict(o.attrs))
    if made is not d:
        pass_.recorder.append(op_of("sum"), ([d, made],), (d,), {})


def make_lists_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The gradient of lists that are added or handed on goes to each of them."""
    out = o.outputs[0]
    if out.kind is not Kind.ARRAY:
        make_gradient(pass_, o, arrived, wanted)
        return
    dout: Variable = arrived[out]
    final = dict(zip([v for _, v in pass_.receivers(o)], wanted[0], strict=True))
    hand_back(pass_, o, dout, final, dict.fromkeys(final, dout))


def hand_back(pass_: Backward, o: Operator, dout: Variable, final: Results, parts: Results) -> None:
    """Add to each list of gradients in `final` its part of `dout`, of a list that `o` replaces."""
    out = o.outputs[0]
    for v, part in parts.items():
        if v is not out:
            known = [final[v]] if is_filled(pass_, final[v]) else []
            pass_.recorder.append(op_of("sum"), ([*known, part],), (final[v],), {})
    if out not in parts and out.kind is Kind.ARRAY:  # what it held before is gone
        zeros(pass_, dout, dout)
    elif out in parts and parts[out] is not dout:
        pass_.recorder.append(op_of("sum"), ([parts[out]],), (dout,), {})


def alone(pass_: Backward, o: Operator, array: Variable) -> bool:
    """Whether certainly nobody else of the kind of `o` touches the place that it does."""
    users = [p for p in pass_.operators if array in {*p.operands(), *p.results()}]
    harmless = {"write_to_array", "read_from_array", "lod_array_length"}
    if pass_.nested or any(p.type not in harmless for p in users):
        return False
    numbers = [constant(pass_, p.inputs[1]) for p in users if p.type == o.type]
    return None not in numbers and len(set(numbers)) == len(numbers)


def constant(pass_: Backward, i: Variable) -> Any:
    """The number `i` always holds, if that is known."""
    makers = [p for p in pass_.operators if i in set(p.results())]
    return makers[0].attrs["value"] if [p.type for p in makers] == ["fill_constant"] else None


def make_select_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The gradient goes to the one that was chosen; to a list of tensors it is added."""
    (x, mask), out = o.inputs, o.outputs[0]
    dout = arrived[out]
    final = dict(zip([v for _, v in pass_.receivers(o)], wanted[0], strict=True))
    if len(set(x)) == 1 and out.kind is Kind.ARRAY:
        hand_back(pass_, o, dout, final, {x[0]: dout})
        return
    added = [v for v, d in final.items() if d.kind is Kind.ARRAY]
    results = dict(final)
    apart(pass_, results, added)
    append(pass_, o, "select_output", (dout, mask), ([results.get(v) for v in x],), {})
    hand_back(pass_, o, dout, final, {v: results[v] for v in added})


def make_output_gradient(pass_: Backward, o: Operator, arrived: Arrived, wanted: Wanted) -> None:
    """The gradient comes from the one that was chosen."""
    mask, (dx,) = o.inputs[1], wanted[0]
    slot = []
    for v in o.outputs[0]:
        name = session.unique_name(v.name + "@GRAD@NONE")
        given = arrived.get(v)
        slot.append(given or zeros(pass_, v, pass_.into.variable(name, v.meta)))
    append(pass_, o, "select_input", (slot, mask), (dx,), {})


def takes_one(o: Operator) -> list[tuple[int, Variable]]:
    """The one that is handed on."""
    return [(0, o.inputs[0])] if has_gradient(o.inputs[0]) else []


def takes_choice(o: Operator) -> list[tuple[int, Variable]]:
    """What gets a gradient of a choice."""
    return [(0, v) for v in each(o.inputs[0]) if has_gradient(v)]


MAKERS.update(
    conditional_block=make_branch_gradient,
    while_block=make_loop_gradient,
    write_to_array=make_write_gradient,
    read_from_array=make_read_gradient,
    select_input=make_select_gradient,
    select_output=make_output_gradient,
    tensor_array_to_tensor=make_joined_gradient,
    add_n=make_lists_gradient,
    assign=make_lists_gradient,
)
TAKERS.update(
    conditional_block=takes_input,
    while_block=takes_loop,
    write_to_array=takes_write,
    read_from_array=takes_one,
    select_input=takes_choice,
    select_output=takes_one,
    tensor_array_to_tensor=takes_one,
)
