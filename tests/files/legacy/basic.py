"""Old operators on arrays: products, shapes, pieces, elements."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.files.legacy.case import Case, Generator, one


def products() -> Iterator[Case]:
    g = Generator("products")
    two = {"X": g.real(3, 4), "Y": g.real(4, 5)}
    out = {"Out": "float32"}
    dims = {"x_num_col_dims": 1, "y_num_col_dims": 1}
    yield Case("mul", "mul", two, out, dims)
    deep = {"X": g.real(2, 3, 4), "Y": g.real(4, 5)}
    yield Case("mul.deep", "mul", deep, out, {"x_num_col_dims": 2, "y_num_col_dims": 1})
    flat = {"X": g.real(2, 2, 2), "Y": g.real(4, 5)}
    yield Case("mul.flattened", "mul", flat, out, dims)
    fc = {"Input": g.real(3, 4), "W": g.real(4, 5)}
    yield Case("fc", "fc", fc, out, {"in_num_col_dims": 1})
    yield Case("fc.bias", "fc", fc | {"Bias": g.real(5)}, out, {"in_num_col_dims": 1})
    attrs = {"in_num_col_dims": 1, "activation_type": "relu"}
    yield Case("fc.relu", "fc", fc | {"Bias": g.real(1, 5)}, out, attrs)
    deep = {"Input": g.real(2, 3, 4), "W": g.real(4, 5), "Bias": g.real(5)}
    attrs = {"in_num_col_dims": 2, "activation_type": ""}
    yield Case("fc.deep", "fc", deep, out, attrs)
    for turned in (False, True):
        x, y = g.real(2, 3, 4), g.real(2, 4, 5)
        given = {"X": x.swapaxes(1, 2).copy() if turned else x, "Y": y}
        attrs = {"transpose_X": turned, "transpose_Y": False, "alpha": 0.5}
        yield Case(f"matmul.{turned}", "matmul", given, out, attrs)
    vectors = {"X": g.real(4), "Y": g.real(4)}
    attrs = {"transpose_X": False, "transpose_Y": False, "alpha": 1.0}
    yield Case("matmul.vectors", "matmul", vectors, out, attrs)
    table = {"W": g.real(6, 3), "Ids": g.whole(4, 1)}
    yield Case("lookup_table", "lookup_table", table, out, {"padding_idx": -1})
    yield Case("lookup_table.padding", "lookup_table", table, out, {"padding_idx": 2})
    table = {"W": g.real(6, 3), "Ids": g.whole(4, 2)}
    yield Case("lookup_table_v2", "lookup_table_v2", table, out, {"padding_idx": -1})


def shapes() -> Iterator[Case]:
    g = Generator("shapes")
    x = g.real(2, 3, 4)
    yield one("reshape", x, shape=[4, 6])
    yield one("reshape.copied", x, shape=[0, -1])
    yield one("transpose", x, axis=[2, 0, 1])
    record = {"Out": "float32", "XShape": "float32"}
    yield Case("reshape2", "reshape2", {"X": x}, record, {"shape": [-1, 4]})
    yield Case("transpose2", "transpose2", {"X": x}, record, {"axis": [1, 0, 2]})
    thin = g.real(2, 1, 3, 1)
    for axes in ([1], [1, 3], [-1]):
        at = tuple(axes)
        gone: Any = lambda x, at=at: x.squeeze(at)  # noqa: E731
        put: Any = lambda x, at=at: np.expand_dims(x, at)  # noqa: E731
        attrs, name = {"axes": axes}, ".".join(map(str, axes))
        out = {"Out": "float32"}
        yield Case(f"squeeze.{name}", "squeeze", {"X": thin}, out, attrs, gone)
        yield Case(f"unsqueeze.{name}", "unsqueeze", {"X": x}, out, attrs, put)
        yield Case(f"squeeze2.{name}", "squeeze2", {"X": thin}, record, attrs)
        yield Case(f"unsqueeze2.{name}", "unsqueeze2", {"X": x}, record, attrs)
    flat: Any = lambda x: x.reshape(6, 4)  # noqa: E731
    yield Case("flatten", "flatten", {"X": x}, {"Out": "float32"}, {"axis": 2}, flat)
    yield Case("flatten2", "flatten2", {"X": x}, record, {"axis": 2})
    yield one("expand", x, expand_times=[1, 2, 1])
    times = {"X": x, "ExpandTimes": np.array([2, 1, 1], "int32")}
    yield Case("expand.tensor", "expand", times, {"Out": "float32"}, {"expand_times": []})
    row, tall = g.real(1, 3), g.real(4, 3)
    whole: Any = lambda x, y: np.tile(x, [m // n for n, m in zip(x.shape, y.shape, strict=True)])  # noqa: E731
    for name, a, b in (("row", row, tall), ("twice", g.real(2, 3), tall)):
        given = {"X": a, "target_tensor": b}
        yield Case(f"expand_as.{name}", "expand_as", given, {"Out": "float32"}, {}, whole)
    labels = g.whole(4, 1, high=3)
    hot: Any = lambda x: np.eye(3, dtype="float32")[x[..., 0]]  # noqa: E731
    attrs = {"depth": 3, "dtype": 5, "allow_out_of_range": False}
    yield Case("one_hot", "one_hot", {"X": labels}, {"Out": "float32"}, attrs, hot)
    yield Case(
        "diag", "diag", {"Diagonal": g.real(3)}, {"Out": "float32"}, {}, lambda x: np.diag(x)
    )
    given, out = {"X": x}, {"Out": "float32"}
    attrs = {"shifts": [1], "dims": [1]}
    yield Case("roll.dims", "roll", given, out, attrs, lambda x: np.roll(x, 1, 1))
    attrs = {"dims": [0, 2]}
    yield Case("flip.dims", "flip", given, out, attrs, lambda x: np.flip(x, (0, 2)))
    square = g.real(3, 3, 2)
    traced: Any = lambda x: np.trace(x, 0, 0, 1)  # noqa: E731
    attrs = {"offset": 0, "dim1": 0, "dim2": 1}
    yield Case("trace.dims", "trace", {"Input": square}, {"Out": "float32"}, attrs, traced)
    yield one("reverse", x, axis=[0])
    yield Case("shape", "shape", {"Input": x}, {"Out": "int32"})


def pieces() -> Iterator[Case]:
    g = Generator("pieces")
    x, out = g.real(3, 4, 5), {"Out": "float32"}
    window = {"axes": [0, 2], "starts": [1, -3], "ends": [100, -1]}
    yield Case("slice", "slice", {"Input": x}, out, window)
    lone = {"axes": [0], "starts": [1], "ends": [2], "decrease_axis": [0]}
    yield Case("slice.decreased", "slice", {"Input": x}, out, lone)
    wide = {"axes": [1], "starts": [0], "ends": [4], "strides": [2], "infer_flags": [1]}
    yield Case("strided_slice", "strided_slice", {"Input": x}, out, wide)
    parts = {"Out.0": "float32", "Out.1": "float32"}
    yield Case("split", "split", {"X": x}, parts, {"axis": 1, "num": 2, "sections": []})
    yield Case(
        "split.sections", "split", {"X": x}, parts, {"axis": 2, "num": 0, "sections": [2, 3]}
    )
    both = {"X": [x, g.real(3, 1, 5)]}
    yield Case("concat", "concat", both, out, {"axis": 1})
    yield Case("stack", "stack", {"X": [x, x * 2]}, {"Y": "float32"}, {"axis": 0})
    yield Case(
        "unstack",
        "unstack",
        {"X": x[:2]},
        {"Y.0": "float32", "Y.1": "float32"},
        {"axis": 0, "num": 2},
    )
    yield Case("gather", "gather", {"X": x, "Index": np.array([2, 0], "int32")}, out)
    yield Case("gather_nd", "gather_nd", {"X": x, "Index": np.array([[0, 1], [2, 3]])}, out)
    yield Case(
        "scatter",
        "scatter",
        {"X": x, "Ids": np.array([2, 0]), "Updates": g.real(2, 4, 5)},
        out,
        {"overwrite": True},
    )


def places() -> Iterator[Case]:
    g = Generator("places")
    x, out = g.real(3, 4, 5), {"Out": "float32"}
    found = {"Out": "float32", "Indices": "int64"}
    yield Case("top_k", "top_k", {"X": x}, found, {"k": 2})
    given = {"X": x, "K": np.array([3], "int32")}
    yield Case("top_k.tensor", "top_k", given, found, {"k": 1})
    for type in ("arg_max", "arg_min"):
        yield one(type, x, "int64", axis=1)
    yield Case("argsort", "argsort", {"X": x}, found, {"axis": -1})
    yield one("cumsum", x, axis=1, exclusive=True, reverse=False)
    yield one("pad", x[0], paddings=[1, 0, 0, 2], pad_value=0.5)
    edges = {"paddings": [1, 0, 2, 1], "mode": "reflect", "pad_value": 0.0}
    near: Any = lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)), "reflect")  # noqa: E731
    yield Case("pad2d", "pad2d", {"X": g.real(1, 2, 4, 4)}, out, edges, near)
    yield one("crop", x, offsets=[1, 0, 2], shape=[2, 3, 2])
    yield Case("where_index", "where_index", {"Condition": x[0] > 0}, {"Out": "int64"})
    yield Case("where", "where", {"Condition": x > 0, "X": x, "Y": -x}, out)
    yield Case(
        "multiplex",
        "multiplex",
        {"X": [x[0], x[1]], "Ids": g.whole(4, 1, high=2, dtype="int32")},
        out,
    )


def elementwise() -> Iterator[Case]:
    g = Generator("elementwise")
    x, out = g.real(2, 3, 4, 5, low=0.5), {"Out": "float32"}
    others = {-1: (5,), 0: (2,), 1: (3, 4), 2: (4, 5), 3: (5,)}
    for kind in ("add", "sub", "mul", "div", "max", "min", "pow"):
        for axis, shape in others.items():
            given = {"X": x, "Y": g.real(*shape, low=0.5)}
            name = f"elementwise_{kind}"
            yield Case(f"{name}.{axis}", name, given, out, {"axis": axis})
    ones = {"X": x, "Y": g.real(3, 4, 1)}
    yield Case("elementwise_add.ones", "elementwise_add", ones, out, {"axis": 1})
    ones = {"X": x, "Y": g.real(3, 1, 1)}
    yield Case("elementwise_mul.ones", "elementwise_mul", ones, out, {"axis": 1})
    whole = {"X": g.whole(3, 4, high=20), "Y": g.whole(4, high=5) + 1}
    for kind in ("mod", "floordiv"):
        name = f"elementwise_{kind}"
        yield Case(name, name, whole, {"Out": "int64"}, {"axis": -1})
    yield Case("minus", "minus", {"X": x, "Y": x * 3}, out)
    yield Case("sum", "sum", {"X": [x, x * 2, x * 3]}, out)
    for kind in ("less_than", "equal", "greater_equal", "not_equal"):
        given = {"X": g.whole(3, 4), "Y": g.whole(3, 4)}
        yield Case(kind, kind, given, {"Out": "bool"}, {"axis": -1, "force_cpu": True})
    truth = {"X": x > 0.6, "Y": x > 0.2}
    for kind in ("logical_and", "logical_or", "logical_xor"):
        yield Case(kind, kind, truth, {"Out": "bool"})
    yield one("scale", x, scale=2.0, bias=1.0, bias_after_scale=False)
    yield one("cast", x, "int32", in_dtype=5, out_dtype=2)
    yield one("clip", x, min=-0.25, max=0.6)
    yield one("clip_by_norm", x, max_norm=1.0)
    yield one("increment", np.array([3.0], "float32"), step=2.0)
    yield Case(
        "isnan", "isnan", {"X": x}, {"Out": "bool"}, {}, lambda x: np.isnan(x).any().reshape(1)
    )
    wild = np.array([1.0, np.inf], "float32")
    yield Case(
        "isinf", "isinf", {"X": wild}, {"Out": "bool"}, {}, lambda x: np.isinf(x).any().reshape(1)
    )
    yield Case(
        "isfinite",
        "isfinite",
        {"X": wild},
        {"Out": "bool"},
        {},
        lambda x: np.isfinite(x).all().reshape(1),
    )
    tolerances = {"rtol": 0.5, "atol": 0.0, "equal_nan": False}
    close: Any = lambda x, y: np.array(np.allclose(x, y, 0.5, 0.0))  # noqa: E731
    given = {"Input": x, "Other": x * 1.2}
    yield Case("allclose.numbers", "allclose", given, {"Out": "bool"}, tolerances, close)
