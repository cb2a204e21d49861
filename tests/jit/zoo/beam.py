"""A caption for a vector: trained word by word, told by a search that keeps the best beams."""

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained

START, END = 0, 1


class Captioner(nn.Layer):
    """A cell that begins from the vector."""

    def __init__(self, words=9, size=6):
        super().__init__()
        self.count = words
        self.words, self.cell = nn.Embedding(words, size), nn.GRUCell(size, size)
        self.begin, self.out = nn.Linear(size, size), nn.Linear(size, words)

    def forward(self, image, caption):
        state = paddle.tanh(self.begin(image))
        total = paddle.zeros([1])
        for t in range(caption.shape[1] - 1):
            out, state = self.cell(self.words(caption[:, t]), state)
            total += F.cross_entropy(self.out(out), caption[:, t + 1])
        return total / (caption.shape[1] - 1)

    def search(self, image, beams=3, limit=7):
        """The best of `beams` captions of one vector, and how likely it is."""
        state = paddle.tanh(self.begin(image)).expand([beams, image.shape[1]])
        scores = paddle.to_tensor([0.0] + [-1e9] * (beams - 1))
        words = paddle.full([beams, 1], START, dtype="int64")
        ended = paddle.zeros([beams], dtype="bool")
        stay = paddle.to_tensor([-1e9 if i != END else 0.0 for i in range(self.count)])
        step = paddle.zeros([], dtype="int64")
        while step < limit:
            out, state = self.cell(self.words(words[:, -1]), state)
            likely = F.log_softmax(self.out(out))
            likely = paddle.where(ended.unsqueeze(-1), stay.unsqueeze(0), likely)
            total = (scores.unsqueeze(-1) + likely).flatten()
            scores, which = paddle.topk(total, beams)
            origin, word = which // self.count, which % self.count
            words = paddle.concat([paddle.index_select(words, origin), word.unsqueeze(-1)], axis=-1)
            state = paddle.index_select(state, origin)
            ended = paddle.logical_or(paddle.index_select(ended, origin), word == END)
            step += 1
            if paddle.all(ended):
                break
        return words[0], scores[0], step


def build():
    net = Captioner()

    def batch(i):
        first = draws(i).integers(2, 9, (4 + i % 2, 1))
        words = [np.zeros_like(first), first, 10 - first, np.ones_like(first)]
        image = np.cos(first * np.arange(6.0)).astype("float32")
        return image, np.concatenate(words, 1).clip(0, 8)

    step = trained(net, adam(net, rate=0.05), lambda cost, *_: cost.squeeze())
    specs = [spec([None, 6]), spec([None, None], "int64")]
    return Case([(net, specs)], batch, step, lambda image, _: net.search(image[:1]))
