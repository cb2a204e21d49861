"""A tag for each word: a recurrent network that minds lengths, the best path by a loop."""

import numpy as np

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained


class Tagger(nn.Layer):
    """Scores of tags, and of one tag after another."""

    def __init__(self, words=14, size=6, tags=4):
        super().__init__()
        self.tags, self.words = tags, nn.Embedding(words, size)
        self.gru, self.score = nn.GRU(size, size, direction="bidirectional"), nn.Linear(2 * size, 4)
        self.after = self.create_parameter([tags, tags], attr=nn.initializer.Normal(0.0, 0.1))

    def forward(self, text, lengths, tags=None):
        states, _ = self.gru(self.words(text), sequence_length=lengths)
        scores = self.score(states)
        mask = F.sequence_mask(lengths, maxlen=text.shape[1], dtype="float32")
        if tags is None:
            return self.best(scores, mask)
        return -(self.path(scores, mask, tags) - self.all_paths(scores, mask)).mean()

    def path(self, scores, mask, tags):
        """The score of one path."""
        chosen = (scores * F.one_hot(tags, self.tags)).sum(-1) * mask
        steps = paddle.gather_nd(self.after, paddle.stack([tags[:, :-1], tags[:, 1:]], -1))
        return chosen.sum(1) + (steps * mask[:, 1:]).sum(1)

    def all_paths(self, scores, mask):
        """The logarithm of the sum over all paths."""
        total = scores[:, 0]
        for t in range(1, scores.shape[1]):
            new = paddle.logsumexp(total.unsqueeze(2) + self.after, axis=1) + scores[:, t]
            here = mask[:, t].unsqueeze(-1)
            total = here * new + (1 - here) * total
        return paddle.logsumexp(total, axis=1)

    def best(self, scores, mask):
        """The best path, from its end."""
        total, back = scores[:, 0], []
        for t in range(1, scores.shape[1]):
            options = total.unsqueeze(2) + self.after
            here = mask[:, t].unsqueeze(-1) > 0
            total = paddle.where(here, options.max(axis=1) + scores[:, t], total)
            stay = paddle.arange(self.tags).expand([scores.shape[0], self.tags])
            back.append(paddle.where(here, options.argmax(axis=1), stay))
        path = [total.argmax(-1, keepdim=True)]
        while back:
            path.insert(0, paddle.take_along_axis(back.pop(), path[0], 1))
        return paddle.concat(path, axis=1)


def build():
    net = Tagger()

    def batch(i):
        random = draws(i)
        text = random.integers(0, 14, (4 + i % 2, 6))
        lengths = random.integers(2, 7, (len(text),))
        return text, lengths, np.where(np.arange(6) < lengths[:, None], text % 4, 0)

    specs = [spec([None, 6], "int64"), spec([None], "int64"), spec([None, 6], "int64")]
    step = trained(net, adam(net), lambda cost, *_: cost)
    return Case([(net, specs)], batch, step, lambda text, lengths, _: net(text, lengths))
