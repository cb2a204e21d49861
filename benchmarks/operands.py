"""What hot operators of eager mode are given where they are timed, by size."""

from collections.abc import Callable
from typing import Any

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull.core.op import by_name
from scull.core.tensor import stub

Case = tuple[list[Any], Any, dict[str, Any]]  # operands, what is written over, attributes
rng = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    """Normal numbers."""
    return rng.standard_normal(shape, np.float32)


def convolution(name: str) -> Callable[[int], Case]:
    """Filters 3 x 3 over images of 16 x 16."""

    def case(size: int) -> Case:
        channels = min(32, max(1, size // 2048))
        many = max(1, size // (channels * 256))
        x, y = normal(many, channels, 16, 16), normal(many, channels, 16, 16)
        w = normal(channels, channels, 3, 3)
        attrs = {"paddings": (1, 1)}
        operands = {
            "conv2d": [x, w],
            "convolution_to_filter": [x, y, stub(w)],
            "convolution_to_input": [y, w, stub(x)],
        }
        return operands[name], None, {**by_name()[name].attrs, **attrs}

    return case


def images(size: int) -> Any:
    """Channels of images, some more than others."""
    side = 8 if size < 1 << 14 else 32
    return normal(8, max(1, size // (8 * side * side)), side, side)


def batch_norm(size: int) -> Case:
    x = images(size)
    channels = [np.ones(x.shape[1], np.float32) for _ in range(4)]
    return [x, *channels, None], None, by_name()["batch_norm"].attrs


def batch_norm_grad(size: int) -> Case:
    x = images(size)
    c = [np.ones(x.shape[1], np.float32) for _ in range(6)]
    operands = [x, *c, np.zeros(0, np.float32), None, None, normal(*x.shape)]
    wanted = ("dx", "dscale", "dbias")
    return operands, None, {**by_name()["batch_norm"].attrs, "wanted": wanted}


def rows(size: int) -> Any:
    """Rows of 256."""
    return normal(max(1, size // 256), 256)


def layer_norm(size: int) -> Case:
    x = rows(size)
    return [x, *(np.ones(256, np.float32) for _ in range(2))], None, by_name()["layer_norm"].attrs


def layer_norm_grad(size: int) -> Case:
    x = rows(size)
    few = [np.ones(len(x), np.float32) for _ in range(2)]
    many = [np.ones(256, np.float32) for _ in range(2)]
    attrs = {**by_name()["layer_norm"].attrs, "wanted": ("dx", "dscale", "dbias")}
    return [x, *many, *few, None, None, normal(*x.shape)], None, attrs


def elementwise(*names: str, **attrs: Any) -> Callable[[int], Case]:
    """As many operands of one size as there are names."""
    return lambda size: ([normal(size) for _ in names], None, attrs)


def where(size: int) -> Case:
    return [normal(size) > 0, normal(size), 0.0], None, {}


def softmax(size: int) -> Case:
    return [rows(size)], None, {"axis": -1}


def scores(size: int) -> Case:
    """Of eight heads."""
    length = max(1, round((size / 8) ** 0.5))
    return [normal(1, 8, length, length)], None, {}


def channels(name: str) -> Callable[[int], Case]:
    """Normalised by groups of channels, or each by itself."""

    def case(size: int) -> Case:
        x = normal(max(1, size // (32 * 64)), 32, 8, 8)
        op = by_name()[name]
        groups = {"groups": 8} if "groups" in op.kinds else {}
        few = [np.ones(32, np.float32), np.ones(32, np.float32)]
        return [x, *few], None, {**op.attrs, **groups}

    return case


def turned(size: int) -> Case:
    """Filters 3 x 3 that make images larger."""
    many = min(32, max(1, size // 2048))
    x = normal(max(1, size // (many * 256)), many, 16, 16)
    return [x, normal(many, many, 3, 3)], None, by_name()["conv2d_transpose"].attrs


def by_channel(size: int) -> Case:
    """A filter 3 x 3 for each channel."""
    many = min(64, max(1, size // 2048))
    x = normal(max(1, size // (many * 256)), many, 16, 16)
    attrs = {"paddings": (1, 1), "groups": many}
    op = by_name()["depthwise_conv2d"]
    return [x, normal(many, 1, 3, 3)], None, {**op.attrs, **attrs}


def updated(name: str, moments: int, powers: int, **attrs: Any) -> Callable[[int], Case]:
    """An optimizer's update in place."""

    def case(size: int) -> Case:
        op = by_name()[name].call.op
        param, grad, *states = (np.abs(normal(size)) for _ in range(2 + moments))
        few = [np.full(1, 0.5, np.float32) for _ in range(powers)]
        known = {"param": param, "grad": grad, "learning_rate": np.float32([1e-6])}
        rest = [n for n in op.inputs if n not in known]
        known |= dict(zip(rest, [*states, *few], strict=False))
        operands = [known.get(n) for n in op.inputs]
        out = tuple(known.get(op.in_place[n]) for n in op.outputs)
        return operands, out, {**op.attrs, **attrs}

    return case


def labels(size: int) -> Case:
    x = rows(size)
    return [x, rng.integers(0, 256, (len(x), 1))], None, by_name()["mean_cross_entropy"].attrs


def labels_grad(size: int) -> Case:
    (x, label), _, attrs = labels(size)
    return [label, x, None, np.ones((), np.float32)], None, {**attrs, "wanted": ("dlogits",)}


def pooled(size: int) -> Case:
    attrs = {"ksize": (2, 2), "strides": (2, 2), "pooling_type": "max"}
    return [images(size)], None, {**by_name()["pool2d"].attrs, **attrs}


def table(size: int) -> Case:
    """Rows of 64, as many as a table has, added to it."""
    x = normal(max(1, size // 64), 64)
    attrs = {"padding_idx": -1, "is_sparse": False}
    return [x, rng.integers(0, len(x), len(x)), stub(x)], None, attrs


def slices(size: int) -> Case:
    """Columns added to those of a matrix."""
    x = normal(max(1, size // 64), 64)
    return [x, rng.integers(0, 64, 64), stub(x), None], None, {"axis": 1}


def places(**attrs: Any) -> Callable[[int], Case]:
    """Half as many rows as a matrix has, added to its own."""

    def case(size: int) -> Case:
        x = normal(max(2, size // 64), 64)
        ids = rng.integers(0, len(x), len(x) // 2)
        return [x, ids if attrs else ids[:, None], normal(len(ids), 64)], None, attrs

    return case


def picked(size: int) -> Case:
    """Half as many elements of a matrix as it has, each by its row and column."""
    x = normal(max(2, size // 64), 64)
    return [x, [rng.integers(0, n, x.size // 2) for n in x.shape]], None, {}


def put(size: int) -> Case:
    """As many elements added to a matrix."""
    (x, indices), _, _ = picked(size)
    return [x, indices, normal(len(indices[0]))], None, {"accumulate": True}


def graph(size: int) -> Case:
    """Rows of 64, each of which four others send theirs."""
    x = normal(max(2, size // 64), 64)
    edges = rng.integers(0, len(x), (2, 4 * len(x)))
    return [x, *edges, None], None, {"reduce_op": "SUM", "out_size": (0,)}


def linear(size: int) -> Case:
    x = rows(size)
    return [x, normal(256, 256), normal(256)], None, {}


def linear_grad(size: int) -> Case:
    (x, w, b), _, _ = linear(size)
    wanted = ("dx", "dweight", "dbias")
    return [x, w, stub(b), normal(len(x), 256)], None, {"wanted": wanted}


def heads(size: int) -> Case:
    x = normal(max(1, size // (128 * 32)), 128, 32)
    return [x, normal(*x.shape)], None, {"transpose_x": False, "transpose_y": True}


def cell(*widths: int) -> Callable[[int], Case]:
    """One step of a recurrent network: so many times 64 columns, 0 for a vector as wide as all."""

    def case(size: int) -> Case:
        batch, most = max(1, size // (64 * max(widths))), 64 * max(widths)
        return [normal(batch, 64 * n) if n else normal(most) for n in widths], None, {}

    return case


CASES: dict[str, Callable[[int], Case]] = {
    "gru_step": cell(3, 3, 0, 1),
    "gru_step_back": cell(1, 1, 1, 1, 1, 1),
    "lstm_step": cell(4, 4, 0, 1),
    "lstm_step_back": cell(*[1] * 8),
    "relu_step": cell(1, 1, 0),
    "tanh_step": cell(1, 1, 0),
    "tanh_step_back": cell(1, 1),
    "conv2d": convolution("conv2d"),
    "convolution_to_filter": convolution("convolution_to_filter"),
    "convolution_to_input": convolution("convolution_to_input"),
    "where": where,
    "batch_norm": batch_norm,
    "batch_norm_grad": batch_norm_grad,
    "layer_norm": layer_norm,
    "layer_norm_grad": layer_norm_grad,
    "gelu": elementwise("x", approximate=False),
    "gelu_grad": elementwise("x", "dout", approximate=False, wanted=("dx",)),
    "softmax": softmax,
    "log_softmax": softmax,
    "softmax_mask_fuse_upper_triangle": scores,
    "silu": elementwise("x"),
    "mish": elementwise("x", threshold=20.0),
    "group_norm": channels("group_norm"),
    "instance_norm": channels("instance_norm"),
    "depthwise_conv2d": by_channel,
    "conv2d_transpose": turned,
    "adam": updated("adam", 2, 2),
    "adamw": updated("adamw", 2, 2),
    "momentum": updated("momentum", 1, 0, mu=0.9),
    "sgd": updated("sgd", 0, 0),
    "mean_cross_entropy": labels,
    "mean_cross_entropy_grad": labels_grad,
    "pool2d": pooled,
    "scatter_rows": table,
    "scatter_axis": slices,
    "scatter_nd_add": places(),
    "index_add": places(axis=0),
    "scatter": places(overwrite=True),
    "send_u_recv": graph,
    "index_get": picked,
    "index_put": put,
    "linear": linear,
    "linear_grad": linear_grad,
    "matmul": heads,
}


def spied(name: str, call: Callable[[int], Any]) -> Callable[[int], Case]:
    """What eager mode gives an operator during a call of the public API, or back through it."""

    def case(size: int) -> Case:
        op = by_name()[name]
        given: list[Case] = []
        before, plain = (op.eager, op.short), op.cpu
        assert plain is not None

        def spy(*operands: Any, out: Any = None, **attrs: Any) -> Any:
            given.append(([*operands], None, attrs))
            return plain(*operands, out=out, **attrs)

        op.eager = op.short = spy
        try:
            found = call(size)
            if not found.stop_gradient:
                found.sum().backward()
        finally:
            op.eager, op.short = before
        return given[0]

    return case


def tensor(*shape: int) -> Any:
    """A tensor of normal numbers whose gradient is wanted."""
    return paddle.to_tensor(normal(*shape), stop_gradient=False)


def pictures(size: int) -> Any:
    return paddle.to_tensor(images(size), stop_gradient=False)


def unary(function: Callable[[Any], Any]) -> Callable[[int], Any]:
    return lambda size: function(tensor(size))


def with_rows(function: Callable[[Any, Any], Any]) -> Callable[[int], Any]:
    """Of rows, and as many places in each as half of it."""

    def call(size: int) -> Any:
        x = paddle.to_tensor(rows(size), stop_gradient=False)
        return function(x, paddle.to_tensor(rng.integers(0, 256, (x.shape[0], 128))))

    return call


def volumes(size: int) -> Any:
    return tensor(2, 4, max(2, size // 512), 8, 8)


def read_at(size: int) -> Any:
    x = pictures(size)
    return F.grid_sample(x, tensor(x.shape[0], x.shape[2], x.shape[3], 2))


def unpooled(size: int) -> Any:
    return F.max_unpool2d(*F.max_pool2d(pictures(size), 2, return_mask=True), 2)


def targets(size: int, **options: Any) -> Any:
    x = paddle.to_tensor(rows(size), stop_gradient=False)
    return F.cross_entropy(x, F.softmax(x.detach()), soft_label=True, **options)


CALLS: dict[str, Callable[[int], Any]] = {
    "acos": unary(lambda x: paddle.acos(paddle.tanh(x))),
    "acosh": unary(lambda x: paddle.acosh(paddle.abs(x) + 1.1)),
    "angle": unary(paddle.angle),
    "asin": unary(lambda x: paddle.asin(paddle.tanh(x))),
    "asinh": unary(paddle.asinh),
    "atan": unary(paddle.atan),
    "atan2": lambda n: paddle.atan2(tensor(n), tensor(n)),
    "atanh": unary(lambda x: paddle.atanh(paddle.tanh(x) * 0.9)),
    "bce_loss": lambda n: F.binary_cross_entropy(
        F.sigmoid(tensor(n)), F.sigmoid(tensor(n)).detach()
    ),
    "bilinear_tensor_product": lambda n: F.bilinear(
        tensor(max(1, n // 32), 32), tensor(max(1, n // 32), 32), tensor(16, 32, 32)
    ),
    "brelu": unary(F.hardtanh),
    "celu": unary(F.celu),
    "clip": unary(lambda x: paddle.clip(x, -1.0, 1.0)),
    "conv3d": lambda n: F.conv3d(volumes(n), tensor(4, 4, 3, 3, 3), padding=1),
    "conv3d_transpose": lambda n: F.conv3d_transpose(volumes(n), tensor(4, 4, 3, 3, 3)),
    "cosh": unary(paddle.cosh),
    "digamma": unary(lambda x: paddle.lgamma(paddle.abs(x) + 1.0)),
    "elu": unary(F.elu),
    "erf": unary(paddle.erf),
    "erfinv": unary(lambda x: paddle.erfinv(paddle.tanh(x) * 0.9)),
    "exp": unary(paddle.exp),
    "expm1": unary(paddle.expm1),
    "first_largest": lambda n: F.maxout(pictures(max(n, 1 << 10)), 2),
    "fold": lambda n: F.unfold(pictures(n), 3, 1, 1),
    "fold_pad3d": lambda n: F.pad(pictures(n), [1, 1, 1, 1], mode="reflect"),
    "frame": lambda n: paddle.signal.frame(tensor(2, max(512, n // 2)), 256, 64),
    "gather_pooled": unpooled,
    "grid_factor": read_at,
    "grid_points": read_at,
    "hard_shrink": unary(F.hardshrink),
    "hard_sigmoid": unary(F.hardsigmoid),
    "hard_swish": unary(F.hardswish),
    "heaviside": lambda n: paddle.heaviside(tensor(n), tensor(n)),
    "huber_loss": lambda n: F.smooth_l1_loss(tensor(n), tensor(n)),
    "i0": unary(paddle.i0),
    "i0e": unary(paddle.i0e),
    "i1": unary(paddle.i1),
    "i1e": unary(paddle.i1e),
    "index_sample": with_rows(paddle.index_sample),
    "is_label": lambda n: F.nll_loss(
        paddle.to_tensor(rows(n), stop_gradient=False),
        paddle.to_tensor(rng.integers(0, 256, max(1, n // 256))),
    ),
    "kldiv_loss": lambda n: F.kl_div(tensor(n), F.sigmoid(tensor(n)).detach()),
    "label_smooth": lambda n: F.label_smooth(paddle.to_tensor(rows(n), stop_gradient=False)),
    "leaky_relu": unary(F.leaky_relu),
    "lgamma": unary(lambda x: paddle.lgamma(paddle.abs(x) + 1.0)),
    "log": unary(lambda x: paddle.log(paddle.abs(x))),
    "log10": unary(lambda x: paddle.log10(paddle.abs(x))),
    "log1p": unary(lambda x: paddle.log1p(paddle.abs(x))),
    "log2": unary(lambda x: paddle.log2(paddle.abs(x))),
    "logsigmoid": unary(F.log_sigmoid),
    "logsumexp": lambda n: paddle.logsumexp(
        paddle.to_tensor(rows(n), stop_gradient=False), axis=-1
    ),
    "max_pool2d_with_index": unpooled,
    "one_hot_v2": lambda n: F.one_hot(paddle.to_tensor(rng.integers(0, 100, n)), 100),
    "pad3d": lambda n: F.pad(pictures(n), [1, 1, 1, 1]),
    "pixel_shuffle": lambda n: F.pixel_shuffle(tensor(max(1, n // 1024), 16, 8, 8), 2),
    "place_along": with_rows(lambda x, i: paddle.take_along_axis(x, i, 1)),
    "polygamma": unary(lambda x: paddle.polygamma(paddle.abs(x) + 1.0, 1)),
    "pool3d": lambda n: F.max_pool3d(volumes(n), 2),
    "prelu": lambda n: F.prelu(pictures(n), tensor(1)),
    "put_along_axis": with_rows(lambda x, i: paddle.put_along_axis(x, i, 1.0, 1)),
    "reduce_prod": lambda n: paddle.prod(paddle.to_tensor(rows(n), stop_gradient=False), -1),
    "relu": unary(F.relu),
    "relu6": unary(F.relu6),
    "round": unary(paddle.round),
    "sampled": read_at,
    "scatter_pooled": unpooled,
    "selu": unary(F.selu),
    "sigmoid": unary(F.sigmoid),
    "sigmoid_cross_entropy_with_logits": lambda n: F.binary_cross_entropy_with_logits(
        tensor(n), F.sigmoid(tensor(n).detach())
    ),
    "sign": unary(paddle.sign),
    "sinh": unary(paddle.sinh),
    "softmax_with_cross_entropy": targets,
    "softmax_with_cross_entropy_grad": targets,
    "softplus": unary(F.softplus),
    "softshrink": unary(F.softshrink),
    "softsign": unary(F.softsign),
    "spread_sampled": read_at,
    "stanh": unary(paddle.stanh),
    "swish": unary(F.swish),
    "take_along_axis": with_rows(lambda x, i: paddle.take_along_axis(x, i, 1)),
    "tanh": unary(paddle.tanh),
    "tanh_shrink": unary(F.tanhshrink),
    "tril_triu": lambda n: paddle.tril(paddle.to_tensor(rows(n), stop_gradient=False)),
    "unfold": lambda n: F.unfold(pictures(n), 3, 1, 1),
}
CASES |= {name: spied(name, call) for name, call in CALLS.items()}
