"""A language model: stacked cells, their state carried from batch to batch, gradients cut there."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, draws, spec


class LanguageModel(nn.Layer):
    """Two cells on top of each other; the state of a sentence is a pair of tensors for each."""

    def __init__(self, words=16, size=6, layers=2, dropout=0.1):
        super().__init__()
        self.words, self.layers, self.dropout = nn.Embedding(words, size), layers, dropout
        self.cells = nn.LayerList([nn.LSTMCell(size, size) for _ in range(layers)])
        self.out_weight = self.create_parameter([size, words])
        self.out_bias = self.create_parameter([words], is_bias=True)
        self.size = size

    def begun(self, words):
        nothing = paddle.zeros([words.shape[0], self.size])
        return [(nothing, nothing) for _ in range(self.layers)]

    def forward(self, words, following, state=None):
        if state is None:
            state = self.begun(words)
        else:
            state = [(h.detach(), c.detach()) for h, c in state]
        x, outputs = self.words(words), []
        for t in range(words.shape[1]):
            h = x[:, t, :]
            for k, cell in enumerate(self.cells):
                h, state[k] = cell(h, state[k])
                if self.dropout is not None and self.dropout > 0.0:
                    h = F.dropout(h, self.dropout, training=self.training)
            outputs.append(h)
        hidden = paddle.concat([o.unsqueeze(1) for o in outputs], axis=1)
        logits = paddle.matmul(hidden, self.out_weight) + self.out_bias
        cost = F.softmax_with_cross_entropy(logits, following.unsqueeze(-1))
        return cost.mean(axis=[0]).sum(), state


def build():
    net = LanguageModel()
    optimizer = paddle.optimizer.Momentum(
        0.1, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(5.0)
    )
    text = (draws(0).integers(1, 3, (4, 201)).cumsum(1)) % 16

    def batch(i):
        return text[:, 5 * i : 5 * i + 5], text[:, 5 * i + 1 : 5 * i + 6]

    def step(words, following, state=None):
        cost, state = net(words, following, state)
        cost.backward()
        optimizer.step()
        optimizer.clear_grad()
        return cost, state

    specs = [spec([None, 5], "int64"), spec([None, 5], "int64")]
    return Case([(net, specs)], batch, step, net)
