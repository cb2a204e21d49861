"""PyTorch: eager, with channels last, or compiled."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from benchmarks.compiled.network import EPSILON, MOMENTUM, Vocabulary
from benchmarks.compiled.workload import BETAS, DECAY, Prediction, Training


class Torch(Vocabulary):
    """Layers by PyTorch's functions."""

    def __init__(self, take: Callable[[Any], Any], training: bool) -> None:
        super().__init__(take)
        self.training = training

    def apply_linear(self, x: Any, w: Any, b: Any) -> Any:
        return functional.linear(x, w, b)

    def apply_convolution(
        self, x: Any, w: Any, b: Any, stride: int, padding: int, groups: int
    ) -> Any:
        return functional.conv2d(x, w, b, stride, padding, groups=groups)

    def apply_batch_norm(self, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
        return functional.batch_norm(
            x, mean, variance, scale, bias, self.training, MOMENTUM, EPSILON
        )

    def apply_layer_norm(self, x: Any, scale: Any, bias: Any) -> Any:
        return functional.layer_norm(x, scale.shape, scale, bias, EPSILON)

    def apply_embedding(self, tokens: Any, table: Any) -> Any:
        return functional.embedding(tokens, table)

    def attend(self, packed: Any, heads: int, causal: bool) -> Any:
        batch, length, width = packed.shape
        parts = packed.view(batch, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=causal)
        return mixed.transpose(1, 2).reshape(batch, length, width // 3)

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def relu(self, x: Any) -> Any:
        return functional.relu(x)

    def relu6(self, x: Any) -> Any:
        return functional.relu6(x)

    def gelu(self, x: Any) -> Any:
        return functional.gelu(x)

    def tanh(self, x: Any) -> Any:
        return torch.tanh(x)

    def softmax(self, x: Any) -> Any:
        return functional.softmax(x, -1)

    def first(self, x: Any) -> Any:
        return x[:, 0]

    def max_pool(self, x: Any, size: int, stride: int, padding: int = 0) -> Any:
        return functional.max_pool2d(x, size, stride, padding)

    def mean_of_image(self, x: Any) -> Any:
        return x.mean((2, 3))

    def flatten(self, x: Any) -> Any:
        return x.flatten(1)


def owned(work: Training | Prediction, last: bool) -> tuple[list[Any], list[Any]]:
    """The parameters and the inputs as tensors, images and filters with channels last if asked."""
    values = []
    for p, value in zip(work.parameters, work.values, strict=True):
        x = torch.tensor(value.T.copy() if p.matrix else value)
        values.append(laid(x, last))
    return values, [laid(torch.tensor(x), last) for x in work.inputs]


def laid(x: Any, last: bool) -> Any:
    """An image or filters with channels last, if asked."""
    return x.to(memory_format=torch.channels_last) if last and x.ndim == 4 else x


def optimizer_of(kind: str, rate: float, trained: Sequence[Any]) -> Any:
    """The optimizer, in the fastest form that PyTorch has."""
    if kind == "momentum":
        return torch.optim.SGD(trained, rate, 0.9, fused=True)
    if kind == "adam":
        return torch.optim.Adam(trained, rate, BETAS, fused=True)
    return torch.optim.AdamW(trained, rate, BETAS, weight_decay=DECAY, fused=True)


def training(work: Training, threads: int, form: str) -> Callable[[], Any]:
    """A step of training."""
    torch.set_num_threads(threads)
    values, inputs = owned(work, form == "channels last")
    trained = [x for x, p in zip(values, work.parameters, strict=True) if p.trained]
    for x in trained:
        x.requires_grad_()
    label = torch.tensor(work.label.reshape(-1))
    optimizer = optimizer_of(work.optimizer, work.rate, trained)

    def loss_of() -> Any:
        source = iter(values)
        with torch.autocast("cpu", torch.bfloat16, enabled=work.mixed):
            out = work.network(Torch(lambda _: next(source), True), *inputs)
            return functional.cross_entropy(out.reshape(-1, out.shape[-1]), label)

    forward = torch.compile(loss_of) if form == "compile" else loss_of

    def step() -> Any:
        loss = forward()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def prediction(work: Prediction, threads: int, form: str) -> Callable[[], Any]:
    """A prediction, from NumPy to NumPy."""
    torch.set_num_threads(threads)
    values, _ = owned(work, form == "channels last")
    given = [torch.tensor(x) for x in work.inputs]

    def forward(*inputs: Any) -> Any:
        source = iter(values)
        return work.network(Torch(lambda _: next(source), False), *inputs)

    call = torch.compile(forward) if form == "compile" else forward
    last = form == "channels last"

    def predict() -> Any:
        with torch.inference_mode():
            return call(*[laid(x, last) for x in given]).numpy()

    return predict
