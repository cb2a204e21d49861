"""Two networks against each other, two optimizers in one step."""

import scull as paddle
import scull.nn.functional as F
from scull import nn
from tests.jit.zoo.case import Case, adam, draws, spec


class Generator(nn.Layer):
    """Points made of noise."""

    def __init__(self, noise=3, size=8):
        super().__init__()
        self.noise = noise
        self.net = nn.Sequential(
            nn.Linear(noise, size, bias_attr=False),
            nn.BatchNorm1D(size),
            nn.ReLU(),
            nn.Linear(size, 2),
        )

    def forward(self, z):
        return paddle.tanh(self.net(z))


class Critic(nn.Layer):
    """Whether a point is true."""

    def __init__(self, size=8):
        super().__init__()
        self.first = nn.utils.spectral_norm(nn.Linear(2, size))
        self.last = nn.utils.weight_norm(nn.Linear(size, 1))

    def forward(self, x):
        x = F.leaky_relu(self.first(x), 0.2)
        if self.training:
            x = F.dropout(x, 0.1)
        return self.last(x)


def build():
    generator, critic = Generator(), Critic()
    makes = adam(generator, rate=0.02, beta1=0.5)
    tells = paddle.optimizer.RMSProp(0.01, parameters=critic.parameters())
    judge = nn.BCEWithLogitsLoss()

    def batch(i):
        return ((draws(i).standard_normal((6 - i % 2, 2)) * 0.2 + 0.5).astype("float32"),)

    def step(real):
        z = paddle.randn([real.shape[0], generator.noise])
        fake = generator(z)
        right, wrong = critic(real), critic(fake.detach())
        told = judge(right, paddle.ones_like(right)) + judge(wrong, paddle.zeros_like(wrong))
        told.backward()
        tells.step()
        tells.clear_grad()
        answer = critic(fake)
        made = judge(answer, paddle.ones_like(answer))
        made.backward()
        makes.step()
        makes.clear_grad()
        tells.clear_grad()
        return told + made

    nets = [(generator, [spec([None, 3])]), (critic, [spec([None, 2])])]
    return Case(nets, batch, step, lambda x: critic(generator(paddle.ones([x.shape[0], 3]))))
