"""A variational autoencoder: noise while it trains, the mean when it does not."""

import itertools

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec, trained


class VAE(nn.Layer):
    """An encoder to means and variances, a decoder from what was drawn of them."""

    def __init__(self, inputs=8, hidden=(7, 6), latent=2):
        super().__init__()
        sizes = [inputs, *hidden]
        pairs = list(itertools.pairwise(sizes))
        self.encoder = nn.Sequential()
        for i, (m, n) in enumerate(pairs):
            self.encoder.add_sublayer(f"linear_{i}", nn.Linear(m, n))
            self.encoder.add_sublayer(f"act_{i}", nn.Tanh())
        self.mean, self.spread = nn.Linear(hidden[-1], latent), nn.Linear(hidden[-1], latent)
        self.decoder = nn.LayerList([nn.Linear(latent, hidden[-1])])
        self.decoder.extend(nn.Linear(n, m) for m, n in reversed(pairs))
        self.register_buffer("temperature", paddle.ones([1]))

    def drawn(self, mean, spread):
        if not self.training:
            return mean
        return mean + paddle.exp(0.5 * spread) * paddle.randn(mean.shape)

    def decode(self, z):
        for layer in self.decoder[:-1]:
            z = paddle.tanh(layer(z))
        return F.sigmoid(self.decoder[-1](z))

    def forward(self, x):
        h = self.encoder(x)
        mean, spread = self.mean(h), self.spread(h)
        if self.training:
            self.temperature.set_value(self.temperature * 0.9)
        return self.decode(self.drawn(mean, spread)), mean, spread, self.temperature


def build():
    net = VAE()

    def batch(i):
        return ((draws(i).random((5 + i % 2, 8)) > 0.5).astype("float32"),)

    def loss(found, x):
        made, mean, spread, temperature = found
        lost = F.binary_cross_entropy(made, x, reduction="sum")
        away = -0.5 * paddle.sum(1 + spread - mean**2 - paddle.exp(spread))
        return (lost + (1 - temperature) * away).squeeze() / x.shape[0]

    return Case([(net, [spec([None, 8])])], batch, trained(net, adam(net), loss), net)
