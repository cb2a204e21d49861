"""Whether a text is kind: nn.LSTM one way, a cell of our own the other."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained


class Cell(nn.Layer):
    """A long short-term memory with a forget gate that begins open."""

    def __init__(self, inputs, size):
        super().__init__()
        self.size = size
        self.gates = nn.Linear(inputs + size, 4 * size)
        self.create = lambda x: paddle.zeros([x.shape[0], size], dtype="float32")

    def forward(self, x, state=None):
        if state is None:
            state = (self.create(x), self.create(x))
        h, c = state
        i, f, o, g = paddle.split(self.gates(paddle.concat([x, h], axis=1)), 4, axis=1)
        c = F.sigmoid(f + 1.0) * c + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(c)
        return h, (h, c)


class Sentiment(nn.Layer):
    """Forwards by the layer, backwards by the cell; the words that are padding change nothing."""

    def __init__(self, words=15, size=6):
        super().__init__()
        self.words = nn.Embedding(words, size, padding_idx=0)
        self.lstm, self.cell = nn.LSTM(size, size, num_layers=2, dropout=0.1), Cell(size, size)
        self.head = nn.Linear(2 * size, 2)

    def backwards(self, x, mask):
        state = None
        out = paddle.zeros_like(x[:, 0])
        for t in reversed(range(x.shape[1])):
            new, (h, c) = self.cell(x[:, t], state)
            keep = mask[:, t : t + 1]
            if state is None:
                state = (h * keep, c * keep)
            else:
                state = tuple(keep * n + (1 - keep) * o for n, o in zip((h, c), state, strict=True))
            out = keep * new + (1 - keep) * out
        return out

    def forward(self, text, label=None):
        mask = (text > 0).astype("float32")
        x = self.words(text)
        _, (h, _) = self.lstm(x)
        logits = self.head(paddle.concat([h[-1], self.backwards(x, mask)], axis=-1))
        if label is None:
            return F.softmax(logits)
        assert logits.shape[-1] == 2, "two classes"
        return logits, F.cross_entropy(logits, label)


def build():
    net = Sentiment()

    def batch(i):
        random = draws(i)
        text = random.integers(1, 15, (4 + i % 2, 6))
        text[1, 4:] = 0
        return text, (text[:, :1] > 7).astype("int64")

    specs = [spec([None, 6], "int64"), spec([None, 1], "int64")]
    step = trained(net, adam(net, rate=0.05), lambda found, *_: found[1])
    return Case([(net, specs)], batch, step, lambda text, _: net(text))
