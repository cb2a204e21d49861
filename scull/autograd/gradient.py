"""The derived operator `<name>_grad`: an operator's rules, or those of its body's parts."""

import inspect
from typing import Any

from scull.autograd.reverse import reverse
from scull.core.eager import composite
from scull.core.op import Op, op_of
from scull.core.rule import names_of, optional_gradients


def one_level_up(op: Op) -> dict[str, str]:
    """The names of `op`'s interface in rules about it.

    Those of a gradient operator would clash: dout is grad_out there.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    own_gradients = set(op.outputs) | set(op.douts) if op.forward else set()
    for n in op.inputs + op.outputs:
        up = "grad_" + n[1:] if n in own_gradients else n
        while up in taken:
            up += "_"
        taken.add(up)
        names[n] = up
    return names


def derive_gradient(op: Op) -> Op | None:
    """Make the gradient operator of `op`."""
    op.up = up = one_level_up(op)
    op.optional = optional_gradients(op)
    ins, outs = [up[n] for n in op.inputs], [up[n] for n in op.outputs]
    if op.rules:
        wrt = [up[n] for n in op.inputs if any(n in names for names in op.rules)]
        uses = {n for rule in op.rules.values() for n in names_of(rule)}
    else:
        wrt = [up[n] for n in op.inputs if n not in op.shape_only]
        uses = {*ins, *("d" + n for n in outs)}
    stretched = set(wrt) if op.broadcasts else set()
    shape_only = {
        n for n in ins + outs if n not in uses and (n + "_meta" in uses or n in stretched)
    }
    douts = tuple("d" + n for n in outs if "d" + n in uses)
    inputs = (
        *(n for n in ins if n in uses | shape_only),
        *(n for n in outs if n in uses | shape_only),
        *douts,
    )
    results = tuple("d" + n for n in wrt)
    back = {v: k for k, v in up.items()}
    body = gradient_body(op, inputs, results, outs)
    body.__name__ = op.name + "_grad"
    body.__signature__ = signature(op, inputs, shape_only, back)
    spelling = {up[n]: up[n] if up[n] != n else op.slot(n) for n in op.inputs + op.outputs}
    spelling |= {"d" + n: s + "@GRAD" for n, s in spelling.items()}
    if op.xshape:
        spelling[up[op.xshape]] = "XShape"
    lists = tuple("d" + up[n] for n in op.lists)
    function = composite(
        body,
        type=op.type + "_grad",
        outputs=tuple(n + "[]" if n in lists else n for n in results),
        slots=spelling,
        attrs=op.spelt_attrs,
        fixed=op.fixed,
        printed=tuple(set(op.fixed) - op.unprinted),
        unprinted=tuple(op.unprinted),
        unsaid=(
            *(spelling["d" + up[n]] for n in op.outputs if n in op.optional),
            *map(op.slot, op.levels),
        ),
    )
    g: Op = function.op
    g.forward, g.douts, g.back = op, douts, back
    recorded = op.xshape or op.shape_record
    if recorded and up[recorded] in inputs:
        g.shape_record = up[recorded]
    return g


def gradient_body(
    op: Op, inputs: tuple[str, ...], results: tuple[str, ...], outs: list[str]
) -> Any:
    """The function that runs the rules of `op` that are wanted, on values of any kind."""

    def body(*values: Any, wanted: Any = None, **attrs: Any) -> Any:
        known = dict(zip(inputs, values, strict=False)) | attrs
        need = set(wanted or results)
        if op.rules:
            found = ruled(op, known, attrs, need)
        else:
            ins = [known.get(op.up[n]) for n in op.inputs]
            found = reverse(op, ins, attrs, [known.get("d" + n) for n in outs], need)
        if op.broadcasts:
            found = {n: summed(op, g, known[n[1:]], attrs) for n, g in found.items() if n in need}
        values = tuple(found.get(n) if n in need else None for n in results)
        return values if len(results) > 1 else values[0]

    return body


def ruled(op: Op, known: dict[str, Any], attrs: dict[str, Any], need: set[str]) -> dict[str, Any]:
    """The gradients the rules of `op` give."""
    if op.align and attrs.get("axis", -1) != -1:
        known = {**known, **op.align(known, attrs["axis"])}
    found: dict[str, Any] = {}
    for names, rule in op.rules.items():
        if need & {"d" + op.up[n] for n in names}:
            asked = [known.get(n.removesuffix("_meta")) for n in names_of(rule)]
            grads = rule(*asked)
            pairs = zip(names, grads if len(names) > 1 else (grads,), strict=True)
            found |= {"d" + op.up[n]: g for n, g in pairs}
    return found


def summed(op: Op, g: Any, like: Any, attrs: dict[str, Any]) -> Any:
    """`g` summed down to the shape of the operand `like`, which the operator may have stretched."""
    if g is None:
        return None
    shape = tuple(g.shape)
    if shape == tuple(like.shape) and -1 not in shape:
        return g
    return op_of("sum_like").call(g, like, axis=attrs.get("axis", -1))


def signature(
    op: Op, inputs: tuple[str, ...], shape_only: set[str], back: dict[str, str]
) -> inspect.Signature:
    """The parameters of the gradient operator: what the rules name, then the attributes of `op`."""
    kinds = inspect.Parameter
    positional = []
    for n in inputs:
        own = back.get(n) or back.get(n[1:])
        annotation = list[Any] if own in op.lists or own in op.output_lists else kinds.empty
        positional.append(
            kinds(
                n + "_meta" * (n in shape_only),
                kinds.POSITIONAL_OR_KEYWORD,
                default=None,
                annotation=annotation,
            )
        )
    keywords = [
        p
        for p in op.signature.parameters.values()
        if p.kind is p.KEYWORD_ONLY and p.name != "wanted"
    ]
    last = kinds("wanted", kinds.KEYWORD_ONLY, default=None)
    return inspect.Signature([*positional, *keywords, last])


Op.derive = staticmethod(derive_gradient)
