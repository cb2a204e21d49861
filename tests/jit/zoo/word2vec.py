"""Vectors of words: skip-gram with negative samples."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained


class SkipGram(nn.Layer):
    """Two tables: of words, and of the words around them."""

    def __init__(self, words=20, size=6, negatives=4):
        super().__init__()
        self.count, self.negatives = words, negatives
        start = nn.initializer.Uniform(-0.5, 0.5)
        self.inner = nn.Embedding(words, size, weight_attr=paddle.ParamAttr(initializer=start))
        self.outer = nn.Embedding(words, size, sparse=False)

    def forward(self, centre, context):
        v = self.inner(centre).unsqueeze(2)
        positive = paddle.bmm(self.outer(context), v).squeeze(2)
        cost = -F.log_sigmoid(positive).mean(axis=1)
        if self.training:
            drawn = paddle.randint(0, self.count, [centre.shape[0], self.negatives])
            wrong = (drawn == context[:, :1]).astype("float32")
            scores = paddle.bmm(self.outer(drawn), v).squeeze(2)
            cost = cost - (F.log_sigmoid(-scores) * (1.0 - wrong)).sum(axis=1)
        return cost

    def nearest(self, word, count=3):
        """The words most alike, the word itself left out."""
        table = F.normalize(self.inner.weight, axis=1)
        alike = paddle.matmul(self.inner(word), table, transpose_y=True)
        order = paddle.argsort(alike, axis=-1, descending=True)
        found = []
        for row in range(word.shape[0]):
            others = paddle.masked_select(order[row], order[row] != word[row])
            found.append(others[:count])
        return paddle.stack(found)


def build():
    net = SkipGram()

    def batch(i):
        random = draws(i)
        centre = random.integers(0, 20, (5 + i % 3,))
        return centre, (centre[:, None] + random.integers(1, 3, (len(centre), 2))) % 20

    def loss(cost, centre, context):
        return paddle.mean(cost)

    specs = [spec([None], "int64"), spec([None, 2], "int64")]
    step = trained(net, adam(net, rate=0.05), loss)
    return Case([(net, specs)], batch, step, lambda centre, _: net.nearest(centre))
