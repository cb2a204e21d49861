"""Translation by attention alone: an encoder and a decoder written out, masks made of shapes."""

import math

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, draws, spec, trained

PAD = 0


class Attention(nn.Layer):
    """Several heads that attend beside each other."""

    def __init__(self, size, heads, dropout=0.1):
        super().__init__()
        self.heads, self.each = heads, size // heads
        self.q, self.v = nn.Linear(size, size), nn.Linear(size, size)
        self.k = nn.Linear(size, size, bias_attr=False)  # a bias would add the same to all scores
        self.out, self.dropout = nn.Linear(size, size), nn.Dropout(dropout)

    def split(self, x):
        b, t = x.shape[0], x.shape[1]
        return x.reshape([b, t, self.heads, self.each]).transpose([0, 2, 1, 3])

    def forward(self, query, memory, mask=None):
        q, k, v = self.split(self.q(query)), self.split(self.k(memory)), self.split(self.v(memory))
        scores = paddle.matmul(q, k, transpose_y=True) / math.sqrt(self.each)
        if mask is not None:
            scores = scores + mask
        weights = self.dropout(F.softmax(scores, axis=-1))
        x = paddle.matmul(weights, v).transpose([0, 2, 1, 3])
        return self.out(x.reshape([x.shape[0], x.shape[1], self.heads * self.each]))


class Layer(nn.Layer):
    """Attention and a network for each word, of the encoder or of the decoder."""

    def __init__(self, size, heads, crossing=False):
        super().__init__()
        self.own, self.norms = Attention(size, heads), nn.LayerList()
        self.cross = Attention(size, heads) if crossing else None
        for _ in range(3 if crossing else 2):
            self.norms.append(nn.LayerNorm(size))
        self.wide = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x, mask, memory=None, memory_mask=None):
        h = self.norms[0](x)
        x = x + self.own(h, h, mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory, memory_mask)
        return x + self.wide(self.norms[-1](x))


class Transformer(nn.Layer):
    """Two layers on either side, the table of words shared with the result."""

    def __init__(self, words=11, size=8, heads=2, depth=2, longest=16):
        super().__init__()
        self.words = nn.Embedding(words, size)
        place, rate = np.arange(longest)[:, None], np.exp(np.arange(0, size, 2) * -0.9)
        waves = np.stack([np.sin(place * rate), np.cos(place * rate)], 2).reshape(longest, size)
        self.register_buffer("places", paddle.to_tensor(waves.astype("float32")), persistable=False)
        self.encoder = nn.LayerList([Layer(size, heads) for _ in range(depth)])
        self.decoder = nn.LayerList([Layer(size, heads, crossing=True) for _ in range(depth)])

    def embed(self, x):
        size = self.words.weight.shape[1]
        return self.words(x) * size**0.5 + self.places[: x.shape[1]]

    def padding(self, x):
        return ((x == PAD).astype("float32") * -1e9).unsqueeze([1, 2])

    def forward(self, source, target):
        mask, length = self.padding(source), target.shape[1]
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, mask)
        ahead = paddle.triu(paddle.full([length, length], -1e9), diagonal=1)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, ahead, memory, mask)
        return paddle.matmul(x, self.words.weight, transpose_y=True)

    def generate(self, source, limit=3):
        """The likeliest words, until each sentence ended."""
        found = paddle.full([source.shape[0], 1], 1, "int64")
        for _ in range(limit):
            word = self.forward(source, found)[:, -1].argmax(-1, keepdim=True)
            found = paddle.concat([found, word], axis=1)
        return found


def build():
    net = Transformer()
    rate = paddle.optimizer.lr.NoamDecay(8, 10, learning_rate=0.5)
    optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters(), weight_decay=0.01)

    def batch(i):
        source = draws(i).integers(2, 11, (3 + i % 2, 5))
        source[0, 4] = PAD
        return source, np.concatenate([np.ones_like(source[:, :1]), source[:, :0:-1]], 1)

    def loss(logits, source, target):
        return F.cross_entropy(logits[:, :-1], target[:, 1:], ignore_index=PAD)

    specs = [spec([None, None], "int64"), spec([None, None], "int64")]
    step = trained(net, optimizer, loss)
    return Case([(net, specs)], batch, step, lambda source, _: net.generate(source), rate)
