"""Calls for operators on elements: signs, sums, form and place, lists."""

import ast

from scull.jit.decompile.expression import call, literal, method, short, signed_like, without
from scull.jit.decompile.rule import by_path, rule
from scull.jit.decompile.view import View, filled_with

# ---- signs ----

BINARY: dict[str, ast.operator] = {
    "elementwise_add": ast.Add(),
    "elementwise_sub": ast.Sub(),
    "elementwise_mul": ast.Mult(),
    "elementwise_div": ast.Div(),
    "elementwise_pow": ast.Pow(),
    "elementwise_mod": ast.Mod(),
    "elementwise_floordiv": ast.FloorDiv(),
    "bitwise_and": ast.BitAnd(),
    "bitwise_or": ast.BitOr(),
    "bitwise_xor": ast.BitXor(),
}
COMPARED: dict[str, ast.cmpop] = {
    "less_than": ast.Lt(),
    "less_equal": ast.LtE(),
    "greater_than": ast.Gt(),
    "greater_equal": ast.GtE(),
    "equal": ast.Eq(),
    "not_equal": ast.NotEq(),
}
FUNCTIONS = {  # of two operands, where the sign does not fit
    "elementwise_add": "paddle.add",
    "elementwise_sub": "paddle.subtract",
    "elementwise_mul": "paddle.multiply",
    "elementwise_div": "paddle.divide",
    "elementwise_pow": "paddle.pow",
    "elementwise_max": "paddle.maximum",
    "elementwise_min": "paddle.minimum",
}


def signed(view: View, x: ast.expr, y: ast.expr) -> ast.expr:
    """The two operands with the sign between them."""
    type = view.call.type
    if type in COMPARED:
        return ast.Compare(x, [COMPARED[type]], [y])
    return ast.BinOp(x, BINARY[type], y)


@rule(*BINARY, *COMPARED)
def number_right(view: View) -> ast.expr | None:
    """`x + 1.0`."""
    y = view.number_or("y")
    return signed(view, view.x("x"), y) if view.absorbed else None


@rule(*BINARY, *COMPARED)
def number_left(view: View) -> ast.expr | None:
    """`1.0 + x`."""
    x = view.number_or("x")
    return signed(view, x, view.x("y")) if view.absorbed else None


@rule(*BINARY, *COMPARED)
def of_two(view: View) -> ast.expr | None:
    """`x + y`."""
    return signed(view, view.x("x"), view.x("y"))


@rule(*FUNCTIONS)
def function_of_two(view: View) -> ast.expr | None:
    """`paddle.maximum(x, y)`."""
    return call(FUNCTIONS[view.call.type], view.x("x"), view.x("y"))


@rule("scale")
def scaled(view: View) -> ast.expr | None:
    """`x * 2.0`, `x + 1.0`, `-x`."""
    if view.has("x"):
        return None
    x, factor, offset = view.x(), view.number("scale"), view.number("bias")
    if factor == 1:
        sign: ast.operator = ast.Add() if signed_like(offset) > 0 else ast.Sub()
        amount = abs(offset) if view.out.meta.dtype.is_float else int(abs(offset))
        return ast.BinOp(x, sign, literal(amount))
    if offset == 0 and factor == -1:
        return ast.UnaryOp(ast.USub(), x)
    return ast.BinOp(x, ast.Mult(), literal(factor)) if offset == 0 else None


@rule("scale")
def reflected(view: View) -> ast.expr | None:
    """`1.0 - x`."""
    factor, offset = view.number("scale"), view.number("bias")
    return ast.BinOp(literal(offset), ast.Sub(), view.x()) if factor == -1 else None


@rule("scale")
def scaled_by_call(view: View) -> ast.expr | None:
    told = view["scale"] if "scale" in view.call.told else view.number("scale")
    options = {"scale": told, "bias": view.number("bias")}
    options["bias_after_scale"] = view["bias_after_scale"]
    defaults = {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}
    return call("paddle.scale", view.x(), **without(options, defaults))


@rule("matmul_v2")
def product(view: View) -> ast.expr | None:
    options = {w: view[w] for w in ("transpose_x", "transpose_y")}
    options = without(options, dict.fromkeys(options, False))
    return call("paddle.matmul", view.x("x"), view.x("y"), **options)


# ---- form and place of elements ----


@rule("cast")
def converted(view: View) -> ast.expr | None:
    return method(view.x(), "astype", view["out_dtype"])


@rule("slice")
def indexed(view: View) -> ast.expr | None:
    """`x[:, 1:3]`, `x[:, 0]`."""
    if view.call.told or view.has(view.op.inputs[0]):
        return None
    source = view.call.inputs[0]
    axes, starts, ends = view["axes"], view["starts"], view["ends"]
    gone = view["decrease_axis"]
    parts: list[ast.expr] = [ast.Slice()] * (max(axes, default=-1) + 1)
    for axis, start, end in zip(axes, starts, ends, strict=True):
        lower = literal(start) if start else None
        upper = None if end >= 2**31 - 1 else literal(end)
        parts[axis] = literal(start) if axis in gone else ast.Slice(lower, upper)
    if not parts:
        return None
    at: ast.expr = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
    return ast.Subscript(view.slot_tree(source), at, ast.Load())


@rule("split")
def pieces(view: View) -> ast.expr | None:
    count = view["sections"] or view["num"]
    return call("paddle.split", view.x(), count, axis=view["axis"])


@rule("fill_constant")
def constant(view: View) -> ast.expr | None:
    """`paddle.full([2, 3], 0.5, "float32")`."""
    if view.slot("value_tensor"):
        return None
    shape = view.sizes("shape", "shape_tensor", "shape_tensor_list")
    value, dtype = filled_with(view.call), view.out.meta.dtype
    return call("paddle.full", shape, bool(value) if dtype.name == "bool" else value, dtype)


@rule("reshape2")
def shaped(view: View) -> ast.expr | None:
    sizes = view.sizes("shape", "shape_tensor", "shape_tensor_list")
    return call("paddle.reshape", view.x(), sizes)


@rule("expand_v2")
def stretched(view: View) -> ast.expr | None:
    sizes = view.sizes("shape", "shape_tensor", "shape_tensor_list")
    return call("paddle.expand", view.x(), sizes)


@rule("tile")
def repeated(view: View) -> ast.expr | None:
    return call(
        "paddle.tile", view.x(), view.sizes("repeat_times", "times_tensor", "times_tensor_list")
    )


@rule("transpose2")
def turned(view: View) -> ast.expr | None:
    return call("paddle.transpose", view.x(), view["perm"])


@rule("squeeze2", "unsqueeze2")
def squeezed(view: View) -> ast.expr | None:
    axes = view["axes"]
    axes = axes[0] if isinstance(axes, tuple) and len(axes) == 1 else axes
    return call(f"paddle.{view.call.type[:-1]}", view.x(), *[axes] * (axes != ()))


@rule("flatten_contiguous_range")
def flat(view: View) -> ast.expr | None:
    return call("paddle.flatten", view.x(), view["start_axis"], view["stop_axis"])


@rule("concat", "stack")
def joined(view: View) -> ast.expr | None:
    axis = view.x("axis_tensor") if view.has("x") else view["axis"]
    return call(f"paddle.{view.call.type}", view.x(), **without({"axis": axis}, {"axis": 0}))


REDUCTIONS = ("sum", "mean", "max", "min", "prod", "all", "any", "amax", "amin")


@rule(*[f"reduce_{word}" for word in REDUCTIONS])
def reduced(view: View) -> ast.expr | None:
    """`paddle.sum(x, axis=1)`."""
    axis = view["axis"]
    whole = view["reduce_all"] or axis == ()
    options = {"axis": None if whole else short(axis), "keepdim": view["keepdim"]}
    if isinstance(options["axis"], list) and len(options["axis"]) == 1:
        options["axis"] = options["axis"][0]
    words = without(options, {"axis": None, "keepdim": False})
    return call(f"paddle.{view.call.type.removeprefix('reduce_')}", view.x(), **words)


@rule("arg_max", "arg_min")
def best(view: View) -> ast.expr | None:
    axis = None if view["flatten"] else view["axis"]
    options = {"axis": axis, "keepdim": view["keepdims"], "dtype": view["dtype"].name}
    words = without(options, {"axis": None, "keepdim": False, "dtype": "int64"})
    return call(f"paddle.{view.call.type.replace('_', '')}", view.x(), **words)


@rule("top_k_v2")
def highest(view: View) -> ast.expr | None:
    k = view.x("k_tensor") if view.has("x") else view["k"]
    words = without({n: view[n] for n in ("axis", "largest", "sorted")}, view.op.attrs)
    return call("paddle.topk", view.x(), k, **words)


@rule("gather")
def gathered(view: View) -> ast.expr | None:
    words = without({"axis": view["axis"]}, {"axis": 0})
    return call("paddle.gather", view.x(), view.x("index"), **words)


@rule("one_hot_v2")
def one_hot(view: View) -> ast.expr | None:
    return call("F.one_hot", view.x(), view["depth"])


@rule("p_norm")
def normed(view: View) -> ast.expr | None:
    axis = None if view["asvector"] else view["axis"]
    words = without({"axis": axis, "keepdim": view["keepdim"]}, {"axis": None, "keepdim": False})
    return call("paddle.norm", view.x(), p=view["porder"], **words)


@rule("clip")
def clipped(view: View) -> ast.expr | None:
    given = {
        n: view.x(f"{n}_tensor") if view.slot(f"{n}_tensor") else view[n] for n in ("min", "max")
    }
    return call("paddle.clip", view.x(), **without(given, view.op.attrs))


@rule("cumsum")
def cumulated(view: View) -> ast.expr | None:
    words = {} if view["flatten"] else {"axis": view["axis"]}
    return call("paddle.cumsum", view.x(), **words)


@rule("fill_any_like")
def constant_like(view: View) -> ast.expr | None:
    return call("paddle.full_like", view.x(), view.number("value"))


@rule("fill_any_like")
def zeros_like(view: View) -> ast.expr | None:
    word = {0: "zeros_like", 1: "ones_like"}.get(view["value"])
    return word and call(f"paddle.{word}", view.x())


@rule("range")
def counted(view: View) -> ast.expr | None:
    return call("paddle.arange", *[view.number_or(n) for n in view.op.inputs])


@rule("tril_triu")
def triangle(view: View) -> ast.expr | None:
    word = "paddle.tril" if view["lower"] else "paddle.triu"
    return call(word, view.x(), **without({"diagonal": view["diagonal"]}, {"diagonal": 0}))


SAME = {  # where the function has another name than the operator
    "arg_sort": "paddle.argsort",
    "brelu": "F.hardtanh",
    "gelu": "F.gelu",
    "hard_sigmoid": "F.hardsigmoid",
    "hard_swish": "F.hardswish",
    "logsigmoid": "F.log_sigmoid",
    "where_index": "paddle.nonzero",
    "fill_zeros_like": "paddle.zeros_like",
    "sigmoid": "F.sigmoid",
    "tanh_shrink": "F.tanhshrink",
    "softmax": "F.softmax",
    "log_softmax": "F.log_softmax",
    "size": "paddle.numel",
}


@rule(*SAME)
def same(view: View) -> ast.expr | None:
    return by_path(view, SAME[view.call.type])


@rule("gaussian_random")
def drawn(view: View) -> ast.expr | None:
    return call("paddle.randn", view["shape"], view["dtype"])


@rule("uniform_random")
def even(view: View) -> ast.expr | None:
    return call("paddle.uniform", view["shape"], view["dtype"], view["min"], view["max"])


@rule("randint")
def whole(view: View) -> ast.expr | None:
    return call("paddle.randint", view["low"], view["high"], view["shape"], view["dtype"])


@rule("write_to_array")
def written(view: View) -> ast.expr | None:
    return call("paddle.tensor.array_write", view.x("x"), view.x("i"), view.x("array"))


@rule("read_from_array")
def read(view: View) -> ast.expr | None:
    return call("paddle.tensor.array_read", view.x("x"), view.x("i"))


@rule("lod_array_length")
def length(view: View) -> ast.expr | None:
    """`length_of(x)`, a function that stands in the text: eager mode has a number."""
    return call("length_of", view.x("x"))
