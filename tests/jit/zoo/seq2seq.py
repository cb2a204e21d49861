"""Translation by recurrent networks: additive attention, teacher forcing by a loop over time."""

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained

PAD, START, END = 0, 1, 2


class Attention(nn.Layer):
    """How much each word of the source matters now."""

    def __init__(self, size):
        super().__init__()
        self.query, self.key = nn.Linear(size, size), nn.Linear(size, size, bias_attr=False)
        self.energy = nn.Linear(size, 1, bias_attr=False)

    def forward(self, state, memory, mask=None):
        scores = self.energy(paddle.tanh(self.query(state).unsqueeze(1) + self.key(memory)))
        scores = scores.squeeze(-1)
        if mask is not None:
            scores = scores + (1.0 - mask) * -1e9
        weights = F.softmax(scores, axis=-1)
        return paddle.bmm(weights.unsqueeze(1), memory).squeeze(1), weights


class Seq2Seq(nn.Layer):
    """An encoder that reads both ways, a decoder that attends."""

    def __init__(self, words=12, size=8):
        super().__init__()
        self.size = size
        self.source, self.target = nn.Embedding(words, size), nn.Embedding(words, size)
        self.encoder = nn.GRU(size, size // 2, direction="bidirect")
        self.attention, self.cell = Attention(size), nn.GRUCell(2 * size, size)
        self.out = nn.Linear(2 * size, words)

    def encode(self, source):
        memory, last = self.encoder(self.source(source))
        state = paddle.concat([last[0], last[1]], axis=-1)
        return memory, state, (source != PAD).astype("float32")

    def step(self, word, state, memory, mask):
        context, weights = self.attention(state, memory, mask)
        _, state = self.cell(paddle.concat([self.target(word), context], -1), state)
        return self.out(paddle.concat([state, context], -1)), state, weights

    def forward(self, source, target):
        memory, state, mask = self.encode(source)
        logits, attended = [], []
        for t in range(target.shape[1] - 1):
            step, state, weights = self.step(target[:, t], state, memory, mask)
            logits.append(step)
            attended.append(weights)
        return paddle.stack(logits, axis=1), paddle.stack(attended, axis=1)

    def greedy(self, source, limit=6):
        """The likeliest words, one after the other, until all sentences ended."""
        memory, state, mask = self.encode(source)
        word = paddle.full([source.shape[0]], START, "int64")
        ended = paddle.zeros([source.shape[0]], "bool")
        words = []
        t = 0
        while t < limit:
            logits, state, _ = self.step(word, state, memory, mask)
            word = paddle.where(ended, paddle.zeros_like(word), logits.argmax(-1))
            words.append(word)
            ended = paddle.logical_or(ended, word == END)
            t += 1
        return paddle.stack(words, axis=1), ended


def build():
    net = Seq2Seq()
    optimizer = adam(net, grad_clip=nn.ClipGradByGlobalNorm(1.0))

    def batch(i):
        random, count = draws(i), 3 + i % 2
        source = random.integers(3, 12, (count, 5))
        source[0, 3:] = PAD
        first, last = (np.full((count, 1), n) for n in (START, END))
        return source, np.concatenate([first, source[:, :4], last], 1)

    def loss(found, source, target):
        logits, expected = found[0], target[:, 1:]
        costs = F.cross_entropy(logits, expected, reduction="none").squeeze(-1)
        mask = (expected != PAD).astype("float32")
        return (costs * mask).sum() / mask.sum()

    specs = [spec([None, 5], "int64"), spec([None, 6], "int64")]
    step = trained(net, optimizer, loss)
    return Case([(net, specs)], batch, step, lambda source, _: net.greedy(source))
