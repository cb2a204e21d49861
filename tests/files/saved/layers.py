"""Layers as people write them: each function gives one, what describes its inputs, and these."""

import numpy as np

from tests.files.saved.framework import InputSpec, functional, nn, paddle
from tests.files.saved.values import integers, uniform


def called(forward, **parts):
    """A layer of these parts with a function as its `forward`."""
    layer = type("Model", (nn.Layer,), {"forward": forward})()
    for name, part in parts.items():
        setattr(layer, name, part)
    return layer


def made(name, layer, *shapes, low=-1.0, high=1.0):
    """A case with float32 inputs, whose first dimension is free."""
    arrays = [uniform(f"{name}.{i}", s, low, high) for i, s in enumerate(shapes)]
    specs = [InputSpec([None, *s[1:]], "float32", f"x{i}") for i, s in enumerate(shapes)]
    return layer, specs, arrays


def mlp():
    return made("mlp", nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), (3, 8))


def activations():
    parts = [nn.GELU(), nn.Silu(), nn.Hardswish(), nn.LeakyReLU(0.1), nn.ELU(0.5), nn.Softplus()]
    parts += [nn.Hardsigmoid(), nn.Mish(), nn.SELU(), nn.Tanhshrink(), nn.PReLU(), nn.Swish()]

    def forward(self, x):
        return paddle.concat([part(x) for part in self.parts], axis=-1)

    return made("activations", called(forward, parts=nn.LayerList(parts)), (2, 5), low=-4, high=4)


def lenet():
    layer = nn.Sequential(
        nn.Conv2D(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Conv2D(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        nn.Flatten(),
        nn.Linear(400, 32),
        nn.Linear(32, 10),
        nn.Softmax(),
    )
    return made("lenet", layer, (2, 1, 28, 28))


def convolutions():
    layer = nn.Sequential(
        nn.Conv2D(4, 8, 3, padding=2, dilation=2, groups=2),
        nn.BatchNorm2D(8),
        nn.Conv2D(8, 8, 3, stride=2, padding="SAME", groups=8),
        nn.Conv2D(8, 6, (1, 3), padding=[0, 1, 2, 1], bias_attr=False),
        nn.Hardswish(),
    )
    return made("convolutions", layer, (2, 4, 9, 10))


def transposed():
    layer = nn.Sequential(
        nn.Conv2DTranspose(3, 4, 4, stride=2, padding=1),
        nn.BatchNorm2D(4),
        nn.ReLU(),
        nn.Conv2DTranspose(4, 2, 3, stride=2, output_padding=1, groups=2),
    )
    return made("transposed", layer, (2, 3, 5, 6))


def convolution_1d():
    layer = nn.Sequential(
        nn.Conv1D(3, 6, 3, padding=1, padding_mode="replicate"),
        nn.BatchNorm1D(6),
        nn.MaxPool1D(2),
        nn.Conv1D(6, 4, 3),
    )
    return made("convolution_1d", layer, (2, 3, 12))


def convolution_3d():
    layer = nn.Sequential(nn.Conv3D(2, 3, 3, padding=1), nn.BatchNorm3D(3), nn.AvgPool3D(2))
    return made("convolution_3d", layer, (2, 2, 4, 6, 4))


def pools():
    def forward(self, x):
        return (
            functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
            functional.avg_pool2d(x, 3, 2, 1, exclusive=False),
            functional.adaptive_avg_pool2d(x, (3, 2)),
            functional.adaptive_max_pool2d(x, 2),
        )

    return made("pools", called(forward), (2, 3, 8, 7))


def norms():
    def forward(self, x):
        x = self.group(self.instance(self.batch(x)))
        return self.layer(x), functional.normalize(x, axis=1), self.local(x)

    parts = {"batch": nn.BatchNorm2D(4), "group": nn.GroupNorm(2, 4), "layer": nn.LayerNorm([5, 6])}
    parts |= {"instance": nn.InstanceNorm2D(4), "local": nn.LocalResponseNorm(3)}
    return made("norms", called(forward, **parts), (2, 4, 5, 6))


def lstm():
    def forward(self, x):
        out, (h, c) = self.rnn(x)
        return self.head(out[:, -1]), h, c

    parts = {"rnn": nn.LSTM(5, 8, num_layers=2), "head": nn.Linear(8, 3)}
    return made("lstm", called(forward, **parts), (2, 6, 5))


def gru_both_ways():
    return made("gru_both_ways", nn.GRU(4, 6, direction="bidirect"), (2, 5, 4))


def lengths():
    """A recurrent network over sequences of several lengths."""

    def forward(self, x, length):
        out, state = self.rnn(x, None, length)
        return out.sum(1) / length.astype("float32").unsqueeze(1), state

    layer = called(forward, rnn=nn.SimpleRNN(4, 6, direction="bidirect"))
    _, specs, arrays = made("lengths", layer, (3, 5, 4))
    specs.append(InputSpec([None], "int64", "length"))
    return layer, specs, [*arrays, np.array([5, 2, 3])]


def cell():
    """A cell that is called by hand."""

    def forward(self, x):
        state = None
        for k in range(3):
            out, state = self.step(x[:, k], state)
        return out, state[1]

    return made("cell", called(forward, step=nn.LSTMCell(4, 5)), (2, 3, 4))


def attention():
    def forward(self, query, key):
        return self.attend(query, key, key)

    layer = called(forward, attend=nn.MultiHeadAttention(8, 2, kdim=6, vdim=6))
    return made("attention", layer, (2, 3, 8), (2, 5, 6))


def encoder():
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.1, "gelu"), 2)
    return made("encoder", layer, (2, 4, 8))


def translator():
    """A whole Transformer with a causal mask."""

    def forward(self, source, target):
        mask = paddle.triu(paddle.full([target.shape[1]] * 2, float("-inf")), 1)
        return self.net(self.words(source), self.words(target), tgt_mask=mask)

    net = nn.Transformer(8, 2, 1, 1, 16, normalize_before=True)
    layer = called(forward, net=net, words=nn.Embedding(11, 8))
    specs = [InputSpec([None, None], "int64", name) for name in ("source", "target")]
    return layer, specs, [integers("source", (2, 5), 11), integers("target", (2, 4), 11)]


def words():
    def forward(self, ids):
        return self.head(self.table(ids).mean(1))

    layer = called(forward, table=nn.Embedding(30, 6, padding_idx=0), head=nn.Linear(6, 2))
    return layer, [InputSpec([None, None], "int64", "ids")], [integers("words", (4, 7), 30)]


def tied():
    """One table for the words that go in and for those that come out."""

    def forward(self, ids):
        return paddle.matmul(self.table(ids), self.table.weight, transpose_y=True)

    layer = called(forward, table=nn.Embedding(9, 4))
    return layer, [InputSpec([None, 3], "int32", "ids")], [integers("tied", (2, 3), 9, "int32")]


def masked():
    """A truth value for each element."""

    def forward(self, x, mask):
        kept = paddle.where(mask, x, paddle.zeros_like(x))
        return kept.sum(-1), paddle.logical_not(mask).astype("int32").sum(), mask.any(0)

    layer = called(forward)
    specs = [InputSpec([None, 4], "float32", "x"), InputSpec([None, 4], "bool", "mask")]
    return layer, specs, [uniform("masked", (3, 4)), uniform("mask", (3, 4)) > 0]


def half():
    """float16 goes in; float32 computes. (PaddlePaddle cuts what it makes float16, on a CPU.)"""

    def forward(self, x):
        return self.head(x.astype("float32")), x.astype("float64")

    layer = called(forward, head=nn.Linear(4, 3))
    return (
        layer,
        [InputSpec([None, 4], "float16", "x")],
        [uniform("half", (2, 4)).astype("float16")],
    )


def double():
    def forward(self, x):
        return paddle.matmul(x, x, transpose_y=True).cumsum(0), paddle.linalg.norm(x, axis=1)

    return (
        called(forward),
        [InputSpec([None, 5], "float64", "x")],
        [uniform("double", (3, 5)).astype("float64")],
    )


def ends():
    """Several inputs and outputs, one of them given out as it came in."""

    def forward(self, x, y, z):
        return x @ y, [y, z + 1], x.max()

    return made("ends", called(forward), (3, 4), (4, 2), (4, 2))


def buffers():
    """What is not trained, and what is no parameter."""

    def forward(self, x):
        return self.head(x) * self.scale + self.head.weight.sum()

    layer = called(forward, head=nn.Linear(3, 3))
    layer.head.weight.stop_gradient = True
    layer.register_buffer("scale", paddle.to_tensor([1.0, 2.0, 3.0]))
    return made("buffers", layer, (2, 3))


def shapes():
    """Sizes that are known when it runs."""

    def forward(self, x):
        n, c, h, w = x.shape
        x = x.reshape([n, c, h * w]).transpose([0, 2, 1])
        x = paddle.expand(x.unsqueeze(1), [n, 2, h * w, c])
        return x.flatten(1), paddle.tile(x.mean(-1), [1, 1, 2]), paddle.arange(h * w)

    specs = [InputSpec([None, 3, None, None], "float32", "x")]
    return called(forward), specs, [uniform("shapes", (2, 3, 4, 5))]


def indices():
    """Reading and writing by number."""

    def forward(self, x, at):
        picked = paddle.gather(x, at)
        taken = paddle.take_along_axis(x, paddle.argsort(x, axis=1), 1)
        written = paddle.scatter(x, at, picked * 2)
        return picked, taken, written, paddle.index_select(x, at, 1), x[1:, ::2]

    layer = called(forward)
    specs = [InputSpec([None, 6], "float32", "x"), InputSpec([3], "int64", "at")]
    return layer, specs, [uniform("indices", (5, 6)), np.array([4, 0, 2])]


def orders():
    def forward(self, x):
        top, which = paddle.topk(x, 3)
        return top, which, paddle.argmax(x, 1), paddle.sort(x, descending=True), x.argmin()

    return made("orders", called(forward), (4, 7))


def mathematics():
    def forward(self, x):
        found = [
            paddle.exp(-x),
            paddle.log1p(x),
            paddle.rsqrt(x),
            paddle.erf(x),
            paddle.pow(x, 1.7),
        ]
        found += [paddle.sin(x) * paddle.cos(x), paddle.floor(x * 3) % 2, paddle.clip(x, 0.2, 0.8)]
        return paddle.stack(found), paddle.logsumexp(x, 1), paddle.prod(x, 0), paddle.std(x)

    return made("mathematics", called(forward), (3, 5), low=0.1, high=2)


def einsum():
    def forward(self, x, y):
        return paddle.einsum("bij,bjk->bik", x, y), paddle.einsum("bij->j", x)

    return made("einsum", called(forward), (2, 3, 4), (2, 4, 5))


def joins():
    def forward(self, x):
        a, b, c = paddle.split(x, [1, 2, -1], axis=1)
        rolled = paddle.roll(paddle.flip(x, [0]), 1, 1)
        padded = functional.pad(x.unsqueeze(1), [1, 2], mode="reflect", data_format="NCL")
        return paddle.concat([c, a, b], 1), rolled, padded, paddle.unstack(x, 1)[0]

    return made("joins", called(forward), (2, 5))


def resizing():
    def forward(self, x):
        return (
            functional.interpolate(x, scale_factor=2, mode="nearest"),
            functional.interpolate(x, size=[7, 9], mode="bilinear", align_corners=True),
            functional.interpolate(x, size=[3, 3], mode="bicubic"),
            functional.pixel_shuffle(x, 2),
            functional.grid_sample(x, functional.affine_grid(self.turn(x), [2, 4, 3, 3])),
        )

    def turn(x):
        return paddle.to_tensor([[[0.8, 0.1, 0.0], [-0.1, 0.9, 0.2]]] * 2)

    return made("resizing", called(forward, turn=turn), (2, 4, 4, 5))


def dropout():
    layer = nn.Sequential(
        nn.Linear(4, 6), nn.Dropout(0.4), nn.Dropout(0.4, mode="downscale_in_infer")
    )
    return made("dropout", layer, (2, 4))


def losses():
    """A network that computes its own loss."""

    def forward(self, x, label):
        logits = self.head(x)
        loss = functional.cross_entropy(logits, label)
        return loss, functional.softmax(logits), functional.one_hot(label, 4)

    layer = called(forward, head=nn.Linear(5, 4))
    specs = [InputSpec([None, 5], "float32", "x"), InputSpec([None], "int64", "label")]
    return layer, specs, [uniform("losses", (3, 5)), np.array([3, 0, 2])]


CASES = (
    *(mlp, activations, lenet, convolutions, transposed, convolution_1d, convolution_3d, pools),
    *(norms, lstm, gru_both_ways, lengths, cell, attention, encoder, translator, words, tied),
    *(masked, half, double, ends, buffers, shapes, indices, orders, mathematics, einsum, joins),
    *(resizing, dropout, losses),
)
